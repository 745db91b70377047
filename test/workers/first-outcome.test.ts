/**
 * The first outcome stands, wherever the run that told it was cut off, and however late the next run comes.
 */
import { DelayedError } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fault } from '../../src/protocol/fault.ts';
import { wake } from '../../src/transactions/job-home.ts';
import { createScreens } from '../../src/transactions/screens.ts';
import { openQueueForTest } from '../queue/stage.ts';
import { testRedis } from '../support/redis.ts';
import { receiptRequest, signRequest } from '../support/requests.ts';
import { type ByHand, startByHand } from './by-hand.ts';

const redis = testRedis();
const accepts = { kind: 'simulated', sign: 'signs', receipt: 'accepts' } as const;
const silent = { kind: 'simulated', sign: 'never-answers' } as const;
const receiptSeconds = 30;
let nextPerson = 41_784_000_000;
let byHand: ByHand;

beforeAll(async () => {
  byHand = await startByHand(redis, {
    receipt: { timeoutSeconds: receiptSeconds },
    subscribers: [
      { msisdn: '41784000000', through: '41784000099', sim: { device: accepts } },
      { msisdn: '41785000000', sim: { device: silent } },
    ],
  });
});

afterAll(() => byHand.stop());

const submit = async (msisdn: string): Promise<string> => {
  const { body } = await byHand.product.post('/rest/service/sign', signRequest({ msisdn, mode: 'asynch' }));
  return body.MSS_SignatureResp.MSSP_TransID;
};

/** Redis goes away between the decision and what follows from it. */
const screensWithoutRelease = () => ({
  ...createScreens(byHand.product.core.blocking, byHand.product.configuration.queue.prefix, Date.now),
  release: async () => {
    throw new Error('Redis went away');
  },
});

describe('a receipt that the user has accepted', () => {
  /** A caller who waits for the receipt of a signature, and the receipt's job, taken by a first worker. */
  const receiptInHand = async () => {
    const { product, shard, take, signatureStep } = byHand;
    const msisdn = `+${nextPerson++}`;
    const id = await submit(msisdn);
    const signature = await take(shard.signatures, 'signs');
    await signature.moveToCompleted(await signatureStep()(signature, 'signs'), 'signs', false);
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
    const signature = await byHand.shard.signatures.home.read(id);
    expect(signature?.returnValue).toMatchObject({ state: 'receipted', receipt: 'accepted' });
  };

  it('stays accepted when its worker dies before the job completes and the next one comes after the deadline', async () => {
    const inHand = await receiptInHand();
    const { job, deadline } = inHand;
    const { receiptStep, shard } = byHand;
    // Its result never reaches the queue.
    await receiptStep()(job, 'first');
    const again = await shard.receipts.queue.getJob(job.id ?? '');
    if (again === undefined) throw new Error('the receipt was expected');
    const result = await receiptStep({ now: () => deadline + 1 })(again, 'first');
    await again.moveToCompleted(result, 'first', false);
    await expectAccepted(inHand);
  });

  it('stays accepted when the run stops before the signature learns of it', async () => {
    const inHand = await receiptInHand();
    const { job, deadline } = inHand;
    const { receiptStep, shard, take } = byHand;
    const cutOff = receiptStep({ screens: screensWithoutRelease() });
    await expect(cutOff(job, 'first')).rejects.toBeInstanceOf(DelayedError);
    await wake(shard.receipts.queue, job.id ?? '');
    const again = await take(shard.receipts, 'second');
    const result = await receiptStep({ now: () => deadline + 1 })(again, 'second');
    await again.moveToCompleted(result, 'second', false);
    await expectAccepted(inHand);
  });

  it('stays accepted when the signature cannot learn of it until after the deadline', async () => {
    const inHand = await receiptInHand();
    const { job, deadline } = inHand;
    const { receiptStep, shard, take } = byHand;
    await expect(receiptStep({ screens: screensWithoutRelease() })(job, 'first')).rejects.toBeInstanceOf(
      DelayedError,
    );
    await wake(shard.receipts.queue, job.id ?? '');
    const again = await take(shard.receipts, 'second');
    const now = () => deadline + 1;
    const still = receiptStep({ screens: screensWithoutRelease(), now });
    await expect(still(again, 'second')).rejects.toBeInstanceOf(DelayedError);
    await again.moveToCompleted(await receiptStep({ now })(again, 'second'), 'second', false);
    await expectAccepted(inHand);
  });
});

describe('an answer that was accepted', () => {
  it('ends the transaction, even when its end can be written only after the deadline', async () => {
    const { product, shard, take, signatureStep } = byHand;
    const { signatures } = shard;
    const id = await submit('+41785000000');
    const asked = await take(signatures, 'asks');
    await expect(signatureStep()(asked, 'asks')).rejects.toBeInstanceOf(DelayedError);
    const answer = { kind: 'fault', fault: fault(401) } as const;
    expect(await product.api.transactions.answer(id, 1, answer)).toBe('accepted');

    const job = await take(signatures, 'ends');
    const now = () => job.timestamp + 61_000;
    const save = async () => {
      throw new Error('READONLY You can not write against a read only replica');
    };
    const at = { ...signatures, home: { ...signatures.home, save } };
    await expect(signatureStep({ at, now })(job, 'ends')).rejects.toBeInstanceOf(DelayedError);
    await expect(signatureStep({ now })(job, 'ends')).rejects.toThrow('_401 USER_CANCEL');
  });
});

describe('a replay', () => {
  it('whose worker was paused while another one ended it is joined by nobody afterwards', async () => {
    const { product, shard, take, signatureStep } = byHand;
    const { signatures } = shard;
    const request = { msisdn: '+41785000000', text: 'Sign?', apTransId: 'PAUSED-1', instant: new Date() };
    const queue = openQueueForTest(redis, product, { apId: 'http://test.example' });
    const { id } = await queue.enqueue(request);
    const failure = new Error('_401 USER_CANCEL: User cancelled the request');
    await (await take(signatures, 'first')).moveToFailed(failure, 'first', false);
    await (await signatures.queue.getJob(id))?.retry('failed');
    const job = await take(signatures, 'paused');
    const { home } = signatures;
    const save: typeof home.save = async (...given) => {
      const saved = await home.save(...given);
      // It goes on much later, when all is over.
      if (await redis.client().exists(signatures.queue.toKey(`${id}:lock`))) {
        await job.moveToFailed(failure, 'paused', false);
      }
      return saved;
    };
    await signatureStep({ at: { ...signatures, home: { ...home, save } } })(job, 'paused').catch(
      () => undefined,
    );
    expect(await queue.enqueue(request)).toMatchObject({ joined: false });
  });
});
