/**
 * Jobs that other programs have added, with the token of somebody else's activity. None of them
 * answers it: whoever may add jobs cannot sign for a person.
 */
import { Buffer } from 'node:buffer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { tokenOf } from '../../../../packages/engine/src/activities.ts';
import { activity, later } from '../../../../packages/engine/src/define.ts';
import { signCms } from '../../../../packages/pki/src/cms.ts';
import { createAnswer } from '../../../../src/transactions/answers.ts';
import { receiptJobId } from '../../../../src/transactions/contract.ts';
import {
  fingerprintOf,
  newMsspTransId,
  nonceOf,
  transactionOfRun,
} from '../../../../src/transactions/ids.ts';
import { instanceIdOf } from '../../../../src/transactions/jobs/instance-ids.ts';
import {
  closeShards,
  openShards,
  type Shard,
  shardFor,
} from '../../../../src/transactions/shards.ts';
import { callerOf } from '../../../../test/support/caller.ts';
import { type Json, startTestProduct, type TestProduct } from '../../../../test/support/product.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import { signRequest } from '../../../../test/support/requests.ts';
import { defineWorkflow, service } from '../../charts/index.ts';

const redis = testRedis();
const apId = 'mid://payer.example';
const attacker = 'mid://attacker.example';
const robot = '+41700092501';
const text = 'Pay 9000 CHF?';

interface Payment {
  readonly msisdn: string;
  readonly msspTransId: string;
}

/** Waits for a later answer, as `sign` does, with the same input. */
const lookAlike = activity<{ msisdn: string; text: string }, unknown>(async () => later);

const payment = setup({
  types: { input: {} as Payment, context: {} as Payment & { outcome: unknown } },
  actors: { sign: service.sign, receipt: service.receipt, lookAlike },
}).createMachine({
  id: 'payment',
  context: ({ input }) => ({ ...input, outcome: undefined }),
  initial: 'waiting',
  output: ({ context }) => context.outcome,
  states: {
    waiting: { on: { ASK: 'asking', SHOW: 'showing', LOOK: 'looking' } },
    asking: {
      invoke: {
        src: 'sign',
        input: ({ context: { msisdn } }) => ({ msisdn, text }),
        onDone: { target: 'done', actions: assign({ outcome: ({ event }) => event.output }) },
      },
    },
    showing: {
      invoke: {
        src: 'receipt',
        input: ({ context: { msspTransId } }) => ({ msspTransId, text: 'Paid' }),
        onDone: { target: 'done', actions: assign({ outcome: ({ event }) => event.output }) },
      },
    },
    looking: {
      invoke: {
        src: 'lookAlike',
        input: ({ context: { msisdn } }) => ({ msisdn, text }),
        onDone: { target: 'done', actions: assign({ outcome: ({ event }) => event.output }) },
      },
    },
    done: { type: 'final' },
  },
});

const charts = [
  defineWorkflow({
    name: 'payment',
    version: 1,
    chart: payment,
    input: z.looseObject({}),
    publish: ({ outcome }: Json) => ({ isPaid: outcome?.kind === 'signed' }),
  }),
];

const silent = (index: number) => `4179000070${index}`;
const subscribers = [1, 2, 3, 4, 5, 6, 7].map((index) => ({
  msisdn: silent(index),
  sim: { device: { kind: 'simulated', sign: 'never-answers', receipt: 'never-answers' } },
}));

let product: TestProduct;
let shards: readonly Shard[];
beforeAll(async () => {
  product = await startTestProduct(redis, { charts, configuration: { subscribers } });
  const { prefix, shards: count } = product.configuration.queue;
  shards = openShards({
    redis: product.core.commands,
    prefix,
    shards: count,
    onError: () => undefined,
  });
});
afterAll(async () => {
  await closeShards(shards);
  await product.stop();
});

const { call, until } = callerOf(() => product);

