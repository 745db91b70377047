/** Scheduled signing: nobody is asked before, and TimeOut runs from then. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SignatureQueue } from '../../src/app/package/queue.ts';
import { newMsspTransId } from '../../src/transactions/ids.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { type ByHand, startByHand } from '../workers/by-hand.ts';
import { openQueue, order, startStage } from './stage.ts';

const redis = testRedis();

describe('a scheduled request', () => {
  it('is signed when its time has come, although its TimeOut is shorter than the wait', async () => {
    const product = await startStage(redis);
    const queue = openQueue(redis, product);
    const notBefore = new Date(Date.now() + 1500);
    const handle = await queue.enqueue({ ...order, timeoutSeconds: 1 }, { notBefore });
    expect(await handle.status()).toBe('scheduled');
    await handle.result();
    const key = `{${product.configuration.queue.prefix}-0}:signatures:${handle.id}`;
    const record = JSON.parse((await redis.client().hget(key, 'returnvalue')) ?? '{}');
    expect(record.deadline).toBe(notBefore.getTime() + 1000);
    expect(record.history[0]).toMatchObject({ state: 'submitted', at: notBefore.getTime() });
    expect(record.history.at(-1).at).toBeGreaterThanOrEqual(notBefore.getTime());
    const soon = await queue.enqueue(order, { notBefore: new Date(0) });
    expect(await soon.status()).not.toBe('scheduled');
    await queue.close();
    await product.stop();
  });
});

describe('the deadline of a scheduled request', () => {
  const handRedis = testRedis();
  let byHand: ByHand;
  let queue: SignatureQueue;

  beforeAll(async () => {
    byHand = await startByHand(handRedis, {});
    queue = openQueue(handRedis, byHand.product);
  });
  afterAll(async () => {
    await queue.close();
    await byHand.stop();
  });

  /** Runs the turn of the job that comes next, at a time. */
  const run = async (now: (added: number) => number): Promise<unknown> => {
    const job = await byHand.take(byHand.shard.signatures, 'token');
    const time = now(job.timestamp);
    return byHand
      .signatureTurn({ now: () => time })(job, 'token')
      .then(
        ({ deadline }) => deadline - time,
        ({ message }: Error) => message,
      );
  };

  it('is TimeOut after its time, however late it is taken', async () => {
    /**
     * Its time is far ahead, so that adding it may take as long as it likes; BullMQ gives it out at
     * once.
     */
    const scheduled = async (): Promise<number> => {
      const notBefore = new Date(Date.now() + 3_600_000);
      const handle = await queue.enqueue({ ...order, timeoutSeconds: 60 }, { notBefore });
      await (await byHand.shard.signatures.queue.getJob(handle.id))?.promote();
      return notBefore.getTime();
    };
    const first = await scheduled();
    // Whose clock says when it was scheduled, and whose when it was added, may differ by
    // milliseconds.
    expect(await run(() => first + 59_000)).toSatisfy((left: number) => left > 900 && left <= 1100);
    const second = await scheduled();
    expect(await run(() => second + 60_100)).toMatch(/^_208 /);
  });

  it('is TimeOut from now when somebody brings it forward', async () => {
    const handle = await queue.enqueue(order, { notBefore: new Date(Date.now() + 3_600_000) });
    await (await byHand.shard.signatures.queue.getJob(handle.id))?.promote();
    expect(await run((added) => added + 1000)).toBe(60_000);
  });

  it.each(['soon', null, -1e9])(
    'is not moved by a delay that somebody made up: %s',
    async (delay) => {
      const { queue: signatures } = byHand.shard.signatures;
      const jobId = newMsspTransId(0);
      const data = signRequest({ mode: 'asynch' });
      await vi.waitFor(() => signatures.add('sign', data, { jobId }), 20_000);
      const opts = JSON.stringify({ attempts: 0, delay });
      await handRedis.client().hset(signatures.toKey(jobId), 'opts', opts);
      expect(await run((added) => added + 60_001)).toMatch(/^_208 /);
    },
  );
});
