/**
 * Ends that no turn of ours has come to: planted in a record, in the inbox, in a return value or in
 * an event, by whoever can write to Redis. None of them becomes a signature.
 */
import { DelayedError, type Job } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signCms } from '../../packages/pki/src/cms.ts';
import { fault } from '../../packages/protocol/src/fault.ts';
import type { DeviceAnswer } from '../../packages/protocol/src/outcome.ts';
import { readEvents } from '../../parts/callbacks/transaction-events.ts';
import { type NoResultError, SignatureFailedError } from '../../src/app/package/queue.ts';
import { jobFields, rowOf } from '../../src/transactions/history/row.ts';
import { nonceOf } from '../../src/transactions/ids.ts';
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
  const cms = await signCms({
    content: Buffer.from(text),
    key,
    ...(nonce !== undefined && { nonce }),
  });
  return {
    kind: 'signature',
    cms: Buffer.from(cms).toString('base64'),
    certificates: key.chain.id,
  } as const satisfies DeviceAnswer;
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

/** Takes the next job, and completes it with what its turn says. */
const sign = async (): Promise<void> => {
  const job = await byHand.take(byHand.shard.signatures, token);
  await job.moveToCompleted(await byHand.signatureTurn()(job, token), token, false);
};

const statusOf = async (id: string): Promise<string> => {
  const { body } = await byHand.product.post('/rest/service/status', statusRequest(id));
  return body.MSS_StatusResp?.Status.StatusCode.Value ?? body.Fault.Code.SubCode.Value;
};

const fieldsOf = (id: string): string => byHand.shard.signatures.queue.toKey(id);

/** What a turn of ours has stored: a person is asked, and silent. */
const asked = async (): Promise<string> => {
  const { shard, take, signatureTurn } = byHand;
  const id = await submit(somebody());
  const job = await take(shard.signatures, token);
  await expect(signatureTurn()(job, token)).rejects.toBeInstanceOf(DelayedError);
  return id;
};

const storedRecord = async (id: string): Promise<Json> =>
  JSON.parse((await redis.client().hget(fieldsOf(id), 'progress')) ?? '');

/** Adds a line to the inbox, as {@link InstanceStore.deliver} would. */
const plantLine = async (id: string, line: string): Promise<void> => {
  const inbox = (await redis.client().hget(fieldsOf(id), 'inbox')) ?? '';
  await redis.client().hset(fieldsOf(id), 'inbox', `${inbox}${line}\n`);
};
const plantEvent = (id: string, ...line: readonly unknown[]): Promise<void> =>
  plantLine(id, `${Date.now()}\t${JSON.stringify(line)}`);

/** How the next turn of a transaction ends it; the job ends as it says. */
const endOf = async (id: string, job?: Job): Promise<string> => {
  const { shard, wakeAndTake, signatureTurn } = byHand;
  const taken = job ?? (await wakeAndTake(shard.signatures, id, token));
  return signatureTurn()(taken, token).then(
    async (record) => {
      await taken.moveToCompleted(record, token, false);
      return record.state;
    },
    async (error: Error) => {
      if (!(error instanceof DelayedError)) await taken.moveToFailed(error, token, false);
      return error.message;
    },
  );
};

/** To everybody. */
const expectInternalError = async (id: string): Promise<void> => {
  expect(await statusOf(id)).toBe('_900');
  expect((await byHand.product.api.transactions.find(id))?.state).toMatchObject({
    kind: 'failed',
    fault: { code: 900 },
  });
};

const forgedOutcome = {
  kind: 'signature',
  cms: forged,
  profile: 'STK-LoA4',
  sscdId: 'sim',
} as const;