const begin = async (id: string, input: Json): Promise<void> => {
  expect((await call('POST', 'payment', { apId, body: { id, input } })).status).toBe(201);
  await until(`payment/${id}`, ({ state }) => state === 'waiting', apId);
};
const send = async (id: string, type: string): Promise<void> => {
  expect((await call('POST', `payment/${id}/events`, { apId, body: { type } })).status).toBe(202);
};
const stored = async (id: string) => {
  const instance = await product.workflows.findInstance(instanceIdOf(apId, 'payment', id));
  if (instance === undefined) throw new Error('There is no such instance');
  return instance;
};
/** The token of an activity that runs. */
const tokenIn = async (id: string): Promise<string> => {
  const instance = await stored(id);
  const [[child, { run }] = ['', { run: -1 }]] = Object.entries(instance.record?.children ?? {});
  return tokenOf(instance, child, run);
};
/** The token of the activity of a state that is entered next. */
const nextToken = async (id: string, state: string): Promise<string> => {
  const instance = await stored(id);
  return tokenOf(instance, `0.payment.${state}`, instance.record?.next ?? 0);
};

const shardOfId = (id: string): Shard => {
  const shard = shardFor(shards, id);
  if (shard === undefined) throw new Error('There is no such shard');
  return shard;
};

interface Asked {
  readonly id?: string;
  readonly msisdn?: string;
  readonly by?: string;
  readonly what?: string;
  readonly profile?: string;
}

/**
 * Adds a signature job with a token, as a program with rights to the queue can, and sees it end.
 */
const addSigned = async (
  answerTo: string,
  { id = newMsspTransId(0), msisdn = robot, by = attacker, what = text, profile }: Asked = {},
): Promise<string> => {
  const { MSS_SignatureReq } = signRequest({
    msisdn,
    mode: 'asynch',
    text: what,
    apId: by,
    ...(profile !== undefined && { profile }),
  }) as Json;
  const { AP_PWD: _, ...ap } = MSS_SignatureReq.AP_Info;
  const request = { ...MSS_SignatureReq, AP_Info: ap };
  await shardOfId(id).signatures.queue.add(
    'sign',
    { MSS_SignatureReq: request, answerTo },
    { jobId: id },
  );
  return id;
};
const isOver = async (id: string): Promise<boolean> => {
  const { signatures } = shardOfId(id);
  return (await signatures.jobs.read(id))?.finishedOn !== undefined;
};
const signedBy = async (answerTo: string, asked?: Asked): Promise<string> => {
  const id = await addSigned(answerTo, asked);
  await expect.poll(() => isOver(id), { timeout: 10_000, interval: 10 }).toBe(true);
  expect(await product.statusOf(id, asked?.by ?? attacker)).toBe('500');
  return id;
};

/** The person signs on a phone that is not simulated. */
const answerFor = async (id: string, msisdn: string): Promise<void> => {
  const { core } = product;
  const custody = core.custodyOver(core.blocking);
  const key = await custody.userKey({ msisdn, sscdId: 'sim', algorithm: 'EC', expired: false });
  const cms = await signCms({ content: Buffer.from(text), key, nonce: nonceOf(id, 1) });
  const signature = {
    kind: 'signature',
    cms: Buffer.from(cms).toString('base64'),
    certificates: key.chain.id,
  } as const;
  const answer = createAnswer(shards, core);
  await expect.poll(() => answer(id, 1, signature)).toBe('accepted');
};

/** An end is told before its job is over, so what did not count by then never does. */
const stateOf = async (id: string): Promise<unknown> => (await stored(id)).record?.value;

