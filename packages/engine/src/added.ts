/**
 * What the engine writes beside the input of an instance that it adds: a member of the options of
 * the job. BullMQ keeps what it does not know there, and stores it in the same step as the job.
 *
 * `first` is an event that is sent together with the start: both are stored, or neither. The first
 * turn applies it before all others, and stores the verdict under its key.
 */
import type { JobsOptions } from 'bullmq';
import { z } from 'zod';
import type { InboxEntry } from './redis/instance-store.ts';
import { decode, encode } from './values.ts';

/** Events from elsewhere hold no actors. */
const noRef = (): undefined => undefined;

const addedSchema = z.object({
  engine: z.object({
    /** Random, of whoever added the job: of two that do, one learns that it came first. */
    by: z.string(),
    /** Key and event. As a text, because BullMQ's script would make an object of an empty list. */
    first: z.string().optional(),
    /** The token of the activity that waits for the end. */
    answerTo: z.string().optional(),
  }),
});

export interface Added {
  readonly by: string;
  readonly first?: { readonly key: string; readonly event: { readonly type: string } };
  readonly answerTo?: string;
}

/** @throws UnstorableError */
export const writeAdded = ({ by, first, answerTo }: Added): JobsOptions => {
  const engine = {
    by,
    ...(first !== undefined && { first: JSON.stringify([first.key, encode(first.event, 'event', noRef)]) }),
    ...(answerTo !== undefined && { answerTo }),
  };
  return { engine } as JobsOptions;
};

const firstSchema = z.tuple([z.string(), z.looseObject({ type: z.string() })]);

const readFirst = (text: string): Added['first'] => {
  try {
    const { data } = firstSchema.safeParse(decode(JSON.parse(text), noRef));
    return data && { key: data[0], event: data[1] };
  } catch {
    return undefined;
  }
};

/** @returns Undefined for a job that another program has added. */
export const readAdded = (opts: unknown): Added | undefined => {
  if (Object(opts).engine === undefined) return undefined;
  const { data } = addedSchema.safeParse(opts);
  if (data === undefined) return undefined;
  const { by, first: text, answerTo } = data.engine;
  const first = text === undefined ? undefined : readFirst(text);
  return { by, ...(first !== undefined && { first }), ...(answerTo !== undefined && { answerTo }) };
};

/** The event that came with the start, as an entry of the inbox. */
export const firstEntry = (opts: unknown, at: number): InboxEntry | undefined => {
  const { first } = readAdded(opts) ?? {};
  return first && { ...first, at, about: undefined, end: 0 };
};
