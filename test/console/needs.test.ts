/** What needs a person: the first lines of the overview, and the same for programs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNeeds } from '../../src/console/needs.ts';
import type { Need } from '../../src/console/part.ts';
import { createHistory } from '../../src/transactions/history/history.ts';
import { createProcessReports } from '../../src/transactions/history/processes.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';
import { type ApiStage, startApiStage } from './api-stage.ts';

const redis = testRedis();
let stage: ApiStage;

beforeAll(async () => {
  stage = await startApiStage(redis);
});
afterAll(async () => {
  await stage.close();
  expect(stage.troubles).toEqual([]);
});

const readNeeds = async (): Promise<readonly Need[]> =>
  (await stage.ask('viewer', 'GET', '/admin/api/overview')).body.needs;
const page = async (path = '/admin'): Promise<string> =>
  (await stage.ask('viewer', 'GET', path)).text;

describe('what needs a person', () => {
  it('is nothing in a service that does well', async () => {
    await soon(async () => expect(await readNeeds()).toEqual([]));
    expect(await page()).toContain('Nothing needs attention.');
  });

  it('are requests refused in the last hour, by their reason, which the page of refused requests shows alone', async () => {
    const wrong = signRequest({ msisdn: '+41790000077' });
    wrong.MSS_SignatureReq.TimeOut = '100000';
    await stage.product.post('/rest/service/sign', wrong);
    await stage.product.post('/rest/service/sign', wrong);
    await stage.product.post('/rest/service/sign', signRequest({ msisdn: '+41790000077' }));
    await soon(async () => {
      expect(await readNeeds()).toEqual([
        {
          kind: 'refused',
          count: 2,
          text: '2 requests were refused in the last hour: 101 WRONG_PARAM',
          page: '/admin/refusals?fault=101',
        },
        expect.objectContaining({ kind: 'refused', count: 1 }),
      ]);
    });
    const only = await page('/admin/refusals?fault=101');
    expect(only).toContain('TimeOut must be');
    expect(only).toContain('Only requests with <strong>101 WRONG_PARAM</strong>');
    expect(only).not.toContain('UNKNOWN_CLIENT');
    expect(await page('/admin/refusals?fault=none')).toContain('UNKNOWN_CLIENT');
    const { body } = await stage.ask('viewer', 'GET', '/admin/api/refusals?fault=101');
    expect(new Set(body.latest.map(({ fault }: { fault: number }) => fault))).toEqual(
      new Set([101]),
    );
    expect((await stage.ask('viewer', 'GET', '/admin/api/refusals?fault=1')).status).toBe(400);
  });

  it('is a clock that differs from that of Redis, and not one that agrees', async () => {
    const report = (clockOffsetMs: number) =>
      createProcessReports({
        redis: stage.product.core.commands,
        prefix: stage.prefix,
        about: { part: 'workers', version: '1.2.3' },
        clock: { offsetMs: () => clockOffsetMs },
        now: Date.now,
        onError: (error) => void stage.troubles.push(error),
      });
    const [wrong, right] = [report(-3200), report(800)];
    await soon(async () => {
      const { body } = await stage.ask('viewer', 'GET', '/admin/api/processes');
      expect(body.processes).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ clockOffsetMs: -3200 }),
          expect.objectContaining({ clockOffsetMs: 800 }),
        ]),
      );
    });
    const clocks = (await readNeeds()).filter(({ kind }) => kind === 'clock');
    expect(clocks).toHaveLength(1);
    expect(clocks[0]?.text).toMatch(/^The clock of workers .* is 3\.2 s behind that of Redis$/);
    expect(await page()).toContain(`<a href="/admin#processes">${clocks[0]?.text}</a>`);
    await Promise.all([wrong.close(), right.close()]);
  });

  it('is a queue whose next jobs have waited too long, and any that waits when no workers run', async () => {
    const ofQueues = async () => (await readNeeds()).filter(({ kind }) => kind === 'queue');
    await stage.bulkQueue.add('bulk', {}, { jobId: 'B1', timestamp: Date.now() - 30_000 });
    expect(await ofQueues()).toEqual([]);
    await stage.bulkQueue.add('bulk', {}, { jobId: 'B2', timestamp: Date.now() - 125_000 });
    expect(await ofQueues()).toEqual([
      expect.objectContaining({
        count: 2,
        text: expect.stringMatching(
          /^2 jobs in the queue bulk-replays wait for a worker, the first for 2 min \d\d s$/,
        ),
      }),
    ]);
    await stage.bulkQueue.remove('B2');
    // Of another service there, in which no process runs.
    const common = { redis: stage.product.core.commands, now: Date.now };
    const history = createHistory({
      ...common,
      prefix: `${stage.prefix}-empty`,
      shards: 1,
      retention: stage.product.core.retention,
      onError: (error) => void stage.troubles.push(error),
    });
    const read = createNeeds({
      ...common,
      history,
      shards: [],
      parts: [],
      replays: { queue: stage.bulkQueue },
      log: { trouble: (error) => void stage.troubles.push(error) },
    });
    expect(await read()).toMatchObject([
      { kind: 'no-workers' },
      { kind: 'queue', count: 1, text: '1 job in the queue bulk-replays waits for a worker' },
    ]);
    history.close();
    await stage.bulkQueue.remove('B1');
  });

  it('is that something cannot be checked, beside all that can', async () => {
    const read = createNeeds(
      {
        redis: stage.product.core.commands,
        now: Date.now,
        history: stage.history,
        shards: [],
        parts: [],
        replays: { queue: stage.bulkQueue },
        log: { trouble: (error) => void told.push(error) },
      },
      [async () => Promise.reject(new Error('The token is away'))],
    );
    const told: Error[] = [];
    const kinds = (await read()).map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['unchecked', 'refused']));
    expect(told).toMatchObject([{ message: 'The token is away' }]);
  });
});
