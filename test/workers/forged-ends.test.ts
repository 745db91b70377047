/**
 * Ends that no step of ours has come to: planted in job data, in a decision, in a return value or in an event, by whoever
 * can write to Redis. None of them becomes a signature.
 */
import { DelayedError } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SignatureRecord } from '../../machines/record.ts';
import { endsOf } from '../../src/callbacks/ends.ts';
import { jobFields, rowOf } from '../../src/history/row.ts';
import { signCms } from '../../src/pki/cms.ts';
import { type NoResultError, SignatureFailedError } from '../../src/queue/index.ts';
import type { DeviceDecision } from '../../src/transactions/answers.ts';
import { nonceOf } from '../../src/transactions/ids.ts';
import { wake } from '../../src/transactions/job-home.ts';
import { openQueueForTest } from '../queue/stage.ts';
import type { Json } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { receiptRequest, signRequest, statusRequest } from '../support/requests.ts';
import { type ByHand, startByHand } from './by-hand.ts';

const redis = testRedis();
const robot = '+41700092501';
const text = 'Sign in to Example?';
const token = 'hand';
const forged = Buffer.from('no signature at all').toString('base64');
let nextPerson = 41_786_000_000;
let byHand: ByHand;

beforeAll(async () => {
  byHand = await startByHand(redis, {
    subscribers: [
      {
        msisdn: '41786000000',
        through: '41786000099',
        sim: { device: { kind: 'simulated', sign: 'never-answers' } },
      },
    ],
  });
});
afterAll(() => byHand.stop());

const somebody = (): string => `+${nextPerson++}`;

const submit = async (msisdn = robot): Promise<string> => {
  const { body } = await byHand.product.post(
    '/rest/service/sign',
    signRequest({ msisdn, mode: 'asynch', text }),
  );
  return body.MSS_SignatureResp.MSSP_TransID;
};

const keyOf = async (msisdn: string) =>
  byHand.product.core
    .custodyOver(byHand.product.core.blocking)
    .userKey({ msisdn: msisdn.slice(1), sscdId: 'sim', algorithm: 'EC', expired: false });

/** A signature of the text of {@link submit} by a key of ours. */
const signatureBy = async (msisdn: string, nonce?: Uint8Array) => {
  const key = await keyOf(msisdn);
  const cms = await signCms({ content: Buffer.from(text), key, ...(nonce !== undefined && { nonce }) });
  return {
    kind: 'signature',
    cms: Buffer.from(cms).toString('base64'),
    certificates: key.chain.id,
  } as const satisfies DeviceDecision;
};

const recordWith = (outcome: object): object => ({
  version: 1,
  state: 'signed',
  attempt: 1,
  deadline: Date.now() + 60_000,
  outcome,
  history: [
    { state: 'submitted', attempt: 1, at: 1 },
    { state: 'signed', attempt: 1, at: 2 },
  ],
});

/** Takes the next job, and completes it with what its step says. */
const sign = async (): Promise<void> => {
  const job = await byHand.take(byHand.shard.signatures, token);
  await job.moveToCompleted(await byHand.signatureTurn()(job, token), token, false);
};

const statusOf = async (id: string): Promise<string> => {
  const { body } = await byHand.product.post('/rest/service/status', statusRequest(id));
  return body.MSS_StatusResp?.Status.StatusCode.Value ?? body.Fault.Code.SubCode.Value;
};

const fieldsOf = (id: string): string => byHand.shard.signatures.queue.toKey(id);

describe('a record of a signature in the data of a job', () => {
  it('is no signature when the job is run a second time', async () => {
    const { shard, take, signatureTurn } = byHand;
    const id = await submit();
    const job = await take(shard.signatures, token);
    const { MSS_SignatureReq } = job.data;
    const transaction = recordWith({ kind: 'signature', cms: forged, profile: 'STK-LoA4' });
    await job.updateData({ MSS_SignatureReq, transaction });
    await job.moveToDelayed(Date.now(), token);
    await wake(shard.signatures.queue, id);
    const again = await take(shard.signatures, token);
    const error = await signatureTurn()(again, token).then(
      (record: SignatureRecord) => record,
      (thrown: Error) => thrown,
    );
    expect(error).toMatchObject({ message: expect.stringContaining('_900 INTERNAL_ERROR') });
  });
});

