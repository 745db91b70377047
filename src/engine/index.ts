/**
 * What other programs import from `paraph/workflow`: ordinary XState 5 charts that outlive processes.
 *
 * docs/workflows.md is the manual.
 */
import { Queue } from 'bullmq';
import { connectForBlocking, disconnect, type RedisClient } from '../redis/connect.ts';
import type { Workflow } from './define.ts';
import { createEngine, type Engine } from './engine.ts';
import type { Observation } from './interpret.ts';
import { startWorkflowWorker, type WorkflowWorker } from './worker.ts';

export { ChartError } from './chart.ts';
export type { ActivityArguments, ActivityPolicy, Later, Workflow } from './define.ts';
export { activity, defineWorkflow, later } from './define.ts';
export type { Engine, Instance, SendResult } from './engine.ts';
export type { Observation } from './interpret.ts';
export type { InstanceRecord } from './record.ts';
export type { WorkflowWorker } from './worker.ts';

export interface Workflows extends Engine {
  /** Runs turns in this process until it is closed. Start it in as many processes as are needed. */
  work(options: {
    /** Each with the earlier versions of it that may still be open. */
    readonly workflows: readonly Workflow[];
    /** Turns at a time. Default 50. */
    readonly concurrency?: number;
    readonly observe?: (id: string, observation: Observation) => void;
  }): Promise<WorkflowWorker>;
  /** Ends the connections that were made here. Workers are closed before. */
  close(): Promise<void>;
}

/**
 * @param options.redisUrl `redis://…`, `rediss://…`, `unix:/path/to/socket`, or the nodes of a cluster, separated by commas.
 * @param options.connection Of ioredis, with `maxRetriesPerRequest: null`. It is used and not ended.
 * @param options.prefix Of all keys. Default `workflows`.
 * @param options.onError Hears of what is tried again: a lost connection, an effect that threw, a bug of a chart.
 */
export const openWorkflows = (options: {
  readonly redisUrl?: string;
  readonly connection?: RedisClient;
  readonly prefix?: string;
  readonly onError: (error: Error) => void;
}): Workflows => {
  const { redisUrl, prefix = 'workflows', onError } = options;
  if ((redisUrl === undefined) === (options.connection === undefined)) {
    throw new TypeError('redisUrl or connection: one of them');
  }
  const connection = options.connection ?? connectForBlocking({ url: redisUrl ?? '' });
  connection.on('error', onError);
  const queue = new Queue('workflows', { connection, prefix: `{${prefix}}`, skipWaitingForReady: true });
  queue.on('error', onError);
  const now = Date.now;
  const workers: WorkflowWorker[] = [];
  return {
    ...createEngine({ queue, redis: connection, now }),
    work: async ({ workflows, concurrency = 50, observe }) => {
      const worker = startWorkflowWorker({
        queue,
        connection,
        workflows,
        concurrency,
        now,
        onTrouble: onError,
        ...(observe !== undefined && { observe }),
      });
      workers.push(worker);
      await worker.ready();
      return worker;
    },
    close: async () => {
      await Promise.all(workers.map((worker) => worker.close()));
      await queue.close();
      connection.off('error', onError);
      if (options.connection === undefined) await disconnect(connection);
    },
  };
};
