/**
 * Webhooks and receipts of charts, as a receiver and a phone see them; and the chart of
 * docs/workflows.md that uses both.
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { instanceIdOf } from '../../../../src/transactions/jobs/instance-ids.ts';
import { callerOf } from '../../../../test/support/caller.ts';
import { type Json, startTestProduct, type TestProduct } from '../../../../test/support/product.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import { callbackSecret } from '../../../callbacks/secret.ts';
import { type Receiver, startReceiver } from '../../../callbacks/test/stage.ts';
import { defineWorkflow, service, type Workflow } from '../../charts/index.ts';

const redis = testRedis();
const root = join(import.meta.dirname, '../../../..');
const masterKey = new Uint8Array(32).fill(5);
const shop = 'mid://shop.example';
const bank = 'mid://bank.example';

/**
 * A chart that is one activity: its input is that of the instance, its output that of the activity.
 */
const only = (src: 'receipt' | 'callWebhook' | 'sign'): Workflow =>
  defineWorkflow({
    name: `only-${src.toLowerCase()}`,
    version: 1,
    chart: setup({
      types: { input: {} as never, context: {} as { given: never; output?: unknown } },
      actors: { [src]: service[src] },
    }).createMachine({
      context: ({ input }) => ({ given: input }),
      initial: 'doing',
      output: ({ context }) => context.output,
      states: {
        doing: {
          invoke: {
            src: src as never,
            input: ({ context }: { context: { given: never } }) => context.given,
            onDone: {
              target: 'done',
              actions: assign({
                output: ({ event }) => (event as unknown as { output: unknown }).output,
              }),
            },
          },
        },
        done: { type: 'final' },
      },
    }),
  });

/** Forgets the input of the activity. */
const bare = (src: 'receipt' | 'sign'): Workflow =>
  defineWorkflow({
    name: `bare-${src}`,
    version: 1,
    chart: setup({
      types: { context: {} as { output?: unknown } },
      actors: { [src]: service[src] },
    }).createMachine({
      context: {},
      initial: 'doing',
      output: ({ context }) => context.output,
      states: {
        doing: {
          invoke: {
            src: src as never,
            onDone: {
              target: 'done',
              actions: assign({
                output: ({ event }) => (event as unknown as { output: unknown }).output,
              }),
            },
          },
        },
        done: { type: 'final' },
      },
    }),
  });

/** Ends in each of the ways. */
const ends = defineWorkflow({
  name: 'ends',
  version: 1,
  chart: setup({}).createMachine({
    initial: 'waiting',
    states: {
      waiting: { on: { DONE: 'done', BREAK: 'broken' } },
      broken: { meta: { job: 'failed' }, on: { REPLAY: 'broken' } },
      done: { type: 'final' },
    },
  }),
  reasonOf: () => 'the printer is out of paper',
});

let receiver: Receiver;
let product: TestProduct;
let folder: string;

/** Charts of the manual, as modules. */
const chartsOfManual = async (): Promise<readonly Workflow[]> => {
  const manual = readFileSync(join(root, 'docs/workflows.md'), 'utf8');
  const blocks = [...manual.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
  const library = pathToFileURL(join(root, 'parts/workflows/charts/index.ts')).href;
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const load = async (name: string, part: string): Promise<Workflow> => {
    const code = blocks.find((block) => block.includes(part)) ?? '';
    const file = join(folder, `${name}.ts`);
    writeFileSync(file, code.replace('paraph/workflow', library));
    return ((await import(/* @vite-ignore */ file)) as Record<string, Workflow>)[name] as Workflow;
  };
  return [
    await load('order', 'service.callWebhook'),
    await load('payment', "z.literal('PAID'), invoice"),
  ];
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paraph-activities-'));
  receiver = await startReceiver();
  product = await startTestProduct(redis, {
    masterKey,
    operations: true,
    charts: [
      ...(await chartsOfManual()),
      ends,
      only('sign'),
      only('receipt'),
      only('callWebhook'),
      bare('sign'),
      bare('receipt'),
    ],
    configuration: {
      receipt: { timeoutSeconds: 1 },
      applicationProviders: [
        { id: shop, callback: { url: `${receiver.url}/hook`, secretVersion: 2 } },
      ],
    },
  });
});
afterAll(async () => {
  await product?.stop();
  await receiver?.close();
  rmSync(folder, { recursive: true, force: true });
});

const { call, until } = callerOf(() => product);

