/**
 * The product starts on a Redis that takes no writes, says so, refuses, and works once there is
 * room.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { parts } from '../../parts/parts.ts';
import { parseConfiguration } from '../../src/app/configuration/load.ts';
import { startProduct } from '../../src/app/launch.ts';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../src/redis/embedded/redis.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { basic } from '../support/caller.ts';
import { signRequest } from '../support/requests.ts';

const masterKey = randomBytes(32);
let dataDir: string;
let redis: EmbeddedRedis;
let client: Redis;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'paraph-full-'));
  redis = await startEmbeddedRedis({
    command: process.env.PARAPH_REDIS_SERVER ?? 'redis-server',
    dataDir,
  });
  client = new Redis(redis.socketPath);
});
afterAll(async () => {
  client.disconnect();
  await redis.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const start = () => {
  const loaded = parseConfiguration('{"sandbox":true}');
  if (!loaded.ok) throw new Error(loaded.problems.join('; '));
  const logged: string[] = [];
  const started = startProduct(
    {
      configuration: loaded.value,
      parts,
      redisUrl: redis.url,
      masterKey,
      now: Date.now,
      logger: createLogger('warn', { write: (line) => void logged.push(line) }),
      onError: () => undefined,
    },
    { api: { host: '127.0.0.1', port: 0 }, workers: true },
  );
  onTestFinished(async () => (await started).stop());
  return { started, logged };
};

const fill = (maxmemory: string) => client.config('SET', 'maxmemory', maxmemory);
const said =
  'Redis takes no writes: it has reached its memory limit; nothing is accepted until it does';

const ask = async (url: string | undefined) => {
  const ready = await fetch(`${url}/readyz`);
  const signed = await fetch(`${url}/rest/service/sign`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(signRequest()),
  });
  const asynch = await fetch(`${url}/rest/service/sign`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(signRequest({ mode: 'asynch' })),
  });
  const flowing = await fetch(`${url}/workflows/process`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: basic('mid://ap.example') },
    body: JSON.stringify({
      input: {
        text: 'I agree',
        steps: [{ name: 'one', signers: [{ name: 'Anna', msisdn: '+41700092501' }] }],
      },
    }),
  });
  return {
    ready: [ready.status, (await ready.text()).includes('memory limit')],
    signed: signed.status,
    accepted: asynch.status,
    flowing: [flowing.status, flowing.headers.get('retry-after')],
  };
};

it('waits with the very first start until there is room', async () => {
  await fill('1');
  const { started, logged } = start();
  await vi.waitFor(() => expect(logged.join('')).toContain(said), 20_000);
  await fill('0');
  expect(await ask((await started).url)).toMatchObject({ ready: [200, false], signed: 200 });
});

it('starts where it was before, refuses, and signs once there is room', async () => {
  await fill('1');
  const { started, logged } = start();
  const { url } = await started;
  expect(logged.join('')).toContain(said);
  expect(await ask(url)).toEqual({
    ready: [503, true],
    signed: 500,
    accepted: 500,
    flowing: [503, '1'],
  });
  await fill('0');
  await vi.waitFor(
    async () =>
      expect(await ask(url)).toEqual({
        ready: [200, false],
        signed: 200,
        accepted: 200,
        flowing: [201, null],
      }),
    { timeout: 10_000, interval: 100 },
  );
});
