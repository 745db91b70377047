/**
 * The queues, three for each shard: signatures, receipts, and what is told to application providers (src/callbacks).
 *
 * A BullMQ queue lives in one slot, so on one core of one Redis; more shards spread the work over the nodes of a
 * cluster. With one shard (the default) this is simply three queues. Bulk replays are few, and have one queue in all.
 */
import { type Job, type JobsOptions, Queue, type QueueOptions, type Telemetry } from 'bullmq';
import { addFairly } from '../engine/redis/fair-adding.ts';
import { createJobHome, type JobHome } from '../engine/redis/job-home.ts';
import type { RedisClient } from '../redis/connect.ts';
import { settlesWithin } from '../redis/timeout.ts';
import { receiptQueueName, shardPrefix, signatureQueueName } from './contract.ts';

export const callbackQueueName = 'callbacks';
export const bulkQueueName = 'bulk-replays';

export interface QueueAt {
  readonly queue: Queue;
  readonly redis: RedisClient;
  readonly home: JobHome;
}

export interface Shard {
  readonly index: number;
  readonly prefix: string;
  readonly signatures: QueueAt;
  readonly receipts: QueueAt;
  readonly callbacks: QueueAt;
}

export interface ShardsOptions {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: number;
  readonly onError: (error: Error) => void;
  /** Carries the trace of whoever adds a job to whoever runs it. Without it there are no traces. */
  readonly telemetry?: Telemetry | undefined;
}

/** Adding goes through four promises that are there for traces alone; without traces it does not. */
class DirectQueue extends Queue {
  override add(name: string, data: unknown, options?: JobsOptions): Promise<Job> {
    return this.opts.telemetry === undefined
      ? this.addJob(name, data, options)
      : super.add(name, data, options);
  }
}

/** Closed with {@link closeQueues}. */
export const openQueue = (
  name: string,
  prefix: string,
  { redis, onError, telemetry }: Omit<ShardsOptions, 'prefix' | 'shards'>,
): QueueAt => {
  const options: QueueOptions = {
    connection: redis,
    prefix,
    skipWaitingForReady: true,
    // BullMQ asks once, when the queue is made, and a queue whose question failed fails for ever: on a cluster that is not
    // connected yet, or while one of its nodes is away. Workers ask too, and they wait for the answer.
    skipVersionCheck: true,
    ...(telemetry !== undefined && { telemetry }),
  };
  const queue = new DirectQueue(name, options);
  queue.on('error', onError);
  return { queue, redis, home: createJobHome(queue, redis) };
};

/**
 * A job that an equal request was to join, but that is gone: removed, or kept for a shorter time than its deduplication key.
 *
 * @returns Whether that was so. The key is given up then, and the request can be added again.
 */
export const giveUpIfGone = async (
  { queue, redis }: QueueAt,
  found: string,
  deduplicationId: string,
): Promise<boolean> => {
  if ((await redis.exists(queue.toKey(found))) === 1) return false;
  await queue.getBackend().removeDeduplicationKey(deduplicationId, found);
  return true;
};

const closePatienceMs = 1000;

/** The connection stays the caller's; {@link closeShards} does not end it. */
export const openShards = ({ prefix, shards, ...common }: ShardsOptions): readonly Shard[] => {
  addFairly(common.redis);
  return Array.from({ length: shards }, (_, index) => {
    const at = shardPrefix(prefix, index);
    return {
      index,
      prefix: at,
      signatures: openQueue(signatureQueueName, at, common),
      receipts: openQueue(receiptQueueName, at, common),
      callbacks: openQueue(callbackQueueName, at, common),
    };
  });
};

/** In the slot of the first shard. */
export const openBulkQueue = ({ prefix, ...common }: Omit<ShardsOptions, 'shards'>): Queue =>
  openQueue(bulkQueueName, shardPrefix(prefix, 0), common).queue;

export const closeQueues = async (queues: readonly Queue[]): Promise<void> => {
  await Promise.all(queues.map((queue) => settlesWithin(queue.close(), closePatienceMs)));
};

export const closeShards = (shards: readonly Shard[]): Promise<void> =>
  closeQueues(
    shards.flatMap(({ signatures, receipts, callbacks }) =>
      [signatures, receipts, callbacks].map(({ queue }) => queue),
    ),
  );