describe('a record that somebody has planted', () => {
  /** The record of a signature, in a chart of ours. */
  const signedWith = (record: Json, outcome: object): Json => {
    const { children: _, timers: __, ...kept } = record;
    const history = [...record.context.history, { state: 'signed', attempt: 1, at: Date.now() }];
    return { ...kept, value: 'signed', context: { ...record.context, outcome, history } };
  };

  const plant = (id: string, record: Json): Promise<number> =>
    redis.client().hset(fieldsOf(id), { progress: JSON.stringify(record), open: '2' });

  it('is no signature when the job is run a second time', async () => {
    const id = await asked();
    await plant(id, signedWith(await storedRecord(id), forgedOutcome));
    expect(await endOf(id)).toContain('_900 INTERNAL_ERROR');
    expect(byHand.troubles).toContain(`A stored end was not believed: ${id}`);
    await expectInternalError(id);
  });

  it('is no signature when the outcome is that of another transaction over an equal text', async () => {
    const other = await submit();
    await sign();
    const { returnValue } = (await byHand.shard.signatures.jobs.read(other)) ?? {};
    const id = await asked();
    await plant(id, signedWith(await storedRecord(id), (returnValue as Json).outcome));
    expect(await endOf(id)).toContain('_900 INTERNAL_ERROR');
    expect(byHand.troubles).toContain(`A stored end was not believed: ${id}`);
    await expectInternalError(id);
  });

  it('is no signature in a job that has not begun, with or without what a commit leaves behind', async () => {
    const record = signedWith(await storedRecord(await asked()), forgedOutcome);
    for (const fields of [{}, { open: '1' }]) {
      const id = await submit();
      await redis.client().hset(fieldsOf(id), { progress: JSON.stringify(record), ...fields });
      const job = await byHand.take(byHand.shard.signatures, token);
      await endOf(id, job);
      await expectInternalError(id);
      expect(byHand.troubles.filter((trouble) => trouble.includes(id))).toHaveLength(1);
    }
  });

  it('is no signature when an answer lies in it that nobody has verified', async () => {
    const id = await asked();
    const record = await storedRecord(id);
    const answer = { kind: 'signature', cms: forged };
    const src = 'verify';
    const input = { attempt: 1, chosen: record.context.chosen, answer };
    const child = '0.signature.pending.verifying';
    await plant(id, {
      ...record,
      value: { pending: 'verifying' },
      context: { ...record.context, answer },
      children: { [child]: { src, run: record.next, input } },
      next: record.next + 1,
    });
    expect(await endOf(id)).toContain('_900 INTERNAL_ERROR');
    expect(byHand.troubles).toContain(`A stored end was not believed: ${id}`);
    await expectInternalError(id);
  });

  it('is no signature when a timer of it says so', async () => {
    const id = await asked();
    const record = await storedRecord(id);
    const output = { kind: 'signed', outcome: forgedOutcome };
    const event = { type: 'xstate.done.actor.0.signature.pending.asking', output };
    await plant(id, {
      ...record,
      value: { pending: 'asking' },
      timers: [{ id: 'x', at: 1, event }, ...record.timers],
    });
    expect(await endOf(id)).toContain('_900 INTERNAL_ERROR');
    expect(byHand.troubles).toContain(`A stored end was not believed: ${id}`);
    await expectInternalError(id);
  });

  it.each([
    ['text', 'signed'],
    [
      'a chart that is not its own',
      { workflow: 'receipt', version: 1, status: 'active', value: 'ended', next: 1 },
    ],
    ['a state that the chart does not have', { value: 'countersigned' }],
    ['no context', { context: null }],
    [
      'silence that means nothing',
      (record: Json) => ({ context: { ...record.context, silence: 'golden' } }),
    ],
    [
      'a time to ask again that is none',
      (record: Json) => ({ context: { ...record.context, againAt: 'x' } }),
    ],
    [
      'a number of failures that is none',
      (record: Json) => ({ context: { ...record.context, failures: {} } }),
    ],
  ])('ends as an internal error when it is %s', async (_, planted) => {
    const id = await asked();
    const record = await storedRecord(id);
    const changed = typeof planted === 'function' ? planted(record) : planted;
    await plant(
      id,
      typeof changed === 'string' ? { workflow: changed } : { ...record, ...changed },
    );
    await endOf(id);
    await expectInternalError(id);
    expect(byHand.troubles.length).toBeGreaterThan(0);
  });
});

