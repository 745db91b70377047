import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProfileName, profileNames } from '../../../packages/protocol/src/requests.ts';
import type { HistoryFilter } from '../../../src/transactions/history/filter.ts';
import { jobFields, rowOf, type TransactionRow } from '../../../src/transactions/history/row.ts';
import { testRedis } from '../../support/redis.ts';
import { type Stage, startStage } from './stage.ts';

const test = testRedis();

const shards = 2;
const waitingOnes = 2400;
const endedOnes = 240;
const begin = Date.now() - 3_600_000;

const apIds = ['mid://shop', 'mid://bank', 'http://ap.example/ö'];
const msisdns = ['+41790000001', '41790000002', '+41790000003', 'none'];
const states = ['submitted', 'pending', 'signed', 'failed', 'receipted'] as const;
const faults = [401, 208, 402] as const;

const askedArbitrary = fc.record({
  apId: fc.constantFrom(...apIds),
  apTransId: fc
    .tuple(fc.constantFrom('ORDER-', 'ref ', 'é', 'x'.repeat(50)), fc.integer({ min: 0, max: 60 }))
    .map(([word, number]) => `${word}${number}`),
  msisdn: fc.constantFrom(...msisdns),
  profile: fc.constantFrom<ProfileName>(...profileNames),
  timestamp: fc.integer({ min: begin, max: begin + 3_000_000 }),
});

let stage: Stage;
let model: TransactionRow[] = [];

/** By definition: every row of every job, tried one by one. */
const expected = (filter: HistoryFilter): TransactionRow[] =>
  model
    .filter((row) => filter.state === undefined || filter.state.includes(row.state))
    .filter((row) => filter.fault === undefined || filter.fault.includes(row.fault?.code ?? 0))
    .filter((row) => filter.apId === undefined || row.apId === filter.apId)
    .filter((row) => filter.msisdn === undefined || row.msisdn === filter.msisdn.replace('+', ''))
    .filter((row) => filter.profile === undefined || row.profile === filter.profile)
    .filter((row) => row.attempt <= (filter.attemptsAtMost ?? 9))
    .filter((row) => filter.from === undefined || row.submittedAt >= filter.from)
    .filter((row) => filter.to === undefined || row.submittedAt < filter.to)
    .filter(
      (row) =>
        filter.text === undefined ||
        row.apTransId.includes(filter.text) ||
        row.msspTransId.includes(filter.text),
    );

const sorted = (rows: readonly TransactionRow[]): TransactionRow[] =>
  rows.toSorted(
    (a, b) => b.submittedAt - a.submittedAt || (a.msspTransId < b.msspTransId ? -1 : 1),
  );

beforeAll(async () => {
  stage = await startStage(test, { shards });
  const asked = fc.sample(askedArbitrary, { numRuns: waitingOnes + endedOnes, seed: 7 });
  const indexer = stage.indexer();
  const ended = asked.slice(0, endedOnes);
  for (let first = 0; first < ended.length; first += 20) {
    await Promise.all(
      ended.slice(first, first + 20).map(async (one, index) => {
        const shard = index % shards;
        await stage.submit(one, shard);
        const job = await stage.take(shard);
        if (index % 4 === 0) return stage.sign(job);
        if (index % 4 === 1) return stage.fail(job, faults[(first + index) % faults.length] ?? 401);
        if (index % 4 === 2) return stage.ask(job);
        return stage.sign(job, { state: 'receipted', attempt: 1 + (index % 3) });
      }),
    );
  }
  await Promise.all(
    stage.queues.map((queue, shard) =>
      queue.addBulk(
        asked
          .slice(endedOnes)
          .filter((_, index) => index % shards === shard)
          .map((one) => stage.jobOf(one, shard)),
      ),
    ),
  );
  await indexer.idle();
  for (const queue of stage.queues) {
    const jobs = await queue.getJobs(['waiting', 'delayed', 'completed', 'failed']);
    for (const { id = '' } of jobs) {
      const row = rowOf(id, await stage.redis.hmget(queue.toKey(id), ...jobFields));
      if (row !== undefined) model.push(row);
    }
  }
  model = sorted(model);
});

afterAll(() => stage.close());

const some = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 1 });

