/** A product whose metrics anybody may read, with a queue to look into. */
import { type CancelResult, cancelTransaction } from '../../src/transactions/cancellation.ts';
import { closeShards, openShards } from '../../src/transactions/shards.ts';
import { type Json, startTestProduct } from '../support/product.ts';
import type { TestRedis } from '../support/redis.ts';

export type Stage = Awaited<ReturnType<typeof openStage>>;

const only = <T>([first]: readonly T[]): T => {
  if (first === undefined) throw new Error('there is none');
  return first;
};

export const namedAp = 'http://named.example';

export const openStage = async (redis: TestRedis, operations: Record<string, unknown> = {}) => {
  const product = await startTestProduct(redis, {
    configuration: {
      applicationProviders: [{ id: namedAp }],
      operations: { metricsOpen: true, ...operations },
      queue: { shards: 1 },
    },
    workers: false,
    processMetrics: true,
  });
  const { core, api, configuration } = product;
  const { telemetry, protocol, now } = core;
  const shards = openShards({
    redis: core.commands,
    prefix: configuration.queue.prefix,
    shards: 1,
    onError: () => undefined,
  });
  const shard = only(shards);
  const fetch = async (path: string, init?: RequestInit): Promise<Response> =>
    api.fetch(new Request(`http://test${path}`, init));
  return {
    telemetry,
    logged: product.logged,
    transactions: api.transactions,
    shard,
    startWorkers: product.startWorkers,
    post: async (
      path: string,
      body: unknown,
      headers: Record<string, string> = {},
    ): Promise<{ status: number; body: Json }> => {
      const response = await fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: await response.json() };
    },
    get: fetch,
    replay: product.replay,
    cancel: (msspTransId: string): Promise<CancelResult> =>
      cancelTransaction(msspTransId, { at: shard.signatures, protocol, now }),
    metrics: async (): Promise<string> => (await fetch('/metrics')).text(),
    stop: async (): Promise<void> => {
      await product.stop();
      await closeShards(shards);
    },
  };
};
