/**
 * Redis goes away and comes back: stopped in order, and hung. Callers are told within a moment, and
 * the product goes on where it was, without a restart.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectForCommands } from '../../src/redis/connect.ts';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../src/redis/embedded/redis.ts';
import { callerOf } from '../support/caller.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest, receiptRequest, signRequest, statusRequest } from '../support/requests.ts';
import { accepted, ended, expectFault, expectSignature, send, sign, status } from './wire.ts';

/**
 * A second is meant. Whoever waited for Redis would wait for longer than this: it is away until all
 * have answered.
 */
const promptlyMs = 20_000;

const thinking = '41790000001';
const silent = '41790000002';
const limited = 'mid://limited.example';

const definition = {
  text: 'I agree',
  steps: [{ name: 'one', signers: [{ name: 'Anna', msisdn: '+41700092501' }] }],
};

const names = testRedis();
let dataDir: string;
let redis: EmbeddedRedis;
let product: TestProduct;

const startRedis = (): Promise<EmbeddedRedis> =>
  startEmbeddedRedis({ command: process.env.PARAPH_REDIS_SERVER ?? 'redis-server', dataDir });

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'paraph-away-'));
  redis = await startRedis();
  product = await startTestProduct(names, {
    redisUrl: redis.url,
    configuration: {
      subscribers: [
        { msisdn: thinking, sim: { device: { kind: 'robot', thinkSeconds: 0.5 } } },
        { msisdn: silent, sim: { device: { kind: 'simulated', sign: 'never-answers' } } },
      ],
      applicationProviders: [{ id: limited, rateLimit: { requests: 1000, perSeconds: 1 } }],
    },
  });
  await sign(product);
});

