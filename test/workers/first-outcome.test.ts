/**
 * The first outcome stands, wherever the turn that told it was cut off, and however late the next
 * one comes.
 */
import { DelayedError, type Job } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  createInstanceStore,
  type InstanceStore,
} from '../../packages/engine/src/redis/instance-store.ts';
import { fault } from '../../packages/protocol/src/fault.ts';
import type { Devices } from '../../src/sscd/devices.ts';
import { createIsOver } from '../../src/transactions/attempt-over.ts';
import { createDeviceLock } from '../../src/transactions/device-lock.ts';
import { openQueueForTest } from '../queue/stage.ts';
import { testRedis } from '../support/redis.ts';
import { receiptRequest, signRequest } from '../support/requests.ts';
import { type ByHand, leaveEvent, startByHand } from './by-hand.ts';

const redis = testRedis();
const accepts = { kind: 'simulated', sign: 'signs', receipt: 'accepts' } as const;
const silent = { kind: 'simulated', sign: 'never-answers' } as const;
const receiptSeconds = 30;
let nextPerson = 41_784_000_000;
let nextSilent = 41_785_000_001;
let nextAppPerson = 41_785_001_000;
const robot = '+41786000000';
const thinking = '+41786000001';
const silentPerson = (): string => `+${nextSilent++}`;
let byHand: ByHand;

beforeAll(async () => {
  byHand = await startByHand(redis, {
    receipt: { timeoutSeconds: receiptSeconds },
    subscribers: [
      { msisdn: '41784000000', through: '41784000099', sim: { device: accepts } },
      { msisdn: '41785000000', through: '41785000099', sim: { device: silent } },
      { msisdn: '41785001000', through: '41785001099', apps: [{ device: silent }] },
      { msisdn: robot.slice(1), sim: { device: { kind: 'robot' } } },
      { msisdn: thinking.slice(1), sim: { device: { kind: 'robot', thinkSeconds: 60 } } },
    ],
  });
});

afterAll(() => byHand.stop());

const submit = async (msisdn: string): Promise<string> => {
  const { body } = await byHand.product.post(
    '/rest/service/sign',
    signRequest({ msisdn, mode: 'asynch' }),
  );
  return body.MSS_SignatureResp.MSSP_TransID;
};

const cancel = async (id: string): Promise<void> => {
  const handle = await openQueueForTest(redis, byHand.product).find(id);
  expect(await handle?.cancel()).toBe('cancelled');
};

/** Redis goes away between the decision and what follows from it. */
const lockWithoutRelease = () => ({
  ...createDeviceLock(
    byHand.product.core.blocking,
    byHand.product.configuration.queue.prefix,
    Date.now,
    createIsOver([byHand.shard], Date.now),
  ),
  release: async () => {
    throw new Error('Redis went away');
  },
});

/** What a turn was about to store never gets there: Redis refuses to write. */
const readOnly = (real: InstanceStore): InstanceStore => ({
  ...real,
  commit: async () => {
    throw new Error('READONLY You can not write against a read only replica');
  },
});

describe('a device that wants to be asked again and again', () => {
  it('is logged as asked once', async () => {
    const { shard, take, wakeAndTake, signatureTurn, devicesThat } = byHand;
    const real = devicesThat(() => undefined);
    let time = Date.now();
    let times = 0;
    const devices: Devices = {
      deviceFor: (target) => ({
        ...real.deviceFor(target),
        prompt: async ({ now }) => {
          times += 1;
          return { kind: 'awaiting', askAgainAt: now + 1000 };
        },
      }),
    };
    const asked: string[] = [];
    const log = { ...byHand.log, asked: (id: string) => void asked.push(id) };
    const turn = signatureTurn({ devices, log, now: () => time });
    const id = await submit(silentPerson());
    let job = await take(shard.signatures, 'first');
    for (; times < 3; time += 1000) {
      await expect(turn(job, 'first')).rejects.toBeInstanceOf(DelayedError);
      job = await wakeAndTake(shard.signatures, id, 'first');
    }
    expect(asked).toEqual([id]);
  });
});

