/** The callbacks that a receiver gets about the ends of transactions. */
import { Worker } from 'bullmq';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPosts } from '../../../src/http/outgoing/post.ts';
import { cancelTransaction } from '../../../src/transactions/cancellation.ts';
import { newMsspTransId } from '../../../src/transactions/ids.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { receiptRequest, signRequest } from '../../../test/support/requests.ts';
import { soon } from '../../../test/support/soon.ts';
import { callbackJobName } from '../callback.workflow.ts';
import { createCallbacks } from '../callbacks.ts';
import { createCallWebhook } from '../deliver.ts';
import { callbackQueueName, callbacksOf as queueIn } from '../queue.ts';
import { callbackSecret } from '../secret.ts';
import { callbackId } from '../transaction-events.ts';
import {
  type CallbackStage,
  providerOf,
  type Received,
  type Receiver,
  startCallbackStage,
  startReceiver,
} from './stage.ts';

const redis = testRedis();
const client = redis.client();
const shop = 'http://shop.example';
let stage: CallbackStage;
let receiver: Receiver;
let side: { idle(): Promise<void>; close(): Promise<void> } | undefined;

beforeAll(async () => {
  stage = await startCallbackStage(redis, { shards: 2 });
});
afterAll(async () => {
  await stage.close();
  expect(stage.errors).toEqual([]);
});
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await side?.close();
  side = undefined;
  await receiver.close();
});

const shopProvider = () => providerOf(shop, `${receiver.url}/hook?of=shop`);
const start = async (...given: Partial<Parameters<CallbackStage['start']>>) => {
  side = await stage.start(given[0] ?? [shopProvider()], given[1]);
  return side;
};
const verified = ({ headers, body }: Received, version = 1) =>
  new Webhook(callbackSecret(stage.serviceKey, shop, version)).verify(
    body,
    headers as Record<string, string>,
  );
/** The number of times that this message has come. */
const triesOf = ({ headers }: Received): number =>
  receiver.received.filter((other) => other.headers['webhook-id'] === headers['webhook-id']).length;
const onlyOne = async (id: string): Promise<Received> => {
  const [first, ...others] = await soon(() => {
    const found = receiver.of(id);
    expect(found.length).toBeGreaterThan(0);
    return found;
  });
  expect(others).toEqual([]);
  if (first === undefined) throw new Error('one was expected');
  return first;
};
const ended = (id: string) =>
  soon(async () =>
    expect(await client.hexists(stage.shardOfId(id).signatures.queue.toKey(id), 'finishedOn')).toBe(
      1,
    ),
  );

/** Adds a callback like the follower. */
const jobFor = (msspTransId: string) => ({
  name: callbackJobName,
  data: {
    msspTransId,
    apId: shop,
    apTransId: 'T-1',
    attempt: 1,
    at: Date.now(),
    end: { state: 'signed', statusCode: '500' },
  },
  opts: { jobId: callbackId(msspTransId, 1, 'signed'), attempts: 10 },
});

const first = () => {
  const [shard] = stage.shards;
  if (shard === undefined) throw new Error('There is no shard');
  return queueIn(shard);
};

