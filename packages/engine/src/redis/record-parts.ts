/**
 * A large record in parts, so that a commit writes what has changed and not how large the tree is.
 *
 * BullMQ's `progress` has the whole record as long as it is small or has no child charts. The text
 * of a larger one is cut into parts of about a kilobyte, each a field `part:<number>` of the job's
 * hash, and `progress` says in which order they are the text:
 * `{"workflow":…,"parts":[…],"next":…}`. A number is never given again, so equal `progress` means
 * an equal record.
 *
 * The cuts follow the text and not the tree: a signature changes its child, a timer and the context
 * of the parent, which names every child, too. Only a field for each of these pieces would do, and
 * the parent's context has no boundary that the engine knows.
 *
 * Small records stay whole, because parts cost more than they save there: a process of three
 * signers (2 to 7 kB) changes most of its text with each commit.
 */

export interface Part {
  readonly name: number;
  readonly text: string;
}

/** The stored parts of a record. */
export interface Parts {
  readonly all: readonly Part[];
  /** The number of the next part. */
  readonly next: number;
}

export interface Division {
  readonly parts: Parts;
  /** The text for `progress`. */
  readonly progress: string;
  readonly added: readonly Part[];
  readonly gone: readonly Part[];
}

export const noParts: Parts = { all: [], next: 1 };

/** The length from which a record is divided, in characters. */
const leastDivided = 8192;
const partLength = 1024;
/** When the text no longer has a stored part, at most so many of the next parts are looked for. */
const maxLookedFor = 32;

export const fieldOf = (name: number): string => `part:${name}`;

/** Cuts behind a brace, which is one UTF-16 unit: no character is cut in two. */
const pieces = (text: string): readonly string[] => {
  const found: string[] = [];
  for (let from = 0; from < text.length; ) {
    const brace = text.indexOf('}', from + partLength);
    const end = brace < 0 ? text.length : brace + 1;
    found.push(text.slice(from, end));
    from = end;
  }
  return found;
};

/** The stored parts that are still in the text, in order, with new parts between them. */
const align = (text: string, { all, next }: Parts): Parts => {
  const aligned: Part[] = [];
  let name = next;
  let from = 0;
  const addUntil = (end: number): void => {
    for (const piece of pieces(text.slice(from, end))) {
      aligned.push({ name, text: piece });
      name += 1;
    }
  };
  for (let index = 0; index < all.length; ) {
    const part = all[index] as Part;
    if (text.startsWith(part.text, from)) {
      aligned.push(part);
      from += part.text.length;
      index += 1;
      continue;
    }
    let found = -1;
    const last = Math.min(index + maxLookedFor, all.length);
    for (index += 1; index < last && found < 0; index += 1) {
      found = text.indexOf((all[index] as Part).text, from);
      if (found >= 0) break;
    }
    if (found < 0) break;
    addUntil(found);
    from = found;
  }
  addUntil(text.length);
  return { all: aligned, next: name };
};

/** @param isTree The record has child charts. */
export const divide = (
  record: { readonly workflow: string },
  text: string,
  isTree: boolean,
  before: Parts,
): Division => {
  const isDivided = isTree && text.length >= leastDivided;
  if (!isDivided) {
    return { parts: { ...before, all: [] }, progress: text, added: [], gone: before.all };
  }
  const parts = align(text, before);
  const names = new Set(parts.all.map(({ name }) => name));
  return {
    parts,
    progress: JSON.stringify({
      workflow: record.workflow,
      parts: parts.all.map(({ name }) => name),
      next: parts.next,
    }),
    added: parts.all.filter(({ name }) => name >= before.next),
    gone: before.all.filter(({ name }) => !names.has(name)),
  };
};

/** The fields that a record consists of; undefined for one that is whole. */
export const partNames = (progress: unknown): readonly number[] | undefined => {
  const { parts } = Object(progress) as { readonly parts?: unknown };
  return Array.isArray(parts) && parts.every((name) => Number.isSafeInteger(name))
    ? parts
    : undefined;
};

/**
 * The whole record.
 *
 * @param progress Parsed.
 * @param textOf The text of a part; null or undefined when it is missing.
 * @returns `progress` itself for a whole record; undefined when the parts make no record.
 */
export const join = (
  progress: unknown,
  textOf: (name: number) => string | null | undefined,
): { readonly record: unknown; readonly parts: Parts } => {
  const names = partNames(progress);
  if (names === undefined) {
    return { record: progress, parts: noParts };
  }
  const all = names.map((name) => ({ name, text: textOf(name) ?? '' }));
  const { next } = progress as { readonly next?: unknown };
  try {
    const record: unknown = JSON.parse(all.map(({ text }) => text).join(''));
    return { record, parts: { all, next: Number(next) } };
  } catch {
    return { record: undefined, parts: noParts };
  }
};
