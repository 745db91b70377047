/**
 * Bulk replays that were ordered at a release that had no instances of them. They become instances; the list, and what became of
 * each, lie where they lay. A process of that release leaves a bulk alone once it is no longer among the open ones.
 */
import type { Queue } from 'bullmq';
import { z } from 'zod';
import { bulkOrderSchema } from '../../machines/bulk-replay.machine.ts';
import { createEngine, spreadOver } from '../engine/engine.ts';
import type { RedisClient } from '../redis/connect.ts';
import { bulkWorkflow, createBulkStore, keptSeconds, replayKey } from './bulk-store.ts';

const earlierSchema = z.tuple([
  z.string().transform((text) => bulkOrderSchema.parse(JSON.parse(text))),
  z.string(),
]);

/** @returns Takes over those that are open now. One that cannot be read stays, and rejects when the others are taken over. */
export const createTakeOver = (options: {
  readonly queue: Queue;
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly now: () => number;
}): (() => Promise<void>) => {
  const { queue, redis, prefix, now } = options;
  const engine = createEngine(spreadOver([queue], redis, now), now);
  const store = createBulkStore(options);
  const workflow = bulkWorkflow();
  const openKey = replayKey(prefix, 'open');

  const takeOver = async (id: string): Promise<void> => {
    const bulkKey = replayKey(prefix, `bulk:${id}`);
    const [order, state] = earlierSchema.parse(await redis.hmget(bulkKey, 'order', 'state'));
    if (state === 'stopping') await store.close(id);
    await engine.start(workflow, id, order);
    await redis.expire(bulkKey, keptSeconds);
    await redis.srem(openKey, id);
  };

  return async () => {
    // Processes of that release still list theirs from it.
    await redis.expire(replayKey(prefix, 'bulks'), keptSeconds, 'NX');
    const ids = await redis.smembers(openKey);
    const done = await Promise.allSettled(ids.map(takeOver));
    const failed = done.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  };
};
