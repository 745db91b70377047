/** Synchronous callers wait by hundreds, for people who have to think. */
import type { Job } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fault } from '../../packages/protocol/src/fault.ts';
import { recordIn } from '../../src/transactions/contract.ts';
import type { QueueAt } from '../../src/transactions/shards.ts';
import type { TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';
import { type SilentStage, somebody, startSilentPeople } from './silent-people.ts';

const redis = testRedis();
const cancelled = { kind: 'fault', fault: fault(401) } as const;

let stage: SilentStage;
let product: TestProduct;
let at: QueueAt;

beforeAll(async () => {
  stage = await startSilentPeople(redis);
  ({ product, at } = stage);
});
afterAll(() => stage.stop());

describe('many synchronous callers', () => {
  it('wait on one subscription and all learn their end', { timeout: 180_000 }, async () => {
    /** The connections that read the ends of this file's queues, by their names. */
    const subscriptions = async () =>
      String(await redis.client().client('LIST'))
        .split('\n')
        .filter(
          (line) =>
            line.includes(`{${product.configuration.queue.prefix}-0}`) && line.includes(':ends '),
        );
    const callers: ReturnType<TestProduct['post']>[] = [];
    // Some at a time: a busy process refuses what it cannot bring to Redis in time.
    while (callers.length < 1000) {
      for (let caller = 0; caller < 50; caller += 1)
        callers.push(
          product.post(
            '/rest/service/sign',
            signRequest({ msisdn: somebody(), timeoutSeconds: 300 }),
          ),
        );
      await soon(async () => expect(await at.queue.getDelayedCount()).toBe(callers.length), 30_000);
    }
    const waiting: readonly Job[] = await soon(async () => {
      const jobs = await at.queue.getDelayed();
      const pending = jobs.filter(({ progress }) => Object(recordIn(progress)).state === 'pending');
      expect(pending).toHaveLength(1000);
      return pending;
    }, 60_000);
    // One for signatures, one for receipts.
    expect(await subscriptions()).toHaveLength(2);
    for (let first = 0; first < waiting.length; first += 50) {
      const some = waiting.slice(first, first + 50);
      await Promise.all(
        some.map(({ id }) => product.api.transactions.answer(id ?? '', 1, cancelled)),
      );
    }
    const answers = await Promise.all(callers);
    expect(answers.every(({ body }) => body.Fault.Reason === 'USER_CANCEL')).toBe(true);
    // Told by the workers, not found by looking.
    expect(await redis.client().xlen(at.queue.toKey('ends:told'))).toBeGreaterThan(900);
  });
});
