/**
 * The queues, one pair for each shard.
 *
 * A BullMQ queue lives in one slot, so on one core of one Redis; more shards spread the work over the nodes of a
 * cluster. With one shard (the default) this is simply two queues.
 */
import { Queue, type QueueOptions } from 'bullmq';
import type { RedisClient } from '../redis/connect.ts';
import { settlesWithin } from '../redis/patience.ts';
import { receiptQueueName, shardPrefix, signatureQueueName } from './contract.ts';
import { createJobHome, type JobHome } from './job-home.ts';

export interface QueueAt {
  readonly queue: Queue;
  readonly home: JobHome;
}

export interface Shard {
  readonly index: number;
  readonly prefix: string;
  readonly signatures: QueueAt;
  readonly receipts: QueueAt;
}

export interface ShardsOptions {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: number;
  readonly onError: (error: Error) => void;
}

const openQueue = (
  name: string,
  redis: RedisClient,
  prefix: string,
  onError: ShardsOptions['onError'],
): QueueAt => {
  const options: QueueOptions = { connection: redis, prefix, skipWaitingForReady: true };
  const queue = new Queue(name, options);
  queue.on('error', onError);
  return { queue, home: createJobHome(queue, redis) };
};

const closePatienceMs = 1000;

/** The connection stays the caller's; {@link closeShards} does not end it. */
export const openShards = ({ redis, prefix, shards, onError }: ShardsOptions): readonly Shard[] =>
  Array.from({ length: shards }, (_, index) => {
    const at = shardPrefix(prefix, index);
    return {
      index,
      prefix: at,
      signatures: openQueue(signatureQueueName, redis, at, onError),
      receipts: openQueue(receiptQueueName, redis, at, onError),
    };
  });

export const closeShards = async (shards: readonly Shard[]): Promise<void> => {
  const queues = shards.flatMap(({ signatures, receipts }) => [signatures.queue, receipts.queue]);
  await Promise.all(queues.map((queue) => settlesWithin(queue.close(), closePatienceMs)));
};
