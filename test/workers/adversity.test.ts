/**
 * What other programs, bad luck and bad timing do to the queues. Each case was once a defect, or
 * could be one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SignatureRecord } from '../../machines/record.ts';
import { fault, faultLine } from '../../packages/protocol/src/fault.ts';
import { receiptJobId, recordIn } from '../../src/transactions/contract.ts';
import { newMsspTransId } from '../../src/transactions/ids.ts';
import { closeShards, openShards, type Shard } from '../../src/transactions/shards.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { receiptRequest, signRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';

const redis = testRedis();
const silent = { kind: 'simulated', sign: 'never-answers' } as const;
const cancelled = { kind: 'fault', fault: fault(401) } as const;

let product: TestProduct;
let shards: readonly Shard[];
let shard: Shard;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: {
      subscribers: [
        { msisdn: '41780000000', through: '41780000099', sim: { device: silent } },
        {
          msisdn: '41782000000',
          through: '41782000099',
          sim: { device: { kind: 'simulated', sign: 'signs', receipt: 'ignores' } },
        },
        { msisdn: '41783000001', sim: { device: { kind: 'robot' } } },
      ],
      receipt: { timeoutSeconds: 2 },
      applicationProviders: [{ id: 'http://bank.example', dtbsPrefix: 'Bank: ' }],
      workers: { lockSeconds: 1, stalledCheckSeconds: 0.5 },
    },
  });
  shards = openShards({
    redis: product.core.blocking,
    prefix: product.configuration.queue.prefix,
    shards: 1,
    onError: () => undefined,
  });
  const [only] = shards;
  if (only === undefined) throw new Error('there is no shard');
  shard = only;
});

afterAll(async () => {
  await closeShards(shards);
  await product.stop();
});

const wireOf = (options: Parameters<typeof signRequest>[0]) => {
  const parsed = product.core.protocol.parseSign(signRequest(options));
  if (!parsed.ok) throw new Error(parsed.fault.detail);
  return parsed.value.wire;
};
const submit = async (options: Parameters<typeof signRequest>[0]) =>
  (await product.api.transactions.submit(wireOf({ mode: 'asynch', ...options }))).msspTransId;
const stateOf = async (id: string) => (await product.api.transactions.find(id))?.state;
const failedWith = (id: string, code: number) =>
  soon(async () => expect(await stateOf(id)).toMatchObject({ kind: 'failed', fault: { code } }));
const signed = (id: string) =>
  soon(async () => expect(await stateOf(id)).toMatchObject({ kind: 'signed' }));
const recordOf = async (id: string) => {
  const job = await shard.signatures.queue.getJob(id);
  return recordIn(job?.progress) as SignatureRecord | undefined;
};
/** Somebody has been asked. */
const pending = (id: string, attempt = 1) =>
  soon(async () => expect(await recordOf(id)).toMatchObject({ state: 'pending', attempt }));
const reasonOf = (queue: Shard['signatures']['queue'], id: string) =>
  soon(async () => {
    expect(await queue.getJobState(id)).toBe('failed');
    return (await queue.getJob(id))?.failedReason;
  });

describe('a signature job that another program added', () => {
  const add = async (data: unknown, id = newMsspTransId(0)) => {
    await shard.signatures.queue.add('sign', data, { jobId: id });
    return id;
  };

  it.each([
    ['null', null],
    ['a text', 'x'],
    ['no request', {}],
    ['a request of another type', { MSS_SignatureReq: 'x' }],
    ['an empty request', { MSS_SignatureReq: {} }],
  ])('fails at once with a readable reason when its data is %s', async (_, data) => {
    const id = await add(data);
    const reason = await reasonOf(shard.signatures.queue, id);
    expect(reason).toMatch(/^_10[128] [A-Z_]+: .*(MSS_SignatureReq|object)/);
    // To an application it is a transaction that never was.
    expect(await stateOf(id)).toBeUndefined();
  });

  it.each([
    [
      'a record',
      { transaction: { version: 1, state: 'signed', attempt: 1, deadline: 9e15, history: [] } },
    ],
    ['a choice', { chosen: { profile: 'STK-LoA4', sscdId: 'sim' } }],
    ['a count of failures', { deliveryFailures: 3 }],
    ['a trouble of its own', { troubled: true }],
  ])('may not bring %s that only workers write', async (_, extra) => {
    const id = await add({ MSS_SignatureReq: wireOf({}), ...extra });
    expect(await reasonOf(shard.signatures.queue, id)).toContain('the rest is the workers’ own');
  });

  it('needs an id that names its shard, because everything else finds it by that', async () => {
    for (const id of ['order 77', 'order-78', newMsspTransId(1)]) {
      const reason = await reasonOf(
        shard.signatures.queue,
        await add({ MSS_SignatureReq: wireOf({}) }, id),
      );
      expect(reason).toContain('_101 WRONG_PARAM: The job id must be an MSSP_TransID');
    }
  });

  it('cannot make its time up: a job from the future ends in time', async () => {
    const id = newMsspTransId(0);
    const wire = wireOf({ mode: 'asynch', msisdn: '+41780000010', timeoutSeconds: 1 });
    await shard.signatures.queue.add(
      'sign',
      { MSS_SignatureReq: wire },
      { jobId: id, timestamp: 9e15 },
    );
    await failedWith(id, 208);
  });
});