describe('an answer from elsewhere', () => {
  /** Somebody has been asked, and `answer` gives what comes instead of their answer. */
  const endedBy = async (answer: (id: string, msisdn: string) => Promise<DeviceDecision>) => {
    const { product, shard, take, signatureTurn } = byHand;
    const msisdn = somebody();
    const id = await submit(msisdn);
    const asks = await take(shard.signatures, token);
    await expect(signatureTurn()(asks, token)).rejects.toBeInstanceOf(DelayedError);
    expect(await product.api.transactions.answer(id, 1, await answer(id, msisdn))).toBe('accepted');
    const ends = await take(shard.signatures, token);
    return signatureTurn()(ends, token).then(
      ({ state }) => state,
      ({ message }: Error) => message,
    );
  };

  it('is a signature by the key of who was asked, for this attempt', async () => {
    expect(await endedBy((id, msisdn) => signatureBy(msisdn, nonceOf(id, 1)))).toBe('signed');
  });

  it('is not one by the key of somebody else', async () => {
    expect(await endedBy((id) => signatureBy(robot, nonceOf(id, 1)))).toContain('_900');
  });

  it.each([
    ['of another transaction', () => nonceOf('H00aaaaaaaaaaaaaaaaa', 1)],
    ['of another attempt', (id: string) => nonceOf(id, 2)],
    ['that names no transaction', () => undefined],
  ])('is not one over an equal text %s', async (_, nonce) => {
    expect(await endedBy((id, msisdn) => signatureBy(msisdn, nonce(id)))).toContain('_900');
  });
});

describe('a return value that somebody has planted', () => {
  const outcome = { kind: 'signature', cms: forged, profile: 'STK-LoA4' } as const;

  const believedBy = async (id: string) => {
    const handle = await openQueueForTest(redis, byHand.product).find(id);
    const result = await handle?.result().then(
      () => 'signed',
      (error: SignatureFailedError | NoResultError) =>
        error instanceof SignatureFailedError ? error.code : 0,
    );
    return { http: await statusOf(id), queue: result, status: await handle?.status() };
  };

  it('is fault 900 to everybody, when it holds no signature', async () => {
    const id = await submit();
    await sign();
    expect(await believedBy(id)).toEqual({ http: '500', queue: 'signed', status: 'signed' });
    await redis.client().hset(fieldsOf(id), 'returnvalue', JSON.stringify(recordWith(outcome)));
    expect(await believedBy(id)).toMatchObject({ http: '_900', queue: 900 });
    expect(byHand.product.logged.join()).toContain(`A stored end was not believed: ${id}`);
  });

  it('is fault 900 when it is the signature of another transaction over an equal text', async () => {
    const [first, second] = [await submit(), await submit()];
    await sign();
    await sign();
    const { returnvalue = '' } = await redis.client().hgetall(fieldsOf(first));
    await redis.client().hset(fieldsOf(second), 'returnvalue', returnvalue);
    expect(await believedBy(first)).toEqual({ http: '500', queue: 'signed', status: 'signed' });
    expect(await believedBy(second)).toMatchObject({ http: '_900', queue: 900 });
  });

  it('says no more than was signed, when it bears no seal or one of something else', async () => {
    const id = await submit();
    await sign();
    const record: Json = JSON.parse((await redis.client().hget(fieldsOf(id), 'returnvalue')) ?? '');
    const { seal, ...unsealed } = record.outcome;
    const more = {
      validated: true,
      geofencing: { errorCode: '100', errorMessage: 'Nowhere' },
      subscriberNetwork: '99999',
    };
    for (const outcome of [
      { ...record.outcome, ...more },
      { ...unsealed, ...more },
      { ...unsealed, seal: 'x' },
    ]) {
      await redis.client().hset(fieldsOf(id), 'returnvalue', JSON.stringify({ ...record, outcome }));
      const view = await byHand.product.api.transactions.find(id);
      expect(view?.state).toMatchObject({
        kind: 'signed',
        signed: { validated: false, geofencing: undefined, subscriberNetwork: undefined },
      });
    }
    const reordered = { ...record, outcome: { seal, ...unsealed } };
    await redis.client().hset(fieldsOf(id), 'returnvalue', JSON.stringify(reordered));
    expect(await statusOf(id)).toBe('500');
  });

  it('stays signed when a worker of an earlier release adds a receipt, and drops the seal', async () => {
    const id = await submit();
    await sign();
    const record: Json = JSON.parse((await redis.client().hget(fieldsOf(id), 'returnvalue')) ?? '');
    const { seal: _, ...outcome } = record.outcome;
    const amended = { ...record, outcome, state: 'receipted', receipt: 'accepted' };
    await redis.client().hset(fieldsOf(id), 'returnvalue', JSON.stringify(amended));
    expect(await believedBy(id)).toEqual({ http: '500', queue: 'signed', status: 'receipted' });
  });

  it.each([
    ['by the person counts', robot, new Uint8Array(16), '500'],
    ['by somebody else does not', '+41700092503', new Uint8Array(16), '_900'],
    ['by the person with a short nonce counts', robot, new Uint8Array(8), '500'],
    ['by the person for something else does not', robot, new Uint8Array(20), '_900'],
  ])('of an earlier release, without a seal, with a signature %s', async (_, signer, nonce, status) => {
    const id = await submit();
    await sign();
    const earlier = await signatureBy(signer, nonce);
    const record = recordWith({ ...earlier, profile: 'STK-LoA4', sscdId: 'sim' });
    await redis.client().hset(fieldsOf(id), 'returnvalue', JSON.stringify(record));
    expect(await statusOf(id)).toBe(status);
  });

  it('is no password that was delivered where a signature was asked for', async () => {
    const id = await submit();
    await sign();
    await redis.client().hset(fieldsOf(id), 'returnvalue', JSON.stringify(recordWith({ kind: 'delivered' })));
    expect(await statusOf(id)).toBe('_900');
  });

  it('in an event is not told to who waits: what the job says is', async () => {
    const { product, shard } = byHand;
    const answer = product.post('/rest/service/sign', signRequest({ text }));
    const job = await byHand.take(shard.signatures, token);
    const event = [
      'event',
      'completed',
      'jobId',
      job.id ?? '',
      'returnvalue',
      JSON.stringify(recordWith(outcome)),
    ];
    await redis.client().xadd(shard.signatures.queue.toKey('events'), '*', ...event);
    await job.moveToCompleted(await byHand.signatureTurn()(job, token), token, false);
    const { body } = await answer;
    const signed = await shard.signatures.home.read(job.id ?? '');
    expect(body.MSS_SignatureResp.MSS_Signature.Base64Signature).not.toBe(forged);
    expect(signed?.returnValue).toMatchObject({ outcome: { kind: 'signature' } });
  });

  it('gets no receipt', async () => {
    const { product, shard, take, receiptTurn } = byHand;
    const id = await submit();
    await sign();
    // The API has looked, and then somebody writes.
    const caller = product.post('/rest/service/receipt', receiptRequest(id, { msisdn: robot }));
    const job = await take(shard.receipts, token);
    await redis.client().hset(fieldsOf(id), 'returnvalue', JSON.stringify(recordWith(outcome)));
    const error = await receiptTurn()(job, token).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({
      message: expect.stringContaining('A receipt follows a successful signature'),
    });
    await job.moveToFailed(error as Error, token, false);
    expect((await caller).body.Fault.Reason).toBe('INTERNAL_ERROR');
  });
});

