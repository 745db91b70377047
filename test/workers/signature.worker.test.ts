/**
 * The durable workflow on real queues: sleep and wake, first writer wins, crashes, replays.
 */
import { createServer } from 'node:http';
import { Worker } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SignatureRecord } from '../../machines/record.ts';
import type { SignatureContext } from '../../machines/signature.machine.ts';
import type { InstanceRecord } from '../../packages/engine/src/record.ts';
import { createInstanceStore } from '../../packages/engine/src/redis/instance-store.ts';
import { noParts } from '../../packages/engine/src/redis/record-parts.ts';
import { signCms } from '../../packages/pki/src/cms.ts';
import { fault } from '../../packages/protocol/src/fault.ts';
import type { DeviceAnswer } from '../../packages/protocol/src/outcome.ts';
import { readEvents } from '../../parts/callbacks/transaction-events.ts';
import { recordIn } from '../../src/transactions/contract.ts';
import { jobFields } from '../../src/transactions/history/row.ts';
import { nonceOf } from '../../src/transactions/ids.ts';
import type { QueueAt, Shard } from '../../src/transactions/shards.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest, statusRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';
import { leaveEvent } from './by-hand.ts';
import { type SilentStage, somebody, startSilentPeople } from './silent-people.ts';

const redis = testRedis();
const cancelled = { kind: 'fault', fault: fault(401) } as const;

let stage: SilentStage;
let product: TestProduct;
let shards: readonly Shard[];
let at: QueueAt;

beforeAll(async () => {
  stage = await startSilentPeople(redis, [
    { msisdn: '41770000001', sim: { device: { kind: 'robot', thinkSeconds: 1 } } },
  ]);
  ({ product, shards, at } = stage);
});
afterAll(() => stage.stop());

const submit = async (options: Parameters<typeof signRequest>[0]): Promise<string> => {
  const answer = await product.post(
    '/rest/service/sign',
    signRequest({ mode: 'asynch', ...options }),
  );
  return answer.body.MSS_SignatureResp.MSSP_TransID;
};

const stateOf = async (id: string) => (await product.api.transactions.find(id))?.state;

/** A signature of the text of {@link signRequest}, made by the phone that was asked. */
const signatureOf = async (id: string, attempt = 1, text = 'Sign in to Example?') => {
  const custody = product.core.custodyOver(product.core.commands);
  const msisdn = (await product.api.transactions.find(id))?.request.msisdn.number ?? '';
  const key = await custody.userKey({ msisdn, sscdId: 'sim', algorithm: 'EC', expired: false });
  const cms = await signCms({ content: Buffer.from(text), key, nonce: nonceOf(id, attempt) });
  return {
    kind: 'signature',
    cms: Buffer.from(cms).toString('base64'),
    certificates: key.chain.id,
  } as const;
};

const recordOf = async (id: string): Promise<SignatureRecord> => {
  const job = await at.queue.getJob(id);
  const record =
    job?.finishedOn !== undefined && job.returnvalue ? job.returnvalue : recordIn(job?.progress);
  if (record === undefined) throw new Error('the job has no record');
  return record as SignatureRecord;
};

/** The prompt is out, and the job sleeps. */
const asked = async (id: string): Promise<string> => {
  await soon(async () => {
    expect(await recordOf(id)).toMatchObject({ state: 'pending' });
    expect(await at.queue.getJobState(id)).toBe('delayed');
  });
  return id;
};

/** Writes an event that nobody wakes the job for: its sender has died. */
const leave = (id: string, answer: DeviceAnswer): Promise<void> =>
  leaveEvent({ queue: at.queue, redis: redis.client() }, id, 'left', {
    type: 'ANSWERED',
    attempt: 1,
    answer,
  });

const failedWith = (id: string, code: number) =>
  soon(async () => expect(await stateOf(id)).toMatchObject({ kind: 'failed', fault: { code } }));

const signed = (id: string) =>
  soon(async () => expect(await stateOf(id)).toMatchObject({ kind: 'signed' }));

