/**
 * Taking requests back: before anybody is asked, while the phone shows them, while a worker has
 * them, and too late.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { fault } from '../../packages/protocol/src/fault.ts';
import type { SignatureHandle, SignatureQueue } from '../../src/app/package/queue.ts';
import { cancelTransaction, isCancelledBy } from '../../src/transactions/cancellation.ts';
import { recordIn } from '../../src/transactions/contract.ts';
import {
  closeShards,
  openShards,
  type QueueAt,
  type Shard,
} from '../../src/transactions/shards.ts';
import type { TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { statusRequest } from '../support/requests.ts';
import { type ByHand, startByHand } from '../workers/by-hand.ts';
import { apId, openQueue, order, somebody, startStage } from './stage.ts';

const redis = testRedis();
let product: TestProduct;
let queue: SignatureQueue;
let shards: readonly Shard[];
let at: QueueAt;

beforeAll(async () => {
  product = await startStage(redis);
  queue = openQueue(redis, product);
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
  await queue.close();
  await closeShards(shards);
  await product.stop();
});

const reason = '_401 USER_CANCEL: The application cancelled the request';
const failure = (handle: SignatureHandle) =>
  handle.result().then(
    () => 'it was signed',
    ({ message }: Error) => message,
  );
const pending = (handle: SignatureHandle) =>
  vi.waitFor(async () => expect(await handle.status()).toBe('pending'), { timeout: 20_000 });

describe('a request that nobody has been asked for', () => {
  it('is taken back from the future, at once', async () => {
    const handle = await queue.enqueue(order, { notBefore: new Date(Date.now() + 3_600_000) });
    expect(await handle.status()).toBe('scheduled');
    expect(await handle.cancel()).toBe('cancelled');
    expect(await failure(handle)).toBe(reason);
    const { body } = await product.post('/rest/service/status', statusRequest(handle.id, apId));
    expect(body.Fault).toMatchObject({
      Reason: 'USER_CANCEL',
      Detail: 'The application cancelled the request',
    });
  });

  it('is taken back from the future when it has been scheduled for longer than its TimeOut', async () => {
    const handle = await queue.enqueue(order, { notBefore: new Date(Date.now() + 3_600_000) });
    const key = at.queue.toKey(handle.id);
    const { opts } = (await at.queue.getJob(handle.id)) ?? {};
    await redis.client().hincrby(key, 'timestamp', -600_000);
    await redis
      .client()
      .hset(key, 'opts', JSON.stringify({ ...opts, delay: (opts?.delay ?? 0) + 600_000 }));
    expect(await handle.cancel()).toBe('cancelled');
    expect(await failure(handle)).toBe(reason);
  });

  it.each([0, 5])(
    'is never begun once it is taken back from the queue (priority %i)',
    async (priority) => {
      await product.stopWorkers();
      const handle = await queue.enqueue(order, { priority });
      expect(await handle.cancel()).toBe('cancelled');
      expect(await handle.status()).toBe('failed');
      expect(await handle.cancel()).toBe('cancelled');
      await product.startWorkers();
      expect(await failure(handle)).toBe(reason);
      const job = await at.queue.getJob(handle.id);
      expect(recordIn(job?.progress)).toMatchObject({
        state: 'failed',
        attempt: 1,
        fault: { code: 401 },
        history: [{ state: 'submitted' }, { state: 'failed', attempt: 1 }],
      });
    },
  );

  it('has failed for its producer as soon as an order of an operator has taken it back', async () => {
    await product.stopWorkers();
    const handle = await queue.enqueue(order);
    const { protocol } = product.core;
    const cancellation = { at, protocol, now: Date.now, by: 'operator', order: 'BULK-1' } as const;
    expect(await cancelTransaction(handle.id, cancellation)).toBe('cancelled');
    expect(await handle.status()).toBe('failed');
    expect(await isCancelledBy('BULK-1', handle.id, 1, cancellation)).toBe(true);
    expect(await isCancelledBy('BULK-2', handle.id, 1, cancellation)).toBe(false);
    await product.startWorkers();
    expect(await failure(handle)).toContain('_401 USER_CANCEL');
  });

  it('does not hold up an equal one that comes later', async () => {
    await product.stopWorkers();
    const request = { ...order, apTransId: 'ORDER-1', instant: new Date() };
    const first = await queue.enqueue(request);
    await first.cancel();
    const second = await queue.enqueue(request);
    expect(second.joined).toBe(false);
    await product.startWorkers();
    expect(await second.result()).toMatchObject({ id: second.id });
    expect(await failure(first)).toBe(reason);
  });

  it('can be replayed', async () => {
    const handle = await queue.enqueue(order, { notBefore: new Date(Date.now() + 3_600_000) });
    await handle.cancel();
    await failure(handle);
    expect(await product.replay(handle.id)).toBe('replayed');
    await vi.waitFor(async () => expect(await handle.status()).toBe('signed'), { timeout: 20_000 });
    const job = await at.queue.getJob(handle.id);
    expect(job?.returnvalue).toMatchObject({
      attempt: 2,
      history: [
        { state: 'submitted', attempt: 1 },
        { state: 'failed', attempt: 1, fault: { code: 401 } },
        { state: 'submitted', attempt: 2 },
        { state: 'pending', attempt: 2 },
        { state: 'signed', attempt: 2 },
      ],
    });
  });

  it('is taken back in its next attempt, too', async () => {
    const handle = await queue.enqueue({ ...order, msisdn: somebody() });
    await pending(handle);
    await handle.cancel();
    await failure(handle);
    await product.stopWorkers();
    await product.replay(handle.id);
    expect(await handle.status()).toBe('submitted');
    expect(await handle.cancel()).toBe('cancelled');
    await product.startWorkers();
    expect(await failure(handle)).toBe(reason);
    const job = await at.queue.getJob(handle.id);
    expect(recordIn(job?.progress)).toMatchObject({ state: 'failed', attempt: 2 });
  });

  it('ends as what it is when no worker can read it', async () => {
    await product.stopWorkers();
    const { id } = await queue.enqueue(order);
    await (await at.queue.getJob(id))?.updateData('nonsense' as never);
    const handle = await queue.find(id);
    expect(await handle?.cancel()).toBe('too-late');
    await product.startWorkers();
    expect(handle && (await failure(handle))).toBe('_102 MISSING_PARAM: MSS_SignatureReq');
  });
});

describe('a request that the phone shows', () => {
  it('is taken off the phone', async () => {
    const msisdn = somebody();
    const handle = await queue.enqueue({ ...order, msisdn });
    await pending(handle);
    expect(await handle.cancel()).toBe('cancelled');
    expect(await failure(handle)).toBe(reason);
    // A SIM that still showed it would refuse the next one: 406.
    const next = await queue.enqueue({ ...order, msisdn });
    await pending(next);
    await next.cancel();
  });

  it('is taken off once, however often the cancel arrives', async () => {
    const handle = await queue.enqueue({ ...order, msisdn: somebody() });
    await pending(handle);
    await product.stopWorkers();
    // As when the connection broke off before the answer, and the command is sent again.
    expect([await handle.cancel(), await handle.cancel()]).toEqual(['cancelled', 'cancelled']);
    await product.startWorkers();
    expect(await failure(handle)).toBe(reason);
    expect(await handle.cancel()).toBe('too-late');
  });

  it('stays as the person decided when that was first', async () => {
    const handle = await queue.enqueue({ ...order, msisdn: somebody() });
    await pending(handle);
    await product.stopWorkers();
    await product.api.transactions.answer(handle.id, 1, { kind: 'fault', fault: fault(402) });
    expect(await handle.cancel()).toBe('too-late');
    await product.startWorkers();
    await expect(handle.result()).rejects.toMatchObject({ code: 402 });
  });

  it.each([0, 1.5])(
    'is not taken back, but ends, when somebody has written that attempt %d runs',
    async (attempt) => {
      const handle = await queue.enqueue({ ...order, msisdn: somebody() });
      await pending(handle);
      await product.stopWorkers();
      const progress = JSON.parse(
        (await redis.client().hget(at.queue.toKey(handle.id), 'progress')) ?? '',
      );
      Object.assign(progress.context, { attempt });
      await redis.client().hset(at.queue.toKey(handle.id), 'progress', JSON.stringify(progress));
      expect(await handle.cancel()).toBe('too-late');
      await product.startWorkers();
      await (await at.queue.getJob(handle.id))?.promote();
      await expect(handle.result()).rejects.toMatchObject({ code: 900 });
    },
  );

  it('is decided once, whoever answers and cancels at the same time', async () => {
    for (let round = 0; round < 20; round += 1) {
      const handle = await queue.enqueue({ ...order, msisdn: somebody() });
      await pending(handle);
      const [cancelled, answered] = await Promise.all([
        handle.cancel(),
        product.api.transactions.answer(handle.id, 1, { kind: 'fault', fault: fault(403) }),
      ]);
      expect(cancelled === 'cancelled').toBe(answered !== 'accepted');
      await expect(handle.result()).rejects.toMatchObject({
        code: cancelled === 'cancelled' ? 401 : 403,
      });
    }
  });
});

describe('a request that is on its way', () => {
  it('is signed or cancelled as cancel says, whatever the moment', async () => {
    for (let round = 0; round < 60; round += 1) {
      const handle = await queue.enqueue(order);
      if (round % 3 > 0) await delay(round % 5);
      const said = await handle.cancel();
      const ended = await handle.result().then(
        () => 'too-late',
        ({ code }: { code: number }) => (code === 401 ? 'cancelled' : code),
      );
      expect(ended).toBe(said);
    }
  });

  it('is too late to take back once it has ended, and unknown when there is none', async () => {
    const handle = await queue.enqueue(order);
    await handle.result();
    expect(await handle.cancel()).toBe('too-late');
    expect(await handle.status()).toBe('signed');
    const gone = await queue.enqueue(order, { notBefore: new Date(Date.now() + 3_600_000) });
    await at.queue.remove(gone.id);
    expect(await gone.cancel()).toBe('unknown');
    expect(await gone.status()).toBe('unknown');
    await expect(gone.result()).rejects.toMatchObject({ why: 'unknown' });
  });
});

describe('a request that a worker has in hand', () => {
  const handRedis = testRedis();
  let byHand: ByHand;
  let producer: SignatureQueue;

  beforeAll(async () => {
    byHand = await startByHand(handRedis, {});
  });
  afterAll(() => byHand.stop());

  it('is left to the worker, and cancel says that it is busy', async () => {
    const { signatures } = byHand.shard;
    producer = openQueue(handRedis, byHand.product);
    const handle = await producer.enqueue(order);
    const job = await byHand.take(signatures, 'worker-1');
    expect(job.id).toBe(handle.id);
    // Time flies, so that nobody waits for ten seconds.
    const now = performance.now.bind(performance);
    let flownMs = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
      flownMs += 500;
      return now() + flownMs;
    });
    try {
      expect(await handle.cancel()).toBe('busy');
    } finally {
      clock.mockRestore();
    }
    expect(
      (await redis.client().hget(signatures.queue.toKey(handle.id), 'defa')) ?? 'not marked',
    ).toBe('not marked');
    await producer.close();
  });
});
