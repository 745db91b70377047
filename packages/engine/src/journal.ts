/**
 * What an instance went through, for people who look at it afterwards: states, events, activities
 * with their tries and errors, timers, effects and children. It has names and paths only. Inputs,
 * outputs, contexts, parameters and the members of events stay out, because they may be texts,
 * numbers or secrets. Of an error it has name, code and the first line of the message; its stack is
 * in the log.
 *
 * Each entry is a line of the list that BullMQ keeps for the log of a job (`<job>:logs`), so it
 * goes with its job, and dashboards of queues show it. A turn collects entries in memory, and the
 * commit appends them in the step that stores their consequences (redis/journal-lines.ts): a turn
 * that is cut off has told nothing that it has not stored.
 *
 * A line is a JSON array: time in milliseconds since the epoch, kind, path of the child (empty for
 * the root), and what `lineOf` says for the kind.
 */
import { pathOf } from './record.ts';

/** Of an instance the last so many lines are kept, and up to a quarter more between two cuts. */
export const maxLines = 200;
export const maxKeptLines = maxLines + maxLines / 4;
/** Of a name, a path, a key or a message in a line. */
const maxText = 300;
/** States that one step enters, in parallel regions; the others are not told. */
const maxEntered = 50;

export interface ToldError {
  readonly name: string;
  /** One line. */
  readonly message?: string | undefined;
  readonly code?: string | number | undefined;
}

/**
 * begun     A process makes the try.
 * later     It has returned; the answer comes by token.
 * released  Its process stops. Another one makes the try again.
 * left      The chart left the state before the answer.
 */
export type ActivityStage = 'begun' | 'done' | 'failed' | 'later' | 'released' | 'left';

/** `failed`: with an error of its own; `left`: its parent has stopped it. */
export type ChildStage = 'begun' | 'done' | 'failed' | 'left';

export type JournalEntry = {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Of the child; empty for the instance itself. */
  readonly path: string;
} & (
  | {
      readonly kind: 'state';
      /** Innermost states that a step has entered, as paths from the root of the chart. */
      readonly entered: readonly string[];
    }
  | {
      readonly kind: 'event';
      readonly type: string;
      readonly result: 'taken' | 'refused';
      /** Of one from outside. */
      readonly key?: string | undefined;
      /** So often it was refused, one after the other; absent for once. */
      readonly times?: number | undefined;
    }
  | {
      readonly kind: 'activity';
      readonly name: string;
      /** From 1. */
      readonly attempt: number;
      readonly stage: ActivityStage;
      readonly error?: ToldError | undefined;
      /** Of a try that has begun since the commit before. */
      readonly tookMs?: number | undefined;
    }
  | { readonly kind: 'timer'; readonly name: string }
  | {
      readonly kind: 'effect';
      readonly name: string;
      /** Unique within the instance. */
      readonly number: number;
      /** It is stored and not carried out yet, as far as is stored. */
      readonly isPending?: true | undefined;
    }
  | {
      readonly kind: 'child';
      readonly name: string;
      readonly stage: ChildStage;
      readonly error?: ToldError | undefined;
    }
  /** The chart itself ends with an error. */
  | { readonly kind: 'error'; readonly error: ToldError }
);

export interface ReadJournal {
  /** Oldest first. */
  readonly entries: readonly JournalEntry[];
  /** Older lines that are gone. */
  readonly dropped: number;
}

const maxErrorLength = 300;

/** The message of an error, in one line; also of what was thrown and is no error. */
export const errorText = (error: unknown): string => {
  const { message } = Object(error) as { readonly message?: unknown };
  return (String(message ?? error).split('\n', 1)[0] ?? '').slice(0, maxErrorLength);
};

const clip = (text: string): string =>
  text.length > maxText ? `${text.slice(0, maxText - 1)}…` : text;

/** Of what was thrown, which may be no error. */
export const toldError = (error: unknown): ToldError => {
  const { name, message, code } = Object(error) as Readonly<Record<string, unknown>>;
  // XState says on the first line where a guard has thrown, and on the second one what.
  const whole = String(message ?? error).replace(':\n', ': ');
  const isCode = typeof code === 'string' || typeof code === 'number';
  return {
    name: typeof name === 'string' ? clip(name) : 'Error',
    message: errorText(whole),
    ...(isCode && { code: typeof code === 'string' ? clip(code) : code }),
  };
};

