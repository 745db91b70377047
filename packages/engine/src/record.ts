/**
 * The record of an instance between two turns: plain JSON, stored as the progress of its job. It
 * has nothing that can be computed. Times are milliseconds since the epoch.
 *
 * An instance is a tree of actors: child charts lie in the record of their parent. An actor has a
 * number (`run`) that is unique in the tree and is never given again; the root is 0.
 */
import {
  isFlag,
  isMembers,
  isNumber,
  isOneOf,
  isText,
  isWhole,
  listOf,
  mapOf,
  membersOf,
  optional,
  type Shape,
} from './shape.ts';

export interface StoredEvent {
  readonly type: string;
}

/** The context and the event from which a part is made again (chart-parts.ts). */
export interface StoredOrigin {
  readonly context?: unknown;
  readonly event: StoredEvent;
  readonly params?: unknown;
  readonly checks?: readonly boolean[] | undefined;
}

interface Named {
  /** Its name in the parent's chart. */
  readonly src: string;
  /** Unique within the instance: the same id may be started again. */
  readonly run: number;
  readonly systemId?: string | undefined;
  /** The origin of a child that a step has made. */
  readonly origin?: StoredOrigin | undefined;
}

export interface Activity extends Named {
  readonly input?: unknown;
  /** True when its answer comes by token. */
  readonly waits?: true | undefined;
  /** The number of tries that have failed. */
  readonly failures?: number | undefined;
  /** The time of the next try, after a failed one or without a free slot. */
  readonly notBefore?: number | undefined;
  /** True when a process holds a try while the job sleeps (instance-store.ts). */
  readonly held?: true | undefined;
  /** True when its end was applied. */
  readonly ended?: true | undefined;
}

/** A chart as a child, or the state of `fromTransition`. */
export interface ChildActor extends Named {
  /** True when its parent follows its snapshots. */
  readonly sync?: true | undefined;
  readonly chart?: ChartRecord | undefined;
  /** The snapshot of `fromTransition`. */
  readonly state?: unknown;
}

export type Child = Activity | ChildActor;

/** State and children of one chart. */
export interface ChartRecord {
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  readonly value: string | Readonly<Record<string, unknown>>;
  readonly context?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
  /** Ids of the states that a history state remembers. */
  readonly history?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly children?: Readonly<Record<string, Child>> | undefined;
}

export interface Timer {
  readonly id: string;
  readonly at: number;
  readonly event: StoredEvent;
  /** The runs of the sender and the receiver; absent for the root. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** True for a timer that `cancel` and the end of its actor no longer remove (interpret.ts). */
  readonly loose?: true;
}

export interface Effect {
  /** Unique within the instance, and the same when it is carried out again. */
  readonly number: number;
  readonly kind: 'action' | 'withdraw';
  /** The name in the chart of the action, or of the activity to withdraw. */
  readonly type: string;
  /** The path of the chart that has the action, or of the activity; absent for the root. */
  readonly path?: string | undefined;
  /** The names of its chart in the charts above it, from the root's; absent for the root. */
  readonly charts?: readonly string[] | undefined;
  /** The origins of `charts`, one for each; null for a chart that no step has made. */
  readonly made?: readonly (StoredOrigin | null)[] | undefined;
  readonly params?: unknown;
  readonly event?: StoredEvent | undefined;
  /** The context that the action gets; absent when the record of its chart has the same one. */
  readonly context?: unknown;
  readonly origin?: StoredOrigin | undefined;
  /** The run of an activity to withdraw. */
  readonly run?: number | undefined;
}

export interface InstanceRecord extends ChartRecord {
  readonly workflow: string;
  readonly version: number;
  /** Why it was stopped from outside. */
  readonly reason?: string | undefined;
  /**
   * The latest error of an activity, until the same one succeeds or an event from outside is taken:
   * why the instance fails, where its workflow does not say.
   */
  readonly failure?: { readonly src: string; readonly message: string } | undefined;
  readonly timers?: readonly Timer[] | undefined;
  readonly effects?: readonly Effect[] | undefined;
  /**
   * The record from before an activity's error that no state has taken, in a record that this error
   * has ended: an instance that is run again goes on from there ({@link recordToRetry}).
   */
  readonly retry?: InstanceRecord | undefined;
  /** The next number of an actor or an effect. */
  readonly next: number;
}

/** The sleep of an instance that only waits for events: ten years. An event wakes it. */
export const maxWaitMs = 10 * 365 * 86_400_000;

/**
 * The time after a pause, as a number that JSON can hold. A pause of Infinity lasts ten years. As
 * with `setTimeout`, a pause that is NaN or below 0 counts as 0.
 */
export const timeAfter = (now: number, ms: number): number =>
  now + (ms > 0 ? Math.min(ms, maxWaitMs) : 0);

export const isActivity = (child: Child): child is Activity =>
  !('chart' in child || 'state' in child);

const isEvent = membersOf({ type: isText });
const isOrigin = membersOf({
  event: isEvent,
  checks: optional(listOf((value) => typeof value === 'boolean')),
});
const named = { src: isText, run: isWhole, systemId: optional(isText), origin: optional(isOrigin) };
const status = isOneOf('active', 'done', 'error', 'stopped');

const isStoredActivity = membersOf({
  ...named,
  waits: optional(isFlag),
  failures: optional(isWhole),
  notBefore: optional(isNumber),
  held: optional(isFlag),
  ended: optional(isFlag),
});

