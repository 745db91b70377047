/**
 * More work than there are workers for: what was accepted ends, the rest is refused in words that
 * leave no doubt, and everything else is served as ever. What happens under real pressure is for
 * `npm run overload` to show.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { listen, type RunningServer } from '../../src/http/server.ts';
import { closeConnections, connectTo, post } from '../http/socket.ts';
import {
  accepted,
  ended,
  expectFault,
  expectSignature,
  send,
  sign,
  type WireAnswer,
} from '../http/wire.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest, receiptRequest, signRequest, statusRequest } from '../support/requests.ts';

const detail = 'The service is overloaded: this request was not accepted, try again later';
const redis = testRedis();
let product: TestProduct;
let server: RunningServer | undefined;

const start = async (
  name: string,
  options: Parameters<typeof startTestProduct>[1],
): Promise<void> => {
  product = await startTestProduct(
    { ...redis, prefix: `${redis.prefix.slice(-20)}-${name}` },
    options,
  );
};

afterEach(async () => {
  closeConnections();
  server?.cut();
  await server?.drain();
  server = undefined;
  await product.stop();
});

/** Also those that have their place in the order of applications. */
const waitingInQueue = async (): Promise<number> => {
  const queue = `{${product.configuration.queue.prefix}-0}:signatures`;
  const client = redis.client();
  return (await client.llen(`${queue}:wait`)) + (await client.zcard(`${queue}:prioritized`));
};

const isRefused = ({ body }: WireAnswer): boolean => body.Fault?.Detail === detail;

/**
 * Asks for signatures until they are refused for longer than a look at the queue takes: what is
 * added during one may count twice until the next. @returns The ids of those that were accepted.
 */
const fillUp = async (
  atMost: number,
  apIdOf?: (count: number) => string,
): Promise<readonly string[]> => {
  const ids: string[] = [];
  let refusedUntil = Number.POSITIVE_INFINITY;
  while (ids.length <= atMost) {
    const apId = apIdOf?.(ids.length);
    const answer = await sign(product, { mode: 'asynch', ...(apId !== undefined && { apId }) });
    if (isRefused(answer)) {
      if (Date.now() > refusedUntil) return ids;
      refusedUntil = Math.min(refusedUntil, Date.now() + 1000);
      await delay(20);
      continue;
    }
    refusedUntil = Number.POSITIVE_INFINITY;
    ids.push(answer.body.MSS_SignatureResp.MSSP_TransID);
  }
  throw new Error(`Nobody was refused after ${ids.length} requests`);
};