describe('a worker that stood still when it had taken a job', () => {
  it('asks nobody when another worker has failed the job meanwhile', async () => {
    const { product, shard, take, wakeAndTake, signatureTurn, devicesThat, troubles } = byHand;
    const { queue, redis: connection } = shard.signatures;
    const prompted: number[] = [];
    const turn = signatureTurn({
      devices: devicesThat(({ attempt }) => void prompted.push(attempt)),
    });
    const id = await submit(thinking);
    await expect(turn(await take(shard.signatures, 'first'), 'first')).rejects.toBeInstanceOf(
      DelayedError,
    );
    const stale = await wakeAndTake(shard.signatures, id, 'stale');
    // Its lock runs out, and another worker takes the job.
    await connection.set(`${queue.toKey(id)}:lock`, 'other');
    const job = await queue.getJob(id);
    if (job === undefined) throw new Error('The job is gone');
    const late = signatureTurn({ now: () => Date.now() + 600_000 });
    const expired = await late(job, 'other').catch((error: Error) => error);
    await job.moveToFailed(expired as Error, 'other', false);
    expect(await product.statusOf(id)).toBe('_208');
    await expect(turn(stale, 'stale')).rejects.toBeInstanceOf(DelayedError);
    expect(prompted).toEqual([1]);
    expect(troubles.at(-1)).toBe('The lock is lost');
  });
});

describe('a worker that stood still when it had stored that it asks a person', () => {
  /** A transaction whose worker stands still after its commit, while `meanwhile` happens. */
  const askedAfter = async (meanwhile: (id: string, job: Job) => Promise<void>) => {
    const { shard, take, signatureTurn, devicesThat } = byHand;
    const prompted: string[] = [];
    let reached = false;
    let stoodMs = 0;
    const store = (real: InstanceStore): InstanceStore => ({
      ...real,
      commit: async (...given) => {
        const committed = await real.commit(...given);
        if (!reached) await meanwhile(id, job);
        reached = true;
        stoodMs = 300;
        return committed;
      },
    });
    const msisdn = silentPerson();
    const id = await submit(msisdn);
    const job = await take(shard.signatures, 'paused');
    const devices = devicesThat(({ transactionId }) => void prompted.push(transactionId));
    const now = () => Date.now() + stoodMs;
    const end = await signatureTurn({ store, devices, now })(job, 'paused').catch(
      (error: Error) => error,
    );
    expect(reached).toBe(true);
    return { id, msisdn, job, end: end as Error, prompted };
  };

  it('asks nobody when another worker has ended the transaction meanwhile, and leaves the phone free', async () => {
    const { product, shard, take, signatureTurn } = byHand;
    const { queue, redis: connection } = shard.signatures;
    const { id, msisdn, prompted } = await askedAfter(async (id, job) => {
      await connection.set(`${queue.toKey(id)}:lock`, 'other');
      const late = signatureTurn({ now: () => Date.now() + 600_000 });
      const expired = await late(job, 'other').catch((error: Error) => error);
      await job.moveToFailed(expired as Error, 'other', false);
    });
    expect(await product.statusOf(id)).toBe('_208');
    expect(prompted).toEqual([]);
    const next = await submit(msisdn);
    const turn = signatureTurn()(await take(shard.signatures, 'next'), 'next');
    await expect(turn).rejects.toBeInstanceOf(DelayedError);
    await cancel(next);
    await shard.signatures.queue.remove(next);
  });

  it('asks nobody when the transaction was cancelled meanwhile, although no worker has judged it', async () => {
    const { job, end, prompted } = await askedAfter(async (id) => {
      const { queue, redis: connection } = byHand.shard.signatures;
      const store = createInstanceStore(queue, connection, Date.now);
      const order = { type: 'CANCEL', attempt: 1, fault: fault(401) };
      expect(await store.deliver(id, 'out/cancel', order)).toMatchObject({ given: 'waiting' });
    });
    expect(end.message).toMatch(/^_401 /);
    await job.moveToFailed(end, 'paused', false);
    expect(prompted).toEqual([]);
  });
});

