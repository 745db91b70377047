/** A service with people who answer only when a test answers for them, and a producer beside it. */
import { onTestFinished } from 'vitest';
import { createSignatureQueue, type SignatureQueue } from '../../src/app/package/queue.ts';
import { startTestProduct, type TestProduct, type TestProductOptions } from '../support/product.ts';
import type { TestRedis } from '../support/redis.ts';

const first = 41_760_000_000;
let next = first;

/** The number of somebody whose phone never answers by itself. */
export const somebody = (): string => `+${next++}`;

const robot = '+41700092501';
export const apId = 'http://test.example';
export const order = { apId, msisdn: robot, text: 'Sign in to Example?' } as const;

export const startStage = (
  redis: TestRedis,
  { configuration, ...options }: TestProductOptions = {},
): Promise<TestProduct> =>
  startTestProduct(redis, {
    ...options,
    configuration: {
      subscribers: [
        {
          msisdn: String(first),
          through: String(first + 999),
          sim: { device: { kind: 'simulated', sign: 'never-answers' } },
        },
        { msisdn: '41770000001', sim: { device: { kind: 'robot', thinkSeconds: 1 } } },
      ],
      ...configuration,
    },
  });

/** A producer that is closed when the test, or the `describe` it is opened in, has ended. */
export const openQueue = (
  redis: TestRedis,
  { configuration }: TestProduct,
  options: Partial<Parameters<typeof createSignatureQueue>[0]> = {},
): SignatureQueue => {
  const { prefix, shards } = configuration.queue;
  return createSignatureQueue({ redisUrl: redis.url, prefix, shards, apId, ...options } as never);
};

export const openQueueForTest = (...args: Parameters<typeof openQueue>): SignatureQueue => {
  const queue = openQueue(...args);
  onTestFinished(() => queue.close());
  return queue;
};
