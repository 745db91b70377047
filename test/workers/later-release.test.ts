/**
 * Jobs that a release after this one has begun, or ended. While it is rolled out, or back, this one meets them: it
 * judges nothing that it cannot read, and answers with what it can.
 */
import { DelayedError } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newMsspTransId } from '../../src/transactions/ids.ts';
import { wake } from '../../src/transactions/job-home.ts';
import { laterWorkerPatienceMs, type SignatureJob } from '../../workers/taking.ts';
import type { Json } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { receiptRequest, signRequest, statusRequest } from '../support/requests.ts';
import { type ByHand, startByHand } from './by-hand.ts';

const redis = testRedis();
const robot = '+41700092501';
const token = 'hand';
let byHand: ByHand;

beforeAll(async () => {
  byHand = await startByHand(redis, {});
});

afterAll(() => byHand.stop());

const submit = async (): Promise<string> => {
  const { body } = await byHand.product.post('/rest/service/sign', signRequest({ mode: 'asynch' }));
  return body.MSS_SignatureResp.MSSP_TransID;
};

/** A record whose states and members this release does not have. */
const laterRecord = (deadline: unknown) => ({
  version: 2,
  state: 'countersigning',
  attempt: 1,
  deadline,
  witnesses: [{ msisdn: '41700092502' }],
  history: [{ state: 'countersigning', attempt: 1, at: 1 }],
});

describe('a signature job that a later release has begun', () => {
  /** Taken for the second time, by a worker of this release. */
  const begunBefore = async (record: object): Promise<SignatureJob> => {
    const { shard, take } = byHand;
    await submit();
    const job = await take(shard.signatures, token);
    const { MSS_SignatureReq } = job.data;
    await job.updateData({ MSS_SignatureReq, transaction: record, seals: 3 });
    await job.moveToDelayed(Date.now(), token);
    await wake(shard.signatures.queue, job.id ?? '');
    return take(shard.signatures, token);
  };

  const stored = async ({ id = '' }: SignatureJob) =>
    redis.client().hget(byHand.shard.signatures.queue.toKey(id), 'data');

  it.each([
    ['before its deadline', -1000],
    ['until ten minutes after its deadline', laterWorkerPatienceMs - 1],
  ])('is left alone %s, for another worker to take', async (_, afterDeadlineMs) => {
    const deadline = Date.now() + 60_000;
    const job = await begunBefore(laterRecord(deadline));
    const before = await stored(job);
    const step = byHand.signatureTurn({ now: () => deadline + afterDeadlineMs });
    await expect(step(job, token)).rejects.toBeInstanceOf(DelayedError);
    expect(await byHand.shard.signatures.queue.getJobState(job.id ?? '')).toBe('delayed');
    expect(await stored(job)).toBe(before);
  });

  it('ends as an internal error when no worker of that release has come by then', async () => {
    const deadline = Date.now() + 60_000;
    const job = await begunBefore(laterRecord(deadline));
    const step = byHand.signatureTurn({ now: () => deadline + laterWorkerPatienceMs });
    await expect(step(job, token)).rejects.toThrow('_900 INTERNAL_ERROR');
  });

  it('is not believed when it names a deadline that no TimeOut reaches', async () => {
    const job = await begunBefore(laterRecord(9e15));
    const step = byHand.signatureTurn({ now: () => job.timestamp + laterWorkerPatienceMs });
    await expect(step(job, token)).rejects.toThrow('_900 INTERNAL_ERROR');
  });

  it('whose deadline cannot be read is given the same time from its submission', async () => {
    const job = await begunBefore(laterRecord('tomorrow'));
    const over = job.timestamp + laterWorkerPatienceMs;
    const early = byHand.signatureTurn({ now: () => over - 1 })(job, token);
    await expect(early).rejects.toBeInstanceOf(DelayedError);
    const late = byHand.signatureTurn({ now: () => over })(job, token);
    await expect(late).rejects.toThrow('_900 INTERNAL_ERROR');
  });
});

describe('a signature job whose producer brings a record of a later version', () => {
  it('is refused at its first run like any record that only workers write', async () => {
    const { shard, take, signatureTurn } = byHand;
    const data = { ...signRequest({ mode: 'asynch' }), transaction: laterRecord(Date.now() + 60_000) };
    await shard.signatures.queue.add('sign', data, { jobId: newMsspTransId(0) });
    const job = await take(shard.signatures, token);
    await expect(signatureTurn()(job, token)).rejects.toThrow('_101 WRONG_PARAM: The job data is not usable');
  });
});

/** Signs as this release does, and completes the job as one after it might. */
const completeAsLater = async (): Promise<void> => {
  const { shard, take, signatureTurn } = byHand;
  const job = await take(shard.signatures, token);
  const { outcome, ...record } = await signatureTurn()(job, token);
  const later = { ...record, ...laterRecord(record.deadline), outcome: { ...outcome, ribbon: 'red' } };
  await job.moveToCompleted(later, token, false);
};

describe('a transaction that a later release has signed', () => {
  it('is answered as signed, to who waits for it and to who asks later', async () => {
    const { product } = byHand;
    const answer = product.post('/rest/service/sign', signRequest());
    await completeAsLater();
    const { MSSP_TransID, Status, MSS_Signature } = (await answer).body.MSS_SignatureResp;
    expect(Status.StatusCode.Value).toBe('500');
    expect(MSS_Signature.Base64Signature).not.toBe('');
    const status = await product.post('/rest/service/status', statusRequest(MSSP_TransID));
    expect(status.body.MSS_StatusResp).toMatchObject({
      Status: { StatusCode: { Value: '500' } },
      MSS_Signature,
    });
  });

  it('is an internal error when its outcome is of a kind that this release does not know', async () => {
    const { product, shard, take } = byHand;
    const id = await submit();
    const job = await take(shard.signatures, token);
    await job.moveToCompleted({ ...laterRecord(1), outcome: { kind: 'countersigned' } }, token, false);
    const { body } = await product.post('/rest/service/status', statusRequest(id));
    expect(body.Fault.Reason).toBe('INTERNAL_ERROR');
  });
});

describe('the receipt of a signature of a later release', () => {
  it('is left to a worker of that release, and fails when none has come', async () => {
    const { product, shard, take, receiptTurn } = byHand;
    const id = await submit();
    await completeAsLater();
    const returnValue = async (): Promise<Json> => (await shard.signatures.home.read(id))?.returnValue;
    const before = await returnValue();
    const caller = product.post('/rest/service/receipt', receiptRequest(id, { msisdn: robot }));

    const job = await take(shard.receipts, token);
    const over = job.timestamp + laterWorkerPatienceMs;
    await expect(receiptTurn({ now: () => over - 1 })(job, token)).rejects.toBeInstanceOf(DelayedError);
    expect(await shard.receipts.queue.getJobState(job.id ?? '')).toBe('delayed');
    expect(await shard.receipts.home.decision(job.id ?? '', 1)).toBeUndefined();

    await wake(shard.receipts.queue, job.id ?? '');
    const again = await take(shard.receipts, token);
    const reason = await receiptTurn({ now: () => over })(again, token).catch((error: Error) => error);
    expect(reason).toMatchObject({ message: expect.stringContaining('_900 INTERNAL_ERROR') });
    expect(await returnValue()).toEqual(before);
    await again.moveToFailed(reason as Error, token, false);
    expect((await caller).body.Fault.Reason).toBe('INTERNAL_ERROR');
  });
});
