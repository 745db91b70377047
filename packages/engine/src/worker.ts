/** Runs the turns of the instances in one queue, and removes instances whose retention is over. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Queue, WorkerOptions } from 'bullmq';
import type { AnyActorLogic } from 'xstate';
import { activityFor, createActivities, type EndedActivity } from './activities.ts';
import { activitiesOf, ChartError } from './chart.ts';
import { type Activity, activityOf, type Workflow } from './define.ts';
import { deliver } from './engine.ts';
import { doneEvent, type Observation } from './interpret.ts';
import type { Others } from './other.ts';
import { promoteInSteps } from './redis/bullmq-script.ts';
import type { RedisClient } from './redis/client.ts';
import { createInstanceStore, type HeldTry, hasRecord, runKeys } from './redis/instance-store.ts';
import { graceOf } from './redis/redis-time.ts';
import { isRedisAway, toError } from './redis/to-error.ts';
import { settlesWithin } from './settles-within.ts';
import type { InstanceJob, OnError } from './take-job.ts';
import { createTurn, type TurnOptions, tryEvent } from './turn.ts';
import { TurnWorker, untilTaken } from './turn-worker.ts';

export interface WorkflowWorker {
  /** The BullMQ workers. */
  readonly workers: readonly TurnWorker[];
  ready(): Promise<void>;
  /**
   * Takes no more jobs, and lets those in hand finish their turn.
   *
   * @returns Whether all turns have finished. Without Redis they cannot.
   */
  close(): Promise<boolean>;
}

const closeTimeoutMs = 8000;
const bringTimeoutMs = 2000;
const bringEveryMs = 500;
const putOffMs = 200;

/** BullMQ removes old jobs only when another one ends, so the worker also does it by this time. */
const cleanEveryMs = 3_600_000;
const maxCleaned = 10_000;
const ageOf = (ms: number) => ({ age: Math.ceil(ms / 1000) });

/**
 * All versions of each workflow, by name.
 *
 * @throws ChartError for an activity that the worker does not provide.
 */
const catalogue = (
  workflows: readonly Workflow[],
  isProvided: (name: string) => boolean,
  reachesOthers: boolean,
): ReadonlyMap<string, readonly Workflow[]> => {
  const known = new Map<string, Workflow[]>();
  const note = (workflow: Workflow): void => {
    const { name, version } = workflow.chart;
    for (const { name: src, logic } of activitiesOf(workflow.chart)) {
      const { provided: wanted, starts } = activityOf(logic) ?? {};
      if (starts !== undefined && !reachesOthers)
        throw new ChartError(
          `${name}: the actor ${src} starts another workflow, which this worker cannot`,
        );
      if (wanted !== undefined && !isProvided(wanted))
        throw new ChartError(
          `${name}: the actor ${src} is ${wanted} of the service, which this worker lacks`,
        );
    }
    const versions = known.get(name) ?? [];
    if (versions.some(({ chart }) => chart.version === version)) {
      throw new Error(`There are two workflows ${name} of version ${version}`);
    }
    known.set(
      name,
      [...versions, workflow].toSorted((a, b) => b.chart.version - a.chart.version),
    );
  };
  for (const workflow of workflows) note(workflow);
  return known;
};

/** The number of turns that each fetcher may run at once. The sum is the concurrency. */
const spread = (concurrency: number, fetchers: number): readonly number[] => {
  const count = Math.min(concurrency, fetchers);
  return Array.from({ length: count }, (_, index) =>
    Math.floor((concurrency + count - 1 - index) / count),
  );
};

type Hooks = Pick<TurnOptions, 'tellEnd' | 'tellFailure' | 'beforeTurn'>;

/**
 * Hooks for instances that other instances have started: they begin only while the other one waits,
 * and report their end to it.
 */
const withOthers = (
  others: Others,
  { beforeTurn, tellEnd, tellFailure }: Hooks,
): Hooks & Pick<TurnOptions, 'send'> => ({
  send: others.send,
  beforeTurn: async (job) => {
    if (!hasRecord(job.progress)) await others.checkAwaited(job);
    await beforeTurn?.(job);
  },
  tellEnd: (instance, job) => {
    const tell = tellEnd?.(instance, job);
    const tellOther = others.tellEnd(job);
    if (tell === undefined || tellOther === undefined) return tell ?? tellOther;
    return async (end) => {
      await tell(end);
      await tellOther(end);
    };
  },
  tellFailure: async (job, reason) => {
    await tellFailure?.(job, reason);
    await others.tellFailure(job, reason);
  },
});