describe('an answer from elsewhere', () => {
  /** Somebody has been asked, and `answer` gives what comes instead of their answer. */
  const endedBy = async (answer: (id: string, msisdn: string) => Promise<DeviceAnswer>) => {
    const { product, shard, take, signatureTurn } = byHand;
    const msisdn = somebody();
    const id = await submit(msisdn);
    const asks = await take(shard.signatures, token);
    await expect(signatureTurn()(asks, token)).rejects.toBeInstanceOf(DelayedError);
    expect(await product.api.transactions.answer(id, 1, await answer(id, msisdn))).toBe('accepted');
    return endOf(id, await take(shard.signatures, token));
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

  it('is not one when it says of a signature that it was delivered', async () => {
    expect(await endedBy(async () => ({ kind: 'delivered' }))).toContain('_900');
  });
});

describe('a line that somebody has planted in the inbox', () => {
  const signedLine = (child: string): Json => ({
    type: `xstate.done.actor.${child}`,
    output: { kind: 'signed', outcome: forgedOutcome },
    actorId: child,
  });

  it.each([
    ['an answer', { kind: 'signature', cms: forged }],
    ['an answer that is none', { kind: 'zzz' }],
    ['no answer', undefined],
    ['a delivery', { kind: 'delivered' }],
    ['a fault that is none', { kind: 'fault' }],
  ])('is no signature: %s', async (_, answer) => {
    const id = await asked();
    await plantEvent(id, 'out/x', { type: 'ANSWERED', attempt: 1, answer });
    expect(await endOf(id)).toContain('_900 INTERNAL_ERROR');
    await expectInternalError(id);
  });

  it('says so in the log', async () => {
    for (const answer of [
      { kind: 'signature', cms: forged },
      { kind: 'zzz' },
      { kind: 'delivered' },
    ]) {
      const id = await asked();
      await plantEvent(id, 'out/x', { type: 'ANSWERED', attempt: 1, answer });
      await endOf(id);
      expect(byHand.troubles).toContain(`A stored end was not believed: ${id}`);
    }
  });

  it('is no signature when it is the end of what a worker does', async () => {
    const id = await submit(somebody());
    const child = '0.signature.submitted.choosing';
    await plantEvent(id, 'run/x', signedLine(child));
    await redis.client().hset(fieldsOf(id), 'progress', '{"inbox":true}');
    expect(await endOf(id, await byHand.take(byHand.shard.signatures, token))).toContain('_900');
    expect(byHand.troubles).toContain(`A stored end was not believed: ${id}`);
    await expectInternalError(id);

    const [again, verifying] = [await asked(), '0.signature.pending.verifying'];
    const { next } = await storedRecord(again);
    await plantEvent(again, 'out/x', {
      type: 'ANSWERED',
      attempt: 1,
      answer: { kind: 'signature', cms: forged },
    });
    await plantEvent(again, 'run/x', signedLine(verifying), { child: verifying, run: next });
    expect(await endOf(again)).toContain('_900');
    expect(byHand.troubles).toContain(`A stored end was not believed: ${again}`);
    await expectInternalError(again);
  });

  it.each([
    'signed',
    `1\tnot JSON`,
    '1\tnull',
    '1\t["out/x"]',
    '1\t["out/x",null]',
    '1\t["out/x",{"type":"ANSWERED"},null]',
    'soon\t["out/x",{"type":"CANCEL"}]',
  ])('is nothing when it is no event: %j', async (line) => {
    const id = await asked();
    await plantLine(id, line);
    expect(await endOf(id)).toBe(new DelayedError().message);
    const cancelled = { kind: 'fault', fault: fault(401) } as const;
    expect(await byHand.product.api.transactions.answer(id, 1, cancelled)).toBe('accepted');
    expect(await endOf(id, await byHand.take(byHand.shard.signatures, token))).toContain('_401');
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
      await redis
        .client()
        .hset(fieldsOf(id), 'returnvalue', JSON.stringify({ ...record, outcome }));
      const view = await byHand.product.api.transactions.find(id);
      expect(view?.state).toMatchObject({
        kind: 'signed',
        signed: { validated: undefined, geofencing: undefined, subscriberNetwork: undefined },
      });
    }
    const reordered = { ...record, outcome: { seal, ...unsealed } };
    await redis.client().hset(fieldsOf(id), 'returnvalue', JSON.stringify(reordered));
    expect(await statusOf(id)).toBe('500');
  });

  it('stays signed with a receipt and without its seal', async () => {
    const id = await submit();
    await sign();
    const record: Json = JSON.parse((await redis.client().hget(fieldsOf(id), 'returnvalue')) ?? '');
    const { seal: _, ...outcome } = record.outcome;
    const amended = { ...record, outcome, state: 'receipted', receipt: 'accepted' };
    await redis.client().hset(fieldsOf(id), 'returnvalue', JSON.stringify(amended));
    expect(await believedBy(id)).toEqual({ http: '500', queue: 'signed', status: 'receipted' });
  });

  it.each([
    ['by the person counts', robot, undefined, '500'],
    ['by somebody else does not', '+41700092503', undefined, '_900'],
    ['by the person with another nonce does not', robot, new Uint8Array(16), '_900'],
    ['by the person for something else does not', robot, new Uint8Array(20), '_900'],
  ])('without a seal, with a signature %s', async (_, signer, nonce, status) => {
    const id = await submit();
    await sign();
    const signature = await signatureBy(signer, nonce ?? nonceOf(id, 1));
    const record = recordWith({ ...signature, profile: 'STK-LoA4', sscdId: 'sim' });
    await redis.client().hset(fieldsOf(id), 'returnvalue', JSON.stringify(record));
    expect(await statusOf(id)).toBe(status);
  });

  it('is no password that was delivered where a signature was asked for', async () => {
    const id = await submit();
    await sign();
    await redis
      .client()
      .hset(fieldsOf(id), 'returnvalue', JSON.stringify(recordWith({ kind: 'delivered' })));
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
    const signed = await shard.signatures.jobs.read(job.id ?? '');
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
    expect((await caller).body.Fault.Reason).toBe('WRONG_PARAM');
  });
});