/** The innermost states of a state value, as paths. */
export const leavesOf = (value: unknown, above = ''): readonly string[] => {
  if (typeof value === 'string') return [pathOf(above, value)];
  return Object.entries(Object(value) as object).flatMap(([key, inner]) => {
    const path = pathOf(above, key);
    const below = leavesOf(inner, path);
    return below.length === 0 ? [path] : below;
  });
};

const errorParts = ({ name, message = '', code }: ToldError): readonly unknown[] => [
  name,
  message,
  ...(code === undefined ? [] : [code]),
];

const partsOf = (entry: JournalEntry): readonly unknown[] => {
  switch (entry.kind) {
    case 'state':
      return [entry.entered];
    case 'event': {
      const { type, result, key = '', times } = entry;
      return [clip(type), result, clip(key), ...(times === undefined ? [] : [times])];
    }
    case 'activity': {
      const { name, attempt, stage, error, tookMs } = entry;
      return [
        clip(name),
        attempt,
        stage,
        ...(tookMs === undefined && error === undefined ? [] : [tookMs ?? null]),
        ...(error === undefined ? [] : errorParts(error)),
      ];
    }
    case 'timer':
      return [clip(entry.name)];
    case 'effect':
      return [clip(entry.name), entry.number];
    case 'child':
      return [
        clip(entry.name),
        entry.stage,
        ...(entry.error === undefined ? [] : errorParts(entry.error)),
      ];
    case 'error':
      return errorParts(entry.error);
  }
};

/** One line, without line breaks. */
export const lineOf = (entry: JournalEntry): string =>
  JSON.stringify([entry.at, entry.kind, clip(entry.path), ...partsOf(entry)]);

const activityStages: readonly unknown[] = ['begun', 'done', 'failed', 'later', 'released', 'left'];
const childStages: readonly unknown[] = ['begun', 'done', 'failed', 'left'];

const readError = ([name, message, code]: readonly unknown[]): ToldError | undefined =>
  typeof name !== 'string' || typeof message !== 'string'
    ? undefined
    : {
        name,
        ...(message !== '' && { message }),
        ...((typeof code === 'string' || typeof code === 'number') && { code }),
      };

/** @returns Undefined for a line that is none of ours: anybody may write to the log of a job. */
const readLine = (line: string): JournalEntry | undefined => {
  let parts: unknown;
  try {
    parts = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts)) return undefined;
  const [at, kind, path, first, ...more] = parts as readonly unknown[];
  if (typeof at !== 'number' || typeof path !== 'string') return undefined;
  const of = { at, path };
  if (kind === 'state') {
    return Array.isArray(first) && first.every((each) => typeof each === 'string')
      ? { ...of, kind, entered: first }
      : undefined;
  }
  if (typeof first !== 'string') return undefined;
  switch (kind) {
    case 'event': {
      const [result, key, times] = more;
      if (result !== 'taken' && result !== 'refused') return undefined;
      return {
        ...of,
        kind,
        type: first,
        result,
        ...(typeof key === 'string' && key !== '' && { key }),
        ...(typeof times === 'number' && { times }),
      };
    }
    case 'activity': {
      const [attempt, stage, tookMs, ...thrown] = more;
      if (typeof attempt !== 'number' || !activityStages.includes(stage)) return undefined;
      const error = readError(thrown);
      return {
        ...of,
        kind,
        name: first,
        attempt,
        stage: stage as ActivityStage,
        ...(typeof tookMs === 'number' && { tookMs }),
        ...(error !== undefined && { error }),
      };
    }
    case 'timer':
      return { ...of, kind, name: first };
    case 'effect': {
      const [number] = more;
      return typeof number === 'number' ? { ...of, kind, name: first, number } : undefined;
    }
    case 'child': {
      const [stage, ...thrown] = more;
      if (!childStages.includes(stage)) return undefined;
      const error = readError(thrown);
      return {
        ...of,
        kind,
        name: first,
        stage: stage as ChildStage,
        ...(error !== undefined && { error }),
      };
    }
    case 'error': {
      const error = readError([first, ...more]);
      return error && { ...of, kind, error };
    }
    default:
      return undefined;
  }
};