describe('a worker that did not stand still', () => {
  it('asks a person without reading the transaction again', async () => {
    const { shard, take, signatureTurn, devicesThat } = byHand;
    const prompted: string[] = [];
    const devices = devicesThat(({ transactionId }) => void prompted.push(transactionId));
    const read = () => Promise.reject(new Error('Nothing is to be read'));
    const id = await submit(silentPerson());
    const job = await take(shard.signatures, 'quick');
    const now = () => (job.processedOn ?? 0) + 200;
    const turn = signatureTurn({ devices, read, now })(job, 'quick');
    await expect(turn).rejects.toBeInstanceOf(DelayedError);
    expect(prompted).toEqual([id]);
    await cancel(id);
    await shard.signatures.queue.remove(id);
  });
});

describe('a receipt that the user has accepted', () => {
  /**
   * A caller who waits for the receipt of a signature, and the receipt's job, taken by a first
   * worker.
   */
  const receiptInHand = async () => {
    const { product, shard, take, signatureTurn } = byHand;
    const msisdn = `+${nextPerson++}`;
    const id = await submit(msisdn);
    const signature = await take(shard.signatures, 'signs');
    await signature.moveToCompleted(await signatureTurn()(signature, 'signs'), 'signs', false);
    const answer = product.post('/rest/service/receipt', receiptRequest(id, { msisdn }));
    const job = await take(shard.receipts, 'first');
    const deadline = job.timestamp + receiptSeconds * 1000;
    return { id, job, deadline, answer };
  };

  type InHand = Awaited<ReturnType<typeof receiptInHand>>;

  const expectAccepted = async ({ id, answer }: InHand): Promise<void> => {
    const { body } = await answer;
    expect(body.MSS_ReceiptResp.Status.StatusDetail.ReceiptResponseExtension).toMatchObject({
      UserAck: 'true',
      UserResponse: '{"status":"OK"}',
    });
    const signature = await byHand.shard.signatures.jobs.read(id);
    expect(signature?.returnValue).toMatchObject({ state: 'receipted', receipt: 'accepted' });
  };

  it('stays accepted when its worker dies before the job completes and the next one comes after the deadline', async () => {
    const inHand = await receiptInHand();
    const { job, deadline } = inHand;
    const { receiptTurn, shard } = byHand;
    // Its result never reaches the queue.
    await receiptTurn()(job, 'first');
    const again = await shard.receipts.queue.getJob(job.id ?? '');
    if (again === undefined) throw new Error('the receipt was expected');
    const result = await receiptTurn({ now: () => deadline + 1 })(again, 'first');
    await again.moveToCompleted(result, 'first', false);
    await expectAccepted(inHand);
  });

  it('ends when another program spoils its job', async () => {
    const { job, deadline, answer } = await receiptInHand();
    const { receiptTurn, shard, wakeAndTake } = byHand;
    const cutOff = receiptTurn({ deviceLock: lockWithoutRelease() });
    await expect(cutOff(job, 'first')).rejects.toBeInstanceOf(DelayedError);
    await redis.client().hset(shard.receipts.queue.toKey(job.id ?? ''), 'data', '{}');
    const again = await wakeAndTake(shard.receipts, job.id, 'second');
    const reason = await receiptTurn({ now: () => deadline + 1 })(again, 'second').catch(
      (error: Error) => error,
    );
    expect(reason).toMatchObject({ message: expect.stringContaining('_101 WRONG_PARAM') });
    await again.moveToFailed(reason as Error, 'second', false);
    await answer;
  });

  it('stays accepted when the turn is cut off behind it', async () => {
    const inHand = await receiptInHand();
    const { job, deadline } = inHand;
    const { receiptTurn, shard, wakeAndTake } = byHand;
    const cutOff = receiptTurn({ deviceLock: lockWithoutRelease() });
    await expect(cutOff(job, 'first')).rejects.toBeInstanceOf(DelayedError);
    const again = await wakeAndTake(shard.receipts, job.id, 'second');
    const result = await receiptTurn({ now: () => deadline + 1 })(again, 'second');
    await again.moveToCompleted(result, 'second', false);
    await expectAccepted(inHand);
  });

  it('stays accepted when the signature cannot learn of it until after the deadline', async () => {
    const inHand = await receiptInHand();
    const { job, deadline } = inHand;
    const { receiptTurn, shard, wakeAndTake } = byHand;
    const { signatures } = shard;
    const jobs = {
      ...signatures.jobs,
      amend: async () => {
        throw new Error('Redis went away');
      },
    };
    const cutOff = { shard: { ...shard, signatures: { ...signatures, jobs } } };
    await expect(receiptTurn(cutOff)(job, 'first')).rejects.toBeInstanceOf(DelayedError);
    const now = () => deadline + 1;
    const still = await wakeAndTake(shard.receipts, job.id, 'second');
    await expect(receiptTurn({ ...cutOff, now })(still, 'second')).rejects.toBeInstanceOf(
      DelayedError,
    );
    const again = await wakeAndTake(shard.receipts, job.id, 'third');
    await again.moveToCompleted(await receiptTurn({ now })(again, 'third'), 'third', false);
    await expectAccepted(inHand);
  });
});

