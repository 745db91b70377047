/** Synchronous callers wait by hundreds, for people who have to think. */
import type { Job } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { fault } from '../../src/protocol/fault.ts';
import { recordIn } from '../../src/transactions/contract.ts';
import { closeShards, openShards, type QueueAt, type Shard } from '../../src/transactions/shards.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';

const redis = testRedis();
const cancelled = { kind: 'fault', fault: fault(401) } as const;

/** People whose phones never answer by themselves: the test answers for them. */
const people = { first: 41_760_000_000, last: 41_760_001_999 };
let nextPerson = people.first;
const somebody = (): string => `+${nextPerson++}`;

const configuration = {
  subscribers: [
    {
      msisdn: String(people.first),
      through: String(people.last),
      sim: { device: { kind: 'simulated', sign: 'never-answers' } },
    },
  ],
  workers: { concurrency: 4, lockSeconds: 1, stalledCheckSeconds: 0.5 },
};

let product: TestProduct;
let shards: readonly Shard[];
let at: QueueAt;

beforeAll(async () => {
  product = await startTestProduct(redis, { configuration });
  shards = openShards({
    redis: product.core.blocking,
    prefix: product.configuration.queue.prefix,
    shards: 1,
    onError: () => undefined,
  });
  const [only] = shards;
  if (only === undefined) throw new Error('there is no shard');
  at = only.signatures;
});
afterAll(async () => {
  await closeShards(shards);
  await product.stop();
});

const until = <T>(check: () => Promise<T>, timeout: number) => vi.waitFor(check, { timeout, interval: 20 });

describe('many synchronous callers', () => {
  it('wait on one subscription and all learn their end', { timeout: 180_000 }, async () => {
    /** The connections that read the ends of this file's queues, by their names. */
    const subscriptions = async () =>
      String(await redis.client().client('LIST'))
        .split('\n')
        .filter(
          (line) => line.includes(`{${product.configuration.queue.prefix}-0}`) && line.includes(':ends '),
        );
    const callers: ReturnType<TestProduct['post']>[] = [];
    // Some at a time: a busy process refuses what it cannot bring to Redis in time.
    while (callers.length < 1000) {
      for (let caller = 0; caller < 50; caller += 1)
        callers.push(
          product.post('/rest/service/sign', signRequest({ msisdn: somebody(), timeoutSeconds: 300 })),
        );
      await until(async () => expect(await at.queue.getDelayedCount()).toBe(callers.length), 30_000);
    }
    const waiting: readonly Job[] = await until(async () => {
      const jobs = await at.queue.getDelayed();
      const pending = jobs.filter(({ progress }) => Object(recordIn(progress)).state === 'pending');
      expect(pending).toHaveLength(1000);
      return pending;
    }, 60_000);
    // One for signatures, one for receipts.
    expect(await subscriptions()).toHaveLength(2);
    for (let first = 0; first < waiting.length; first += 50) {
      const some = waiting.slice(first, first + 50);
      await Promise.all(some.map(({ id }) => product.api.transactions.answer(id ?? '', 1, cancelled)));
    }
    const answers = await Promise.all(callers);
    expect(answers.every(({ body }) => body.Fault.Reason === 'USER_CANCEL')).toBe(true);
    // Told by the workers, not found by looking.
    expect(await redis.client().xlen(at.queue.toKey('ends:told'))).toBeGreaterThan(900);
  });
});