describe('while a person thinks', () => {
  it('holds no worker slot, so others are served', async () => {
    const waiting = await Promise.all(
      Array.from({ length: 20 }, () => submit({ msisdn: somebody() })),
    );
    await Promise.all(waiting.map(asked));
    const robot = await product.post('/rest/service/sign', signRequest());
    expect(robot.status).toBe(200);
    expect(await at.queue.getActiveCount()).toBe(0);
    for (const id of waiting) await product.api.transactions.answer(id, 1, cancelled);
    await Promise.all(waiting.map((id) => failedWith(id, 401)));
  });

  it('sleeps through the time a robot takes to think', async () => {
    const id = await submit({ msisdn: '+41770000001' });
    await asked(id);
    await signed(id);
    const { history } = await recordOf(id);
    const [, pending, end] = history;
    expect((end?.at ?? 0) - (pending?.at ?? 0)).toBeGreaterThanOrEqual(1000);
  });

  it('keeps the transaction going when the synchronous caller hangs up', async () => {
    const caller = new AbortController();
    const request = signRequest({ msisdn: '+41770000001' });
    const answer = Promise.resolve(
      product.api.fetch(
        new Request('http://test/rest/service/sign', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(request),
          signal: caller.signal,
        }),
      ),
    ).catch(() => undefined);
    const id = await soon(async () => {
      const [job] = await at.queue.getDelayed();
      expect(job?.data.MSS_SignatureReq.AP_Info.AP_TransID).toBe(
        request.MSS_SignatureReq.AP_Info.AP_TransID,
      );
      return job?.id ?? '';
    });
    caller.abort();
    await signed(id);
    await answer;
  });
});

describe('an answer from elsewhere', () => {
  it('wakes the transaction and ends it', async () => {
    const id = await asked(await submit({ msisdn: somebody() }));
    expect(await product.api.transactions.answer(id, 1, cancelled)).toBe('accepted');
    await failedWith(id, 401);
  });

  it('stands against every later one', async () => {
    const id = await asked(await submit({ msisdn: somebody() }));
    const results = await Promise.all(
      [401, 402, 403, 404].map((code) =>
        product.api.transactions.answer(id, 1, { kind: 'fault', fault: fault(code as 401) }),
      ),
    );
    expect(results.filter((result) => result === 'accepted')).toHaveLength(1);
    const winner = [401, 402, 403, 404][results.indexOf('accepted')] ?? 0;
    await failedWith(id, winner);
    expect(await product.api.transactions.answer(id, 1, cancelled)).toBe('finished');
  });

  it('is not taken before the device was asked, for another attempt, or for an unknown transaction', async () => {
    const { answer } = product.api.transactions;
    await product.stopWorkers();
    const id = await submit({ msisdn: somebody() });
    expect(await answer(id, 1, cancelled)).toBe('refused');
    await product.startWorkers();
    await asked(id);
    expect(await answer(id, 2, cancelled)).toBe('refused');
    expect(await answer('H00aaaaaaaaaaaaaaaaa', 1, cancelled)).toBe('unknown');
    expect(await answer('nonsense', 1, cancelled)).toBe('unknown');
    expect(await answer(id, 1, cancelled)).toBe('accepted');
  });

  it('is found even when it came while the job was falling asleep', async () => {
    // The answer is there before the worker looks, and nobody wakes the job.
    const id = await asked(await submit({ msisdn: somebody(), timeoutSeconds: 60 }));
    await leave(id, cancelled);
    await (await at.queue.getJob(id))?.promote();
    await failedWith(id, 401);
  });

  it('gives the AP a signature that was made elsewhere', async () => {
    const id = await asked(await submit({ msisdn: somebody() }));
    await product.api.transactions.answer(id, 1, await signatureOf(id));
    await signed(id);
  });

  it('is refused when it is a signature of other bytes than the person was shown', async () => {
    const id = await asked(await submit({ msisdn: somebody() }));
    await product.api.transactions.answer(id, 1, await signatureOf(id, 1, 'Pay everything?'));
    await failedWith(id, 900);
  });

  it.each([
    { kind: 'zzz' },
    { kind: 'fault' },
    { kind: 'fault', fault: { code: 499, detail: '' } },
    { kind: 'signature' },
    { kind: 'signature', cms: 'not Base64!' },
    null,
    'signed',
  ])('is refused when it is none: %j', async (answer) => {
    const id = await asked(await submit({ msisdn: somebody() }));
    expect(await product.api.transactions.answer(id, 1, answer as never)).toBe('malformed');
    expect(await product.api.transactions.answer(id, 1, cancelled)).toBe('accepted');
  });

  it('that another program wrote and nobody can read ends the transaction as an internal error', async () => {
    const id = await asked(await submit({ msisdn: somebody() }));
    await leave(id, { kind: 'zzz' } as never);
    await (await at.queue.getJob(id))?.promote();
    await failedWith(id, 900);
  });
});