/**
 * @param lines As they are stored.
 * @param pending Numbers of the effects that are stored and not carried out yet.
 */
export const readLines = (
  lines: readonly string[],
  pending: ReadonlySet<number> = new Set(),
): readonly JournalEntry[] =>
  lines.flatMap((line): readonly JournalEntry[] => {
    const entry = readLine(line);
    if (entry === undefined) return [];
    return entry.kind === 'effect' && pending.has(entry.number)
      ? [{ ...entry, isPending: true }]
      : [entry];
  });

/** The line of an event that is refused before a turn sees it. */
export const refusalLine = (at: number, path: string, type: string, key: string): string =>
  lineOf({ kind: 'event', at, path, type, key, result: 'refused' });

interface Told {
  readonly line: JournalEntry;
  /** Of an activity. */
  readonly run?: number;
}

/** The entries of a turn since its last commit. */
export class Journal {
  #told: Told[] = [];
  /** Older ones that were given up: a turn may go on for long before its commit. */
  #dropped = 0;

  #add(told: Told): void {
    this.#told.push(told);
    if (this.#told.length <= maxKeptLines) return;
    this.#dropped += this.#told.length - maxLines;
    this.#told = this.#told.slice(-maxLines);
  }

  tell(entry: JournalEntry): void {
    this.#add({ line: entry });
  }

  /** @returns Says what became of it, when the chart has it. */
  event(
    at: number,
    path: string,
    type: string,
    key: string | undefined,
  ): (result: 'taken' | 'refused') => void {
    const entry = {
      kind: 'event' as const,
      at,
      path,
      type,
      key,
      result: 'taken' as 'taken' | 'refused',
    };
    this.tell(entry);
    return (result) => {
      entry.result = result;
    };
  }

  /** @param before Undefined for the first value. */
  state(at: number, path: string, before: unknown, value: unknown): void {
    if (before === value) return;
    const old = before === undefined ? [] : leavesOf(before);
    const entered = leavesOf(value).filter((each) => !old.includes(each));
    if (entered.length > 0)
      this.tell({ kind: 'state', at, path, entered: entered.slice(0, maxEntered) });
  }

  /** A try that begins and ends between two commits is one line. */
  activity(
    at: number,
    { path, run, src, failures = 0 }: ActivityInHand,
    stage: ActivityStage,
    error?: unknown,
  ): void {
    const attempt = failures + 1;
    const place = this.#told.findLastIndex(({ run: each }) => each === run);
    const begun = this.#told[place]?.line;
    const isSame =
      begun?.kind === 'activity' && begun.stage === 'begun' && begun.attempt === attempt;
    if (isSame) this.#told.splice(place, 1);
    this.#add({
      run,
      line: {
        kind: 'activity',
        at,
        path,
        name: src,
        attempt,
        stage,
        ...(isSame && stage !== 'begun' && { tookMs: Math.max(at - begun.at, 0) }),
        ...(stage === 'failed' && { error: toldError(error) }),
      },
    });
  }

  isEmpty(): boolean {
    return this.#told.length === 0;
  }

  /** For {@link back}. */
  mark(): number {
    return this.#dropped + this.#told.length;
  }

  /** Forgets what came after the mark. */
  back(mark: number): void {
    this.#told.length = Math.min(Math.max(mark - this.#dropped, 0), this.#told.length);
  }

  /** For the commit. */
  lines(): { readonly lines: readonly string[]; readonly dropped: number } {
    return { lines: this.#told.map(({ line }) => lineOf(line)), dropped: this.#dropped };
  }

  /** They are stored. */
  clear(): void {
    this.#told = [];
    this.#dropped = 0;
  }
}

interface ActivityInHand {
  readonly path: string;
  readonly run: number;
  readonly src: string;
  readonly failures?: number | undefined;
}
