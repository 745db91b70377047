/**
 * Ordinary XState 5 charts that survive crashes. README.md shows how; docs/workflows.md is the
 * manual.
 */
import { Queue } from 'bullmq';
import type { Workflow } from './define.ts';
import { createEngine, type Engine, spreadOver, turnBusyTimeoutMs } from './engine.ts';
import type { Observation } from './interpret.ts';
import { createOthers } from './other.ts';
import type { RedisClient } from './redis/client.ts';
import { createRedisClock } from './redis/clock.ts';
import { startWorkflowWorker, type WorkflowWorker } from './worker.ts';

export { ChartError } from './chart.ts';
export type {
  ActivityArguments,
  ActivityPolicy,
  Gate,
  GateTurn,
  GateVerdict,
  InstanceInHand,
  Later,
  Workflow,
} from './define.ts';
export { activity, defineWorkflow, InputError, later, workflow } from './define.ts';
export { type EffectInHand, effect, effectOf } from './effect.ts';
export type { Foresight, SendResult } from './engine.ts';
export type { InstanceOf, Instances, SendOptions, ToChild } from './instances.ts';
export type { Observation } from './interpret.ts';
export type { InstanceRecord } from './record.ts';
export { SchemaError, type StandardSchema } from './schema.ts';
export { stepTime } from './step-time.ts';
export type { WorkflowWorker } from './worker.ts';

/**
 * The version check of a queue rejects for ever when it runs without Redis. Workers make the same
 * check, and wait for Redis.
 */
const unasked = { skipVersionCheck: true };

export interface Workflows extends Pick<Engine, 'of' | 'answer'> {
  /** Runs turns in this process until it is closed. Start it in as many processes as are needed. */
  work(options: {
    /** The workflows to run, each with its earlier versions that may still be open. */
    readonly workflows: readonly Workflow[];
    /** Turns at a time. Default 50. */
    readonly concurrency?: number;
    readonly observe?: (id: string, observation: Observation) => void;
    /** Retention of ended instances. Default: they are kept for ever. */
    readonly retention?: { readonly doneMs?: number; readonly failedMs?: number };
  }): Promise<WorkflowWorker>;
  /** Closes the workers. The connections stay. */
  close(): Promise<void>;
}

/**
 * @param options.connection An ioredis client, with `maxRetriesPerRequest: null` unless workers
 *   have another one. The caller ends it.
 * @param options.workerConnection Gives the connection of workers when the first one starts: it
 *   waits for Redis for as long as it takes. Default: `connection`.
 * @param options.now Milliseconds since the epoch. Default: the clock of Redis.
 * @param options.prefix The prefix of all keys. Default `workflows`.
 * @param options.shards Number of queues; on a cluster each has a slot of its own. Default 1. It
 *   must not change while instances are open.
 * @param options.onError Gets errors after which the engine tries again: a lost connection, an
 *   effect that threw, a bug of a chart.
 */
export const openWorkflows = (options: {
  readonly connection: RedisClient;
  readonly workerConnection?: () => RedisClient;
  readonly now?: () => number;
  readonly prefix?: string;
  readonly shards?: number;
  readonly onError: (error: Error) => void;
}): Workflows => {
  const { connection: commands, prefix = 'workflows', shards = 1, onError } = options;
  if (!Number.isInteger(shards) || shards < 1) throw new TypeError('shards: a whole number from 1');
  const now = options.now ?? createRedisClock(commands).now;
  commands.on('error', onError);

  const open = (connection: RedisClient): readonly Queue[] =>
    Array.from({ length: shards }, (_, shard) => {
      const at = {
        connection,
        prefix: `{${prefix}-${shard}}`,
        skipWaitingForReady: true,
        ...unasked,
      };
      const queue = new Queue('workflows', at);
      queue.on('error', onError);
      return queue;
    });
  const ownQueues = open(commands);
  const opened = [ownQueues];
  const locate = spreadOver(ownQueues, commands, now);
  const others = createOthers({ engine: createEngine(locate, now, turnBusyTimeoutMs) });
  const working = new Set<WorkflowWorker>();

  const work: Workflows['work'] = async ({ workflows, concurrency = 50, observe, retention }) => {
    const connection = options.workerConnection?.() ?? commands;
    const queues = open(connection);
    opened.push(queues);
    const workers = queues.map((queue) =>
      startWorkflowWorker({
        queue,
        connection,
        workflows,
        others,
        concurrency,
        now,
        onError,
        ...(retention !== undefined && { retention }),
        ...(observe !== undefined && { observe }),
      }),
    );
    const all: WorkflowWorker = {
      workers: workers.flatMap((worker) => worker.workers),
      ready: async () => {
        await Promise.all(workers.map((worker) => worker.ready()));
      },
      close: async () => {
        working.delete(all);
        return (await Promise.all(workers.map((worker) => worker.close()))).every(Boolean);
      },
    };
    working.add(all);
    await all.ready();
    return all;
  };

  return {
    ...createEngine(locate, now),
    work,
    close: async () => {
      await Promise.all([...working].map((worker) => worker.close()));
      await Promise.all(opened.flat().map((queue) => queue.close()));
      commands.off('error', onError);
    },
  };
};
