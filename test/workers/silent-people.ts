/**
 * A product of one shard, and people whose phones never answer by themselves: the test answers for
 * them.
 */
import {
  closeShards,
  openShards,
  type QueueAt,
  type Shard,
} from '../../src/transactions/shards.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import type { TestRedis } from '../support/redis.ts';

const people = { first: 41_760_000_000, last: 41_760_001_999 };
let nextPerson = people.first;
/** @returns The number of a person whom nobody has asked yet. */
export const somebody = (): string => `+${nextPerson++}`;

export interface SilentStage {
  readonly product: TestProduct;
  readonly shards: readonly Shard[];
  /** The queue of the signatures. */
  readonly at: QueueAt;
  stop(): Promise<void>;
}

/** @param others Further subscribers. */
export const startSilentPeople = async (
  redis: TestRedis,
  others: readonly object[] = [],
): Promise<SilentStage> => {
  const silent = {
    msisdn: String(people.first),
    through: String(people.last),
    sim: { device: { kind: 'simulated', sign: 'never-answers' } },
  };
  const product = await startTestProduct(redis, {
    configuration: {
      subscribers: [silent, ...others],
      workers: { concurrency: 4, lockSeconds: 1, stalledCheckSeconds: 0.5 },
    },
  });
  const shards = openShards({
    redis: product.core.blocking,
    prefix: product.configuration.queue.prefix,
    shards: 1,
    onError: () => undefined,
  });
  const [only] = shards;
  if (only === undefined) throw new Error('there is no shard');
  return {
    product,
    shards,
    at: only.signatures,
    stop: async () => {
      await closeShards(shards);
      await product.stop();
    },
  };
};
