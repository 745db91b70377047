/**
 * The record of an instance between two turns: plain JSON, stored as the progress of its job. It
 * has nothing that can be computed. Times are milliseconds since the epoch.
 *
 * An instance is a tree of actors: child charts lie in the record of their parent. An actor has a
 * number (`run`) that is unique in the tree and is never given again; the root is 0.
 */
import { z } from 'zod';

const eventSchema = z.looseObject({ type: z.string() });

/** What a step has made: the context and the event from which it is made again (chart-parts.ts). */
const originSchema = z.object({
  context: z.unknown().optional(),
  event: eventSchema,
  params: z.unknown().optional(),
  checks: z.array(z.boolean()).optional(),
});

const status = z.enum(['active', 'done', 'error', 'stopped']);

const childFields = {
  /** Its name in the parent's chart. */
  src: z.string(),
  /** Unique within the instance: the same id may be started again. */
  run: z.number().int(),
  systemId: z.string().optional(),
  /** Of one that a step has made. */
  origin: originSchema.optional(),
};

const activitySchema = z.object({
  ...childFields,
  input: z.unknown().optional(),
  /** Its answer comes by token. */
  waits: z.literal(true).optional(),
  /** Tries that have failed. */
  failures: z.number().int().optional(),
  /** The time of the next try, after a failed one or without a free slot. */
  notBefore: z.number().optional(),
  /** Some process holds a try while the job sleeps (instance-store.ts). */
  held: z.literal(true).optional(),
  /** Its end was applied. */
  ended: z.literal(true).optional(),
});

