/**
 * The queues. Each shard has two, signatures and receipts, and those of the parts.
 * Bulk replays are few and have one queue. A BullMQ queue lies in one slot, so it uses one core of
 * one Redis; more shards spread the work over the nodes of a cluster.
 */
import { type Job, type JobsOptions, Queue, type QueueOptions, type Telemetry } from 'bullmq';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import type { RedisClient } from '../redis/connect.ts';
import { receiptQueueName, shardPrefix, signatureQueueName } from './contract.ts';
import { shardOf } from './ids.ts';
import { addFairly } from './jobs/fair-adding.ts';
import { createJobStore, type JobStore } from './jobs/job-store.ts';

export const bulkQueueName = 'bulk-replays';

export interface QueueAt {
  readonly queue: Queue;
  readonly redis: RedisClient;
  readonly jobs: JobStore;
}

export interface Shard {
  readonly index: number;
  readonly prefix: string;
  readonly signatures: QueueAt;
  readonly receipts: QueueAt;
  /** The queues of parts. {@link queueOf} finds one. */
  readonly others: readonly QueueAt[];
}

/** @returns The shard of a transaction; undefined for an id that was never issued here. */
export const shardFor = (shards: readonly Shard[], msspTransId: string): Shard | undefined => {
  const index = shardOf(msspTransId, shards.length);
  return index === undefined ? undefined : shards[index];
};

/** The queue of the job of a transaction; undefined for an id that was never issued here. */
export const queueIn =
  (shards: readonly Shard[]) =>
  (msspTransId: string): Queue | undefined =>
    shardFor(shards, msspTransId)?.signatures.queue;

export interface ShardsOptions {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: number;
  /** The names of the queues of parts, which each shard has. */
  readonly queues?: readonly string[];
  readonly onError: (error: Error) => void;
  /** Carries traces from the program that adds a job to the worker. */
  readonly telemetry?: Telemetry | undefined;
}

/** BullMQ's `add` makes four promises for traces. Without traces they are skipped. */
class DirectQueue extends Queue {
  override add(name: string, data: unknown, options?: JobsOptions): Promise<Job> {
    return this.opts.telemetry === undefined
      ? this.addJob(name, data, options)
      : super.add(name, data, options);
  }
}

/** Opens a queue, to be closed with {@link closeQueues}. */
export const openQueue = (
  name: string,
  prefix: string,
  { redis, onError, telemetry }: Omit<ShardsOptions, 'prefix' | 'shards'>,
): QueueAt => {
  const options: QueueOptions = {
    connection: redis,
    prefix,
    skipWaitingForReady: true,
    // BullMQ asks for the version of Redis once, and a queue for which that failed fails for ever,
    // for example on a cluster that is not connected yet. Workers ask, too, and wait for the
    // answer.
    skipVersionCheck: true,
    ...(telemetry !== undefined && { telemetry }),
  };
  const queue = new DirectQueue(name, options);
  queue.on('error', onError);
  return { queue, redis, jobs: createJobStore(queue, redis) };
};

/**
 * Removes the deduplication key of a job that is gone, so that an equal request can be added again.
 *
 * @returns Whether the job was gone.
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

/**
 * Adds a job, unless there is one with its deduplication key.
 *
 * @returns The id of the new job, or of the existing one.
 */
export const addOrJoin = async (
  at: QueueAt,
  name: string,
  data: unknown,
  options: JobsOptions & {
    readonly jobId: string;
    readonly deduplication: { readonly id: string };
  },
): Promise<string> => {
  const idOf = ({ id }: Job): string => {
    if (id === undefined) throw new Error('The queue gave no job id');
    return id;
  };
  const id = idOf(await at.queue.add(name, data, options));
  const joinedNone = id !== options.jobId && (await giveUpIfGone(at, id, options.deduplication.id));
  return joinedNone ? idOf(await at.queue.add(name, data, options)) : id;
};

const closeTimeoutMs = 1000;

/** Opens all shards. {@link closeShards} does not end the connection. */
export const openShards = ({
  prefix,
  shards,
  queues = [],
  ...common
}: ShardsOptions): readonly Shard[] => {
  addFairly(common.redis);
  return Array.from({ length: shards }, (_, index) => {
    const at = shardPrefix(prefix, index);
    return {
      index,
      prefix: at,
      signatures: openQueue(signatureQueueName, at, common),
      receipts: openQueue(receiptQueueName, at, common),
      others: queues.map((name) => openQueue(name, at, common)),
    };
  });
};

/** Opens the queue of bulk replays, in the slot of the first shard. */
export const openBulkQueue = ({ prefix, ...common }: Omit<ShardsOptions, 'shards'>): Queue =>
  openQueue(bulkQueueName, shardPrefix(prefix, 0), common).queue;

/**
 * A queue of a part.
 *
 * @throws When the shards were opened without it.
 */
export const queueOf = ({ others }: Shard, name: string): QueueAt => {
  const found = others.find(({ queue }) => queue.name === name);
  if (found === undefined) throw new Error(`The shard has no queue ${name}`);
  return found;
};

/** All queues of the shards. */
export const queuesIn = (
  shards: readonly Shard[],
): readonly { readonly shard: number; readonly queue: Queue }[] =>
  shards.flatMap(({ index, signatures, receipts, others }) =>
    [signatures, receipts, ...others].map(({ queue }) => ({ shard: index, queue })),
  );

export const closeQueues = async (queues: readonly Queue[]): Promise<void> => {
  await Promise.all(queues.map((queue) => settlesWithin(queue.close(), closeTimeoutMs)));
};

export const closeShards = (shards: readonly Shard[]): Promise<void> =>
  closeQueues(queuesIn(shards).map(({ queue }) => queue));
