/**
 * Runs the turns of the instances in one queue.
 */
import { randomUUID } from 'node:crypto';
import { type Queue, Worker, type WorkerOptions } from 'bullmq';
import type { RedisClient } from '../redis/connect.ts';
import { settlesWithin } from '../redis/timeout.ts';
import { toError } from '../redis/to-error.ts';
import { createActivities, doneEvent, type Ended } from './activities.ts';
import { jobNameOf, type Workflow } from './define.ts';
import { deliver, type HomeOf, spreadOver } from './engine.ts';
import type { Observation } from './interpret.ts';
import { tellEnds } from './redis/end-stream.ts';
import { createInstanceStore, type HeldTry, runKeys } from './redis/instance-store.ts';
import { inRedisTime } from './redis/redis-time.ts';
import type { InstanceJob } from './take-job.ts';
import { createTurn, type TurnOptions, tryEvent } from './turn.ts';

export interface WorkflowWorker {
  /** BullMQ's own. */
  readonly workers: readonly Worker[];
  ready(): Promise<void>;
  /**
   * Takes no more jobs, and lets those in hand finish their turn.
   *
   * @returns Whether they have; without Redis they cannot.
   */
  close(): Promise<boolean>;
}

const closePatienceMs = 8000;
const bringPatienceMs = 2000;
const usualGraceMs = 1000;
/** A process that dies loses its tries; so long after it renewed them last they are made again. */
const usualHoldMs = 10_000;

/** All versions of each workflow, the charts that they start among them. */
const catalogue = (workflows: readonly Workflow[]): ReadonlyMap<string, readonly Workflow[]> => {
  const known = new Map<string, Workflow[]>();
  const note = (workflow: Workflow): void => {
    const { name, version } = workflow.chart;
    const versions = known.get(name) ?? [];
    if (versions.some(({ chart }) => chart.version === version)) {
      throw new Error(`There are two workflows ${name} of version ${version}`);
    }
    known.set(
      name,
      [...versions, workflow].toSorted((a, b) => b.chart.version - a.chart.version),
    );
    for (const child of Object.values(workflow.children)) note(child);
  };
  for (const workflow of workflows) note(workflow);
  return known;
};

/** How many turns each of the fetchers may run at once; together as many as the concurrency says. */
const spread = (concurrency: number, fetchers: number): readonly number[] => {
  const count = Math.min(concurrency, fetchers);
  return Array.from({ length: count }, (_, index) => Math.floor((concurrency + count - 1 - index) / count));
};

export const startWorkflowWorker = (options: {
  readonly queue: Queue;
  readonly connection: RedisClient;
  /** Of the other instances. Default: all are in this queue. */
  readonly home?: HomeOf;
  /** Each with the earlier versions of it that may still be open. */
  readonly workflows: readonly Workflow[];
  readonly concurrency: number;
  /**
   * A BullMQ worker fetches one job at a time, whatever its concurrency, and each fetch is a round trip; several that share the concurrency
   * fetch side by side. Default 1.
   */
  readonly fetchers?: number;
  readonly workflowOf?: TurnOptions['workflowOf'];
  readonly abandon?: TurnOptions['abandon'];
  /** What goes on around each turn, such as waiting for it. */
  readonly around?: (job: InstanceJob, turn: () => Promise<unknown>) => Promise<unknown>;
  readonly observe?: (id: string, observation: Observation) => void;
  readonly now: () => number;
  readonly onTrouble: (error: Error) => void;
  /** What activities that run get at the end; the others are left to another process. Default 1000. */
  readonly graceMs?: number;
  /** How long after the death of a process a try of an activity is lost. Default 10 000. */
  readonly holdMs?: number;
  readonly worker?: Partial<WorkerOptions>;
}): WorkflowWorker => {
  const { queue, connection, workflows, concurrency, observe = () => undefined, now, onTrouble } = options;
  const { holdMs = usualHoldMs, around } = options;
  const { home = spreadOver([queue], connection, now) } = options;
  const known = catalogue(workflows);
  const store = createInstanceStore(queue, connection, now);
  const bring = async (id: string, { child, run, result }: Ended): Promise<void> => {
    try {
      // Of two tries the first that answers counts, whoever brings it; of those that fail, each.
      const key = `${runKeys}${child}/${run}/${randomUUID()}`;
      if (result.kind === 'done') {
        await deliver(store, id, key, doneEvent(child, result.output), { about: { child, run } });
      } else {
        await deliver(store, id, key, { type: tryEvent }, { about: { child, run, result } });
      }
    } catch (error) {
      // Nobody renews its hold any more, and another try is made.
      onTrouble(toError(error));
    }
  };
  const renew = (tries: readonly HeldTry[]) => store.renew(tries, now() + holdMs);
  const activities = createActivities(bring, renew, holdMs, onTrouble);
  const turn = createTurn({
    store,
    find: (name, version) => {
      const versions = known.get(name) ?? [];
      return version === undefined ? versions[0] : versions.find(({ chart }) => chart.version === version);
    },
    activities,
    holdMs,
    neighbours: {
      start: async (workflow, id, input) => {
        await home(id).queue.add(jobNameOf(workflow), input, { jobId: id, timestamp: now() });
      },
      tell: async (id, key, event, about) => {
        const given = await deliver(home(id).store, id, key, event, about && { about });
        if (given === 'busy') throw new Error('Another instance is busy');
      },
    },
    ...{ observe, now, onTrouble },
    ...{ workflowOf: options.workflowOf, abandon: options.abandon },
  });
  const startOne = (concurrency: number, index: number): Worker =>
    new Worker(
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
        ...options.worker,
      },
      inRedisTime(now),
    );
  tellEnds(connection);
  const workers = spread(concurrency, options.fetchers ?? 1).map(startOne);
  for (const worker of workers) worker.on('error', onTrouble);
  const looking = setInterval(() => store.wakeLapsed().catch(onTrouble), holdMs / 2).unref();
  return {
    workers,
    ready: async () => {
      await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    },
    close: async () => {
      clearInterval(looking);
      // Turns first: one of them would begin again what is given up.
      const closed = await Promise.all(
        workers.map(async (worker) => {
          if (await settlesWithin(worker.close(), closePatienceMs)) return true;
          (await worker.getBackend().blockingClient)?.disconnect();
          return false;
        }),
      );
      // What Redis does not hear of is lost with the process, and tried again when its hold has run out.
      const { graceMs = usualGraceMs } = options;
      await settlesWithin(activities.close(graceMs), graceMs + bringPatienceMs);
      return closed.every(Boolean);
    },
  };
};