describe('a callback', () => {
  it('tells of an end that is not believed as it is answered: an internal error', async () => {
    const id = await stage.submit({ apId: shop });
    await ended(id);
    const job = stage.shardOfId(id).signatures.queue.toKey(id);
    const record = JSON.parse((await client.hget(job, 'returnvalue')) ?? '');
    const outcome = { kind: 'signature', cms: 'AAAA' };
    await client.hset(job, 'returnvalue', JSON.stringify({ ...record, outcome }));
    await start();
    const message = await onlyOne(id);
    expect(message.headers['webhook-id']).toBe(callbackId(id, 1, 'failed'));
    expect(verified(message)).toMatchObject({
      type: 'transaction.failed',
      data: { fault: { code: '_900' } },
    });
  });

  it('tells of a signature, signed by Standard Webhooks, without number, text and signature', async () => {
    await start();
    const request = signRequest({ apId: shop, mode: 'asynch', text: 'Shop: pay 7 francs?' });
    const answer = await stage.product.post('/rest/service/sign', request);
    const id = answer.body.MSS_SignatureResp.MSSP_TransID;
    const received = await onlyOne(id);
    expect(received.path).toBe('/hook?of=shop');
    expect(received.headers['webhook-id']).toBe(`${id}-1-signed`);
    expect(received.headers['content-type']).toBe('application/json');
    expect(verified(received)).toEqual({
      type: 'transaction.signed',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: {
        AP_ID: shop,
        AP_TransID: request.MSS_SignatureReq.AP_Info.AP_TransID,
        MSSP_TransID: id,
        attempt: 1,
        statusCode: '500',
      },
    });
    expect(() => verified({ ...received, body: `${received.body} ` })).toThrow();
    const [job] = await Promise.all(
      [`${id}-1-signed`].map((name) => queueIn(stage.shardOfId(id)).queue.getJob(name)),
    );
    const kept = JSON.stringify([job, received, stage.told, stage.product.logged]);
    for (const secret of ['41700092501', '7 francs', 'whsec_']) expect(kept).not.toContain(secret);
    expect(JSON.stringify(job?.data)).not.toContain(receiver.url);
  });

  it('that a definition names reaches no host inside, unless the application has its callback there', async () => {
    const [inside, other] = [await startReceiver(), await startReceiver()];
    const at = ({ url }: Receiver, path: string) =>
      `https://inside.example:${new URL(url).port}${path}`;
    await start([providerOf(shop, at(inside, '/hook'))], {
      sandbox: false,
      allowedHosts: ['inside.example'],
      tries: 1,
      resolve: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    const tell = (name: string, url: string) =>
      first().queue.add(
        callbackJobName,
        { process: name, apId: shop, what: 'told', at: Date.now(), url },
        { jobId: `process-${name}`, attempts: 1 },
      );
    await tell('there', at(inside, '/failed'));
    await tell('elsewhere', at(other, '/failed'));
    const gaveUp = (name: string, problem: string) =>
      soon(() => expect(stage.told).toContainEqual(`gaveUp process-${name} 1 ${problem}`));
    // The receivers speak no TLS, so this is a connection that failed.
    await gaveUp('there', 'unreachable: EPROTO');
    await gaveUp('elsewhere', 'the address of the receiver is not allowed');
    await Promise.all([inside.close(), other.close()]);
  });

  it('that a chart sends reaches no host inside either', async () => {
    const [inside, other] = [await startReceiver(), await startReceiver()];
    const at = ({ url }: Receiver) => `https://inside.example:${new URL(url).port}/order`;
    const call = createCallWebhook({
      providers: [providerOf(shop, at(inside))],
      serviceKey: stage.serviceKey,
      now: Date.now,
      ...createPosts({
        allowedHosts: ['inside.example'],
        sandbox: false,
        now: Date.now,
        resolve: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
      }),
    });
    const { signal } = new AbortController();
    const to = (url: string) => call({ apId: shop, id: 'call-1', url, body: '{}' }, signal);
    expect(await to(at(inside))).toEqual({ kind: 'unreachable', cause: 'EPROTO' });
    expect(await to(at(other))).toEqual({
      kind: 'not-sent',
      why: 'the address of the receiver is not allowed',
    });
    await Promise.all([inside.close(), other.close()]);
  });

  it('tells of a fault, and after a replay of the next end', async () => {
    await start();
    const id = await stage.submit({ apId: shop, msisdn: '+41000092401' });
    const first = await onlyOne(id);
    expect(verified(first)).toMatchObject({
      type: 'transaction.failed',
      data: { MSSP_TransID: id, attempt: 1, fault: { code: '_401', reason: 'USER_CANCEL' } },
    });
    await stage.rerun(id);
    await soon(() => expect(receiver.of(id)).toHaveLength(2));
    expect(receiver.of(id).map(({ headers }) => headers['webhook-id'])).toEqual([
      `${id}-1-failed`,
      `${id}-2-failed`,
    ]);
  });

  it('tells of a receipt', async () => {
    await start();
    const id = await stage.submit({ apId: shop, msisdn: '+41700092503' });
    await onlyOne(id);
    await stage.product.post(
      '/rest/service/receipt',
      receiptRequest(id, { apId: shop, msisdn: '+41700092503' }),
    );
    await soon(() => expect(receiver.of(id)).toHaveLength(2));
    const receipt = receiver.of(id)[1];
    expect(receipt && verified(receipt)).toMatchObject({
      type: 'transaction.receipted',
      data: { MSSP_TransID: id, attempt: 1, receipt: 'accepted' },
    });
  });

  it('tells of what was cancelled while somebody was asked, and before anybody was', async () => {
    await start();
    const cancel = (id: string) => {
      const { protocol } = stage.product.core;
      const at = stage.shardOfId(id).signatures;
      return cancelTransaction(id, { at, protocol, now: Date.now });
    };
    const asked = await stage.submit({ apId: shop, msisdn: '+41700092507' });
    await soon(() =>
      expect(
        stage.product.logged.some((line) => line.includes(asked) && line.includes('device asked')),
      ).toBe(true),
    );
    await stage.product.stopWorkers();
    const waiting = await stage.submit({ apId: shop });
    expect([await cancel(asked), await cancel(waiting)]).toEqual(['cancelled', 'cancelled']);
    await stage.product.startWorkers();
    for (const id of [asked, waiting]) {
      expect(verified(await onlyOne(id))).toMatchObject({ data: { fault: { code: '_401' } } });
      expect((await onlyOne(id)).headers['webhook-id']).toBe(`${id}-1-failed`);
    }
  });

  it('tells each end of a job that no worker can read, also when it is run again', async () => {
    await start();
    const shard = stage.shards[1];
    const id = newMsspTransId(1);
    await shard?.signatures.queue.add(
      'sign',
      { MSS_SignatureReq: { AP_Info: { AP_ID: shop } } },
      { jobId: id },
    );
    expect(verified(await onlyOne(id))).toMatchObject({ type: 'transaction.failed' });
    await stage.rerun(id);
    await soon(() =>
      expect(receiver.of(id).map(({ headers }) => headers['webhook-id'])).toEqual([
        `${id}-1-failed`,
        `${id}-run2-failed`,
      ]),
    );
  });

  it('is signed with the secret before, too, when the secret was changed', async () => {
    await start([providerOf(shop, receiver.url, 3)]);
    const received = await onlyOne(await stage.submit({ apId: shop }));
    expect(() => verified(received, 3)).not.toThrow();
    expect(() => verified(received, 2)).not.toThrow();
    expect(() => verified(received, 1)).toThrow();
  });

  it('costs an application without one nothing', async () => {
    const running = await start();
    const id = await stage.submit({ apId: 'http://silent.example' });
    await ended(id);
    await running.idle();
    expect((await stage.jobIds()).filter((job) => job.startsWith(id))).toEqual([]);
    expect(receiver.received).toEqual([]);
  });

  it('is not even looked for when no application has one', async () => {
    await side?.close();
    const positions = stage.shards.map(({ prefix }) => `${prefix}:callback-position`);
    await client.del(...positions.slice(0, 1));
    await client.del(...positions.slice(1));
    const running = await stage.start([providerOf(shop)]);
    await ended(await stage.submit({ apId: shop }));
    await running.idle();
    expect(await Promise.all(positions.map((key) => client.exists(key)))).toEqual([0, 0]);
    await running.close();
  });
});

describe('a receiver that does not take it', () => {
  it('is tried again later each time, under the same id, with a signature of that time', async () => {
    receiver.answers(
      (response, one) => void response.writeHead(triesOf(one) < 3 ? 500 : 200).end(),
    );
    await start();
    const id = await stage.submit({ apId: shop });
    const tries = await soon(() => {
      expect(receiver.of(id)).toHaveLength(3);
      return receiver.of(id);
    });
    for (const received of tries) verified(received);
    expect(new Set(tries.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([`${id}-1-signed`]),
    );
    expect(new Set(tries.map(({ body }) => body)).size).toBe(1);
    const [first = 0, second = 0, third = 0] = tries.map(({ at }) => at);
    expect(second - first).toBeGreaterThanOrEqual(29);
    expect(third - second).toBeGreaterThanOrEqual(59);
    await soon(() => expect(stage.told).toContain(`delivered ${id}-1-signed 3 200`));
    expect(stage.told).toContain(`undelivered ${id}-1-signed 2 HTTP 500`);
  });

  it('leaves a dead letter, which is replayed', async () => {
    receiver.answers((response) => void response.writeHead(500).end('secret of the receiver'));
    await start();
    const id = await stage.submit({ apId: shop });
    const callbacks = createCallbacks({ redis: client, shards: stage.shards, now: Date.now });
    const name = `${id}-1-signed`;
    await soon(async () =>
      expect(await callbacks.of(id, 1)).toMatchObject([
        { id: name, state: 'dead', tries: 3, problem: 'HTTP 500' },
      ]),
    );
    expect(receiver.of(id)).toHaveLength(3);
    expect(stage.told).toContain(`gaveUp ${name} 3 HTTP 500`);
    const hash = JSON.stringify(
      await client.hgetall(queueIn(stage.shardOfId(id)).queue.toKey(name)),
    );
    expect(hash).not.toContain('secret of the receiver');
    receiver.answers(
      (response, one) => void response.writeHead(triesOf(one) < 5 ? 500 : 200).end(),
    );
    expect(await callbacks.replay(name)).toBe('replayed');
    await soon(async () =>
      expect(await callbacks.of(id, 1)).toMatchObject([{ state: 'delivered' }]),
    );
    expect(receiver.of(id)).toHaveLength(5);
    expect(await callbacks.replay(name)).toBe('not-dead');
    expect(await callbacks.replay(`${id}-2-signed`)).toBe('unknown');
  });

  it('ends it at once with 410 Gone', async () => {
    receiver.answers((response) => void response.writeHead(410).end());
    await start();
    const id = await stage.submit({ apId: shop });
    await soon(() => expect(stage.told).toContain(`gaveUp ${id}-1-signed 1 HTTP 410`));
    expect(receiver.of(id)).toHaveLength(1);
  });

  it('is asked when it says so, but not later than is bearable', async () => {
    receiver.answers((response, one) => {
      if (triesOf(one) > 1) response.writeHead(200).end();
      else response.writeHead(429, { 'retry-after': '1' }).end();
    });
    await start();
    const id = await stage.submit({ apId: shop });
    await soon(() => expect(receiver.of(id)).toHaveLength(2));
    const [first, second] = receiver.of(id);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
    await side?.close();
    receiver.answers((response) => void response.writeHead(503, { 'retry-after': '86400' }).end());
    await start([shopProvider()], { backoff: { firstMs: 20, factor: 1, maxMs: 50 } });
    const other = await stage.submit({ apId: shop });
    await soon(() => expect(stage.told).toContain(`gaveUp ${other}-1-signed 3 HTTP 503`));
  });

  it('does not keep other applications waiting', async () => {
    const other = await startReceiver();
    const slow = 'http://slow.example';
    receiver.answers(() => undefined);
    await start([providerOf(slow, receiver.url), providerOf(shop, other.url)], {
      concurrency: 4,
      // Whoever waited for them would wait for longer than this test.
      timeoutMs: 3_600_000,
    });
    await Promise.all(Array.from({ length: 10 }, () => stage.submit({ apId: slow })));
    await soon(() => expect(receiver.received).toHaveLength(2));
    const id = await stage.submit({ apId: shop });
    await soon(() => expect(other.of(id)).toHaveLength(1));
    expect(receiver.received.length).toBeLessThan(5);
    await side?.close();
    await other.close();
  });

  it('costs the queue no more for many that wait than for few', async () => {
    receiver.answers(() => undefined);
    await first().queue.addBulk(Array.from({ length: 600 }, () => jobFor(newMsspTransId(0))));
    await start([shopProvider()], { concurrency: 4 });
    const turns = await soon(async () => {
      const key = first().queue.toKey('delayed');
      const scores = (await client.zrange(key, '0', '-1', 'WITHSCORES')).filter(
        (_, index) => index % 2 === 1,
      );
      // On a busy machine the first come back before the last are put off.
      expect(scores.length).toBeGreaterThan(50);
      // BullMQ keeps the time in the upper bits.
      return scores.map((score) => Math.floor(Number(score) / 4096));
    });
    // A hundred of them a second come back, however many there are.
    expect((turns.at(-1) ?? 0) - (turns[0] ?? 0)).toBeGreaterThan(9.6 * (turns.length - 1));
    await side?.close();
    await first().queue.drain(true);
  });
});

describe('a job of another program', () => {
  it.each([
    ['data that is no callback', { jobId: 'foreign' }, {}],
    ['an id that is no header', { jobId: 'two\nlines' }, jobFor(newMsspTransId(0)).data],
  ])('with %s fails at once, and nothing is sent', async (_, opts, data) => {
    await start();
    const queue = first().queue;
    const job = await queue?.add(callbackJobName, data, { ...opts, attempts: 10 });
    await soon(async () => expect(await job?.getState()).toBe('failed'));
    expect((await queue?.getJob(opts.jobId))?.attemptsMade).toBe(1);
    expect(receiver.received).toEqual([]);
    await job?.remove();
  });
});

describe('a callback that cannot be made', () => {
  it('is dead, and can be replayed', async () => {
    await start();
    const { name, data, opts } = jobFor(newMsspTransId(0));
    const queue = first().queue;
    // No date has that time.
    const job = await queue?.add(name, { ...data, at: 1e20 }, { ...opts, attempts: 1 });
    await soon(async () => expect(await job?.getState()).toBe('failed'));
    expect((await queue?.getJob(opts.jobId))?.failedReason).toBe('an error of this service');
    await job?.updateData(data);
    await createCallbacks({ redis: client, shards: stage.shards, now: Date.now }).replay(
      opts.jobId,
      undefined,
    );
    verified(await onlyOne(data.msspTransId));
    expect((stage.errors as Error[]).splice(0)).toHaveLength(1);
  });
});

describe('a roll-out', () => {
  it('that registers an application leaves its messages to the processes that know it', async () => {
    const old = await start([providerOf('http://other.example', receiver.url)]);
    const id = newMsspTransId(0);
    const { name, data, opts } = jobFor(id);
    await first().queue.add(name, data, { ...opts, attempts: 100 });
    await soon(() =>
      expect(stage.told.some((line) => line.startsWith(`undelivered ${id}-`))).toBe(true),
    );
    await old.close();
    await start();
    verified(await onlyOne(id));
  });
});

describe('a crash', () => {
  it('between the end and its callback loses nothing', async () => {
    await (await start()).close();
    const ids = await Promise.all([1, 2, 3].map(() => stage.submit({ apId: shop })));
    await Promise.all(ids.map(ended));
    expect(receiver.received).toEqual([]);
    await start();
    for (const id of ids) verified(await onlyOne(id));
  });

  it('between an end that was replayed at once and its callback loses neither end', async () => {
    await (await start()).close();
    const id = await stage.submit({ apId: shop, msisdn: '+41000092209' });
    await ended(id);
    await stage.rerun(id);
    await soon(async () =>
      expect(await client.hget(stage.shardOfId(id).signatures.queue.toKey(id), 'atm')).toBe('2'),
    );
    await start();
    await soon(() => expect(receiver.of(id)).toHaveLength(2));
  });

  it('before the position is noted tells nothing twice', async () => {
    const running = await start();
    const key = `${stage.shards[0]?.prefix}:callback-position`;
    const before = (await client.get(key)) ?? '';
    const ids = await Promise.all([1, 2, 3, 4].map(() => stage.submit({ apId: shop })));
    for (const id of ids) await onlyOne(id);
    await client.set(key, before);
    await running.idle();
    const last = await stage.submit({ apId: shop });
    await onlyOne(last);
    for (const id of ids) await onlyOne(id);
  });

  it('of the one who follows is made good when the events are gone', async () => {
    await (await start()).close();
    const ids = await Promise.all([1, 2, 3].map(() => stage.submit({ apId: shop })));
    await Promise.all(ids.map(ended));
    for (const { signatures } of stage.shards) await signatures.queue.trimEvents(0);
    await start();
    for (const id of ids) verified(await onlyOne(id));
  });

  it('of a worker in the middle of a delivery is followed by another delivery', async () => {
    await (await start()).close();
    const id = await stage.submit({ apId: shop });
    await ended(id);
    const shard = stage.shardOfId(id);
    receiver.answers(() => undefined);
    const first = await start([shopProvider()], { lockMs: 1000 });
    await soon(() => expect(receiver.of(id)).toHaveLength(1));
    await first.close();
    receiver.answers((response) => void response.writeHead(200).end());
    const dead = new Worker(callbackQueueName, null, {
      connection: redis.connection,
      prefix: shard.prefix,
      lockDuration: 300,
    });
    await soon(async () => expect(await dead.getNextJob('dead', { block: false })).toBeDefined());
    await dead.close();
    await start([shopProvider()], { lockMs: 400 });
    await soon(() => expect(receiver.of(id)).toHaveLength(2));
    await soon(() => expect(stage.told).toContain(`delivered ${id}-1-signed 1 200`));
  });

  it('hands over to another process', async () => {
    const first = await start([shopProvider()], { leaseMs: 300 });
    const second = await stage.start([shopProvider()], { leaseMs: 300 });
    const id = await stage.submit({ apId: shop });
    await onlyOne(id);
    await first.close();
    await onlyOne(await stage.submit({ apId: shop }));
    await second.close();
  });
});

it('workers that cannot begin leave no connection', async () => {
  const closed = redis.client();
  closed.disconnect();
  const ofWorkers = async (): Promise<readonly string[]> =>
    String(await redis.client().call('CLIENT', 'LIST'))
      .split('\n')
      .filter((line) => line.includes(Buffer.from(callbackQueueName).toString('base64')))
      .filter((line) => line.includes(stage.prefix));
  const before = await ofWorkers();
  await expect(stage.start([], { redis: closed, onError: () => undefined })).rejects.toThrow();
  await soon(async () => expect(await ofWorkers()).toEqual(before));
});

describe('what is told late', () => {
  it('is not older than a day', async () => {
    await (await start()).close();
    const id = await stage.submit({ apId: shop });
    await ended(id);
    const running = await start([shopProvider()], { now: () => Date.now() + 25 * 3_600_000 });
    await running.idle();
    expect((await stage.jobIds()).filter((job) => job.startsWith(id))).toEqual([]);
  });
});
