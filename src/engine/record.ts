/**
 * The record of an instance between two turns: plain JSON, stored as the progress of its job. It
 * has nothing that can be computed. Times are milliseconds since the epoch.
 */
import { z } from 'zod';

const eventSchema = z.looseObject({ type: z.string() });

const childSchema = z.object({
  /** Name of the activity or chart in the parent's chart. */
  src: z.string(),
  /** Unique within the instance: the same id may be started again. */
  run: z.number().int(),
  input: z.unknown().optional(),
  systemId: z.string().optional(),
  /** Of an activity: its answer comes by token. */
  waits: z.literal(true).optional(),
  /** Of an activity: tries that have failed. */
  failures: z.number().int().optional(),
  /** Of an activity: the time of the next try, after a failed one or without a free slot. */
  notBefore: z.number().optional(),
  /** Of an activity: some process holds a try while the job sleeps (instance-store.ts). */
  held: z.literal(true).optional(),
  /** Its end was applied. */
  ended: z.literal(true).optional(),
});

const timerSchema = z.object({
  id: z.string(),
  at: z.number(),
  event: eventSchema,
  /** A child's id; undefined for the instance itself. */
  to: z.string().optional(),
});

const effectSchema = z.object({
  /** Unique within the instance, and the same when it is carried out again. */
  number: z.number().int(),
  kind: z.enum(['action', 'start', 'send', 'stop', 'reply', 'withdraw']),
  /** Of an action, and of an activity to withdraw: its name in the chart. */
  type: z.string().optional(),
  params: z.unknown().optional(),
  event: eventSchema.optional(),
  /** Of an action; absent when it is that of the record. */
  context: z.unknown().optional(),
  /** Of a message: the instance that it goes to. */
  to: z.string().optional(),
});

export const recordSchema = z.object({
  workflow: z.string(),
  version: z.number().int(),
  status: z.enum(['active', 'done', 'error', 'stopped']),
  value: z.union([z.string(), z.record(z.string(), z.unknown())]),
  context: z.unknown().optional(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  /** Why it was stopped from outside. */
  reason: z.string().optional(),
  /**
   * The latest error of an activity or a child, until the same one succeeds or an event from outside
   * is taken: why the instance fails, where its workflow does not say.
   */
  failure: z.object({ src: z.string(), message: z.string() }).optional(),
  /** Ids of the states that a history state remembers. */
  history: z.record(z.string(), z.array(z.string())).optional(),
  children: z.record(z.string(), childSchema).optional(),
  timers: z.array(timerSchema).optional(),
  effects: z.array(effectSchema).optional(),
  /** The next number of a child or an effect. */
  next: z.number().int(),
});

/** For what waits for events only. An event wakes it. */
export const maxWaitMs = 10 * 365 * 86_400_000;

/**
 * A time that a record can hold: JSON has no Infinity and no NaN, and a record with one could not be
 * read any more. A pause of Infinity lasts ten years. As with `setTimeout`, one of NaN or
 * below 0 is none.
 */
export const timeAfter = (now: number, ms: number): number => now + (ms > 0 ? Math.min(ms, maxWaitMs) : 0);

export type Timer = z.infer<typeof timerSchema>;
export type Effect = z.infer<typeof effectSchema>;
export type Child = z.infer<typeof childSchema>;
export type InstanceRecord = Readonly<z.infer<typeof recordSchema>>;