describe('a receipt job that another program added', () => {
  const add = async (data: unknown, id: string) => {
    await shard.receipts.queue.add('receipt', data, { jobId: id });
    return id;
  };

  it.each([
    ['null', null],
    ['a text', 'x'],
    [
      'an endless time',
      { msspTransId: 'x', fingerprint: 'f', msisdn: '1', message: 'm', timeoutSeconds: 1e12 },
    ],
    [
      'no time',
      { msspTransId: 'x', fingerprint: 'f', msisdn: '1', message: 'm', timeoutSeconds: 'abc' },
    ],
  ])('fails at once with a readable reason when its data is %s', async (_, data) => {
    const id = await add(data, receiptJobId(newMsspTransId(0)));
    expect(await reasonOf(shard.receipts.queue, id)).toMatch(/^_101 WRONG_PARAM: The job data/);
  });

  it('is not shown without the prefix that the application must use', async () => {
    const msisdn = '+41700092503';
    const id = await submit({ msisdn, text: 'Bank: ok?', apId: 'http://bank.example' });
    await signed(id);
    const data = { msspTransId: id, sscdId: 'sim', fingerprint: 'f', msisdn: msisdn.slice(1) };
    const job = await add({ ...data, message: 'Pay 10 CHF?', timeoutSeconds: 5 }, receiptJobId(id));
    expect(await reasonOf(shard.receipts.queue, job)).toBe(
      '_107 INAPPROPRIATE_DATA: DTBD matching failed',
    );
  });

  it('that failed makes way for the receipt of the application', async () => {
    const msisdn = '+41700092503';
    const id = await submit({ msisdn });
    await signed(id);
    await reasonOf(shard.receipts.queue, await add('x', receiptJobId(id)));
    const { body } = await product.post(
      '/rest/service/receipt',
      receiptRequest(id, { msisdn, apId: 'http://test.example' }),
    );
    expect(body.MSS_ReceiptResp.Status.StatusDetail.ReceiptResponseExtension.UserAck).toBe('true');
  });

  it('shows nothing for a transaction that was not signed, and no second receipt', async () => {
    const data = (msspTransId: string) => ({
      msspTransId,
      fingerprint: 'f',
      msisdn: '41700092503',
      message: 'phishing',
      timeoutSeconds: 5,
    });
    const nobody = newMsspTransId(0);
    expect(
      await reasonOf(shard.receipts.queue, await add(data(nobody), receiptJobId(nobody))),
    ).toContain('A receipt follows a successful signature');
    const done = await submit({ msisdn: '+41700092503' });
    await signed(done);
    expect(await reasonOf(shard.receipts.queue, await add(data(done), 'another-id'))).toContain(
      'job id',
    );
  });
});

