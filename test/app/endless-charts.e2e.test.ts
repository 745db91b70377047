/**
 * Charts of the configuration that go in a circle, in a running product over HTTP: their instances
 * end with an error, and nobody else notices.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { basic } from '../support/caller.ts';
import { killProcesses, type ProductProcess, startProcess } from '../support/process.ts';
import type { Json } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';

const charts = join(import.meta.dirname, '../fixtures/charts/endless.mjs');
/** One that does not answer for so long stands still. */
const patienceMs = 30_000;

const redis = testRedis();
let data: string;
let product: ProductProcess;
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'paraph-endless-'));
  const config = join(data, 'paraph.json');
  const queue = { prefix: redis.prefix };
  writeFileSync(config, JSON.stringify({ sandbox: true, workflows: [charts], queue }));
  product = await startProcess({
    REDIS_URL: redis.url,
    PARAPH_DATA: data,
    PARAPH_CONFIG: config,
    PARAPH_LOG_LEVEL: 'error',
  });
}, 60_000);
afterAll(async () => {
  // One that stands still would not stop.
  await killProcesses();
  rmSync(data, { recursive: true, force: true });
});

const ask = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${product.url}${path}`, {
    method,
    signal: AbortSignal.timeout(patienceMs),
    headers: { authorization: basic('mid://ap.example'), 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Json };
};
const start = (name: string) => ask('POST', `/workflows/${name}`, { id: 'one', input: {} });
const go = (name: string) => ask('POST', `/workflows/${name}/one/events`, { type: 'GO' });
const viewOf = (name: string): Promise<Json> =>
  ask('GET', `/workflows/${name}/one`).then(({ body }) => body);

const circle = /^The chart goes in a circle: over 10000 steps/;
const ended = { timeout: patienceMs, interval: 100 };

it('end with an error, while the API stays ready and others are served', async () => {
  let isOver = false;
  let answers = 0;
  const poll = async (): Promise<void> => {
    while (!isOver) {
      // Rejects when the API stands still. A machine without time may say 503 for a moment.
      expect([200, 503]).toContain((await ask('GET', '/readyz')).status);
      answers += 1;
      await delay(50);
    }
  };
  const polling = poll();
  // It is awaited at the end.
  polling.catch(() => undefined);
  try {
    expect((await start('sound')).status).toBe(201);
    for (const name of ['at-start', 'at-event', 'at-timer']) {
      // One that goes in a circle from the beginning may be refused at once.
      expect((await start(name)).status).toBeLessThan(500);
    }
    // The event of a circle may have been told the end of its instance before its own verdict.
    expect((await go('at-event')).status).toBeLessThan(500);
    for (const name of ['at-event', 'at-timer'])
      await expect
        .poll(() => viewOf(name), ended)
        .toMatchObject({ status: 'failed', reason: expect.stringMatching(circle) });
    // Fresh work, which would stand still in a queue that nobody works on.
    expect(
      (await product.post('sign', signRequest())).MSS_SignatureResp.Status.StatusCode.Value,
    ).toBe('500');
    expect((await go('sound')).status).toBe(202);
    await expect.poll(() => viewOf('sound'), ended).toMatchObject({ status: 'completed' });
  } finally {
    isOver = true;
  }
  await polling;
  expect(answers).toBeGreaterThan(1);
  await expect.poll(async () => (await ask('GET', '/readyz')).status, ended).toBe(200);
  expect((await viewOf('at-start')).status).toBe('failed');
}, 120_000);
