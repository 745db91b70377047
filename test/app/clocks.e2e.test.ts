/**
 * Processes whose clocks are wrong by five minutes. What is promised about time holds by the clock
 * of Redis, which in this test is the true one.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { killProcesses, type ProductProcess, startProcess } from '../support/process.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const prefix = redis.prefix.slice(-32);
const offsetMs = 300_000;
const masterKey = randomBytes(32).toString('base64url');
const robot = '+41700092501';
const timeoutSeconds = 6;

let folder = '';
let clocks = 0;
/** Its clock is right, and goes on to be so until the last test. */
let rightApi: Part;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'paraph-clocks-'));
});

afterAll(async () => {
  await killProcesses();
  rmSync(folder, { recursive: true, force: true });
});

interface Part extends ProductProcess {
  setClock(offsetMs: number): void;
}

const start = async (part: 'api' | 'worker', clockMs: number): Promise<Part> => {
  const clock = join(folder, `${part}${++clocks}.clock`);
  const setClock = (ms: number): void => writeFileSync(clock, String(ms));
  setClock(clockMs);
  const config = join(folder, 'paraph.json');
  const people = (msisdn: string, sign: string) => ({
    msisdn,
    through: msisdn.replace('000', '099'),
    sim: { device: { kind: 'simulated', sign } },
  });
  writeFileSync(
    config,
    JSON.stringify({
      sandbox: true,
      queue: { prefix: prefix },
      subscribers: [people('41790000000', 'signs'), people('41780000000', 'never-answers')],
    }),
  );
  const preload = resolve(import.meta.dirname, '../faults/product-clock.mjs');
  const environment = {
    REDIS_URL: redis.url,
    PARAPH_DATA: folder,
    PARAPH_CONFIG: config,
    PARAPH_MASTER_KEY: masterKey,
    FAULTS_CLOCK_FILE: clock,
  };
  return { ...(await startProcess(environment, part, { node: ['--import', preload] })), setClock };
};

/** Status or fault of a transaction, and how long after its submission it was seen to end. */
const endOf = async (
  api: Part,
  msisdn: string,
): Promise<{ end: string; afterMs: number; id: string }> => {
  const since = performance.now();
  const id = await api.submit({ msisdn, timeoutSeconds });
  const end = await vi.waitFor(
    async () => {
      const code = await api.statusOf(id);
      expect(code).not.toBe('504');
      return code;
    },
    { timeout: 40_000, interval: 100 },
  );
  return { end, id, afterMs: performance.now() - since };
};

const counted = (ends: readonly { end: string }[]): Record<string, number> =>
  Object.fromEntries(
    [...new Set(ends.map(({ end }) => end))].map((end) => [
      end,
      ends.filter((e) => e.end === end).length,
    ]),
  );

/** Those of the cases before that go on. */
const running = new Map<string, Part>();

/** In an order in which most go on to the next case. */
describe.each([
  ['an API behind and a worker ahead', -offsetMs, [offsetMs]],
  ['a right API, and one worker ahead and one behind', 0, [offsetMs, -offsetMs]],
  ['an API ahead and a worker behind', offsetMs, [-offsetMs]],
])('%s by five minutes', (_, apiMs, workersMs) => {
  it('end every transaction as and when right clocks would', async () => {
    const wanted = [['api', apiMs] as const, ...workersMs.map((ms) => ['worker', ms] as const)];
    const keys = wanted.map(([part, ms]) => `${part} ${ms}`);
    await Promise.all(
      [...running].map(async ([key, part]) => {
        if (keys.includes(key) || part === rightApi) return;
        running.delete(key);
        await part.stop('SIGKILL');
      }),
    );
    await Promise.all(
      wanted.map(async ([part, ms], index) => {
        const key = keys[index] ?? '';
        if (!running.has(key)) running.set(key, await start(part, ms));
      }),
    );
    const api = running.get(`api ${apiMs}`) as Part;
    if (apiMs === 0) rightApi = api;
    const asking = (count: number, first: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => endOf(api, `+${first + index}`)));
    // A clock is wrong for each of them: a few show what many would, some for either of two
    // workers.
    const [robots, signers, silent] = await Promise.all([
      Promise.all(Array.from({ length: 8 }, () => endOf(api, robot))),
      asking(4, 41_790_000_000),
      asking(4, 41_780_000_000),
    ]);
    const client = redis.client();
    const runs = await Promise.all(
      silent.map(({ id }) => client.hget(`{${prefix}-0}:signatures:${id}`, 'ats')),
    );
    const early = silent.filter(({ afterMs }) => afterMs < timeoutSeconds * 1000 - 200).length;
    expect({
      robots: counted(robots),
      signers: counted(signers),
      silent: counted(silent),
      early,
    }).toEqual({
      robots: { 500: 8 },
      signers: { 500: 4 },
      silent: { _208: 4 },
      early: 0,
    });
    expect(Math.max(...runs.map(Number)), 'runs of a transaction that sleeps once').toBeLessThan(5);
    expect(Math.min(...runs.map(Number))).toBeGreaterThan(1);
  }, 90_000);
});

const readiness = async (url: string): Promise<{ status: number; clock: string | undefined }> => {
  const response = await fetch(`${url}/readyz`);
  const { checks } = (await response.json()) as {
    checks: readonly { readonly name: string; readonly reason?: string }[];
  };
  return { status: response.status, clock: checks.find(({ name }) => name === 'clock')?.reason };
};
const offsetOf = async (url: string): Promise<number> =>
  Number(
    /^paraph_clock_offset_seconds (\S+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1],
  );

it('a process whose clock is set wrong, and right again, says so once each, and stays ready', async () => {
  const api = rightApi;
  const said = () => api.lines().filter(({ msg }) => String(msg).includes('clock'));
  expect(await readiness(api.url)).toEqual({ status: 200, clock: undefined });
  expect(Math.abs(await offsetOf(api.url))).toBeLessThan(0.5);
  api.setClock(90_000);
  await vi.waitFor(() => expect(said()).toHaveLength(1), { timeout: 20_000 });
  expect(said()).toMatchObject([{ level: 40, offsetMs: expect.closeTo(90_000, -3) }]);
  // With a wrong clock of Redis all processes would leave the rotation at once.
  expect(await readiness(api.url)).toEqual({
    status: 200,
    clock: expect.stringMatching(/^The clock is (89|90)\.\d s ahead of that of Redis$/),
  });
  expect(await offsetOf(api.url)).toBeCloseTo(90, 0);
  // Another jump the other way: it is still wrong, and has been said to be.
  api.setClock(-5000);
  await vi.waitFor(async () => expect(await offsetOf(api.url)).toBeCloseTo(-5, 0), {
    timeout: 20_000,
  });
  expect((await readiness(api.url)).clock).toMatch(/behind that of Redis$/);
  api.setClock(0);
  await vi.waitFor(() => expect(said()).toHaveLength(2), { timeout: 20_000 });
  expect(said()[1]).toMatchObject({ level: 30, msg: 'the clock agrees with that of Redis again' });
  expect(await readiness(api.url)).toEqual({ status: 200, clock: undefined });
}, 90_000);