const filterArbitrary: fc.Arbitrary<HistoryFilter> = fc
  .record({
    state: some(fc.uniqueArray(fc.constantFrom(...states), { minLength: 1, maxLength: 3 })),
    fault: some(fc.uniqueArray(fc.constantFrom(...faults, 900), { minLength: 1, maxLength: 2 })),
    apId: some(fc.constantFrom(...apIds, 'mid://nobody')),
    msisdn: some(fc.constantFrom('+41790000001', '41790000002', '+41799999999')),
    profile: some(fc.constantFrom<ProfileName>(...profileNames)),
    attemptsAtMost: some(fc.integer({ min: 1, max: 3 })),
    from: some(fc.integer({ min: begin - 1000, max: begin + 3_000_000 })),
    to: some(fc.integer({ min: begin, max: begin + 3_100_000 })),
    text: some(
      fc.constantFrom(
        'ORDER-1',
        'R-',
        '5',
        'é7',
        'H0',
        'xxxx',
        `${'x'.repeat(50)}3`,
        'nothing like it',
      ),
    ),
  })
  .map((filter) =>
    Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)),
  );

describe('the search', () => {
  it('finds by every combination of filters what trying each transaction finds', async () => {
    expect(model.length).toBe(waitingOnes + endedOnes);
    await fc.assert(
      fc.asyncProperty(
        filterArbitrary,
        fc.integer({ min: 90, max: 500 }),
        async (filter, limit) => {
          const found = await stage.all(filter, limit);
          const wanted = expected(filter);
          // As texts: Vitest compares thousands of rows for seconds.
          expect(JSON.stringify(sorted(found))).toBe(JSON.stringify(wanted));
          const times = (rows: readonly TransactionRow[]) =>
            rows.map(({ submittedAt }) => submittedAt).join();
          expect(times(found)).toBe(times(wanted));
        },
      ),
      { numRuns: 60, seed: 11 },
    );
  }, 180_000);

  it.each([
    ['state', { state: ['failed'] }],
    ['fault', { fault: [401] }],
    ['apId', { apId: 'mid://bank' }],
    ['msisdn', { msisdn: '+41790000001' }],
    ['profile', { profile: 'STK-LoA4' }],
    ['from', { from: begin + 1_000_000 }],
    ['to', { to: begin + 1_000_000 }],
    ['text', { text: 'ORDER-1' }],
    ['nothing', {}],
  ] as const)(
    'says by %s how many there are, on the first page or at its end',
    async (_, filter) => {
      const rows = expected(filter);
      expect(rows.length).toBeGreaterThan(10);
      const page = await stage.history.search(filter, { limit: 500 });
      expect(page?.rows.length).toBe(Math.min(rows.length, 500));
      if (page?.total !== undefined) expect(page.total).toBe(rows.length);
      if (page?.cursor === undefined) expect(page?.total).toBe(rows.length);
    },
  );

  it('cuts a page where its limit is and goes on behind it', async () => {
    const first = await stage.history.search({}, { limit: 7 });
    const second = await stage.history.search({}, { limit: 7, cursor: first?.cursor });
    const ids = [...(first?.rows ?? []), ...(second?.rows ?? [])].map(
      ({ submittedAt }) => submittedAt,
    );
    expect(ids).toEqual(model.slice(0, 14).map(({ submittedAt }) => submittedAt));
  });

  it('finds an MSSP_TransID as a whole, if the other filters allow it', async () => {
    const [row] = model;
    const text = row?.msspTransId ?? '';
    expect(await stage.all({ text })).toEqual([row]);
    expect(await stage.all({ text, apId: 'mid://nobody' })).toEqual([]);
  });

  it('refuses a cursor that is none', async () => {
    expect(await stage.history.search({}, { limit: 7, cursor: 'x' })).toBeUndefined();
  });

  it('shows what a rebuild makes as it showed what the events made', async () => {
    const { indexed } = await stage.history.rebuild();
    expect(indexed).toBe(model.length);
    expect(sorted(await stage.all({}, 333))).toEqual(model);
    expect(sorted(await stage.all({ state: ['failed', 'pending'], text: 'ORDER' }))).toEqual(
      expected({ state: ['failed', 'pending'], text: 'ORDER' }),
    );
  });
});