describe('a replay', () => {
  it('of a job that failed before it had a record begins a new attempt with a deadline of its own', async () => {
    const id = newMsspTransId(0);
    const wire = wireOf({ mode: 'asynch', msisdn: '+41780000020', timeoutSeconds: 60 });
    const bad = { MSS_SignatureReq: { ...wire, TimeOut: 'x' } };
    const timestamp = Date.now() - 3_600_000;
    await shard.signatures.queue.add('sign', bad, { jobId: id, timestamp });
    await reasonOf(shard.signatures.queue, id);
    const job = await shard.signatures.queue.getJob(id);
    await job?.updateData({ MSS_SignatureReq: wire });
    await job?.retry();
    await pending(id, 2);
    expect(await product.api.transactions.answer(id, 2, cancelled)).toBe('accepted');
    await failedWith(id, 401);
    expect((await recordOf(id))?.attempt).toBe(2);
  });

  it('of a transaction whose signature was refused asks the person again', async () => {
    const id = await submit({ msisdn: '+41780000021' });
    await pending(id);
    await product.api.transactions.answer(id, 1, { kind: 'signature', cms: 'TUlJQg==' });
    await failedWith(id, 900);
    await product.replay(id);
    await pending(id, 2);
    await product.api.transactions.answer(id, 2, cancelled);
  });

  it.each([
    ['is taken late', {}],
    ['is taken late, and its counts were reset', { resetAttemptsMade: true }],
  ])('has a deadline of its own from when it is taken, also when it %s', async (_, counts) => {
    const id = await submit({ msisdn: '+41780000023', timeoutSeconds: 1 });
    await failedWith(id, 208);
    await product.stopWorkers();
    await (await shard.signatures.queue.getJob(id))?.retry('failed', counts);
    // Longer than the attempt lasts.
    await delay(1100);
    const since = Date.now();
    await product.startWorkers();
    await soon(async () =>
      expect(await recordOf(id)).toMatchObject({ state: 'failed', attempt: 2 }),
    );
    const { deadline = 0, history = [] } = (await recordOf(id)) ?? {};
    const begun =
      history.find(({ state, attempt }) => state === 'submitted' && attempt === 2)?.at ?? 0;
    expect(begun).toBeGreaterThanOrEqual(since - 100);
    expect(deadline).toBe(begun + 1000);
    expect(history.slice(-2).map(({ state }) => state)).toEqual(['pending', 'failed']);
  });

  it('is joined by an equal request, like the first attempt', async () => {
    const wire = wireOf({ mode: 'asynch', msisdn: '+41780000022' });
    const { msspTransId } = await product.api.transactions.submit(wire);
    await pending(msspTransId);
    await product.api.transactions.answer(msspTransId, 1, cancelled);
    await failedWith(msspTransId, 401);
    await product.replay(msspTransId);
    await pending(msspTransId, 2);
    expect((await product.api.transactions.submit(wire)).msspTransId).toBe(msspTransId);
    await product.api.transactions.answer(msspTransId, 2, cancelled);
  });
});

describe('trouble', () => {
  /** A key record that nobody can open: what asks this robot throws at every try. */
  const breakKey = () => {
    const { prefix } = product.configuration.queue;
    const key = `${prefix}:custody:user:41783000001:sim:EC`;
    return redis
      .client()
      .set(key, 'garbage')
      .then(() => key);
  };
  const troubles = () => product.logged.filter((line) => JSON.parse(line).msg === 'trouble').length;

  it('that lasts until the deadline is an internal error, not the silence of the user', async () => {
    await breakKey();
    const before = troubles();
    const id = await submit({ msisdn: '+41783000001', timeoutSeconds: 1 });
    await failedWith(id, 900);
    // The reason tells nothing of the inside, the log does.
    expect(await reasonOf(shard.signatures.queue, id)).toBe(faultLine(fault(900)));
    expect(troubles()).toBeGreaterThan(before);
    expect((await recordOf(id))?.history.map(({ state }) => state)).toEqual([
      'submitted',
      'failed',
    ]);
    // BullMQ has heard of one run.
    expect((await shard.signatures.queue.getJob(id))?.attemptsMade).toBe(1);
  });

  it('that is over is forgotten: what threw is tried again until it does not', async () => {
    const key = await breakKey();
    const id = await submit({ msisdn: '+41783000001', timeoutSeconds: 60 });
    await soon(async () => {
      const job = await shard.signatures.queue.getJob(id);
      expect(job?.progress).toMatchObject({ context: { failures: 2 } });
    });
    await redis.client().del(key);
    await signed(id);
    const job = await shard.signatures.queue.getJob(id);
    expect(job?.returnvalue).toMatchObject({ state: 'signed', attempt: 1 });
    expect(job?.attemptsMade).toBe(1);
  });
});

describe('a SIM', () => {
  it('is busy for signature requests while its SIM shows a receipt', async () => {
    const msisdn = '+41782000001';
    const id = await submit({ msisdn });
    await signed(id);
    const receipt = product.post('/rest/service/receipt', receiptRequest(id, { msisdn }));
    await soon(async () =>
      expect(await shard.receipts.queue.getJobState(receiptJobId(id))).toBe('delayed'),
    );
    const busy = await product.post('/rest/service/sign', signRequest({ msisdn }));
    expect(busy.body.Fault.Reason).toBe('PB_SIGNATURE_PROCESS');
    const { body } = await receipt;
    expect(body.MSS_ReceiptResp.Status.StatusDetail.ReceiptResponseExtension.UserResponse).toBe(
      '{"status":"TIMEOUT"}',
    );
  });
});

describe('the end of a process', () => {
  it('answers a caller who comes after waiting has ended', async () => {
    const other = await startTestProduct(
      { ...redis, prefix: `${redis.prefix.slice(-20)}-end` },
      { workers: false },
    );
    await other.api.endWaiting();
    const answer = await other.post('/rest/service/sign', signRequest());
    expect(answer.body.Fault.Reason).toBe('INTERNAL_ERROR');
    await other.stop();
  });
});