describe('a return value that is there before its job has ended', () => {
  it('is no signature, and neither is one with a time of an end', async () => {
    const { shard, take, signatureTurn } = byHand;
    const id = await submit(somebody());
    const job = await take(shard.signatures, token);
    await redis
      .client()
      .hset(fieldsOf(id), 'returnvalue', JSON.stringify(recordWith(forgedOutcome)));
    expect(await statusOf(id)).toBe('504');
    await redis.client().hset(fieldsOf(id), 'finishedOn', String(Date.now()));
    expect(await statusOf(id)).toBe('_900');
    await redis.client().hdel(fieldsOf(id), 'finishedOn');
    await expect(signatureTurn()(job, token)).rejects.toBeInstanceOf(DelayedError);
    expect(await statusOf(id)).toBe('504');
    const cancelled = { kind: 'fault', fault: fault(401) } as const;
    expect(await byHand.product.api.transactions.answer(id, 1, cancelled)).toBe('accepted');
    expect(await endOf(id, await take(shard.signatures, token))).toContain('_401');
    expect(await statusOf(id)).toBe('_401');
  });
});

describe('a failure that a turn has stored and could not tell', () => {
  it('is the end, to who cancels and to everybody else', async () => {
    const { product, shard, take, wakeAndTake, signatureTurn } = byHand;
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
    const handle = await openQueueForTest(redis, product).find(id);
    expect(await handle?.cancel()).toBe('too-late');

    const again = await wakeAndTake(shard.signatures, id, token);
    const reason = await signatureTurn(late)(again, token).catch((thrown: Error) => thrown);
    await again.moveToFailed(reason as Error, token, false);
    expect(await statusOf(id)).toBe('_208');
    expect(await handle?.cancel()).toBe('too-late');
    const fields = await redis.client().hmget(fieldsOf(id), ...jobFields);
    const told = readEvents(id, fields, () => true, 0);
    expect(told.map(({ data }) => data.end)).toEqual([
      { state: 'failed', code: 208, reason: 'EXPIRED_TRANSACTION' },
    ]);
    expect(rowOf(id, fields)?.fault?.code).toBe(208);
  });
});
