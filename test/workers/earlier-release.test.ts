/**
 * Jobs that a release before 0.2 had begun, whose signatures were kept in the data of their jobs: while it is rolled out, this one
 * meets them, and ends them as it would its own.
 */
import { DelayedError, type Job } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fault } from '../../src/protocol/fault.ts';
import { recordIn } from '../../src/transactions/contract.ts';
import { createDeviceLock, deviceKey } from '../../src/transactions/device-lock.ts';
import { openQueueForTest } from '../queue/stage.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest, statusRequest } from '../support/requests.ts';
import { type ByHand, startByHand } from './by-hand.ts';

const redis = testRedis();
const token = 'hand';
const silent = { device: { kind: 'simulated', sign: 'never-answers' } };
const chosen = { profile: 'STK-LoA4', sscdId: 'sim' };
let nextPerson = 41_788_000_000;
let byHand: ByHand;

beforeAll(async () => {
  byHand = await startByHand(redis, {
    subscribers: [{ msisdn: '41788000000', through: '41788000099', sim: silent }],
  });
});
afterAll(() => byHand.stop());

interface Earlier {
  readonly id: string;
  readonly msisdn: string;
  /** Milliseconds since the epoch. */
  readonly begunAt: number;
}

const entry = (state: string, at: number, more: object = {}) => ({ state, attempt: 1, at, ...more });

/**
 * A job whose worker of that release has put it to sleep, or has failed it.
 *
 * @param written What it has written beside the request, and into the hash of the job.
 */
const leftBehind = async (
  written: (begunAt: number) => { readonly data: object; readonly fields?: Record<string, string> },
  reason?: string,
): Promise<Earlier> => {
  const { product, shard, take } = byHand;
  const msisdn = String(nextPerson++);
  const request = signRequest({ msisdn: `+${msisdn}`, mode: 'asynch', timeoutSeconds: 60 });
  const { body } = await product.post('/rest/service/sign', request);
  const id: string = body.MSS_SignatureResp.MSSP_TransID;
  const job = await take(shard.signatures, token);
  const { data, fields = {} } = written(job.timestamp);
  await job.updateData({ ...job.data, ...data });
  if (Object.keys(fields).length > 0) await redis.client().hset(shard.signatures.queue.toKey(id), fields);
  if (reason === undefined) await job.moveToDelayed(job.timestamp + 60_000, token);
  else await job.moveToFailed(new Error(reason), token, false);
  return { id, msisdn, begunAt: job.timestamp };
};

const pendingSince = (begunAt: number) => ({
  data: {
    transaction: {
      version: 1,
      state: 'pending',
      attempt: 1,
      deadline: begunAt + 60_000,
      history: [entry('submitted', begunAt), entry('pending', begunAt + 5)],
    },
    chosen,
    endedRuns: 0,
    deliveryFailures: 0,
  },
  fields: { awaiting: '1' },
});

const failedAt = (begunAt: number) => {
  const reason = fault(401);
  return {
    data: {
      transaction: {
        version: 1,
        state: 'failed',
        attempt: 1,
        deadline: begunAt + 60_000,
        fault: reason,
        history: [
          entry('submitted', begunAt),
          entry('pending', begunAt + 5),
          entry('failed', begunAt + 9, { fault: reason }),
        ],
      },
      chosen,
      endedRuns: 0,
    },
    fields: { awaiting: '1', 'decision:1': JSON.stringify({ kind: 'fault', fault: reason }) },
  };
};

const again = ({ id }: Earlier): Promise<Job> => byHand.wakeAndTake(byHand.shard.signatures, id, token);
const sleeps = (job: Job, now = Date.now) =>
  expect(byHand.signatureTurn({ now })(job, token)).rejects.toBeInstanceOf(DelayedError);
const statusOf = async ({ id }: Earlier): Promise<string> => {
  const { body } = await byHand.product.post('/rest/service/status', statusRequest(id));
  return body.MSS_StatusResp?.Status.StatusCode.Value ?? body.Fault.Code.SubCode.Value;
};
const recordOf = async ({ id }: Earlier) => {
  const job = await byHand.shard.signatures.queue.getJob(id);
  return recordIn(job?.progress, job?.data);
};
const cancelled = { kind: 'fault', fault: fault(401) } as const;

