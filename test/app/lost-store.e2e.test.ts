/**
 * A Redis that loses what the service runs on, while the service runs: nothing is accepted and
 * nothing is signed.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic } from '../support/caller.ts';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { type RunningRedis, startRedisServer } from '../support/redis-server.ts';
import { signRequest } from '../support/requests.ts';

const redis = testRedis();
let server: RunningRedis;
let product: TestProduct;

beforeAll(async () => {
  server = await startRedisServer();
  product = await startTestProduct(redis, {
    redisUrl: `redis://127.0.0.1:${server.port}`,
    configuration: { operations: { metricsOpen: true } },
  });
});
afterAll(async () => {
  await product.stop();
  await server.stop();
});

const ready = async (): Promise<{ readonly status: number; readonly body: Json }> => {
  const response = await product.api.fetch(new Request('http://test/readyz'));
  return { status: response.status, body: await response.json() };
};
/** What a caller is told, who need not know more. */
const detail =
  'The service cannot sign at the moment: this request was not accepted, try again later';
const isReady = { timeout: 10_000, interval: 50 };

describe('a Redis that may evict', () => {
  it('is not one to be ready on, as soon as it has a limit of memory', async () => {
    const client = server.client();
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await expect.poll(async () => (await ready()).status, isReady).toBe(200);
    await client.config('SET', 'maxmemory', '1gb');
    await expect.poll(async () => (await ready()).status, isReady).toBe(503);
    expect((await ready()).body.reasons).toEqual([
      'Redis may remove what was accepted: its maxmemory-policy must be noeviction',
    ]);
    const metrics = await (await product.api.fetch(new Request('http://test/metrics'))).text();
    expect(metrics).toContain('paraph_redis_may_evict 1');
    expect(metrics).toContain('paraph_redis_evicted_keys 0');
    await client.config('SET', 'maxmemory-policy', 'noeviction');
    await expect.poll(async () => (await ready()).status, isReady).toBe(200);
  });

  it('says how many keys it has removed', async () => {
    const client = server.client();
    const used = Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
    await client.config(
      'SET',
      'maxmemory',
      String(used + 1_000_000),
      'maxmemory-policy',
      'volatile-ttl',
    );
    for (let key = 0; key < 400; key += 1)
      await client.set(`filler-${key}`, 'x'.repeat(10_000), 'EX', 600);
    await client.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction');
    const said = /^Redis has removed [1-9]\d* keys to free memory: what was accepted may be lost$/;
    await expect
      .poll(
        async () => (await ready()).body.checks.find(({ name }: Json) => name === 'memory'),
        isReady,
      )
      .toMatchObject({ ok: true, reason: expect.stringMatching(said) });
    const metrics = await (await product.api.fetch(new Request('http://test/metrics'))).text();
    expect(metrics).toMatch(/^paraph_redis_evicted_keys [1-9]/m);
  });
});

describe('a Redis that was emptied', () => {
  it('makes the service unready, which accepts no request, workflow or login any more', async () => {
    const { status } = await product.post('/rest/service/sign', signRequest());
    expect(status).toBe(200);
    await server.client().flushall();
    await expect.poll(async () => (await ready()).status, isReady).toBe(503);
    expect((await ready()).body.reasons).toEqual([
      'Redis has lost the certificate authority of this service: its data is gone, or it is another Redis',
    ]);
    for (const mode of ['synch', 'asynch'] as const) {
      const { body } = await product.post('/rest/service/sign', signRequest({ mode }));
      expect(body.Fault?.Code.SubCode.Value).toBe('_900');
      expect(body.Fault?.Detail).toBe(detail);
    }
    const early = {
      method: 'POST',
      url: '/rest/service/sign',
      headers: { 'content-length': '10' },
    };
    const { body, headers } = product.api.refusal(early) ?? {};
    expect(JSON.parse(body ?? '').Fault.Detail).toBe(detail);
    expect(headers?.['content-length']).toBe(Buffer.byteLength(body ?? ''));
    const started = await product.api.fetch(
      new Request('http://test/workflows/process', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: basic('mid://ap.example') },
        body: JSON.stringify({
          input: {
            text: 'I agree',
            steps: [{ name: 'one', signers: [{ name: 'Anna', msisdn: '+41700092501' }] }],
          },
        }),
      }),
    );
    expect([started.status, started.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await started.json()).toEqual({ error: 'busy', message: detail });
    const keys = await server.client().keys('*');
    expect(keys.filter((key) => /custody|:signatures:H|:workflows:tenant/.test(key))).toEqual([]);
    expect(product.logged.join('\n')).toContain('no longer has the certificate authority');
  });
});
