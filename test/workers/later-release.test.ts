/**
 * Jobs that a release after this one has begun, or ended. While it is rolled out, or back, this one
 * meets them: it judges nothing that it cannot read, and answers with what it can.
 */
import { DelayedError, type Job } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signatureVersion } from '../../machines/signature.machine.ts';
import { newMsspTransId } from '../../src/transactions/ids.ts';
import { laterWorkerTimeoutMs } from '../../workers/workers.ts';
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

/** What a later release returns: its states and members this release does not have. */
const laterRecord = (deadline: unknown) => ({
  version: signatureVersion + 1,
  state: 'countersigning',
  attempt: 1,
  deadline,
  witnesses: [{ msisdn: '41700092502' }],
  history: [{ state: 'countersigning', attempt: 1, at: 1 }],
});

/** The same while it is open. */
const laterProgress = (deadline: unknown) => ({
  workflow: 'sign',
  version: signatureVersion + 1,
  status: 'active',
  value: { countersigning: { first: 'asking', second: 'shown' } },
  context: laterRecord(deadline),
  children: { 'ask-0': { src: 'askWitness', run: 1, input: { witness: 0 } } },
  timers: [{ id: 'x', at: 1, event: { type: 'xstate.after.deadline.countersigning' } }],
  next: 2,
});

describe('a signature job that a later release has begun', () => {
  /** Taken for the second time, by a worker of this release. */
  const begunBefore = async (progress: object): Promise<Job> => {
    const { shard, take, wakeAndTake } = byHand;
    const { queue } = shard.signatures;
    const id = await submit();
    const job = await take(shard.signatures, token);
    await redis.client().hset(queue.toKey(id), { progress: JSON.stringify(progress), open: '2' });
    await job.moveToDelayed(Date.now(), token);
    return wakeAndTake(shard.signatures, id, token);
  };

  const stored = ({ id = '' }: Job) =>
    redis.client().hmget(byHand.shard.signatures.queue.toKey(id), 'data', 'progress', 'open');

  it.each([
    ['before its deadline', -1000],
    ['until ten minutes after its deadline', laterWorkerTimeoutMs - 1],
  ])('is left alone %s, for another worker to take', async (_, afterDeadlineMs) => {
    const deadline = Date.now() + 60_000;
    const job = await begunBefore(laterProgress(deadline));
    const before = await stored(job);
    const turn = byHand.signatureTurn({ now: () => deadline + afterDeadlineMs });
    await expect(turn(job, token)).rejects.toBeInstanceOf(DelayedError);
    expect(await byHand.shard.signatures.queue.getJobState(job.id ?? '')).toBe('delayed');
    expect(await stored(job)).toEqual(before);
    await byHand.shard.signatures.queue.remove(job.id ?? '');
  });

  it('ends as an internal error when no worker of that release has come by then', async () => {
    const deadline = Date.now() + 60_000;
    const job = await begunBefore(laterProgress(deadline));
    const turn = byHand.signatureTurn({ now: () => deadline + laterWorkerTimeoutMs });
    await expect(turn(job, token)).rejects.toThrow('_900 INTERNAL_ERROR');
  });

  it('is not believed when it names a deadline that no TimeOut reaches', async () => {
    const job = await begunBefore(laterProgress(9e15));
    const turn = byHand.signatureTurn({ now: () => job.timestamp + laterWorkerTimeoutMs });
    await expect(turn(job, token)).rejects.toThrow('_900 INTERNAL_ERROR');
  });

  it('whose deadline cannot be read is given the same time from its submission', async () => {
    const job = await begunBefore(laterProgress('tomorrow'));
    const over = job.timestamp + laterWorkerTimeoutMs;
    const early = byHand.signatureTurn({ now: () => over - 1 })(job, token);
    await expect(early).rejects.toBeInstanceOf(DelayedError);
    const again = await byHand.wakeAndTake(byHand.shard.signatures, job.id, token);
    const late = byHand.signatureTurn({ now: () => over })(again, token);
    await expect(late).rejects.toThrow('_900 INTERNAL_ERROR');
  });
});

