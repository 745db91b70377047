/** The inbox of an instance as text: `inbox` in the hash of its job (instance-store.ts). */
import { isNumber, isText, membersOf, optional } from '../shape.ts';
import { decode } from '../values.ts';

export interface InboxEntry {
  readonly key: string;
  /** Milliseconds since the epoch, by the clock of Redis. */
  readonly at: number;
  readonly event: { readonly type: string };
  readonly about: About | undefined;
  /** Bytes of the inbox up to here, with this entry. */
  readonly end: number;
}

/** The child chart that an event is for, or the activity that it answers. */
export interface About {
  /** The path of the child. */
  readonly child: string;
  /** The run of the activity: the event counts for this run only. */
  readonly run?: number | undefined;
  /** The result of a try that gave no answer. */
  readonly result?: unknown;
}

export interface Inbox {
  readonly entries: readonly InboxEntry[];
  /** Bytes that these entries take. */
  readonly length: number;
  /** The times until which other processes hold tries, by `child/run`. */
  readonly holds: ReadonlyMap<string, number>;
  /** Whether the job has failed, and no commit came since. Some tools reset BullMQ's counters. */
  readonly hasFailed: boolean;
  /** Whether the engine has committed. A record without a commit is from another program. */
  readonly hasBegun: boolean;
}

/** @returns Undefined for a text that is not JSON: other programs write jobs, too. */
export const parse = (text: string | null | undefined): unknown => {
  try {
    return text == null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
};

const isAbout = optional(
  membersOf({
    child: isText,
    run: optional(isNumber),
    result: optional(membersOf({ kind: isText })),
  }),
);
const isEvent = membersOf({ type: isText });
type Line = readonly [key: string, event: { readonly type: string }, about?: About];
const isLine = (value: unknown): value is Line =>
  Array.isArray(value) && isText(value[0]) && isEvent(value[1]) && isAbout(value[2]);

/** A lookup that finds no actor: events from outside hold none. */
export const noRef = (): undefined => undefined;

/** @returns Undefined for marks that no value has: another program has written them. */
const decodeLine = (json: string | undefined): unknown => {
  try {
    return decode(parse(json), noRef);
  } catch {
    return undefined;
  }
};

/** Reads the lines of an inbox. A line that is not an event is skipped, and cut with the others. */
export const readLines = (text: string): InboxEntry[] => {
  let end = 0;
  return text.split('\n').flatMap((line) => {
    end += Buffer.byteLength(line) + 1;
    const [time, json] = line.split('\t', 2);
    const at = Number(time);
    const read = decodeLine(json);
    if (!isLine(read) || !Number.isFinite(at)) return [];
    const [key, event, about] = read;
    return [{ key, at, event, about, end }];
  });
};

/** Makes the inbox from three fields of a job: `inbox`, BullMQ's `stacktrace`, and `open`. */
export const inboxOf = (
  { text, failed, open }: Readonly<Record<'text' | 'failed' | 'open', string | null | undefined>>,
  holds: Inbox['holds'],
): Inbox => ({
  entries: readLines(text ?? ''),
  length: Buffer.byteLength(text ?? ''),
  hasFailed: failed != null,
  hasBegun: open != null,
  holds,
});