export const startWorkflowWorker = (options: {
  readonly queue: Queue;
  readonly connection: RedisClient;
  /** The workflows to run, each with its earlier versions that may still be open. */
  readonly workflows: readonly Workflow[];
  readonly concurrency: number;
  /**
   * BullMQ workers that share the concurrency. Each fetches one job at a time, in one round trip.
   * Default 1.
   */
  readonly fetchers?: number;
  readonly workflowOf?: TurnOptions['workflowOf'];
  readonly abandon?: TurnOptions['abandon'];
  readonly tellEnd?: TurnOptions['tellEnd'];
  readonly beforeTurn?: TurnOptions['beforeTurn'];
  readonly tellFailure?: TurnOptions['tellFailure'];
  /**
   * Needed by charts that start other workflows, and by effects that send events. Default: neither
   * is possible.
   */
  readonly others?: Others;
  /** Activities that charts name (`providedActivity`), made by `activity`. */
  readonly activities?: Readonly<Record<string, AnyActorLogic>>;
  /** Runs around each turn. */
  readonly around?: (job: InstanceJob, turn: () => Promise<unknown>) => Promise<unknown>;
  readonly observe?: (id: string, observation: Observation) => void;
  /** Used by rehearsals: replaces activities, and is told of each effect. */
  readonly watch?: {
    readonly activityFor: (logic: AnyActorLogic) => Activity;
    readonly effect: NonNullable<TurnOptions['onEffect']>;
  };
  readonly now: () => number;
  readonly onError: OnError;
  /** Time that running activities get to end at `close`. Default 1000. */
  readonly graceMs?: number;
  /** Time after the death of a process until its tries are repeated. Default 10 000. */
  readonly holdMs?: number;
  /** Retention of ended instances. Default: they are kept for ever. */
  readonly retention?: { readonly doneMs?: number; readonly failedMs?: number };
  readonly worker?: Partial<WorkerOptions>;
}): WorkflowWorker => {
  const {
    queue,
    connection,
    workflows,
    concurrency,
    observe = () => undefined,
    now,
    onError,
  } = options;
  const {
    holdMs = 10_000,
    graceMs = 1000,
    around,
    others,
    retention: { doneMs, failedMs } = {},
  } = options;
  const { beforeTurn, tellEnd, tellFailure } = options;
  const hooks: Hooks = { beforeTurn, tellEnd, tellFailure };
  const provided = new Map(Object.entries(options.activities ?? {}));
  const known = catalogue(
    workflows,
    (name) => options.watch !== undefined || provided.has(name),
    others !== undefined,
  );
  const store = createInstanceStore(queue, connection, now);
  /** Sends the end of a try. The first answer of two tries counts; every failure counts. */
  const bringOnce = async (
    id: string,
    key: string,
    { child, run, result }: EndedActivity,
  ): Promise<void> => {
    if (result.kind === 'done') {
      await deliver(store, id, key, doneEvent(child, result.output), { about: { child, run } });
    } else {
      await deliver(store, id, key, { type: tryEvent }, { about: { child, run, result } });
    }
  };
  let isClosing = false;
  /**
   * Sends the end of a try, again and again while Redis cannot be used, because without it the
   * activity runs again when its hold has run out. Only a worker that closes gives up.
   */
  const bring = async (id: string, ended: EndedActivity): Promise<void> => {
    const key = `${runKeys}${ended.child}/${ended.run}/${randomUUID()}`;
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await bringOnce(id, key, ended);
      } catch (error) {
        const goesOn = isRedisAway(error) && !isClosing;
        if (isFirst || !goesOn) onError(toError(error));
        if (!goesOn) return;
        await delay(bringEveryMs);
      }
    }
  };
  const renew = (tries: readonly HeldTry[]) => store.renew(tries, now() + holdMs);
  const activities = createActivities(bring, renew, holdMs, (error, start) => {
    const { workflow, instance, src: activity, attempt } = start;
    onError(error, { workflow, instance: instance.id, activity, attempt });
  });
  /** A token begins with the id of its worker. */
  const workerOf = (token: string): TurnWorker | undefined =>
    workers.find((worker) => token.startsWith(worker.id));
  const givingBack = <T>(id: string, token: string, write: () => Promise<T>): Promise<T> => {
    workerOf(token)?.letGo(id);
    return untilTaken(write, (error) => onError(error));
  };
  const sleep: typeof store.sleep = (id, token, until) =>
    givingBack(id, token, () => store.sleep(id, token, until));
  const commit: typeof store.commit = async (id, token, given) => {
    if (given.then !== 'sleeps') return store.commit(id, token, given);
    let isOver = false;
    try {
      const committed = await givingBack(id, token, () => store.commit(id, token, given));
      isOver = committed.kind !== 'more';
      return committed;
    } finally {
      if (!isOver) workerOf(token)?.keep(id, token);
    }
  };
  const turn = createTurn({
    store: { ...store, sleep, commit },
    find: (name, version) => {
      const versions = known.get(name) ?? [];
      return version === undefined
        ? versions[0]
        : versions.find(({ chart }) => chart.version === version);
    },
    activities,
    onEffect: options.watch?.effect,
    activityFor: (logic) => {
      const known = (options.watch?.activityFor ?? activityFor)(logic);
      if (known.starts !== undefined && others !== undefined)
        return others.activityFor(known.starts);
      return known.provided === undefined
        ? known
        : activityFor(provided.get(known.provided) ?? logic);
    },
    ...(others === undefined ? hooks : withOthers(others, hooks)),
    holdMs,
    observe,
    now,
    onError,
    workflowOf: options.workflowOf,
    abandon: options.abandon,
  });
  const startOne = (concurrency: number, index: number): TurnWorker =>
    new TurnWorker(
      queue.name,
      (job, token) => {
        if (token === undefined) throw new Error('BullMQ gave no lock token');
        const run = (): Promise<unknown> => turn(job as InstanceJob, token);
        return around === undefined ? run() : around(job as InstanceJob, run);
      },
      {
        connection,
        prefix: queue.opts.prefix ?? 'bull',
        concurrency,
        lockDuration: 5000,
        stalledInterval: 2000,
        maxStalledCount: Number.MAX_SAFE_INTEGER,
        runRetryDelay: 500,
        skipStalledCheck: index > 0,
        ...(doneMs !== undefined && { removeOnComplete: ageOf(doneMs) }),
        ...(failedMs !== undefined && { removeOnFail: ageOf(failedMs) }),
        ...options.worker,
      },
      now,
    );
  promoteInSteps(connection);
  const workers = spread(concurrency, options.fetchers ?? 1).map(startOne);
  for (const worker of workers) {
    worker.on('error', (error) => onError(error));
    worker.putOff = (id, token) => sleep(id, token, now() + putOffMs);
    // A lock that is lost does not come back. It is reported once.
    worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) worker.letGo(id);
    });
  }
  const clean = (state: 'completed' | 'failed', keptMs: number | undefined): void => {
    if (keptMs !== undefined) queue.clean(graceOf(keptMs, now), maxCleaned, state).catch(onError);
  };
  const intervals = [
    setInterval(() => store.wakeLapsed().catch(onError), holdMs / 2).unref(),
    setInterval(() => {
      clean('completed', doneMs);
      clean('failed', failedMs);
    }, cleanEveryMs).unref(),
  ];
  return {
    workers,
    ready: async () => {
      await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    },
    close: async () => {
      for (const interval of intervals) clearInterval(interval);
      // Turns first: a turn would start given-up tries again.
      const closed = await Promise.all(
        workers.map(async (worker) => {
          if (await settlesWithin(worker.close(), closeTimeoutMs)) return true;
          (await worker.getBackend().blockingClient)?.disconnect();
          return false;
        }),
      );
      isClosing = true;
      // An end that Redis does not take now is lost. The hold runs out, and another try is made.
      await settlesWithin(activities.close(graceMs), graceMs + bringTimeoutMs);
      return closed.every(Boolean);
    },
  };
};