describe('a signature job whose producer brings a record of a later version', () => {
  it('is refused like any record that only workers write', async () => {
    const { shard, take, signatureTurn } = byHand;
    const data = {
      ...signRequest({ mode: 'asynch' }),
      transaction: laterRecord(Date.now() + 60_000),
    };
    await shard.signatures.queue.add('sign', data, { jobId: newMsspTransId(0) });
    const job = await take(shard.signatures, token);
    const reason = '_101 WRONG_PARAM: The job data may hold MSS_SignatureReq only';
    await expect(signatureTurn()(job, token)).rejects.toThrow(reason);
  });
});

/** Signs as this release does, and completes the job as one after it might. */
const completeAsLater = async (): Promise<void> => {
  const { shard, take, signatureTurn } = byHand;
  const job = await take(shard.signatures, token);
  const { outcome, ...record } = await signatureTurn()(job, token);
  const later = {
    ...record,
    ...laterRecord(record.deadline),
    outcome: { ...outcome, ribbon: 'red' },
  };
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
    await job.moveToCompleted(
      { ...laterRecord(1), outcome: { kind: 'countersigned' } },
      token,
      false,
    );
    const { body } = await product.post('/rest/service/status', statusRequest(id));
    expect(body.Fault.Reason).toBe('INTERNAL_ERROR');
  });
});

describe('the receipt of a signature of a later release', () => {
  it('is left to a worker of that release, and fails when none has come until its deadline', async () => {
    const { product, shard, take, wakeAndTake, receiptTurn } = byHand;
    const id = await submit();
    await completeAsLater();
    const returnValue = async (): Promise<Json> =>
      (await shard.signatures.jobs.read(id))?.returnValue;
    const before = await returnValue();
    const caller = product.post('/rest/service/receipt', receiptRequest(id, { msisdn: robot }));

    const job = await take(shard.receipts, token);
    const over = job.timestamp + product.configuration.receipt.timeoutSeconds * 1000;
    await expect(receiptTurn({ now: () => over - 1 })(job, token)).rejects.toBeInstanceOf(
      DelayedError,
    );
    expect(await shard.receipts.queue.getJobState(job.id ?? '')).toBe('delayed');

    const again = await wakeAndTake(shard.receipts, job.id, token);
    const reason = await receiptTurn({ now: () => over })(again, token).catch(
      (error: Error) => error,
    );
    expect(reason).toMatchObject({ message: expect.stringContaining('_900 INTERNAL_ERROR') });
    expect(await returnValue()).toEqual(before);
    await again.moveToFailed(reason as Error, token, false);
    expect((await caller).body.Fault.Reason).toBe('INTERNAL_ERROR');
  });
});

describe('a receipt job that a later release has begun', () => {
  it('is left alone until ten minutes after its deadline, and then fails', async () => {
    const { product, shard, take, wakeAndTake, signatureTurn, receiptTurn } = byHand;
    const id = await submit();
    const signing = await take(shard.signatures, token);
    await signing.moveToCompleted(await signatureTurn()(signing, token), token, false);
    const caller = product.post('/rest/service/receipt', receiptRequest(id, { msisdn: robot }));
    const job = await take(shard.receipts, token);
    const deadline = job.timestamp + 60_000;
    const progress = JSON.stringify({ ...laterProgress(deadline), workflow: 'receipt' });
    await redis.client().hset(shard.receipts.queue.toKey(job.id ?? ''), { progress, open: '2' });
    await job.moveToDelayed(Date.now(), token);

    const first = await wakeAndTake(shard.receipts, job.id, token);
    const over = deadline + laterWorkerTimeoutMs;
    await expect(receiptTurn({ now: () => over - 1 })(first, token)).rejects.toBeInstanceOf(
      DelayedError,
    );
    const again = await wakeAndTake(shard.receipts, job.id, token);
    const reason = await receiptTurn({ now: () => over })(again, token).catch(
      (error: Error) => error,
    );
    expect(reason).toMatchObject({ message: expect.stringContaining('_900 INTERNAL_ERROR') });
    await again.moveToFailed(reason as Error, token, false);
    expect((await caller).body.Fault.Reason).toBe('INTERNAL_ERROR');
  });
});