describe('an answer that was accepted', () => {
  it('ends the transaction, even when its end can be written only after the deadline', async () => {
    const { product, shard, take, wakeAndTake, signatureTurn } = byHand;
    const { signatures } = shard;
    const id = await submit(silentPerson());
    const asked = await take(signatures, 'asks');
    await expect(signatureTurn()(asked, 'asks')).rejects.toBeInstanceOf(DelayedError);
    const answer = { kind: 'fault', fault: fault(401) } as const;
    expect(await product.api.transactions.answer(id, 1, answer)).toBe('accepted');

    const job = await take(signatures, 'ends');
    const now = () => job.timestamp + 61_000;
    await expect(signatureTurn({ store: readOnly, now })(job, 'ends')).rejects.toBeInstanceOf(
      DelayedError,
    );
    const again = await wakeAndTake(signatures, id, 'ends');
    await expect(signatureTurn({ now })(again, 'ends')).rejects.toThrow('_401 USER_CANCEL');
  });
});

describe('an answer whose sender dies before it can wake the job', () => {
  it('ends the transaction as soon as somebody answers again', async () => {
    const { product, shard, take, signatureTurn } = byHand;
    const { signatures } = shard;
    const id = await submit(silentPerson());
    await expect(signatureTurn()(await take(signatures, 'asks'), 'asks')).rejects.toBeInstanceOf(
      DelayedError,
    );
    const answer = { kind: 'fault', fault: fault(402) } as const;
    await leaveEvent(signatures, id, 'died', { type: 'ANSWERED', attempt: 1, answer });
    expect(await signatures.queue.getJobState(id)).toBe('delayed');
    expect(await product.api.transactions.answer(id, 1, answer)).toBe('refused');
    const job = await take(signatures, 'ends');
    expect(job.id).toBe(id);
    await expect(signatureTurn()(job, 'ends')).rejects.toThrow('_402');
  });
});

describe('an answer that can never be verified', () => {
  it('ends as an internal error, long after the deadline', async () => {
    const { product, shard, take, wakeAndTake, signatureTurn } = byHand;
    const { signatures } = shard;
    const id = await submit(silentPerson());
    const first = await take(signatures, 'asks');
    await expect(signatureTurn()(first, 'asks')).rejects.toBeInstanceOf(DelayedError);
    const answer = { kind: 'signature', cms: 'AAAA' } as const;
    expect(await product.api.transactions.answer(id, 1, answer)).toBe('accepted');
    const real = product.core.custodyOver(product.core.blocking);
    const custody = { ...real, trust: () => Promise.reject(new Error('The custody is damaged')) };
    const deadline = first.timestamp + 60_000;
    let time = Date.now();
    const turn = signatureTurn({ custody, now: () => time });
    let job = await take(signatures, 'verifies');
    let reason: unknown;
    for (; time < deadline + 3_600_000; time += 8000) {
      reason = await turn(job, 'verifies').catch((error: Error) => error);
      if (!(reason instanceof DelayedError)) break;
      job = await wakeAndTake(signatures, id, 'verifies');
    }
    expect(reason).toMatchObject({ message: expect.stringContaining('_900 INTERNAL_ERROR') });
    expect(time).toBeGreaterThan(deadline + 300_000);
    await job.moveToFailed(reason as Error, 'verifies', false);
  });
});