/** @returns The output of an instance that is only this activity. */
const outputOf = async (name: string, input: object, apId = shop): Promise<Json> => {
  const { body } = await call('POST', name, { body: { input }, apId });
  return (await until(`${name}/${body.id}`, ({ status }) => status !== 'open', apId)).output;
};
const hook = (input: object, apId?: string): Promise<Json> =>
  outputOf('only-callwebhook', input, apId);
const at = (path: string) => receiver.received.filter((each) => each.path === path);
const answering = (
  by: Readonly<Record<string, (response: ServerResponse, times: number) => void>>,
): void =>
  receiver.answers((response, { path }) => {
    const answer = by[path];
    if (answer === undefined) response.writeHead(204).end();
    else answer(response, at(path).length);
  });
const json = (response: ServerResponse, status: number, body: unknown): void =>
  void response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(body));
const quick = { backoffMs: 1, maxBackoffMs: 2 };

it('the chart of the manual has a person sign, tells the shop, waits for an event, and shows a receipt', async () => {
  answering({ '/orders': (response) => json(response, 200, { number: 17 }) });
  const input = { msisdn: '+41700092503', text: 'Order 17?', shop: `${receiver.url}/orders` };
  const { status } = await call('POST', 'order', { apId: shop, body: { id: 'o-1', input } });
  expect(status).toBe(201);
  await until('order/o-1', ({ state }) => state === 'waiting', shop);
  expect(at('/orders').map(({ body }) => JSON.parse(body))).toEqual([
    { order: expect.stringMatching(/^H/) },
  ]);
  await call('POST', 'order/o-1/events', { apId: shop, body: { type: 'PAID' } });
  expect(await until('order/o-1', (view) => view.status !== 'open', shop)).toMatchObject({
    status: 'completed',
    state: 'done',
    output: { order: { number: 17 }, receipt: 'accepted' },
  });
});

it('the chart of the manual that waits for an event takes the one that it waits for, and refuses others', async () => {
  const body = { id: 'p-1', input: { invoice: 'I-17' } };
  expect((await call('POST', 'payment', { apId: shop, body })).status).toBe(201);
  await until('payment/p-1', ({ state }) => state === 'waiting', shop);
  const send = async (event: object) =>
    (await call('POST', 'payment/p-1/events', { apId: shop, body: event })).status;
  expect(await send({ type: 'PAID', invoice: 'I-18', by: 'Anna' })).toBe(409);
  expect(await send({ type: 'PAID', invoice: 17, by: 'Anna' })).toBe(400);
  expect(await send({ type: 'PAID', invoice: 'I-17', by: 'Anna' })).toBe(202);
  expect(await until('payment/p-1', ({ status }) => status !== 'open', shop)).toMatchObject({
    status: 'completed',
    state: 'paid',
    output: { by: 'Anna' },
  });
});

describe('a signature of a chart', () => {
  it.each(['bare-sign', 'bare-receipt', 'only-sign', 'only-receipt'])(
    'and a receipt are refused without input: %s',
    async (name) => {
      expect(await outputOf(name, null as never)).toMatchObject({
        kind: 'failed',
        code: 101,
        detail: 'The activity has no input',
      });
    },
  );

  it('and a receipt are refused with Unicode tags in the text, which nobody sees', async () => {
    const text = 'Order?\u{e0100}\u{e01ef}';
    const detail = expect.stringContaining('must not have Unicode tags');
    const refused = { kind: 'failed', code: 107, detail };
    const msisdn = '+41700092501';
    expect(await outputOf('only-sign', { msisdn, text })).toMatchObject(refused);
    const { msspTransId } = await outputOf('only-sign', { msisdn, text: 'Order?' });
    expect(await outputOf('only-receipt', { msspTransId, text })).toMatchObject(refused);
  });

  it('is of the application of the instance, whatever its input says', async () => {
    const input = { msisdn: '+41700092501', text: 'Order?', apId: bank };
    const { msspTransId } = await outputOf('only-sign', input);
    expect(await product.statusOf(msspTransId, shop)).toBe('500');
    expect(await product.statusOf(msspTransId, bank)).toBe('_101');
  });
});

