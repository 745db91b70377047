/** Health for machines. While Redis is away: see redis-away.e2e.test.ts. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  backlogCheck,
  eventsCheck,
  keysCheck,
  redisCheck,
  stoppingCheck,
  workersCheck,
} from '../../src/app/readiness.ts';
import { startWorkerSide } from '../../src/app/worker-side.ts';
import { createHealthRoutes, type HealthCheck } from '../../src/http/health.route.ts';
import { createRedisProbe } from '../../src/telemetry/redis-probe.ts';
import { shardPrefixes } from '../../src/transactions/contract.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis, { workers: false });
});
afterAll(() => product.stop());

it.each([
  ['/livez', { status: 'alive' }],
  [
    '/readyz',
    {
      status: 'ready',
      checks: [
        'running',
        'redis',
        'authority',
        'memory',
        'clock',
        'documents',
        'events',
        'keys',
        'backlog',
      ].map((name) => expect.objectContaining({ name, ok: true })),
    },
  ],
])('%s is 200 for a product that works', async (path, body) => {
  const ask = async () => product.api.fetch(new Request(`http://test${path}`));
  // A connection may still be made.
  await vi.waitFor(async () => expect((await ask()).status).toBe(200), { timeout: 20_000 });
  const response = await ask();
  expect(response.headers.get('content-type')).toContain('application/json');
  expect(await response.json()).toEqual(body);
});

it('leaves no line in the log, since it is asked all the time', () => {
  expect(product.logged).toEqual([]);
});

describe('the checks of readiness', () => {
  const check = (name: string, look: HealthCheck['look']): HealthCheck => ({
    name,
    look,
    trouble: `The trouble of ${name}`,
  });
  const fine = check('fine', async () => ({ ok: true }));
  const ask = async (path: string, ...checks: HealthCheck[]) => {
    const response = await createHealthRoutes(checks).fetch(new Request(`http://test${path}`));
    return { status: response.status, body: await response.json() };
  };

  it('are told one by one, with what each took', async () => {
    expect(
      await ask(
        '/readyz',
        fine,
        check('other', async () => ({ ok: true })),
      ),
    ).toEqual({
      status: 200,
      body: {
        status: 'ready',
        checks: [
          { name: 'fine', ok: true, ms: expect.any(Number) },
          { name: 'other', ok: true, ms: expect.any(Number) },
        ],
      },
    });
  });

  it('make it 503 when one fails, with the reason', async () => {
    const failing = check('events', async () => ({ ok: false, reason: 'Nobody reads them' }));
    const { status, body } = await ask('/readyz', fine, failing);
    expect(status).toBe(503);
    expect(body).toMatchObject({
      status: 'unavailable',
      reasons: ['Nobody reads them'],
      checks: [{ ok: true }, { name: 'events', ok: false, reason: 'Nobody reads them' }],
    });
  });

  it('say nothing of an error, which names addresses and perhaps secrets', async () => {
    const broken = check('redis', async () => {
      throw new Error('connect ECONNREFUSED redis://user:secret@10.1.2.3:6379');
    });
    const answer = await ask('/readyz', broken);
    expect(answer).toMatchObject({ status: 503, body: { reasons: ['The trouble of redis'] } });
    expect(JSON.stringify(answer)).not.toMatch(/secret|10\.1\.2\.3|ECONN/);
  });

  it('stay 200 for what is only information', async () => {
    const full = backlogCheck({ size: () => 5000 }, 5000);
    const { status, body } = await ask(
      '/readyz',
      full,
      eventsCheck(() => false),
      eventsCheck(() => true),
    );
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'ready',
      checks: [
        {
          name: 'backlog',
          ok: true,
          reason: 'Full: new requests are refused',
          ms: expect.any(Number),
        },
        {
          name: 'events',
          ok: true,
          reason: 'Events are not read: ends are told late',
          ms: expect.any(Number),
        },
        { name: 'events', ok: true, ms: expect.any(Number) },
      ],
    });
  });

  it('do not tell a stranger how much there is to do', async () => {
    for (const size of [0, 12, 4999, 5000]) {
      const answer = await ask('/readyz', backlogCheck({ size: () => size }, 5000));
      const { checks } = answer.body as { readonly checks: readonly object[] };
      const told = checks.map((each) => ({ ...each, ms: undefined }));
      expect(JSON.stringify(told)).not.toMatch(/\d/);
    }
  });

  it('are not waited for without end', async () => {
    const silent = check('silent', () => new Promise(() => undefined));
    const { status, body } = await ask('/readyz', silent);
    expect(status).toBe(503);
    expect(body).toMatchObject({ reasons: ['No answer in time'] });
  });

  it('are not asked for the life of the process', async () => {
    const broken = check('redis', async () => ({ ok: false }));
    expect(await ask('/livez', broken)).toEqual({ status: 200, body: { status: 'alive' } });
  });

  it('notice keys that cannot be read, workers that do not run, and a process that stops', async () => {
    const { body } = await ask(
      '/readyz',
      keysCheck(async () => Promise.reject(new Error('unsealing failed for tenant x'))),
      workersCheck(() => false),
      stoppingCheck(() => true),
    );
    expect(body).toMatchObject({
      reasons: [
        'The keys of the OpenID provider cannot be read',
        'The workers take no jobs',
        'The process is stopping',
      ],
    });
  });

  it('find workers that run, and that do no longer', async () => {
    const workers = await startWorkerSide(product.core, { operations: false });
    expect(await ask('/readyz', workersCheck(workers.areRunning))).toMatchObject({ status: 200 });
    await workers.close();
    expect(await ask('/readyz', workersCheck(workers.areRunning))).toMatchObject({ status: 503 });
  });

  it('find Redis by a write', async () => {
    const client = redis.client();
    const readiness = redisCheck(
      createRedisProbe({
        redis: client,
        prefix: redis.prefix,
        shardPrefixes: shardPrefixes({ prefix: redis.prefix, shards: 1 }),
      }),
    );
    expect(await ask('/readyz', readiness)).toMatchObject({ status: 200 });
    expect(await client.exists(`${redis.prefix}:readiness`)).toBe(1);
  });
});