describe('the deadline', () => {
  it('ends a transaction that nobody answered with fault 208', async () => {
    const id = await submit({ msisdn: somebody(), timeoutSeconds: 1 });
    await failedWith(id, 208);
    expect(await product.api.transactions.answer(id, 1, cancelled)).toBe('finished');
    const { history } = await recordOf(id);
    expect(history.map(({ state }) => state)).toEqual(['submitted', 'pending', 'failed']);
  });

  it('yields to an answer that was written first', async () => {
    // Long enough that the answer comes before it, also on a busy machine.
    const id = await asked(await submit({ msisdn: somebody(), timeoutSeconds: 3 }));
    await leave(id, cancelled);
    await failedWith(id, 401);
  });

  it('expires a transaction that no worker could take in time, without asking anybody', async () => {
    await product.stopWorkers();
    const id = await submit({ timeoutSeconds: 1 });
    await soon(async () =>
      expect(Date.now()).toBeGreaterThan(((await at.jobs.read(id))?.timestamp ?? 0) + 1000),
    );
    await product.startWorkers();
    await failedWith(id, 208);
    expect((await recordOf(id)).history.map(({ state }) => state)).toEqual(['submitted', 'failed']);
  });

  it('answers a synchronous caller with fault 208', async () => {
    const answer = await product.post(
      '/rest/service/sign',
      signRequest({ msisdn: somebody(), timeoutSeconds: 1 }),
    );
    expect(answer.body.Fault.Code.SubCode.Value).toBe('_208');
  });
});

describe('a replay', () => {
  it('begins the next attempt of the same transaction', async () => {
    const id = await asked(await submit({ msisdn: somebody() }));
    await product.api.transactions.answer(id, 1, cancelled);
    await failedWith(id, 401);

    expect(await product.replay(id)).toBe('replayed');
    const status = await product.post('/rest/service/status', statusRequest(id));
    expect(status.body.MSS_StatusResp.Status.StatusCode.Value).toBe('504');
    await asked(id);
    expect(await product.api.transactions.answer(id, 1, cancelled)).toBe('refused');
    expect(await product.api.transactions.answer(id, 2, await signatureOf(id, 2))).toBe('accepted');
    await signed(id);
    const { attempt, history } = await recordOf(id);
    expect(attempt).toBe(2);
    expect(history.map(({ state, attempt: number }) => `${state} ${number}`)).toEqual([
      'submitted 1',
      'pending 1',
      'failed 1',
      'submitted 2',
      'pending 2',
      'signed 2',
    ]);
  });

  it('is what the dashboard does when it retries the job', async () => {
    const id = await submit({ msisdn: somebody(), timeoutSeconds: 1 });
    await failedWith(id, 208);
    await (await at.queue.getJob(id))?.retry();
    await failedWith(id, 208);
    await soon(async () => expect((await recordOf(id)).attempt).toBe(2));
  });

  it('asks again when a dashboard resets the counts of the job, and fails once for each attempt', async () => {
    const id = await asked(await submit({ msisdn: somebody() }));
    await product.api.transactions.answer(id, 1, cancelled);
    await failedWith(id, 401);
    for (const attempt of [2, 3]) {
      await (await at.queue.getJob(id))?.retry('failed', { resetAttemptsMade: true });
      await soon(async () =>
        expect(await recordOf(id)).toMatchObject({ state: 'pending', attempt }),
      );
      await asked(id);
      expect(await product.api.transactions.answer(id, attempt, cancelled)).toBe('accepted');
      await failedWith(id, 401);
    }
    const { history } = await recordOf(id);
    expect(history.filter(({ state }) => state === 'failed').map(({ attempt }) => attempt)).toEqual(
      [1, 2, 3],
    );
    const fields = await redis.client().hmget(at.queue.toKey(id), ...jobFields);
    expect(readEvents(id, fields, () => true, 0).map((told) => told.id)).toEqual([
      `${id}-1-failed`,
      `${id}-2-failed`,
      `${id}-3-failed`,
    ]);
  });

  it('is refused for what was signed, is open, or is unknown', async () => {
    const done = await submit({});
    await signed(done);
    const open = await asked(await submit({ msisdn: somebody() }));
    expect(await product.replay(done)).toBe('changed');
    expect(await product.replay(open)).toBe('changed');
    expect(await product.replay('H00aaaaaaaaaaaaaaaaa')).toBe('unknown');
    await product.api.transactions.answer(open, 1, cancelled);
  });

  it('of a signed transaction, by a tool that does not ask, prompts nobody again', async () => {
    const id = await asked(await submit({ msisdn: somebody() }));
    await product.api.transactions.answer(id, 1, await signatureOf(id));
    await signed(id);
    await (await at.queue.getJob(id))?.retry('completed');
    await signed(id);
    expect((await recordOf(id)).attempt).toBe(1);
  });

  it('of one failure runs once however many ask for it', async () => {
    const id = await asked(await submit({ msisdn: somebody() }));
    await product.api.transactions.answer(id, 1, cancelled);
    await failedWith(id, 401);
    const results = await Promise.all(Array.from({ length: 5 }, () => product.replay(id)));
    expect(results.filter((result) => result === 'replayed')).toHaveLength(1);
    await asked(id);
    expect((await recordOf(id)).attempt).toBe(2);
    await product.api.transactions.answer(id, 2, cancelled);
  });
});