describe('a queue that is too long', () => {
  const limit = 20;
  const options = { configuration: { queue: { maxWaiting: limit } } };

  it('refuses further signature requests with a Fault that says so, and has not accepted them', async () => {
    await start('refuse', { ...options, workers: false });
    const ids = await fillUp(limit);
    const before = await waitingInQueue();
    expect(before).toBe(ids.length);
    for (const request of [{}, { mode: 'asynch' }] as const) {
      expectFault(await sign(product, request), 900, detail);
      expectFault(await send(product, '/rest/service', signRequest(request)), 900, detail);
    }
    expect(await waitingInQueue()).toBe(before);
    await vi.waitFor(() => expect(product.logged.join()).toContain('requests refused'), {
      timeout: 20_000,
    });
  });

  it('refuses in bulk as well: of a crowd that comes at once as many are accepted as there is room for', async () => {
    await start('crowd', { ...options, workers: false });
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => sign(product, { mode: 'asynch' })),
    );
    const refused = answers.filter(isRefused);
    const count = answers.length - refused.length;
    // A process that is not sure whether it has counted one already counts it twice.
    expect(count).toBeGreaterThan(limit / 2);
    expect(count).toBeLessThanOrEqual(limit);
    expect(await waitingInQueue()).toBe(count);
    for (const answer of refused) expectFault(answer, 900, detail);
  });

  /** So many of one application, and a hundred times as many of all together. */
  const one = { configuration: { queue: { maxWaiting: 1 } } };
  const oneOfEach = (count: number): string => `http://ap-${count}.example`;

  it('refuses its application alone, and all when it is too long in all', async () => {
    await start('alone', { ...options, workers: false });
    await fillUp(limit);
    const other = { mode: 'asynch', apId: 'http://other.example' } as const;
    expect(isRefused(await sign(product, other))).toBe(false);
    expectFault(await sign(product, { mode: 'asynch' }), 900, detail);
    await vi.waitFor(
      () =>
        expect(product.logged.map((line) => JSON.parse(line))).toContainEqual(
          expect.objectContaining({
            msg: 'requests refused',
            shortage: 'transactions of one application waiting',
            apId: 'http://test.example',
          }),
        ),
      { timeout: 20_000 },
    );
    await product.stop();
    await start('all', { ...one, workers: false });
    expect((await fillUp(100, oneOfEach)).length).toBeGreaterThan(90);
  });

  it.each([
    ['before it is read', true],
    ['when it is read', false],
  ])(
    'refuses %s, says in HTTP when to try again, and keeps the connection',
    async (_when, early) => {
      await start(`header-${early}`, { ...one, workers: false });
      await fillUp(100, oneOfEach);
      server = await listen({
        fetch: product.api.fetch,
        ...(early && { refusal: product.api.refusal }),
        host: '127.0.0.1',
        port: 0,
        requestTimeoutMs: 1000,
        headersTimeoutMs: 1000,
        tls: undefined,
      });
      const { socket, answered } = await connectTo(server.url);
      const askedAt = performance.now();
      socket.write(post('/rest/service/sign', signRequest()));
      await answered(1);
      // A connection that sends again as soon as it is refused must take little of the process.
      expect(performance.now() - askedAt).toBeGreaterThan(95);
      const sent = [
        post('/rest/service/sign', signRequest()),
        post('/rest/service/sign', { padding: 'x'.repeat(60_000) }),
        post('/rest/service', signRequest()),
      ];
      socket.write([...sent, post('/rest/service/profile', profileRequest())].join(''));
      const answers = await answered(5);
      for (const answer of answers.slice(0, 4)) {
        expectFault(answer, 900, detail);
        expect(answer.headers['retry-after']).toBe('1');
      }
      expect(answers[4]?.status).toBe(200);
    },
  );

  it('still answers what is wrong in another way as ever', async () => {
    await start('wrong', { ...one, workers: false });
    await fillUp(100, oneOfEach);
    const refusal = product.api.refusal;
    const asked = {
      method: 'POST',
      url: '/rest/service/sign',
      headers: { 'content-length': '10' },
    };
    expect(refusal(asked)?.body).toContain(detail);
    for (const other of [
      { method: 'GET' },
      { url: '/rest/service' },
      { url: '/rest/service/status' },
      { url: '/livez' },
      { headers: {} },
      { headers: { 'content-length': '65537' } },
    ]) {
      expect(refusal({ ...asked, ...other })).toBeUndefined();
    }
  });

  it('leaves status, receipts and profiles as they are', async () => {
    await start('others', options);
    const signed = (await sign(product)).body.MSS_SignatureResp.MSSP_TransID;
    await product.stopWorkers();
    const [open = ''] = await fillUp(limit);
    await expectSignature(
      product,
      await send(product, '/rest/service/status', statusRequest(signed)),
      'Sign in to Example?',
    );
    const { body } = await send(product, '/rest/service/status', statusRequest(open));
    expect(body.MSS_StatusResp.Status.StatusMessage).toBe('OUTSTANDING_TRANSACTION');
    expect((await send(product, '/rest/service/profile', profileRequest())).status).toBe(200);
    const receipt = send(product, '/rest/service/receipt', receiptRequest(signed));
    await product.startWorkers();
    expect((await receipt).body).toHaveProperty('MSS_ReceiptResp');
  });

  it('ends what was accepted once there are workers, and then accepts again', async () => {
    await start('recover', { ...options, workers: false });
    const ids = await fillUp(limit);
    await product.startWorkers();
    for (const id of ids)
      await expectSignature(product, await ended(product, id), 'Sign in to Example?');
    const next = await vi.waitFor(async () => {
      const answer = await sign(product);
      expect(answer.status).toBe(200);
      return answer;
    }, 20_000);
    await expectSignature(product, next, 'Sign in to Example?');
  });

  it('is found by a process that did not fill it', async () => {
    await start('found', { ...options, workers: false });
    await fillUp(limit);
    const { queue } = product.configuration;
    const other = await startTestProduct(
      { ...redis, prefix: queue.prefix },
      { ...options, workers: false, masterKey: product.core.serviceKey },
    );
    try {
      await vi.waitFor(
        async () => expectFault(await sign(other, { mode: 'asynch' }), 900, detail),
        20_000,
      );
    } finally {
      await other.stop();
    }
  });

  it('is measured over all shards together', async () => {
    await start('shards', {
      configuration: { queue: { maxWaiting: 5, shards: 3 } },
      workers: false,
    });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => sign(product, { mode: 'asynch' })),
    );
    const count = answers.filter((answer) => !isRefused(answer)).length;
    expect(count).toBeGreaterThan(5);
    expect(count).toBeLessThanOrEqual(15);
  });
});