describe('a failure that a step has saved and could not tell', () => {
  it('is the end, to who cancels and to everybody else', async () => {
    const { product, shard, take, signatureTurn } = byHand;
    const { body } = await product.post(
      '/rest/service/sign',
      signRequest({ msisdn: somebody(), mode: 'asynch', timeoutSeconds: 1 }),
    );
    const id = body.MSS_SignatureResp.MSSP_TransID;
    const job = await take(shard.signatures, token);
    const late = { now: () => job.timestamp + 2000 };
    await expect(signatureTurn(late)(job, token)).rejects.toThrow('_208');
    // The worker dies before the queue has heard of it, and the job waits for another one.
    await job.moveToDelayed(Date.now(), token);
    await wake(shard.signatures.queue, id);
    const handle = await openQueueForTest(redis, product).find(id);
    expect(await handle?.cancel()).toBe('too-late');

    const again = await take(shard.signatures, token);
    const reason = await signatureTurn(late)(again, token).catch((thrown: Error) => thrown);
    await again.moveToFailed(reason as Error, token, false);
    expect(await statusOf(id)).toBe('_208');
    expect(await handle?.cancel()).toBe('too-late');
    const fields = await redis.client().hmget(fieldsOf(id), ...jobFields);
    const told = endsOf(id, fields, () => true, 0);
    expect(told.map(({ data }) => data.end)).toEqual([
      { state: 'failed', code: 208, reason: 'EXPIRED_TRANSACTION' },
    ]);
    expect(rowOf(id, fields)?.fault?.code).toBe(208);
  });
});
