/**
 * The package `paraph/workflow` for other programs: ordinary XState 5 charts that survive restarts.
 * docs/workflows.md is the manual.
 */
import { Queue } from 'bullmq';
import { createRedisClock } from './redis/clock.ts';
import {
  clockOf,
  connectForBlocking,
  connectForCommands,
  disconnect,
  type RedisClient,
} from '../../../src/redis/connect.ts';
import type { Workflow } from './define.ts';
import { createEngine, type Engine, spreadOver, turnBusyTimeoutMs } from './engine.ts';
import type { Observation } from './interpret.ts';
import { createOthers } from './other.ts';
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
export { type EffectInHand, effectOf } from './effect.ts';
export type { Foresight, SendResult } from './engine.ts';
export type { InstanceOf, Instances, SendOptions, ToChild } from './instances.ts';
export type { Observation } from './interpret.ts';
export type { InstanceRecord } from './record.ts';
export { stepTime } from './step-time.ts';
export type { WorkflowWorker } from './worker.ts';

/** Without Redis this check fails the queue for ever. Workers check, too, and wait for Redis. */
const unasked = { skipVersionCheck: true };

export interface Workflows extends Pick<Engine, 'of' | 'answer'> {
  /** Runs turns in this process until it is closed. Start it in as many processes as are needed. */
  work(options: {
    /** Each with the earlier versions of it that may still be open. */
    readonly workflows: readonly Workflow[];
    /** Turns at a time. Default 50. */
    readonly concurrency?: number;
    readonly observe?: (id: string, observation: Observation) => void;
    /** How long ended instances are kept. Default: for ever. */
    readonly retention?: { readonly doneMs?: number; readonly failedMs?: number };
  }): Promise<WorkflowWorker>;
  /** Closes the workers, and ends the connections that were made here. */
  close(): Promise<void>;
}

/**
 * @param options.redisUrl `redis://…`, `rediss://…`, `unix:/path/to/socket`, or the nodes of a
 *   cluster, separated by commas.
 * @param options.connection Of ioredis, with `maxRetriesPerRequest: null`. It is used and not
 *   ended.
 * @param options.prefix Of all keys. Default `workflows`.
 * @param options.shards Number of queues; on a cluster each has a slot of its own. Default 1. It
 *   must not change while instances are open.
 * @param options.onError Gets errors after which the engine tries again: a lost connection, an
 *   effect that threw, a bug of a chart.
 */
export const openWorkflows = (options: {
  readonly redisUrl?: string;
  readonly connection?: RedisClient;
  readonly prefix?: string;
  readonly shards?: number;
  readonly onError: (error: Error) => void;
}): Workflows => {
  const { redisUrl, prefix = 'workflows', shards = 1, onError } = options;
  if ((redisUrl === undefined) === (options.connection === undefined)) {
    throw new TypeError('redisUrl or connection: one of them');
  }
  if (!Number.isInteger(shards) || shards < 1) throw new TypeError('shards: a whole number from 1');
  // Commands fail when Redis does not answer. Workers wait until it comes back.
  const own = options.connection === undefined;
  const commands = options.connection ?? connectForCommands({ url: redisUrl ?? '' });
  let blocking = options.connection;
  const { now } = own ? clockOf(commands) : createRedisClock(commands);
  commands.on('error', onError);

  const open = (connection: RedisClient): readonly Queue[] =>
    Array.from({ length: shards }, (_, shard) => {
      const at = { connection, prefix: `{${prefix}-${shard}}`, skipWaitingForReady: true, ...unasked };
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
    if (blocking === undefined) {
      blocking = connectForBlocking({ url: redisUrl ?? '' });
      blocking.on('error', onError);
    }
    const connection = blocking;
    const queues = open(connection);
    opened.push(queues);
    const workers = queues.map((queue) =>
      startWorkflowWorker({
        ...{ queue, connection, workflows, others, concurrency, now, onError },
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
      if (!own) return;
      await disconnect(commands);
      if (blocking !== undefined) await disconnect(blocking);
    },
  };
};