describe('a cancel that comes while an answer is verified', () => {
  it('is too late, and nobody is told otherwise in between', async () => {
    const { product, shard, take, signatureTurn } = byHand;
    const { signatures } = shard;
    const id = await submit(silentPerson());
    await expect(signatureTurn()(await take(signatures, 'asks'), 'asks')).rejects.toBeInstanceOf(
      DelayedError,
    );
    const answer = { kind: 'fault', fault: fault(402) } as const;
    expect(await product.api.transactions.answer(id, 1, answer)).toBe('accepted');
    const job = await take(signatures, 'ends');
    const handle = await openQueueForTest(redis, product).find(id);
    const cancelling = handle?.cancel();
    const inbox = () => redis.client().hget(signatures.queue.toKey(id), 'inbox');
    await vi.waitFor(async () => expect(await inbox()).toContain('cancel'), 20_000);
    expect(await handle?.status()).toBe('pending');
    const reason = await signatureTurn()(job, 'ends').catch((error: Error) => error);
    expect(reason).toMatchObject({ message: expect.stringContaining('_402') });
    await job.moveToFailed(reason as Error, 'ends', false);
    expect(await cancelling).toBe('too-late');
  });
});

describe('an answer to a job that was marked to fail', () => {
  it('is not accepted', async () => {
    const { product, shard, take, signatureTurn } = byHand;
    const { signatures } = shard;
    const id = await submit(silentPerson());
    await expect(signatureTurn()(await take(signatures, 'asks'), 'asks')).rejects.toBeInstanceOf(
      DelayedError,
    );
    await redis
      .client()
      .hset(signatures.queue.toKey(id), 'defa', '_900 INTERNAL_ERROR: Unknown Error');
    const answer = { kind: 'fault', fault: fault(402) } as const;
    expect(await product.api.transactions.answer(id, 1, answer)).toBe('finished');
    await signatures.queue.remove(id);
  });
});

