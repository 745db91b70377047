/** The indexer in a process of its own. */

import {
  connectForBlocking,
  disconnect,
  type RedisClient,
  whenReady,
} from '../../src/redis/connect.ts';
import { createIndexer, type Indexer } from '../../src/transactions/history/indexer.ts';
import { serveParent } from '../harness/program.ts';
import { type IndexerQuestion, indexedService } from './indexer-load-client.ts';

const raise = (error: Error): void => {
  throw error;
};

let running: { readonly redis: RedisClient; readonly indexer: Indexer } | undefined;

const stop = async (): Promise<void> => {
  const { redis, indexer } = running ?? {};
  running = undefined;
  await indexer?.close();
  if (redis !== undefined) await disconnect(redis);
};

serveParent(async ({ kind, redisUrl }: IndexerQuestion): Promise<void> => {
  if (kind === 'stop') return stop();
  if (kind === 'start') {
    await stop();
    const redis = connectForBlocking({ url: redisUrl });
    await whenReady(redis);
    const indexer = createIndexer({ ...indexedService, redis, now: Date.now, onError: raise });
    indexer.start();
    running = { redis, indexer };
  }
  await running?.indexer.idle();
});