describe('the end of an instance', () => {
  const told = (id: string) =>
    at('/hook')
      .map(({ body, headers }) => ({ ...JSON.parse(body), id: headers['webhook-id'] }))
      .filter(({ type, data }) => type === 'workflow.end' && data.id === id);
  const begin = async (id: string, apId = shop) => {
    expect((await call('POST', 'ends', { apId, body: { id, input: {} } })).status).toBe(201);
    await until(`ends/${id}`, ({ state }) => state === 'waiting', apId);
  };

  it('is told to its application, however it ends', async () => {
    answering({});
    for (const id of ['e-done', 'e-stopped', 'e-broken']) await begin(id);
    await call('POST', 'ends/e-done/events', { apId: shop, body: { type: 'DONE' } });
    await call('DELETE', 'ends/e-stopped?reason=Sold', { apId: shop });
    await call('POST', 'ends/e-broken/events', { apId: shop, body: { type: 'BREAK' } });
    const about = { AP_ID: shop, workflow: 'ends' };
    for (const [id, data] of [
      ['e-done', { state: 'completed' }],
      ['e-stopped', { state: 'cancelled', reason: 'Sold' }],
      ['e-broken', { state: 'failed', reason: 'the printer is out of paper' }],
    ] as const) {
      await expect.poll(() => told(id), { timeout: 20_000 }).toHaveLength(1);
      expect(told(id)[0].data).toEqual({ ...about, id, ...data });
    }
  });

  it('is told again, as another message, when it has run again', async () => {
    answering({});
    await begin('e-again');
    await call('POST', 'ends/e-again/events', { apId: shop, body: { type: 'BREAK' } });
    await until('ends/e-again', ({ endedAt }) => endedAt !== undefined && endedAt !== null, shop);
    const id = instanceIdOf(shop, 'ends', 'e-again');
    await (await product.workflows.locate(id).queue.getJob(id))?.retry();
    await expect.poll(() => told('e-again'), { timeout: 20_000 }).toHaveLength(2);
    expect(new Set(told('e-again').map((each) => each.id)).size).toBe(2);
  });

  it('is told to nobody else', async () => {
    answering({});
    await begin('e-quiet', bank);
    await call('POST', 'ends/e-quiet/events', { apId: bank, body: { type: 'DONE' } });
    await begin('e-loud');
    await call('POST', 'ends/e-loud/events', { apId: shop, body: { type: 'DONE' } });
    await expect.poll(() => told('e-loud'), { timeout: 20_000 }).toHaveLength(1);
    expect(told('e-quiet')).toEqual([]);
  });
});

describe('a webhook of a chart', () => {
  it('is signed with the secret of the application, goes to its callback by default, and gives the answer', async () => {
    answering({ '/hook': (response) => json(response, 404, { found: false }) });
    expect(await hook({ body: { type: 'order', lines: [1, 2] } })).toEqual({
      kind: 'answered',
      status: 404,
      body: { found: false },
    });
    const message = at('/hook').find(({ body }) => body.includes('lines'));
    for (const version of [1, 2]) {
      const webhook = new Webhook(callbackSecret(masterKey, shop, version));
      expect(
        webhook.verify(message?.body ?? '', message?.headers as Record<string, string>),
      ).toEqual({
        type: 'order',
        lines: [1, 2],
      });
    }
  });

  it('is tried again under the same id, and another call has another one', async () => {
    answering({ '/late': (response, times) => json(response, times < 3 ? 503 : 200, { times }) });
    const url = `${receiver.url}/late`;
    expect(await hook({ url, body: 1, ...quick })).toEqual({
      kind: 'answered',
      status: 200,
      body: { times: 3 },
    });
    expect(await hook({ url, body: 1, ...quick })).toMatchObject({ status: 200 });
    const ids = at('/late').map(({ headers }) => headers['webhook-id']);
    expect(ids.slice(0, 3)).toEqual(Array(3).fill(ids[0]));
    expect(ids[3]).not.toBe(ids[0]);
  });

  it('has failed after as many tries as its input says', async () => {
    answering({
      '/busy': (response) => void response.writeHead(429, { 'retry-after': '7' }).end(),
      '/gone': (response) => void response.destroy(),
      '/cut': (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '90' });
        response.write('{"a":', () => response.destroy());
      },
    });
    const at2 = (path: string) =>
      hook({ url: `${receiver.url}${path}`, body: {}, attempts: 2, ...quick });
    expect(await at2('/busy')).toEqual({ kind: 'failed', problem: 'HTTP 429', status: 429 });
    expect(await at2('/gone')).toEqual({ kind: 'failed', problem: 'unreachable: ECONNRESET' });
    expect(await at2('/cut')).toEqual({
      kind: 'failed',
      problem: 'the answer was cut off',
      status: 200,
    });
    expect([at('/busy').length, at('/gone').length, at('/cut').length]).toEqual([2, 2, 2]);
    expect(product.logged.join('\n')).not.toContain('/busy');
  });

  it('gives no body that is no JSON or too long', async () => {
    answering({
      '/text': (response) =>
        void response.writeHead(200, { 'content-type': 'text/plain' }).end('{"a":1}'),
      '/broken': (response) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      '/problem': (response) =>
        void response
          .writeHead(400, { 'content-type': 'application/problem+json' })
          .end('{"title":"no"}'),
      '/long': (response) => json(response, 200, 'x'.repeat(70_000)),
    });
    const give = (path: string) => hook({ url: `${receiver.url}${path}`, body: {}, ...quick });
    expect(await give('/none')).toEqual({ kind: 'answered', status: 204 });
    expect(await give('/text')).toEqual({ kind: 'answered', status: 200 });
    expect(await give('/problem')).toEqual({
      kind: 'answered',
      status: 400,
      body: { title: 'no' },
    });
    expect(await give('/broken')).toEqual({
      kind: 'failed',
      problem: 'the answer is no JSON',
      status: 200,
    });
    expect(await give('/long')).toEqual({
      kind: 'failed',
      problem: 'the answer is too long',
      status: 200,
    });
    expect([at('/broken').length, at('/long').length]).toEqual([1, 1]);
  });

  it.each([
    [{ url: 'https://10.0.0.1/', body: 1 }, 'the address of the receiver is not allowed'],
    [{ url: 'http://shop.example/', body: 1 }, 'the address of the receiver must be https'],
    [
      { url: 'https://a:secret@shop.example/', body: 1 },
      'the address of the receiver holds a user name or password',
    ],
    [
      { url: 'https://shop.example/' },
      'body: Invalid input: expected string | number | boolean | null | array | record',
    ],
    [{ url: 7, body: 1 }, 'url: Invalid input: expected string, received number'],
    [{ body: 1, attempts: 0 }, 'attempts: Too small: expected number to be >=1'],
  ])('is refused at once where it may not go, or is none: %#', async (input, problem) => {
    expect(await hook(input)).toEqual({ kind: 'failed', problem });
  });

  it('without an address needs a callback of the application', async () => {
    const problem = 'this process knows no callback of the application';
    expect(await hook({ body: 1, attempts: 1 }, bank)).toEqual({ kind: 'failed', problem });
  });
});

