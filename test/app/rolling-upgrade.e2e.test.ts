/**
 * A release whose machine is of a later version takes over while transactions are open, and is
 * taken back again.
 *
 * The next release is made here: a copy of this one whose chart is of version 2 and that still has
 * version 1. Old and new processes share a Redis, as they do while an operator replaces one after
 * the other. People have been asked by either release; they answer in between, and neither they nor
 * the applications notice anything.
 */
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { signCms } from '../../packages/pki/src/cms.ts';
import { fault } from '../../packages/protocol/src/fault.ts';
import { recordIn } from '../../src/transactions/contract.ts';
import { nonceOf } from '../../src/transactions/ids.ts';
import { killProcesses, type ProductProcess, startProcess } from '../support/process.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';

const thisRelease = resolve(import.meta.dirname, '../..');
const robot = '+41700092501';
const text = 'Sign in to Example?';
/** Each request goes to a phone of its own, which rings until the test answers for its owner. */
const people = {
  msisdn: '41790000000',
  through: '41790000999',
  sim: { device: { kind: 'simulated', sign: 'never-answers' } },
};
let lastPerson = 41_790_000_000;

const redis = testRedis();
const prefix = redis.prefix.slice(-32);
const masterKey = randomBytes(32);
let folder = '';
let nextRelease = '';
/**
 * Brings the answers of the phones, and sees the queue. It is the API of this release, too, until
 * that starts again on what the next one has written.
 */
let phones: TestProduct;

/**
 * Replaces a text that is there exactly once: a patch that does not apply must not go unnoticed.
 */
