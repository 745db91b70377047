/** Thousands of requests in one call. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  EnqueueOutcome,
  SignatureInput,
  SignatureQueue,
} from '../../src/app/package/queue.ts';
import { shardOf } from '../../src/transactions/ids.ts';
import type { TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { openQueue, openQueueForTest, order, startStage } from './stage.ts';

const redis = testRedis();
let product: TestProduct;
let queue: SignatureQueue;

beforeAll(async () => {
  product = await startStage(redis, {
    workers: false,
    configuration: { queue: { prefix: redis.prefix.slice(-32), shards: 3 } },
  });
  queue = openQueue(redis, product);
});
afterAll(async () => {
  await queue.close();
  await product.stop();
});

const kinds = (outcomes: readonly EnqueueOutcome[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { kind } of outcomes) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};

describe('many requests', () => {
  it('are added in one call, ten thousand of them, each with an outcome in its place', async () => {
    const requests = Array.from({ length: 10_000 }, (_, index): SignatureInput => {
      if (index % 1000 === 7) return { ...order, msisdn: 'nobody' };
      // Every hundredth is the one before, once more.
      const twin = index % 100 === 99 ? index - 1 : index;
      return { ...order, apTransId: `B-${twin}`, instant: new Date(1_772_442_930_000) };
    });
    const outcomes = [...(await queue.enqueueBulk(requests, { priority: 3 }))];
    expect(outcomes).toHaveLength(10_000);
    // A busy machine may answer a command too late. Then its outcome says that it may be added
    // again.
    for (;;) {
      const open = outcomes.flatMap(({ kind }, index) => (kind === 'unconfirmed' ? [index] : []));
      if (open.length === 0) break;
      const again = await queue.enqueueBulk(
        open.flatMap((index) => requests[index] ?? []),
        { priority: 3 },
      );
      for (const [place, index] of open.entries())
        outcomes.splice(index, 1, ...again.slice(place, place + 1));
    }
    const { accepted = 0, joined = 0, refused } = kinds(outcomes);
    expect([accepted + joined, refused]).toEqual([9990, 10]);
    expect(outcomes[1007]).toMatchObject({
      kind: 'refused',
      objection: { path: 'msisdn', code: 101 },
    });
    expect(outcomes[199]).toMatchObject({ id: (outcomes[198] as { id: string }).id });

    // So a hundred are joined to others.
    const ids = outcomes.flatMap((outcome) => ('id' in outcome ? [outcome.id] : []));
    expect(new Set(ids).size).toBe(9890);
    const used = new Set(ids.map((id) => shardOf(id, 3)));
    expect([...used].sort()).toEqual([0, 1, 2]);
    const client = redis.client();
    const waiting = await Promise.all(
      [0, 1, 2].map((shard) =>
        client.zcard(`{${product.configuration.queue.prefix}-${shard}}:signatures:prioritized`),
      ),
    );
    expect(waiting.reduce((sum, count) => sum + count, 0)).toBe(9890);
    const some = outcomes.find(({ kind }) => kind === 'accepted');
    expect(some?.kind === 'accepted' && (await some.handle.status())).toBe('submitted');
    await Promise.all(
      [0, 1, 2].map((shard) =>
        client.del(`{${product.configuration.queue.prefix}-${shard}}:signatures:prioritized`),
      ),
    );
  });

  it('are worked on, on every shard, and their handles tell their ends', async () => {
    await product.startWorkers();
    const numbers = ['+41700092501', '+41000092401', '+41791234567'];
    const outcomes = await queue.enqueueBulk(
      Array.from({ length: 30 }, (_, index) => ({ ...order, msisdn: numbers[index % 3] ?? '' })),
    );
    const ends = await Promise.all(
      outcomes.map((outcome) =>
        outcome.kind === 'refused'
          ? 'refused'
          : outcome.handle.result().then(
              ({ profile }) => profile,
              ({ code }) => code,
            ),
      ),
    );
    expect(ends).toEqual(
      Array.from({ length: 30 }, (_, index) => ['STK-LoA4', 401, 105][index % 3]),
    );
  });

  it('are none of them added when the options are not in order', async () => {
    await expect(queue.enqueueBulk([order], { priority: 0.5 })).rejects.toMatchObject({
      path: 'priority',
    });
    expect(await queue.enqueueBulk([])).toEqual([]);
  });

  it('are not lost sight of when Redis is away', async () => {
    const errors: Error[] = [];
    const away = openQueueForTest(redis, product, {
      redisUrl: 'redis://127.0.0.1:1',
      onError: (error) => void errors.push(error),
    });
    const [outcome] = await away.enqueueBulk([order]);
    expect(outcome).toMatchObject({ kind: 'unconfirmed', id: expect.stringMatching(/^H0[0-2]/) });
    expect(errors.length).toBeGreaterThan(0);
    await expect(away.enqueue(order)).rejects.toThrow();
  });
});
