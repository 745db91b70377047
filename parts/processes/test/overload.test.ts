/** More processes than an application may have open, and more signers than it may have waiting. */

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { setup } from 'xstate';
import { closeShards, openShards, type Shard } from '../../../src/transactions/shards.ts';
import { callerOf } from '../../../test/support/caller.ts';
import { startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { defineWorkflow, service } from '../../workflows/charts/index.ts';
import { workflowQueueName, workflowsOf } from '../../workflows/queue.ts';

const maxOpen = 12;
const maxWaiting = 8;
const redis = testRedis();

const asking = defineWorkflow({
  name: 'asking',
  version: 1,
  chart: setup({
    types: { input: {} as { msisdn: string }, context: {} as { msisdn: string } },
    actors: { sign: service.sign },
  }).createMachine({
    context: ({ input }) => input,
    initial: 'asking',
    states: {
      asking: {
        invoke: {
          src: 'sign',
          input: ({ context: { msisdn } }) => ({ msisdn, text: 'I agree' }),
          onDone: { target: 'done' },
        },
      },
      done: { type: 'final' },
    },
  }),
});

let product: TestProduct;
let shards: readonly Shard[];
beforeAll(async () => {
  product = await startTestProduct(redis, {
    charts: [asking],
    configuration: {
      queue: { maxOpen, maxWaiting },
      subscribers: [
        { msisdn: '41788000000', through: '41788000099', sim: { device: { kind: 'robot' } } },
      ],
    },
  });
  const { commands } = product.core;
  shards = openShards({
    redis: commands,
    ...product.configuration.queue,
    queues: [workflowQueueName],
    onError: () => undefined,
  });
});
afterAll(async () => {
  await closeShards(shards);
  await product.stop();
});

const { call, until } = callerOf(() => product);

const processOf = (signers: number, ask: 'now' | 'page') => ({
  text: 'I agree',
  steps: [
    {
      name: 'all',
      ask,
      signers: Array.from({ length: signers }, (_, index) => ({
        name: 'Anna',
        msisdn: `+417880000${10 + index}`,
      })),
    },
  ],
});

const start = (apId: string, id: string, input: object) =>
  call('POST', 'process', { apId, body: { id, input } });

const end = async (apId: string, id: string): Promise<void> => {
  expect((await call('DELETE', `process/${id}`, { apId })).status).toBe(202);
  await until(`process/${id}`, ({ status }) => status === 'cancelled', apId);
};

describe('an application that starts more processes than it may have open', () => {
  const apId = 'mid://many.example';

  it('is told 429 with Retry-After, and nothing is begun, until one of them has ended', async () => {
    for (const id of ['1', '2', '3'])
      expect((await start(apId, id, processOf(3, 'page'))).status).toBe(201);
    const refused = await start(apId, '4', processOf(3, 'page'));
    expect(refused).toMatchObject({ status: 429, body: { error: 'too-many' } });
    expect(refused.response.headers.get('retry-after')).toBe('1');
    expect((await call('GET', 'process/4', { apId })).status).toBe(404);
    // What it has started before is still known, and an input that cannot be used is told so.
    expect((await start(apId, '3', processOf(3, 'page'))).status).toBe(200);
    expect((await start(apId, '5', {})).status).toBe(400);
    expect((await start('mid://other.example', '1', processOf(3, 'page'))).status).toBe(201);
    await end(apId, '1');
    expect((await start(apId, '4', processOf(3, 'page'))).status).toBe(201);
    for (const id of ['2', '3', '4']) await end(apId, id);
    await end('mid://other.example', '1');
  });

  it('leaves room for nine others, and then all are told 503 with Retry-After', async () => {
    const names = Array.from({ length: 11 }, (_, index) => `mid://app-${index}.example`);
    const answers = [];
    for (const name of names) answers.push(await start(name, 'p', processOf(11, 'page')));
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(201), 503]);
    const last = answers.at(-1);
    expect(last?.body.error).toBe('busy');
    expect(last?.response.headers.get('retry-after')).toBe('1');
    await Promise.all(names.slice(0, 10).map((name) => end(name, 'p')));
  });
});

describe('a process that asks more signers than may wait for a worker', () => {
  it('has the others wait, lets its application sign over HTTP meanwhile, and completes', async () => {
    const apId = 'mid://crowd.example';
    const [shard] = shards;
    if (shard === undefined) throw new Error('There is no shard');
    const { signatures } = shard;
    const workflows = workflowsOf(shard);
    await signatures.queue.pause();
    onTestFinished(() => signatures.queue.resume());
    const waiting = async (): Promise<number> => {
      const counts = await signatures.queue.getJobCounts('wait', 'prioritized');
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    };
    expect((await start(apId, 'p', processOf(11, 'now'))).status).toBe(201);
    await expect.poll(waiting).toBe(maxWaiting / 2);
    // The others have tried, and the process sleeps.
    await expect.poll(() => workflows.queue.getDelayedCount()).toBe(1);
    expect(await waiting()).toBe(maxWaiting / 2);
    expect(await product.submit({ apId, msisdn: '+41788000090' })).toMatch(/^H/);
    await signatures.queue.resume();
    const ended = await until('process/p', ({ status }) => status !== 'open', apId);
    expect(ended.status).toBe('completed');
    const states = ended.context.steps[0].signers.map(({ state }: { state: string }) => state);
    expect(states).toEqual(Array(11).fill('signed'));
  });
});

describe('a chart whose instances wait for one number that has had its prompts', () => {
  it('takes no room from those that ask other numbers', async () => {
    const apId = 'mid://one.example';
    const ask = (id: number, msisdn: string) =>
      call('POST', 'asking', { apId, body: { id: `a-${id}`, input: { msisdn } } });
    // Six are asked in a minute.
    const ids = Array.from({ length: 10 }, (_, index) => index);
    for (const id of ids) expect((await ask(id, '+41788000070')).status).toBe(201);
    const statuses = async (): Promise<readonly string[]> =>
      (await Promise.all(ids.map((id) => call('GET', `asking/a-${id}`, { apId })))).map(
        ({ body }) => body.status,
      );
    await expect
      .poll(async () => (await statuses()).filter((each) => each === 'open').length)
      .toBe(4);
    await ask(10, '+41788000071');
    expect(await until('asking/a-10', ({ status }) => status !== 'open', apId)).toMatchObject({
      status: 'completed',
    });
    for (const id of ids) await call('DELETE', `asking/a-${id}`, { apId });
  });
});
