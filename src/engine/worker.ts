/**
 * Runs the turns of the instances in one queue.
 */
import { type Queue, Worker, type WorkerOptions } from 'bullmq';
import type { RedisClient } from '../redis/connect.ts';
import { settlesWithin } from '../redis/patience.ts';
import { createActivityRuns } from './activities.ts';
import type { Workflow } from './define.ts';
import { deliver } from './engine.ts';
import type { Observation } from './interpret.ts';
import type { InstanceRecord } from './record.ts';
import { createInstanceStore } from './redis/instance-store.ts';
import { createTurn, type InstanceData, type InstanceJob } from './turn.ts';

export interface WorkflowWorker {
  ready(): Promise<void>;
  /** Takes no more jobs, and lets those in hand finish their turn. */
  close(): Promise<void>;
}

const closePatienceMs = 8000;

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

export const startWorkflowWorker = (options: {
  readonly queue: Queue;
  readonly connection: RedisClient;
  /** Each with the earlier versions of it that may still be open. */
  readonly workflows: readonly Workflow[];
  readonly concurrency: number;
  readonly observe?: (id: string, observation: Observation) => void;
  readonly now: () => number;
  readonly onTrouble: (error: Error) => void;
  readonly worker?: Partial<WorkerOptions>;
}): WorkflowWorker => {
  const { queue, connection, workflows, concurrency, observe = () => undefined, now, onTrouble } = options;
  const known = catalogue(workflows);
  const store = createInstanceStore(queue, connection);
  const stopping = new AbortController();
  const turn = createTurn({
    stopping: stopping.signal,
    store,
    find: (name, version) => {
      const versions = known.get(name) ?? [];
      return version === undefined ? versions[0] : versions.find(({ chart }) => chart.version === version);
    },
    activities: createActivityRuns(),
    neighbours: {
      start: async (workflow, id, data) => {
        await queue.add(workflow.chart.name, data, { jobId: id });
      },
      tell: async (id, key, event) => {
        const given = await deliver(store, id, key, event);
        if (given === 'busy') throw new Error('Another instance is busy');
      },
    },
    observe,
    now,
    onTrouble,
  });
  const worker = new Worker<InstanceData, InstanceRecord>(
    queue.name,
    (job, token) => {
      if (token === undefined) throw new Error('BullMQ gave no lock token');
      return turn(job as InstanceJob, token);
    },
    {
      connection,
      prefix: queue.opts.prefix ?? 'bull',
      concurrency,
      lockDuration: 5000,
      stalledInterval: 2000,
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      runRetryDelay: 500,
      ...options.worker,
    },
  );
  worker.on('error', onTrouble);
  return {
    ready: async () => {
      await worker.waitUntilReady();
    },
    close: async () => {
      stopping.abort();
      if (await settlesWithin(worker.close(), closePatienceMs)) return;
      (await worker.getBackend().blockingClient)?.disconnect();
    },
  };
};