const patch = (path: string, before: string, after: string): void => {
  const parts = readFileSync(path, 'utf8').split(before);
  if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} times: ${before}`);
  writeFileSync(path, parts.join(after));
};

const makeNextRelease = (): void => {
  for (const name of ['dist', 'package.json'])
    cpSync(join(thisRelease, name), join(nextRelease, name), { recursive: true });
  symlinkSync(join(thisRelease, 'node_modules'), join(nextRelease, 'node_modules'));
  const dist = (path: string): string => join(nextRelease, 'dist', path);
  patch(
    dist('machines/signature.machine.js'),
    'const signatureVersion = 1;',
    'const signatureVersion = 2;',
  );
  patch(
    dist('src/transactions/contract.js'),
    'version: z.literal(1)',
    'version: z.literal([1, 2])',
  );
  const before = 'isWithdrawn,\n                }),';
  const made =
    'createSignatureWorkflow({ ...options, place, deviceLock, upstreams, answer, read, isWithdrawn, version: 1 }),';
  patch(dist('workers/workers.js'), before, `${before} ${made}`);
};

interface Part extends ProductProcess {
  /** MSSP_TransID of every prompt that it has put on a phone. */
  asked(): readonly string[];
}

const startPart = async (release: string, part: 'api' | 'worker'): Promise<Part> => {
  const environment = {
    REDIS_URL: redis.url,
    PARAPH_DATA: folder,
    PARAPH_CONFIG: join(folder, 'paraph.json'),
    PARAPH_MASTER_KEY: masterKey.toString('base64url'),
  };
  const started = await startProcess(environment, part, { cwd: release });
  return {
    ...started,
    asked: () =>
      started
        .lines()
        .flatMap(({ msg, msspTransId }) => (msg === 'device asked' ? [msspTransId] : [])),
  };
};

interface Open {
  readonly id: string;
  readonly msisdn: string;
}

type Api = Pick<ProductProcess, 'submit' | 'statusOf'>;

const submit = async (api: Api, msisdn: string, timeoutSeconds = 120): Promise<Open> => ({
  id: await api.submit({ msisdn, timeoutSeconds }),
  msisdn,
});
const submitMany = (api: Api, count: number): Promise<readonly Open[]> =>
  Promise.all(Array.from({ length: count }, () => submit(api, String(++lastPerson))));

const areAll = async (api: Api, transactions: readonly Open[], status: string): Promise<void> => {
  const found = await Promise.all(transactions.map(({ id }) => api.statusOf(id)));
  expect(new Set(found)).toEqual(new Set([status]));
};
const becomeAll = (api: Api, transactions: readonly Open[], status: string): Promise<void> =>
  vi.waitFor(() => areAll(api, transactions, status), { timeout: 60_000, interval: 100 });

const sign = async ({ id, msisdn }: Open, result = 'accepted'): Promise<void> => {
  const custody = phones.core.custodyOver(phones.core.commands);
  const key = await custody.userKey({ msisdn, sscdId: 'sim', algorithm: 'EC', expired: false });
  const nonce = nonceOf(id, 1);
  const cms = Buffer.from(await signCms({ content: Buffer.from(text), key, nonce })).toString(
    'base64',
  );
  const answer = { kind: 'signature', cms, certificates: key.chain.id } as const;
  expect(await phones.api.transactions.answer(id, 1, answer)).toBe(result);
};
const refuse = async ({ id }: Open): Promise<void> => {
  expect(await phones.api.transactions.answer(id, 1, { kind: 'fault', fault: fault(401) })).toBe(
    'accepted',
  );
};

/**
 * The version of the machine that a transaction was begun with; undefined before its person was
 * asked.
 */
const versionOf = async ({ id }: Open): Promise<number | undefined> => {
  const progress = JSON.parse(
    (await redis.client().hget(`{${prefix}-0}:signatures:${id}`, 'progress')) ?? '{}',
  );
  return Object(recordIn(progress)).state === 'pending' ? progress.version : undefined;
};
const areAsked = async (transactions: readonly Open[]): Promise<void> =>
  vi.waitFor(
    async () => {
      for (const version of await Promise.all(transactions.map(versionOf)))
        expect(version).toBeDefined();
    },
    { timeout: 60_000, interval: 50 },
  );

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paraph-upgrade-'));
  nextRelease = join(folder, 'next');
  makeNextRelease();
  const configuration = { sandbox: true, subscribers: [people], queue: { prefix } };
  writeFileSync(join(folder, 'paraph.json'), JSON.stringify(configuration));
  phones = await startTestProduct(redis, { masterKey, workers: false, configuration });
});

afterAll(async () => {
  await killProcesses();
  await phones.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a release with a later machine', () => {
  it('takes over and is taken back while people are asked, and nobody notices', async () => {
    const asked: string[] = [];
    const stop = async (part: Part): Promise<void> => {
      expect(await part.stop()).toBe(0);
      asked.push(...part.asked());
    };

    const oldApi = phones;
    const oldWorker = await startPart(thisRelease, 'worker');
    const begun = await submitMany(oldApi, 12);
    await areAsked(begun);
    expect(new Set(await Promise.all(begun.map(versionOf)))).toEqual(new Set([1]));

    // Side by side: whoever is asked now may have been asked by either.
    const [newApi, newWorker] = await Promise.all([
      startPart(nextRelease, 'api'),
      startPart(nextRelease, 'worker'),
    ]);
    const apis = [oldApi, newApi];
    const mixed: Open[] = [];
    await vi.waitFor(
      async () => {
        mixed.push(...(await submitMany(newApi, 3)), ...(await submitMany(oldApi, 3)));
        await areAsked(mixed);
        const versions = await Promise.all(mixed.map(versionOf));
        expect(versions.filter((version) => version === 1).length).toBeGreaterThan(4);
        expect(versions.filter((version) => version === 2).length).toBeGreaterThan(4);
      },
      { timeout: 60_000 },
    );
    for (const api of apis) await areAll(api, [...begun, ...mixed], '504');
    const half = <T>(all: readonly T[]): readonly [readonly T[], readonly T[]] => [
      all.filter((_, index) => index % 2 === 0),
      all.filter((_, index) => index % 2 === 1),
    ];
    const [begunFirst, begunLast] = half(begun);
    const [mixedFirst, mixedLast] = half(mixed);
    const lapsing = await submit(oldApi, String(++lastPerson), 3);
    await Promise.all([...begunFirst, ...mixedFirst].map((open) => sign(open)));
    const robots = await Promise.all(
      Array.from({ length: 20 }, (_, index) => submit(index % 2 === 0 ? oldApi : newApi, robot)),
    );
    for (const api of apis) {
      await becomeAll(api, [...begunFirst, ...mixedFirst, ...robots], '500');
      await becomeAll(api, [lapsing], '_208');
      await areAll(api, [...begunLast, ...mixedLast], '504');
    }

    await stop(oldWorker);
    await Promise.all([...begunLast.slice(1), ...mixedLast.slice(1)].map((open) => sign(open)));
    await Promise.all([begunLast[0], mixedLast[0]].map((open) => open && refuse(open)));
    await becomeAll(newApi, [...begunLast.slice(1), ...mixedLast.slice(1)], '500');
    await becomeAll(newApi, [...begunLast.slice(0, 1), ...mixedLast.slice(0, 1)], '_401');

    // The new release is taken back while people have its prompts before them.
    const late = await submitMany(newApi, 6);
    await areAsked(late);
    expect(new Set(await Promise.all(late.map(versionOf)))).toEqual(new Set([2]));
    const [oldAgain, workerAgain] = await Promise.all([
      startPart(thisRelease, 'api'),
      startPart(thisRelease, 'worker'),
    ]);
    await stop(newWorker);
    await stop(newApi);
    const [lateFirst, lateLast] = half(late);
    // It is kept. Whether it counts only a worker of that release can say.
    await Promise.all(lateFirst.map((open) => sign(open, 'busy')));
    // An old worker takes these up again and again, and leaves them alone.
    await delay(1500);
    await areAll(oldAgain, late, '504');
    const sameTime = await submitMany(oldAgain, 3);
    await areAsked(sameTime);
    await Promise.all(sameTime.map((open) => sign(open)));
    await becomeAll(oldAgain, sameTime, '500');
    await areAll(oldAgain, [...begun.slice(2), ...mixedFirst, ...mixedLast.slice(1)], '500');

    // And forward again: what was answered meanwhile is found.
    const forward = await startPart(nextRelease, 'worker');
    await Promise.all(lateLast.map((open) => sign(open)));
    await becomeAll(oldAgain, late, '500');

    for (const part of [forward, workerAgain, oldAgain]) await stop(part);
    const transactions = [...begun, ...mixed, lapsing, ...late, ...sameTime];
    expect(asked.toSorted()).toEqual(transactions.map(({ id }) => id).toSorted());
  }, 300_000);
});
