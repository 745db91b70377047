/**
 * What the engine writes beside the input of an instance that it adds: a member of the options of
 * the job. BullMQ keeps what it does not know there, and stores it in the same step as the job.
 *
 * `first` is an event that is sent together with the start: both are stored, or neither. The first
 * turn applies it before all others, and stores the verdict under its key.
 */
import type { JobsOptions } from 'bullmq';
import type { InboxEntry } from './redis/inbox.ts';
import { isMembers, isText, membersOf, optional } from './shape.ts';
import { decode, encode } from './values.ts';

/** Events from elsewhere hold no actors. */
const noRef = (): undefined => undefined;

export interface Added {
  /** A random text of the process that added the job. Of two such processes one finds its own. */
  readonly by: string;
  readonly first?: { readonly key: string; readonly event: { readonly type: string } };
  /** The token of the activity that waits for the end. */
  readonly answerTo?: string;
}

/** `first` is a text, because BullMQ's script would make an object of an empty list. */
interface Written {
  readonly by: string;
  readonly first?: string;
  readonly answerTo?: string;
}
const isWritten = membersOf({ by: isText, first: optional(isText), answerTo: optional(isText) });

/** @throws UnstorableError */
export const writeAdded = ({ by, first, answerTo }: Added): JobsOptions => {
  const engine = {
    by,
    ...(first !== undefined && {
      first: JSON.stringify([first.key, encode(first.event, 'event', noRef)]),
    }),
    ...(answerTo !== undefined && { answerTo }),
  };
  return { engine } as JobsOptions;
};

const isEvent = membersOf({ type: isText });

const readFirst = (text: string): Added['first'] => {
  try {
    const read = decode(JSON.parse(text), noRef);
    if (!Array.isArray(read) || !isText(read[0]) || !isEvent(read[1])) return undefined;
    const [key, event] = read as [string, { readonly type: string }];
    return { key, event };
  } catch {
    return undefined;
  }
};

/** @returns Undefined for a job that another program has added. */
export const readAdded = (opts: unknown): Added | undefined => {
  const written = isMembers(opts) ? opts.engine : undefined;
  if (!isWritten(written)) return undefined;
  const { by, first: text, answerTo } = written as Written;
  const first = text === undefined ? undefined : readFirst(text);
  return { by, ...(first !== undefined && { first }), ...(answerTo !== undefined && { answerTo }) };
};

/** The event that came with the start, as an entry of the inbox. */
export const firstEntry = (opts: unknown, at: number): InboxEntry | undefined => {
  const { first } = readAdded(opts) ?? {};
  return first && { ...first, at, about: undefined, end: 0 };
};