/** Levels of charts in charts. The stack of a worker could not read more. */
const maxLevels = 100;

/** @param isChart The shape of child charts; it accepts nothing below the last level. */
const shapesOfChart = (isChart: Shape): Readonly<Record<string, Shape>> => {
  const isStoredActor = membersOf({
    ...named,
    sync: optional(isFlag),
    chart: optional(isChart),
    state: optional(membersOf({ status })),
  });
  const isChild: Shape = (value) =>
    isMembers(value) &&
    ('chart' in value || 'state' in value ? isStoredActor(value) : isStoredActivity(value));
  return {
    status,
    value: (value: unknown) => isText(value) || isMembers(value),
    history: optional(mapOf(listOf(isText))),
    children: optional(mapOf(isChild)),
  };
};
const chartWithin = (levels: number): Shape =>
  levels === 0 ? () => false : membersOf(shapesOfChart(chartWithin(levels - 1)));

const isTimer = membersOf({
  id: isText,
  at: isNumber,
  event: isEvent,
  from: optional(isWhole),
  to: optional(isWhole),
});
const isEffect = membersOf({
  number: isWhole,
  kind: isOneOf('action', 'withdraw'),
  type: isText,
  path: optional(isText),
  charts: optional(listOf(isText)),
  made: optional(listOf((value) => value === null || isOrigin(value))),
  event: optional(isEvent),
  origin: optional(isOrigin),
  run: optional(isWhole),
});
const shapesOfRecord = {
  ...shapesOfChart(chartWithin(maxLevels - 1)),
  workflow: isText,
  version: isWhole,
  next: isWhole,
  reason: optional(isText),
  failure: optional(membersOf({ src: isText, message: isText })),
  timers: optional(listOf(isTimer)),
  effects: optional(listOf(isEffect)),
};
const isRecord = membersOf({ ...shapesOfRecord, retry: optional(membersOf(shapesOfRecord)) });

/** @returns Undefined for a value that is not a record: another program has written it. */
export const readRecord = (value: unknown): InstanceRecord | undefined =>
  isRecord(value) ? (value as InstanceRecord) : undefined;

/** The path of a child: names from the root, each percent-encoded, with slashes between. */
export const pathOf = (parent: string, name: string): string =>
  parent === '' ? encodeURIComponent(name) : `${parent}/${encodeURIComponent(name)}`;

/** The names in a path. A text that is not a path gives one name that no child has. */
export const namesIn = (path: string): readonly string[] => {
  try {
    return path === '' ? [] : path.split('/').map(decodeURIComponent);
  } catch {
    return [path];
  }
};

/**
 * Names an actor of an instance: the id of the instance, and for a child a slash and its path. No
 * id of an instance has a slash.
 */
export const addressOf = (id: string, path: string): string => (path === '' ? id : `${id}/${path}`);

export const readAddress = (address: string): { readonly id: string; readonly path: string } => {
  const at = address.indexOf('/');
  return at < 0
    ? { id: address, path: '' }
    : { id: address.slice(0, at), path: address.slice(at + 1) };
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

/** Whether the record has children that are charts. */
export const isTree = (record: ChartRecord): boolean =>
  childrenOf(record).some((child) => !isActivity(child));

/**
 * Where an instance goes on that is run again after an activity's error has ended it: with all that
 * it had, and with each open activity as a new run, because those before have ended or were
 * withdrawn.
 *
 * @returns Undefined for a record that has no such place.
 */
export const recordToRetry = ({ retry, next }: InstanceRecord): InstanceRecord | undefined => {
  if (retry === undefined) return undefined;
  let last = next;
  const renewed = <Chart extends ChartRecord>(chart: Chart): Chart => ({
    ...chart,
    ...(chart.children !== undefined && {
      children: Object.fromEntries(
        Object.entries(chart.children).map(([name, child]) => [name, begunAnew(child)]),
      ),
    }),
  });
  const begunAnew = (child: Child): Child => {
    if (!isActivity(child)) {
      const { chart } = child as ChildActor;
      return chart === undefined ? child : { ...child, chart: renewed(chart) };
    }
    const { failures: _, notBefore: __, held: ___, waits: ____, ...fresh } = child as Activity;
    if (fresh.ended) return fresh;
    last += 1;
    return { ...fresh, run: last - 1 };
  };
  const record = renewed(retry);
  return { ...record, next: last };
};

const countChildren = (record: ChartRecord | undefined): number =>
  record === undefined
    ? 0
    : childrenOf(record).reduce(
        (sum, child) =>
          sum + 1 + (isActivity(child) ? 0 : countChildren((child as ChildActor).chart)),
        0,
      );

const levelsIn = (record: ChartRecord | undefined): number =>
  record === undefined
    ? 0
    : childrenOf(record).reduce(
        (most, child) =>
          Math.max(most, isActivity(child) ? 0 : levelsIn((child as ChildActor).chart)),
        0,
      ) + 1;

/** BullMQ reads the whole job with each turn. */
const maxRecordBytes = 1_048_576;
const maxChildren = 1000;
/** The least length of a child in the text of a record, in characters. */
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
  if (text.length > maxLevels * leastChildLength && levelsIn(record) > maxLevels)
    return `The instance would have more than ${maxLevels} charts in each other: ${remedy}`;
  return undefined;
};