/** State and children of one chart. */
const chartFields = {
  status,
  value: z.union([z.string(), z.record(z.string(), z.unknown())]),
  context: z.unknown().optional(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  /** Ids of the states that a history state remembers. */
  history: z.record(z.string(), z.array(z.string())).optional(),
};

export interface ChartRecord {
  readonly status: z.infer<typeof status>;
  readonly value: string | Readonly<Record<string, unknown>>;
  readonly context?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly history?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly children?: Readonly<Record<string, Child>> | undefined;
}

export type Activity = z.infer<typeof activitySchema>;

/** A chart as a child, or the state of `fromTransition`. */
export interface ChildActor {
  readonly src: string;
  readonly run: number;
  readonly systemId?: string | undefined;
  readonly origin?: z.infer<typeof originSchema> | undefined;
  /** Its parent follows its snapshots. */
  readonly sync?: true | undefined;
  readonly chart?: ChartRecord | undefined;
  /** The snapshot of `fromTransition`. */
  readonly state?: unknown;
}

export type Child = Activity | ChildActor;

export const isActivity = (child: Child): child is Activity => !('chart' in child || 'state' in child);

const childSchema: z.ZodType<Child> = z.lazy(() =>
  z.union([
    z.object({ ...childFields, sync: z.literal(true).optional(), chart: chartSchema }),
    z.object({ ...childFields, sync: z.literal(true).optional(), state: z.looseObject({ status }) }),
    activitySchema,
  ]),
) as z.ZodType<Child>;

const chartSchema = z.object({
  ...chartFields,
  children: z.record(z.string(), childSchema).optional(),
});

const timerSchema = z.object({
  id: z.string(),
  at: z.number(),
  event: eventSchema,
  /** Runs; absent for the root. */
  from: z.number().int().optional(),
  to: z.number().int().optional(),
});

const effectSchema = z.object({
  /** Unique within the instance, and the same when it is carried out again. */
  number: z.number().int(),
  kind: z.enum(['action', 'withdraw']),
  /** Of an action, and of an activity to withdraw: its name in the chart. */
  type: z.string(),
  /** The actor whose action it is, or the activity; absent for the root. */
  path: z.string().optional(),
  /** The names of its chart in the charts above it, from the root's; absent for the root. */
  charts: z.array(z.string()).optional(),
  params: z.unknown().optional(),
  event: eventSchema.optional(),
  /** Of an action; absent when it is that of its chart's record. */
  context: z.unknown().optional(),
  origin: originSchema.optional(),
  /** Of an activity to withdraw. */
  run: z.number().int().optional(),
});

export const recordSchema = z.object({
  workflow: z.string(),
  version: z.number().int(),
  ...chartFields,
  children: z.record(z.string(), childSchema).optional(),
  /** Why it was stopped from outside. */
  reason: z.string().optional(),
  /**
   * The latest error of an activity, until the same one succeeds or an event from outside is taken:
   * why the instance fails, where its workflow does not say.
   */
  failure: z.object({ src: z.string(), message: z.string() }).optional(),
  timers: z.array(timerSchema).optional(),
  effects: z.array(effectSchema).optional(),
  /** The next number of an actor or an effect. */
  next: z.number().int(),
});

export type Timer = z.infer<typeof timerSchema>;
export type Effect = z.infer<typeof effectSchema>;
export interface InstanceRecord extends ChartRecord {
  readonly workflow: string;
  readonly version: number;
  readonly reason?: string | undefined;
  readonly failure?: { readonly src: string; readonly message: string } | undefined;
  readonly timers?: readonly Timer[] | undefined;
  readonly effects?: readonly Effect[] | undefined;
  readonly next: number;
}

/** The path of a child: names from the root, each percent-encoded, with slashes between. */
export const pathOf = (parent: string, name: string): string =>
  parent === '' ? encodeURIComponent(name) : `${parent}/${encodeURIComponent(name)}`;

/** The names in a path. Those of a text that is no path are names that no child has. */
export const namesIn = (path: string): readonly string[] => {
  try {
    return path === '' ? [] : path.split('/').map(decodeURIComponent);
  } catch {
    return [path];
  }
};

/**
 * Names an actor of an instance: the id of the instance, and for a child a slash and its path. No id
 * of an instance has a slash.
 */
export const addressOf = (id: string, path: string): string => (path === '' ? id : `${id}/${path}`);

export const readAddress = (address: string): { readonly id: string; readonly path: string } => {
  const at = address.indexOf('/');
  return at < 0 ? { id: address, path: '' } : { id: address.slice(0, at), path: address.slice(at + 1) };
};

/** The child at a path; undefined when there is none. */
export const childAt = (record: ChartRecord | undefined, path: string): Child | undefined => {
  let children = record?.children;
  let found: Child | undefined;
  for (const name of namesIn(path)) {
    found = children !== undefined && Object.hasOwn(children, name) ? children[name] : undefined;
    if (found === undefined) return undefined;
    children = isActivity(found) ? undefined : (found as ChildActor).chart?.children;
  }
  return found;
};

/** The activities that have not ended, with their paths, of a chart and of those in it. */
export const activitiesIn = (
  record: ChartRecord | undefined,
  above = '',
): readonly (readonly [path: string, Activity])[] =>
  Object.entries(record?.children ?? {}).flatMap(([name, child]) => {
    const path = pathOf(above, name);
    if (isActivity(child)) return child.ended ? [] : [[path, child] as const];
    return activitiesIn((child as ChildActor).chart, path);
  });

const childrenOf = ({ children = {} }: ChartRecord): readonly Child[] => Object.values(children);

/** It has children that are charts. */
export const isTree = (record: ChartRecord): boolean =>
  childrenOf(record).some((child) => !isActivity(child));

const countChildren = (record: ChartRecord | undefined): number =>
  record === undefined
    ? 0
    : childrenOf(record).reduce(
        (sum, child) => sum + 1 + (isActivity(child) ? 0 : countChildren((child as ChildActor).chart)),
        0,
      );

/** BullMQ reads the whole job with each turn. */
const maxRecordBytes = 1_048_576;
const maxChildren = 1000;
/** No child takes less. */
const leastChildLength = 20;

/**
 * Why the record is too large to be stored; undefined for one that is not.
 *
 * @param text Its JSON.
 */
export const boundProblem = (record: ChartRecord, text: string): string | undefined => {
  if (record.status === 'error') return undefined;
  const remedy = 'start further instances by workflow(…) instead';
  if (text.length * 3 > maxRecordBytes && Buffer.byteLength(text) > maxRecordBytes)
    return `The instance would have more than ${maxRecordBytes} bytes: ${remedy}`;
  if (text.length > maxChildren * leastChildLength && countChildren(record) > maxChildren)
    return `The instance would have more than ${maxChildren} children: ${remedy}`;
  return undefined;
};