describe('a replay', () => {
  it('of a transaction that was in trouble once is not put off for longer', async () => {
    const { shard, take, wakeAndTake, signatureTurn } = byHand;
    const { signatures } = shard;
    const id = await submit(silentPerson());
    let refuses = true;
    const time = Date.now();
    const turn = signatureTurn({
      now: () => time,
      store: (real) => ({
        ...real,
        commit: (...given) => (refuses ? readOnly(real) : real).commit(...given),
      }),
    });
    const delayOf = async () => (await signatures.queue.getJob(id))?.delay;
    await expect(turn(await take(signatures, 'first'), 'first')).rejects.toBeInstanceOf(
      DelayedError,
    );
    const once = await delayOf();
    refuses = false;
    await cancel(id);
    const job = await wakeAndTake(signatures, id, 'second');
    const reason = await turn(job, 'second').catch((error: Error) => error);
    expect(reason).toMatchObject({ message: expect.stringContaining('_401') });
    await job.moveToFailed(reason as Error, 'second', false);
    await (await signatures.queue.getJob(id))?.retry('failed');
    refuses = true;
    await expect(turn(await take(signatures, 'third'), 'third')).rejects.toBeInstanceOf(
      DelayedError,
    );
    expect(await delayOf()).toBe(once);
    await signatures.queue.remove(id);
  });

  it.each(['SIM', 'App'])('asks anew on the %s that a failure has left claimed', async (kind) => {
    const { shard, take, signatureTurn } = byHand;
    const { signatures } = shard;
    const id = await submit(kind === 'SIM' ? silentPerson() : `+${nextAppPerson++}`);
    await expect(signatureTurn()(await take(signatures, 'asks'), 'asks')).rejects.toBeInstanceOf(
      DelayedError,
    );
    await (await signatures.queue.getJob(id))?.promote();
    const failing = await take(signatures, 'fails');
    await failing.moveToFailed(new Error('by some other program'), 'fails', false);
    await (await signatures.queue.getJob(id))?.retry('failed');
    const job = await take(signatures, 'again');
    await expect(signatureTurn()(job, 'again')).rejects.toBeInstanceOf(DelayedError);
    const { progress } = (await signatures.queue.getJob(id)) ?? {};
    expect(progress).toMatchObject({ value: { pending: 'shown' }, context: { attempt: 2 } });
  });

  it('by a tool, of what a robot had signed, is cancelled like any other', async () => {
    const { product, shard, take, signatureTurn } = byHand;
    const { signatures } = shard;
    const id = await submit(robot);
    const signed = await take(signatures, 'signs');
    await signed.moveToCompleted(await signatureTurn()(signed, 'signs'), 'signs', false);
    await (await signatures.queue.getJob(id))?.retry('completed');
    const handle = await openQueueForTest(redis, product).find(id);
    expect(await handle?.cancel()).toBe('cancelled');
    expect(await handle?.status()).toBe('failed');
    const again = await take(signatures, 'again');
    const reason = await signatureTurn()(again, 'again').catch((error: Error) => error);
    expect(reason).toMatchObject({ message: expect.stringContaining('_401 USER_CANCEL') });
    await again.moveToFailed(reason as Error, 'again', false);
  });

  it('is not ended by the cancel of the attempt before, which failed otherwise first', async () => {
    const { product, shard, take, signatureTurn } = byHand;
    const { signatures } = shard;
    const id = await submit(silentPerson());
    await expect(signatureTurn()(await take(signatures, 'asks'), 'asks')).rejects.toBeInstanceOf(
      DelayedError,
    );
    await cancel(id);
    const failing = await take(signatures, 'fails');
    await failing.moveToFailed(new Error('by some other program'), 'fails', false);
    await (await signatures.queue.getJob(id))?.retry('failed');
    const handle = await openQueueForTest(redis, product).find(id);
    expect(await handle?.status()).toBe('submitted');
    await expect(signatureTurn()(await take(signatures, 'again'), 'again')).rejects.toBeInstanceOf(
      DelayedError,
    );
    expect(await handle?.status()).toBe('pending');
    const { progress } = (await signatures.queue.getJob(id)) ?? {};
    expect(progress).toMatchObject({ value: { pending: 'shown' }, context: { attempt: 2 } });
    expect(await handle?.cancel()).toBe('cancelled');
    await signatures.queue.remove(id);
  });

  it('whose worker was paused while another one ended it is joined by nobody afterwards', async () => {
    const { product, shard, take, signatureTurn } = byHand;
    const { signatures } = shard;
    const request = {
      msisdn: silentPerson(),
      text: 'Sign?',
      apTransId: 'PAUSED-1',
      instant: new Date(),
    };
    const queue = openQueueForTest(redis, product, { apId: 'http://test.example' });
    const { id } = await queue.enqueue(request);
    const failure = new Error('_401 USER_CANCEL: User cancelled the request');
    await (await take(signatures, 'first')).moveToFailed(failure, 'first', false);
    await (await signatures.queue.getJob(id))?.retry('failed');
    const job = await take(signatures, 'paused');
    let commits = 0;
    const store = (real: InstanceStore): InstanceStore => ({
      ...real,
      commit: async (...given) => {
        const committed = await real.commit(...given);
        commits += 1;
        // It goes on much later, when all is over.
        if (commits === 1) await job.moveToFailed(failure, 'paused', false);
        return committed;
      },
    });
    await signatureTurn({ store })(job, 'paused').catch(() => undefined);
    expect(commits).toBeGreaterThan(0);
    expect(await queue.enqueue(request)).toMatchObject({ joined: false });
  });
});