describe('a signature whose person was asked by a release before 0.2', () => {
  it('stands where that release has left it until it is taken up', async () => {
    const earlier = await leftBehind(pendingSince);
    expect(await statusOf(earlier)).toBe('504');
    expect(await recordOf(earlier)).toMatchObject({ state: 'pending', attempt: 1 });
    await byHand.shard.signatures.queue.remove(earlier.id);
  });

  it('is asked for again, on the same device, and ends by the answer', async () => {
    const earlier = await leftBehind(pendingSince);
    const deviceLock = createDeviceLock(redis.client(), byHand.product.configuration.queue.prefix, Date.now);
    // That release had claimed the screen for it.
    await deviceLock.claim(
      deviceKey(earlier.msisdn, 'sim'),
      { transactionId: earlier.id, attempt: 1 },
      Date.now() + 60_000,
    );
    await sleeps(await again(earlier));
    expect(await recordOf(earlier)).toMatchObject({
      state: 'pending',
      attempt: 1,
      deadline: earlier.begunAt + 60_000,
      history: [entry('submitted', earlier.begunAt), entry('pending', earlier.begunAt + 5)],
    });
    expect(await byHand.product.api.transactions.answer(earlier.id, 1, cancelled)).toBe('accepted');
    const job = await byHand.take(byHand.shard.signatures, token);
    const error = await byHand
      .signatureTurn()(job, token)
      .catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ message: expect.stringContaining('_401') });
    await job.moveToFailed(error as Error, token, false);
    expect(await statusOf(earlier)).toBe('_401');
  });

  it('ends by an answer or a cancel that comes before a worker has taken it up', async () => {
    const answer = { kind: 'fault', fault: fault(402) } as const;
    const cancel = async (id: string) => (await openQueueForTest(redis, byHand.product).find(id))?.cancel();
    for (const [act, said, reason] of [
      [(id: string) => byHand.product.api.transactions.answer(id, 1, answer), 'accepted', '_402'],
      [cancel, 'cancelled', '_401'],
    ] as const) {
      const earlier = await leftBehind(pendingSince);
      expect(await act(earlier.id)).toBe(said);
      const job = await byHand.take(byHand.shard.signatures, token);
      expect(job.id).toBe(earlier.id);
      const error = await byHand
        .signatureTurn()(job, token)
        .catch((thrown: Error) => thrown);
      expect(error).toMatchObject({ message: expect.stringContaining(reason) });
      await job.moveToFailed(error as Error, token, false);
      expect(await recordOf(earlier)).toMatchObject({
        state: 'failed',
        history: [{ state: 'submitted' }, { state: 'pending' }, { state: 'failed' }],
      });
    }
  });

  it('expires at the deadline that it had', async () => {
    const earlier = await leftBehind(pendingSince);
    await sleeps(await again(earlier));
    const now = () => earlier.begunAt + 60_000;
    await expect(byHand.signatureTurn({ now })(await again(earlier), token)).rejects.toThrow('_208');
  });

  it('expires at once where its deadline has passed before anybody took it up', async () => {
    const earlier = await leftBehind(pendingSince);
    const now = () => earlier.begunAt + 60_001;
    await expect(byHand.signatureTurn({ now })(await again(earlier), token)).rejects.toThrow('_208');
  });

  it('is no signature where a signature lies in its data', async () => {
    const outcome = { kind: 'signature', cms: 'TUlJQg==' };
    for (const state of ['signed', 'pending'] as const) {
      const earlier = await leftBehind((begunAt) => {
        const { data, fields } = pendingSince(begunAt);
        return { data: { ...data, transaction: { ...data.transaction, state, outcome } }, fields };
      });
      const job = await again(earlier);
      await expect(byHand.signatureTurn()(job, token)).rejects.toThrow('_900 INTERNAL_ERROR');
    }
  });
});

describe('a signature that had not been asked for', () => {
  it('is taken up as if it were new, with the deadline that it had', async () => {
    const earlier = await leftBehind((begunAt) => {
      const history = [entry('submitted', begunAt)];
      const transaction = { version: 1, state: 'submitted', attempt: 1, deadline: begunAt + 60_000, history };
      return { data: { transaction, endedRuns: 0, troubled: true } };
    });
    await sleeps(await again(earlier));
    expect(await recordOf(earlier)).toMatchObject({
      state: 'pending',
      deadline: earlier.begunAt + 60_000,
      history: [{ state: 'submitted' }, { state: 'pending' }],
    });
    const now = () => earlier.begunAt + 60_000;
    await expect(byHand.signatureTurn({ now })(await again(earlier), token)).rejects.toThrow('_208');
  });
});

describe('a signature that had failed', () => {
  it('is told as it was, and a replay of it is the next attempt', async () => {
    const earlier = await leftBehind(failedAt, '_401 USER_CANCEL: User cancelled the request');
    const { id, begunAt } = earlier;
    expect(await statusOf(earlier)).toBe('_401');
    expect(await recordOf(earlier)).toMatchObject({ state: 'failed', attempt: 1 });
    const { transactions } = byHand.product.api;
    expect(await transactions.answer(id, 1, cancelled)).toBe('finished');
    expect(await byHand.product.replay(id)).toBe('replayed');
    const now = () => begunAt + 120_000;
    await sleeps(await byHand.take(byHand.shard.signatures, token), now);
    expect(await recordOf(earlier)).toMatchObject({
      state: 'pending',
      attempt: 2,
      deadline: begunAt + 180_000,
      history: [
        entry('submitted', begunAt),
        entry('pending', begunAt + 5),
        { state: 'failed', attempt: 1, fault: { code: 401 } },
        { state: 'submitted', attempt: 2 },
        { state: 'pending', attempt: 2 },
      ],
    });
    expect(await transactions.answer(id, 1, cancelled)).toBe('refused');
    expect(await transactions.answer(id, 2, cancelled)).toBe('accepted');
    const job = await byHand.take(byHand.shard.signatures, token);
    expect(job.id).toBe(id);
    await expect(byHand.signatureTurn({ now })(job, token)).rejects.toThrow('_401');
  });

  it('ends so again where its worker was cut off before the queue had heard of it', async () => {
    const earlier = await leftBehind(failedAt);
    await expect(byHand.signatureTurn()(await again(earlier), token)).rejects.toThrow('_401');
  });
});