describe('a crash', () => {
  /**
   * Takes the next job as a worker would, and then does nothing with it, as one that was killed.
   */
  const takeAndDie = async (): Promise<void> => {
    let taken: () => void = () => undefined;
    const took = new Promise<void>((resolve) => {
      taken = resolve;
    });
    const doomed = new Worker(
      at.queue.name,
      () => {
        taken();
        return new Promise(() => undefined);
      },
      {
        connection: redis.connection,
        prefix: shards[0]?.prefix ?? '',
        lockDuration: 1000,
        skipLockRenewal: true,
        skipStalledCheck: true,
      },
    );
    doomed.on('error', () => undefined);
    await took;
    await doomed.close(true);
  };

  it('of the worker leaves its job to another within a few seconds', async () => {
    await product.stopWorkers();
    const id = await submit({});
    await takeAndDie();
    expect(await at.queue.getJobState(id)).toBe('active');
    await product.startWorkers();
    await signed(id);
  });

  it('between the record and the failure fails again with the same fault, without a new attempt', async () => {
    const id = await asked(await submit({ msisdn: somebody() }));
    await product.stopWorkers();
    const job = await at.queue.getJob(id);
    if (job === undefined) throw new Error('the job was expected');
    await job.promote();
    await takeAndDie();
    // What its last commit has left.
    const { children: _, timers: __, context, ...kept } = job.progress as InstanceRecord;
    const { history, ...others } = context as SignatureContext;
    const reason = fault(402);
    const ended = [...history, { state: 'failed', attempt: 1, at: Date.now(), fault: reason }];
    const record = {
      ...kept,
      value: 'failed',
      context: { ...others, fault: reason, history: ended },
    };
    await redis.client().hset(at.queue.toKey(id), { progress: JSON.stringify(record), open: '0' });
    await product.startWorkers();
    await failedWith(id, 402);
    expect(await recordOf(id)).toMatchObject({ attempt: 1, history: ended });
  });

  it('of all workers loses nothing: what was open goes on', async () => {
    const open = await Promise.all(
      Array.from({ length: 10 }, () => submit({ msisdn: somebody() })),
    );
    await Promise.all(open.map(asked));
    await product.stopWorkers();
    for (const id of open)
      expect(await product.api.transactions.answer(id, 1, cancelled)).toBe('accepted');
    const late = await Promise.all(Array.from({ length: 10 }, () => submit({})));
    await product.startWorkers();
    await Promise.all(open.map((id) => failedWith(id, 401)));
    await Promise.all(late.map(signed));
  });

  it('of a paused worker cannot write an old record over a newer one', async () => {
    const id = await asked(await submit({ msisdn: somebody() }));
    const store = createInstanceStore(at.queue, redis.client(), Date.now);
    const before = await recordOf(id);
    const [then, joinable] = ['goesOn', undefined] as const;
    const commit = {
      id: 'late',
      record: { workflow: 'sign', version: 1, status: 'active', value: 'signed', next: 1 } as const,
      parts: noParts,
      length: 0,
      verdicts: [],
      held: [],
      heldUntil: 0,
      released: [],
      replayed: false,
      joinable,
      then,
    };
    expect(await store.commit(id, 'a token that has lost its lock', commit)).toMatchObject({
      kind: 'lost',
    });
    expect(await recordOf(id)).toEqual(before);
    await product.api.transactions.answer(id, 1, cancelled);
  });
});

describe('a transport that is down', () => {
  const otp = { profile: 'http://mid.vendor.ch/MID/v1/OtpProfileText', msisdn: '+41791234567' };

  it('is tried again until it delivers', async () => {
    let calls = 0;
    const gateway = createServer((_, response) => {
      calls += 1;
      response.statusCode = calls < 3 ? 503 : 204;
      response.end();
    });
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    const { port } = gateway.address() as { port: number };
    const other = testRedisProduct(`http://127.0.0.1:${port}/send`);
    const service = await other;
    try {
      const answer = await service.post('/rest/service/sign', signRequest(otp));
      expect(answer.status).toBe(200);
      expect(calls).toBe(3);
    } finally {
      await service.stop();
      gateway.closeAllConnections();
      await new Promise((resolve) => gateway.close(resolve));
    }
  });

  it('is fault 209 when it stays down until the deadline', async () => {
    const service = await testRedisProduct('http://127.0.0.1:9/nobody-listens');
    try {
      const answer = await service.post(
        '/rest/service/sign',
        signRequest({ ...otp, timeoutSeconds: 1 }),
      );
      expect(answer.body.Fault).toMatchObject({
        Code: { SubCode: { Value: '_209' } },
        Reason: 'OTA_ERROR',
      });
    } finally {
      await service.stop();
    }
  });

  const testRedisProduct = (url: string): Promise<TestProduct> =>
    startTestProduct(
      { ...redis, prefix: `${redis.prefix.slice(-20)}-otp` },
      { configuration: { otp: { gateway: { kind: 'webhook', url } } } },
    );
});