describe('a receipt of a chart', () => {
  const signedBy = async (msisdn: string): Promise<string> =>
    (await outputOf('only-sign', { msisdn, text: 'Order?' })).msspTransId;
  const receiptOf = (msspTransId: string, more: object = {}, apId?: string): Promise<Json> =>
    outputOf('only-receipt', { msspTransId, text: 'Thank you!', ...more }, apId);

  it('says what the person did, and the transaction knows it', async () => {
    const numbers = ['+41700092503', '+41700092504', '+41700092505', '+41700092506'];
    const ids = await Promise.all(numbers.map(signedBy));
    const receipts = await Promise.all(ids.map((id) => receiptOf(id, { language: 'de' })));
    expect(receipts).toEqual(
      ['accepted', 'cancelled', 'timeout', 'unanswered'].map((receipt) => ({
        kind: 'answered',
        receipt,
      })),
    );
    const [job] = await redis.client().keys(`*${redis.prefix}*:signatures:${ids[1]}`);
    const record = JSON.parse((await redis.client().hget(job ?? '', 'returnvalue')) ?? '');
    expect(record).toMatchObject({ state: 'receipted', receipt: 'cancelled' });
    expect(await receiptOf(ids[0] ?? '')).toMatchObject({
      kind: 'failed',
      code: 101,
      detail: 'MSS_ReceiptReq.MSSP_TransID has its receipt already',
    });
  });

  it('is refused for a signature of another application, for none, and for a text that no phone shows', async () => {
    const id = await signedBy('+41700092503');
    const unknown = { kind: 'failed', code: 101, detail: 'MSSP_TransID is unknown' };
    expect(await receiptOf(id, {}, bank)).toMatchObject(unknown);
    expect(await receiptOf('H00aB3dE5fG7hI9jK1lM')).toMatchObject(unknown);
    expect(await receiptOf(7 as never)).toMatchObject(unknown);
    expect(await receiptOf(id, { text: 'x'.repeat(240) })).toMatchObject({
      kind: 'failed',
      code: 103,
      detail: expect.stringContaining('Data'),
    });
    expect(await receiptOf(id)).toEqual({ kind: 'answered', receipt: 'accepted' });
  });
});