afterAll(async () => {
  try {
    await product?.stop();
  } finally {
    await redis.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

const { call } = callerOf(() => product);

const health = async (path: string): Promise<number> =>
  (await product.api.fetch(new Request(`http://test${path}`))).status;

/** What readyz says of the streams of events. */
const events = async () => {
  const answer = await product.api.fetch(new Request('http://test/readyz'));
  const { checks } = (await answer.json()) as {
    checks: { name: string; ok: boolean; reason?: string }[];
  };
  return checks.find(({ name }) => name === 'events');
};

const expectEventsRead = async (): Promise<void> => {
  await vi.waitFor(async () => expect(await events()).not.toHaveProperty('reason'), {
    timeout: 20_000,
    interval: 50,
  });
};

/**
 * Each operation, of a user whom nobody has asked about yet: what is remembered in the process
 * hides nothing.
 */
const expectUnavailable = async (msspTransId: string, stranger: string): Promise<void> => {
  const requests = {
    sign: signRequest({ msisdn: stranger }),
    status: statusRequest(msspTransId),
    receipt: receiptRequest(msspTransId),
    profile: profileRequest(stranger),
  };
  const since = Date.now();
  const answers = Promise.all([
    ...Object.entries(requests).map(([operation, body]) =>
      send(product, `/rest/service/${operation}`, body),
    ),
    sign(product, { mode: 'asynch' }),
    send(product, '/rest/service', statusRequest(msspTransId)),
  ]);
  // What readyz found just before counts for a moment.
  const noticed = vi.waitFor(
    async () => {
      const found = await health('/readyz');
      expect(found).toBe(503);
      return found;
    },
    { timeout: promptlyMs, interval: 50 },
  );
  const [ready, alive] = await Promise.all([noticed, health('/livez')]);
  for (const answer of await answers) expectFault(answer, 900, 'Unknown Error');
  // Only to a status request it could also be how the transaction has ended.
  expect((await answers).map(({ retryAfter }) => retryAfter)).toEqual([
    undefined,
    '1',
    undefined,
    undefined,
    undefined,
    '1',
  ]);
  expect(Date.now() - since).toBeLessThan(promptlyMs);
  expect({ ready, alive }).toEqual({ ready: 503, alive: 200 });
};

const expectRecovered = async (): Promise<void> => {
  await vi.waitFor(async () => expect(await health('/readyz')).toBe(200), {
    timeout: 20_000,
    interval: 50,
  });
  const answer = await vi.waitFor(
    async () => {
      const tried = await sign(product);
      expect(tried.status).toBe(200);
      return tried;
    },
    { timeout: 20_000, interval: 50 },
  );
  await expectSignature(product, answer, 'Sign in to Example?');
};

describe('while Redis is stopped', () => {
  let signed: string;
  let open: string;

  it('every operation answers Fault 900 within a moment, and readyz is 503 while livez is 200', async () => {
    signed = (await sign(product)).body.MSS_SignatureResp.MSSP_TransID;
    open = await accepted(product, { msisdn: '41700092507', timeoutSeconds: 60 });
    await expectEventsRead();
    await redis.stop();
    await expectUnavailable(signed, '41700092508');
    expect(await events()).toMatchObject({ ok: true, reason: expect.stringContaining('not read') });
    // Not only the first time, when connections break.
    await expectUnavailable(signed, '41700092509');
  });

  it('every call of workflows answers 503 with Retry-After within a moment', async () => {
    const since = Date.now();
    const calls = await Promise.all([
      call('POST', 'process', { body: { id: 'away', input: definition } }),
      call('GET', 'process/away'),
      call('GET', 'process/away/events'),
      call('POST', 'process/away/events', { body: { type: 'AGAIN', step: 'one', key: '1' } }),
      call('DELETE', 'process/away'),
    ]);
    for (const { status: code, body, response } of calls) {
      expect([code, body.error]).toEqual([503, 'unavailable']);
      expect(response.headers.get('retry-after')).toBe('1');
    }
    expect(Date.now() - since).toBeLessThan(promptlyMs);
  });

  it('a request that is wrong by itself is still told so', async () => {
    expectFault(await send(product, '/rest/service/sign', {}), 101);
    // Whether a number has a phone lies in Redis.
    expectFault(await sign(product, { msisdn: '41790000000' }), 900);
  });

  it('nothing is lost: once it is back, the same product signs, and answers for what was accepted before', async () => {
    redis = await startRedis();
    await expectRecovered();
    await expectEventsRead();
    await expectSignature(product, await status(product, signed), 'Sign in to Example?');
    const { body } = await status(product, open);
    expect(body.MSS_StatusResp.Status.StatusMessage).toBe('OUTSTANDING_TRANSACTION');
    const receipt = await send(product, '/rest/service/receipt', receiptRequest(signed));
    expect(receipt.status).toBe(200);
  });
});

describe('while Redis hangs', () => {
  it('every operation answers Fault 900 within a moment, and it recovers by itself', async () => {
    const msspTransId = (await sign(product)).body.MSS_SignatureResp.MSSP_TransID;
    process.kill(redis.pid, 'SIGSTOP');
    try {
      await expectUnavailable(msspTransId, '41700092502');
    } finally {
      process.kill(redis.pid, 'SIGCONT');
    }
    await expectRecovered();
    await expectSignature(product, await status(product, msspTransId), 'Sign in to Example?');
  });

  it('calls of workflows that could not be counted keep no room once it is back', async () => {
    const look = () => call('GET', 'process/none', { apId: limited });
    process.kill(redis.pid, 'SIGSTOP');
    try {
      // One application has room for four at once while another one asks.
      const answers = await Promise.all(Array.from({ length: 6 }, look));
      for (const { status: code } of answers) expect(code).toBe(503);
    } finally {
      process.kill(redis.pid, 'SIGCONT');
    }
    await expectRecovered();
    expect((await look()).status).toBe(404);
  });
});

describe('while Redis refuses writes', () => {
  it.each([
    ['min-replicas-to-write', '9', '0'],
    // Less than it uses.
    ['maxmemory', '1000000', '0'],
  ])(
    'a request is told that nothing was accepted, and when to send it again: %s',
    async (name, refuses, takes) => {
      const client = connectForCommands({ url: redis.url }, Date.now);
      try {
        await client.call('CONFIG', 'SET', name, refuses);
        for (const mode of ['asynch', 'synch'] as const)
          expect(await sign(product, { mode, text: `Sign in, ${mode}, ${name}?` })).toMatchObject({
            status: 500,
            retryAfter: '1',
          });
      } finally {
        await client.call('CONFIG', 'SET', name, takes);
        client.disconnect();
      }
      await expectRecovered();
    },
  );
});

describe('when Redis goes away and comes back', () => {
  it('whoever waits for a signature gets it, and a prompt that lapsed meanwhile has lapsed', async () => {
    const waiting = sign(product, { msisdn: thinking });
    const lapsing = await accepted(product, { msisdn: silent, timeoutSeconds: 1 });
    await redis.stop();
    redis = await startRedis();
    await expectSignature(product, await waiting, 'Sign in to Example?');
    await vi.waitFor(async () => expect(await health('/readyz')).toBe(200), {
      timeout: 20_000,
      interval: 50,
    });
    expectFault(await ended(product, lapsing), 208);
  });
});
