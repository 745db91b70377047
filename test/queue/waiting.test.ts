/** What ends the wait for a result, beside the end of the transaction. */
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { NoResultError, type SignatureQueue } from '../../src/app/package/queue.ts';
import type { TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { openQueueForTest, order, startStage } from './stage.ts';

const redis = testRedis();
const client = redis.client();
let product: TestProduct;
let signatures: Queue;

beforeAll(async () => {
  product = await startStage(redis, { workers: false });
  signatures = new Queue('signatures', {
    connection: client,
    prefix: `{${product.configuration.queue.prefix}-0}`,
  });
});
afterAll(async () => {
  await signatures.close();
  await product.stop();
});
afterEach(() => vi.useRealTimers());

const failureOf = (wait: Promise<unknown>): Promise<unknown> =>
  wait.then(
    () => 'it resolved',
    (error: unknown) => error,
  );

/**
 * Has somebody wait, so that whoever waits next is not kept by the beginning of the subscription.
 */
const subscribe = async (queue: SignatureQueue): Promise<void> => {
  const gone = await queue.enqueue(order);
  await signatures.remove(gone.id);
  await expect(gone.result()).rejects.toMatchObject({ why: 'unknown' });
};

describe('a wait', () => {
  it('ends at a signal that aborts right after the call, the first time and later', async () => {
    const handle = await openQueueForTest(redis, product).enqueue(order);
    for (const reason of [new Error('first'), new Error('second')]) {
      const stop = new AbortController();
      const failure = failureOf(handle.result({ signal: stop.signal }));
      stop.abort(reason);
      expect(await failure).toBe(reason);
    }
  });

  it('ends in its time, and with the queue, while the connection of the caller waits for Redis', async () => {
    const connection = new Redis({ ...redis.connection, retryStrategy: () => 3_600_000 });
    onTestFinished(() => connection.disconnect());
    const queue = openQueueForTest(redis, product, { redisUrl: undefined, connection } as never);
    const handle = await queue.enqueue(order);
    connection.disconnect(true);
    await expect(handle.result({ timeoutMs: 20 })).rejects.toMatchObject({ why: 'timeout' });
    const failure = failureOf(handle.result());
    void queue.close();
    expect(await failure).toMatchObject({ why: 'closed', id: handle.id });
  });

  it('ends when the request is removed: its id is unknown', async () => {
    const queue = openQueueForTest(redis, product);
    await subscribe(queue);
    const handle = await queue.enqueue(order);
    const failure = failureOf(handle.result());
    // On the same connection as the look that the wait began with.
    await handle.status();
    await signatures.remove(handle.id);
    expect(await failure).toBeInstanceOf(NoResultError);
    expect(await failure).toMatchObject({ why: 'unknown' });
  });

  it('goes on looking for the end, whatever the listener for trouble throws', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    const queue = openQueueForTest(redis, product, {
      onError: () => {
        throw new Error('The log is full');
      },
    });
    await subscribe(queue);
    const handle = await queue.enqueue(order);
    const failure = failureOf(handle.result());
    await handle.status();
    await client.set(signatures.toKey(handle.id), 'no job');
    await vi.advanceTimersByTimeAsync(2000);
    expect(await warned).toMatchObject({ message: 'The log is full' });
    await client.del(signatures.toKey(handle.id));
    await vi.advanceTimersByTimeAsync(2000);
    expect(await failure).toMatchObject({ why: 'unknown' });
  });
});
