/**
 * What an instance of a workflow is between two turns: plain JSON, kept as the progress of its job.
 *
 * It holds what decides the future and nothing that can be computed. Times are milliseconds since the epoch.
 */
import { z } from 'zod';

const eventSchema = z.looseObject({ type: z.string() });

const childSchema = z.object({
  /** Name of the activity or chart in the parent's chart. */
  src: z.string(),
  /** Counts what the instance has started: the same id may be started again. */
  run: z.number().int(),
  input: z.unknown().optional(),
  systemId: z.string().optional(),
  /** Of an activity: who holds its token answers. */
  waits: z.literal(true).optional(),
  /** Of an activity: tries that have failed. */
  failures: z.number().int().optional(),
  /** Of an activity: not tried before, because a try has failed or there was no place. */
  notBefore: z.number().optional(),
  /** Of an activity: a try goes on in some process while the job sleeps, for as long as that process holds it (instance-store.ts). */
  held: z.literal(true).optional(),
  /** Its end was heard of. */
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
  /** Unique within the instance, and the same however often it is carried out. */
  number: z.number().int(),
  kind: z.enum(['action', 'start', 'send', 'stop', 'reply']),
  /** Of an action: its name in the chart. */
  type: z.string().optional(),
  params: z.unknown().optional(),
  event: eventSchema.optional(),
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
  /** Ids of the states that a history state remembers. */
  history: z.record(z.string(), z.array(z.string())).optional(),
  children: z.record(z.string(), childSchema).optional(),
  timers: z.array(timerSchema).optional(),
  effects: z.array(effectSchema).optional(),
  /** The next number of a child or an effect. */
  next: z.number().int(),
});

export type Timer = z.infer<typeof timerSchema>;
export type Effect = z.infer<typeof effectSchema>;
export type Child = z.infer<typeof childSchema>;
export type InstanceRecord = Readonly<z.infer<typeof recordSchema>>;
