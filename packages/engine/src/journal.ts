/**
 * The journal of an instance, for people who look at it afterwards: states, events, activities
 * with their tries and errors, timers, effects and children. It has names and paths only. Inputs,
 * outputs, contexts, parameters and the members of events stay out, because they may be texts,
 * numbers or secrets. An error appears with name, code and the first line of its message. Its stack
 * is not stored: the worker gives the error itself to `onError`, and its program decides.
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

/** Lines that are kept of an instance. Between two cuts there may be up to a quarter more. */
export const maxLines = 200;
export const maxKeptLines = maxLines + maxLines / 4;
/** The longest name, path, key or message in a line, in characters. */
const maxText = 300;
/** States of one step that are told at most; parallel regions can enter many. */
const maxEntered = 50;

export interface ToldError {
  readonly name: string;
  /** The first line of the message. */
  readonly message?: string | undefined;
  readonly code?: string | number | undefined;
}

/**
 * begun     A process makes the try.
 * later     The try has returned; the answer comes by token.
 * released  Its process stops. Another one makes the try again.
 * left      The chart left the state before the answer.
 */
export type ActivityStage = 'begun' | 'done' | 'failed' | 'later' | 'released' | 'left';

/** The stages of a child. `failed`: it ended with an error; `left`: its parent has stopped it. */
export type ChildStage = 'begun' | 'done' | 'failed' | 'left';

export type JournalEntry = {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The path of the child; empty for the instance itself. */
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
      /** The key of an event from outside. */
      readonly key?: string | undefined;
      /** The number of times that it was refused in a row; absent for 1. */
      readonly times?: number | undefined;
    }
  | {
      readonly kind: 'activity';
      readonly name: string;
      /** The number of the try, from 1. */
      readonly attempt: number;
      readonly stage: ActivityStage;
      readonly error?: ToldError | undefined;
      /** The duration of a try that has begun since the commit before. */
      readonly tookMs?: number | undefined;
    }
  | { readonly kind: 'timer'; readonly name: string }
  | {
      readonly kind: 'effect';
      readonly name: string;
      /** Unique within the instance. */
      readonly number: number;
      /** True for an effect that is stored and, as far as is stored, not carried out yet. */
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
  /** The number of older lines that are gone. */
  readonly dropped: number;
}

const maxErrorLength = 300;

/** The first line of the message of a thrown value, which need not be an Error. */
export const errorText = (error: unknown): string => {
  const { message } = Object(error) as { readonly message?: unknown };
  return (String(message ?? error).split('\n', 1)[0] ?? '').slice(0, maxErrorLength);
};

const clip = (text: string): string =>
  text.length > maxText ? `${text.slice(0, maxText - 1)}…` : text;

/** Makes the entry for a thrown value, which need not be an Error. */
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

/** Writes an entry as a line, without line breaks. */
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

/** @returns Undefined for a foreign line: other programs may write to the log of a job. */
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
 * @param lines The stored lines, oldest first.
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
  /** The run of the activity that the line is about. */
  readonly run?: number;
}

/** The entries of a turn since its last commit. */
export class Journal {
  #told: Told[] = [];
  /** The number of older entries that were given up: a turn may be long before its commit. */
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

  /** Adds an event. @returns A function that sets the result, once the chart has decided. */
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

  /** Adds a stage of a try. A try that begins and ends between two commits is one line. */
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

  /** The current place, to be passed to {@link back}. */
  mark(): number {
    return this.#dropped + this.#told.length;
  }

  /** Forgets what came after the mark. */
  back(mark: number): void {
    this.#told.length = Math.min(Math.max(mark - this.#dropped, 0), this.#told.length);
  }

  /** The lines that the next commit stores, and how many older ones were given up. */
  lines(): { readonly lines: readonly string[]; readonly dropped: number } {
    return { lines: this.#told.map(({ line }) => lineOf(line)), dropped: this.#dropped };
  }

  /** Empties the journal after its lines were stored. */
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