describe('a signature of somebody else that names the activity of a person who is asked', () => {
  it('does not count: the person has not signed, and their prompt stays open', async () => {
    const asked = product.asked().length;
    await begin('p-1', { msisdn: silent(1) });
    await send('p-1', 'ASK');
    await expect.poll(() => product.asked().length).toBeGreaterThan(asked);
    await signedBy(await tokenIn('p-1'));
    expect(await stateOf('p-1')).toBe('asking');
    const [theirs = ''] = product.asked().at(-1)?.split(' ') ?? [];
    expect(await product.statusOf(theirs, apId)).toBe('504');
    expect(product.logged.join()).toContain('A stored end was not believed');
  });

  it('does not count under the application and with the text of the person either', async () => {
    await begin('p-2', { msisdn: silent(2) });
    await send('p-2', 'ASK');
    await expect.poll(() => stateOf('p-2')).toBe('asking');
    await signedBy(await tokenIn('p-2'), { by: apId });
    expect(await stateOf('p-2')).toBe('asking');
  });

  it.each([
    ['another number', 3, {}],
    ['another application', 4, { by: attacker }],
    ['another text', 5, { what: 'Something else' }],
    ['another profile', 6, { profile: 'http://mid.vendor.ch/STK-LoA4' }],
  ])('does not count under the id of the run that comes next, with %s', async (_, index, other) => {
    const id = `n-${index}`;
    // Robots sign everything, so that only what is wrong can keep the signature from counting.
    const msisdn = index === 3 ? silent(3) : robot;
    await begin(id, { msisdn });
    const token = await nextToken(id, 'asking');
    await signedBy(token, { id: transactionOfRun(token, shards.length), by: apId, ...other });
    await send(id, 'ASK');
    const view = await until(`payment/${id}`, ({ status }) => status !== 'open', apId);
    expect(view).toMatchObject({
      context: { isPaid: false },
      output: { kind: 'failed', code: 900 },
    });
  });

  it('does not answer an activity that is not `sign`, although it has the input of one', async () => {
    await begin('p-6', { msisdn: robot });
    await send('p-6', 'LOOK');
    await expect.poll(() => stateOf('p-6')).toBe('looking');
    await expect
      .poll(async () => Object.values((await stored('p-6')).record?.children ?? {}))
      .toMatchObject([{ waits: true }]);
    const token = await tokenIn('p-6');
    await signedBy(token, { id: transactionOfRun(token, shards.length), by: apId });
    expect(await stateOf('p-6')).toBe('looking');
  });

  it('counts when it is that of the person, in the job that the run has made', async () => {
    const asked = product.asked().length;
    await begin('p-7', { msisdn: silent(7) });
    await send('p-7', 'ASK');
    await expect.poll(() => product.asked().length).toBeGreaterThan(asked);
    const [theirs = ''] = product.asked().at(-1)?.split(' ') ?? [];
    await answerFor(theirs, silent(7));
    const view = await until('payment/p-7', ({ status }) => status !== 'open', apId);
    expect(view).toMatchObject({
      context: { isPaid: true },
      output: { kind: 'signed', msspTransId: theirs },
    });
  });
});

describe('a receipt of somebody else that names the activity of an application', () => {
  const addReceipt = async (
    msspTransId: string,
    answerTo: string,
    other: Json = {},
  ): Promise<void> => {
    const data = {
      msspTransId,
      apId: attacker,
      fingerprint: fingerprintOf(answerTo, 1).id,
      answerTo,
      msisdn: robot.slice(1),
      message: 'Paid',
      sscdId: 'sim',
      timeoutSeconds: 60,
      ...other,
    };
    const { receipts } = shardOfId(msspTransId);
    const jobId = receiptJobId(msspTransId);
    await receipts.queue.add('receipt', data, { jobId });
    const isDone = async () => (await receipts.jobs.read(jobId))?.finishedOn !== undefined;
    await expect.poll(isDone, { timeout: 10_000, interval: 10 }).toBe(true);
  };
  const signed = async (msisdn: string, by: string): Promise<string> => {
    const id = await product.submit({ msisdn, apId: by, text });
    if (msisdn !== robot) await answerFor(id, msisdn.slice(1));
    await expect.poll(() => product.statusOf(id, by)).toBe('500');
    return id;
  };

  it('does not count: the person has not been shown that of the application', async () => {
    const mine = await signed(robot, attacker);
    await begin('r-1', { msspTransId: await signed(`+${silent(6)}`, apId) });
    await send('r-1', 'SHOW');
    await expect.poll(() => stateOf('r-1')).toBe('showing');
    await addReceipt(mine, await tokenIn('r-1'));
    expect(await stateOf('r-1')).toBe('showing');
  });

  it('does not count in the job of the application when it says something else', async () => {
    const theirs = await signed(robot, apId);
    await begin('r-2', { msspTransId: theirs });
    const token = await nextToken('r-2', 'showing');
    await addReceipt(theirs, token, { message: 'Not paid', apId });
    await send('r-2', 'SHOW');
    const view = await until('payment/r-2', ({ status }) => status !== 'open', apId);
    expect(view.output).toMatchObject({ kind: 'failed', code: 101 });
  });
});