describe('callers who wait for a person', () => {
  const silent = {
    msisdn: '41790000000',
    through: '41790000999',
    sim: { device: { kind: 'simulated', sign: 'never-answers' } },
  };

  it('beyond their limit are refused; the others go on waiting, and asynch requests wait with them', async () => {
    await start('callers', {
      configuration: { http: { maxWaitingCallers: 3 }, subscribers: [silent] },
    });
    const waiting = [1, 2, 3].map((user) =>
      sign(product, { msisdn: `4179000000${user}`, timeoutSeconds: 3 }),
    );
    await vi.waitFor(async () => expectFault(await sign(product), 900, detail), 20_000);
    for (const answer of waiting) expectFault(await answer, 208);
    await expectSignature(product, await sign(product), 'Sign in to Example?');
  });

  it('are a thousand without anybody noticing', async () => {
    await start('thousand', { configuration: { subscribers: [silent] } });
    // A thousand that come or end at once are served in time only by a machine that is quick
    // enough.
    const waiting: Promise<WireAnswer>[] = [];
    while (waiting.length < 1000) {
      const first = waiting.length;
      for (let user = first; user < first + 50; user += 1)
        waiting.push(
          sign(product, {
            msisdn: `41790000${String(user).padStart(3, '0')}`,
            timeoutSeconds: 10 + (user % 15),
          }),
        );
      await vi.waitFor(
        () => expect(product.asked().length).toBeGreaterThanOrEqual(waiting.length),
        {
          timeout: 30_000,
          interval: 5,
        },
      );
    }
    const other = await accepted(product);
    await expectSignature(product, await ended(product, other), 'Sign in to Example?');
    for (const answer of await Promise.all(waiting)) expectFault(answer, 208);
  }, 180_000);
});

describe('callers who no longer wait', () => {
  it('give their places back when they hang up, whoever else waits for the same transaction', async () => {
    const silent = {
      msisdn: '41790000002',
      sim: { device: { kind: 'simulated', sign: 'never-answers' } },
    };
    await start('hang-up', {
      configuration: { http: { maxWaitingCallers: 3 }, subscribers: [silent] },
    });
    server = await listen({
      fetch: product.api.fetch,
      refusal: product.api.refusal,
      host: '127.0.0.1',
      port: 0,
      requestTimeoutMs: 30_000,
      headersTimeoutMs: 30_000,
      tls: undefined,
    });
    // One request, sent three times: one transaction for which three wait.
    const request = post(
      '/rest/service/sign',
      signRequest({ msisdn: '+41790000002', timeoutSeconds: 300 }),
    );
    const callers = [];
    for (let caller = 0; caller < 3; caller += 1) {
      const { socket } = await connectTo(server.url);
      socket.write(request);
      callers.push(socket);
    }
    const another = () => sign(product, { mode: 'asynch' });
    await vi.waitFor(async () => expectFault(await another(), 900, detail), { timeout: 20_000 });
    for (const socket of callers) socket.destroy();
    await vi.waitFor(async () => expect((await another()).status).toBe(200), { timeout: 20_000 });
  });
});

describe('a process whose turns are long', () => {
  it('refuses what it brings to Redis too late, and has not accepted it', async () => {
    await start('late', { workers: false });
    await sign(product, { mode: 'asynch' });
    const before = await waitingInQueue();
    const commands = product.core.commands as Redis;
    const send = commands.sendCommand.bind(commands);
    const stuck = vi.spyOn(commands, 'sendCommand').mockImplementation((command, ...stream) => {
      const sent = send(command, ...stream);
      if (command.name !== 'evalsha') return sent;
      // What was asked goes out at the end of the turn, and this one has too much to do.
      stuck.mockRestore();
      const until = performance.now() + 900;
      while (performance.now() < until);
      return sent;
    });
    const answer = await sign(product, { mode: 'asynch' });
    expectFault(answer, 900, detail);
    expect(answer.retryAfter).toBe('1');
    expect(await waitingInQueue()).toBe(before);
    expect(isRefused(await sign(product, { mode: 'asynch' }))).toBe(false);
  });
});
