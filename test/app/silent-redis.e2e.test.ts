/**
 * The other end of every connection to Redis is gone without a word: bytes are swallowed, nothing
 * is closed, and new connections work. And: what a caller was told to have failed does not run
 * afterwards.
 */
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import { parts } from '../../parts/parts.ts';
import { parseConfiguration } from '../../src/app/configuration/load.ts';
import { startProduct } from '../../src/app/launch.ts';
import { createSignatureQueue } from '../../src/app/package/queue.ts';
import { createEventLog, createLogger } from '../../src/telemetry/logger.ts';
import { type Lane, openLane } from '../faults/proxy.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';

const redis = testRedis();
const thinking = '41790000001';
/** One service, started again for each test. */
const masterKey = randomBytes(32);
const target = (): number | string =>
  redis.url.startsWith('unix:') ? redis.url.slice('unix:'.length) : Number(new URL(redis.url).port);

let lane: Lane | undefined;
let product: TestProduct | undefined;

const start = async (): Promise<{ lane: Lane; product: TestProduct }> => {
  lane = await openLane(target);
  product = await startTestProduct(redis, {
    redisUrl: `redis://127.0.0.1:${lane.port}`,
    masterKey,
    configuration: {
      subscribers: [{ msisdn: thinking, sim: { device: { kind: 'robot', thinkSeconds: 2 } } }],
    },
  });
  return { lane, product };
};

const client = redis.client();
const jobs = async (): Promise<ReadonlySet<string>> => {
  const keys = await client.keys(`{${redis.prefix.slice(-32)}-*}:signatures:H*`);
  return new Set(keys.map((key) => key.split(':')[2] ?? ''));
};
const addedSince = async (before: ReadonlySet<string>): Promise<readonly string[]> =>
  [...(await jobs())].filter((id) => !before.has(id));

afterEach(async () => {
  await product?.stop();
  await lane?.close();
  product = undefined;
  lane = undefined;
});

describe('connections to Redis that have gone silent', () => {
  it('are given up: requests are acknowledged and worked on again, and the log says why', async () => {
    const { lane, product } = await start();
    const before = await product.submit();
    await vi.waitFor(async () => expect(await product.statusOf(before)).toBe('500'), 20_000);
    lane.deaden();
    const after = await vi.waitFor(
      async () => {
        const id = await product.submit();
        expect(id).toBeDefined();
        return id;
      },
      { timeout: 20_000, interval: 50 },
    );
    await vi.waitFor(async () => expect(await product.statusOf(after)).toBe('500'), {
      timeout: 40_000,
      interval: 50,
    });
    const silent = product.logged.filter((line) => line.includes('Redis has been silent'));
    expect(silent).toHaveLength(1);
  }, 90_000);
});

describe('a start while Redis is silent', () => {
  it('waits, and works as soon as Redis answers', async () => {
    lane = await openLane(target);
    const loaded = parseConfiguration(
      JSON.stringify({ queue: { prefix: redis.prefix.slice(-32) } }),
    );
    if (!loaded.ok) throw new Error(loaded.problems.join('; '));
    const logged: string[] = [];
    const logger = createLogger('warn', { write: (line: string) => void logged.push(line) });
    lane.hold();
    const starting = startProduct(
      {
        configuration: loaded.value,
        parts,
        redisUrl: `redis://default:geheim-4711@127.0.0.1:${lane.port}`,
        masterKey,
        now: Date.now,
        logger,
        onError: createEventLog(logger, Date.now).trouble,
      },
      { workers: true },
    );
    // Longer than a Redis that refuses connections is waited for.
    const ended = await settlesWithin(starting, 15_000);
    expect(ended).toBe(false);
    const waiting = logged.filter((line) => line.includes('waiting for Redis to answer'));
    expect(waiting).toHaveLength(1);
    expect(JSON.parse(waiting[0] ?? '')).toMatchObject({ redis: `127.0.0.1:${lane.port}` });
    expect(logged.join()).not.toContain('geheim-4711');
    lane.heal();
    await (await starting).stop();
  }, 60_000);
});

describe('a transaction that a worker has begun when its connections fall silent', () => {
  it('is signed, and not given up as unanswered', async () => {
    const { lane, product } = await start();
    const id = await product.submit({ msisdn: thinking });
    const job = `{${redis.prefix.slice(-32)}-0}:signatures:${id}`;
    await vi.waitFor(
      async () => expect(Number(await client.hget(job, 'ats'))).toBeGreaterThan(0),
      20_000,
    );
    lane.deaden();
    await vi.waitFor(async () => expect(await product.statusOf(id)).toBe('500'), {
      timeout: 20_000,
      interval: 50,
    });
  });
});

describe('requests whose callers were told fault 900', () => {
  const refuseAll = async (product: TestProduct): Promise<void> => {
    const refused = await Promise.all(
      Array.from({ length: 20 }, () =>
        product.post('/rest/service/sign', signRequest({ mode: 'asynch' })),
      ),
    );
    expect(refused.map(({ body }) => body.Fault?.Code.SubCode.Value)).toEqual(
      Array(20).fill('_900'),
    );
  };

  it.each<[string, (lane: Lane) => void]>([
    ['their bytes arrive late', () => undefined],
    ['the connection breaks before it is back', (lane) => lane.reset()],
  ])(
    'do not run when %s',
    async (_, strike) => {
      const { lane, product } = await start();
      expect(await product.submit()).toBeDefined();
      const before = await jobs();
      lane.hold();
      await refuseAll(product);
      strike(lane);
      lane.heal();
      const id = await vi.waitFor(
        async () => {
          const id = await product.submit();
          expect(id).toBeDefined();
          return id;
        },
        { timeout: 20_000, interval: 50 },
      );
      expect(await addedSince(before)).toEqual([id]);
    },
    60_000,
  );
});

describe('a producer of paraph/queue', () => {
  it('was told the truth when an enqueue failed: it is not there, now or later', async () => {
    lane = await openLane(target);
    const queue = createSignatureQueue({
      redisUrl: `redis://127.0.0.1:${lane.port}`,
      prefix: redis.prefix.slice(-32),
      apId: 'http://queue.test',
    });
    const request = (number: number) => ({
      msisdn: '+41700092501',
      text: `Order ${number}?`,
      timeoutSeconds: 60,
    });
    try {
      await queue.enqueue(request(0));
      lane.hold();
      const refused = await Promise.allSettled([
        queue.enqueue(request(1)),
        queue.enqueue(request(2), { priority: 3 }),
        queue.enqueue(request(3), { notBefore: new Date(Date.now() + 60_000) }),
      ]);
      expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
      const [unconfirmed] = await queue.enqueueBulk([request(4)]);
      expect(unconfirmed?.kind).toBe('unconfirmed');
      const before = await jobs();
      lane.heal();
      const { id } = await vi.waitFor(() => queue.enqueue(request(5)), {
        timeout: 20_000,
        interval: 50,
      });
      expect(await addedSince(before)).toEqual([id]);
    } finally {
      await queue.close();
    }
  });
});
