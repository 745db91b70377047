/** One bulk in the hands of one process, step by step. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Audit } from '../../../src/console/operators/audit.ts';
import { type BulkRun, takeUpBulk } from '../../../src/console/operators/bulk-run.ts';
import { type BulkStore, createBulkStore } from '../../../src/console/operators/bulk-store.ts';
import { createPromptLimit } from '../../../src/console/operators/prompt-limit.ts';
import { createCancelWork } from '../../../src/console/operators/transaction-bulk.ts';
import { createRateLimiter } from '../../../src/registry/rate-limiter.ts';
import { newMsspTransId } from '../../../src/transactions/ids.ts';
import { createReplayOnce, type ReplayOnce } from '../../../src/transactions/jobs/replay-once.ts';
import { queueIn, shardFor } from '../../../src/transactions/shards.ts';
import { testRedis } from '../../support/redis.ts';
import { soon } from '../../support/soon.ts';
import { type ReplayStage, startReplayStage } from './replay-stage.ts';
import { operator } from './stage.ts';

const redis = testRedis();
const client = redis.client();
let stage: ReplayStage;
let store: BulkStore;
let replayOnce: ReplayOnce;

beforeAll(async () => {
  stage = await startReplayStage(redis);
  store = createBulkStore({
    queue: stage.bulkQueue,
    redis: client,
    prefix: stage.prefix,
    now: Date.now,
  });
  replayOnce = createReplayOnce(client, queueIn(stage.shards));
});
afterAll(async () => {
  await stage.close();
});

const limiter = () => createRateLimiter({ redis: client, prefix: stage.prefix });

const order = async (
  ids: readonly string[],
  kind: 'replay' | 'cancel' = 'replay',
): Promise<string> => {
  const id = store.newId();
  const items = ids.map((item) => ({ id: item, endedRuns: kind === 'replay' ? 1 : 0 }));
  await store.create(
    { id, kind, by: 'olga', reason: 'x', perSecond: 1000, createdAt: Date.now() },
    items,
  );
  return id;
};

const takeUp = async (bulkId: string, audit: Audit = stage.audit): Promise<BulkRun> => {
  const bulk = await store.find(bulkId);
  if (bulk === undefined) throw new Error('a bulk was expected');
  const { shards } = stage;
  const { protocol } = stage.product.core;
  // Somebody sets the machine's clock back, again and again.
  let time = Date.now();
  const now = () => {
    time -= 60_000;
    return time;
  };
  const mayGoOn = () => true;
  return takeUpBulk(bulk, {
    redis: client,
    shards,
    store,
    audit,
    limiter: limiter(),
    replayOnce,
    works: [createCancelWork({ redis: client, shards, protocol, now })],
    now,
    mayGoOn,
  });
};

const stepUntil = (run: BulkRun, check: () => unknown) =>
  soon(async () => {
    await run.step();
    return check();
  });

const keyOf = (id: string): string => shardFor(stage.shards, id)?.signatures.queue.toKey(id) ?? '';
const resultsOf = async (bulkId: string) => Object.fromEntries(await store.results(bulkId));
const hasFailed = (id: string) =>
  soon(async () => expect((await stage.history.find(id))?.state).toBe('failed'));

describe('what became of a replay', () => {
  it('stays when a process that was held up tells of it late', async () => {
    const id = await stage.failed(209);
    const bulkId = await order([id]);
    await store.settle(bulkId, id, 'replayed');
    await store.settle(bulkId, id, '209');
    for (const late of ['replayed', 'changed'] as const) await store.settle(bulkId, id, late);
    expect(await resultsOf(bulkId)).toEqual({ [id]: '209' });
  });

  it('is known although somebody replays it again before anybody has looked', async () => {
    const id = await stage.failed(209);
    const bulkId = await order([id]);
    const run = await takeUp(bulkId);
    await run.step();
    expect(await resultsOf(bulkId)).toEqual({ [id]: 'replayed' });
    await stage.answer(id, 2, 208);
    await hasFailed(id);
    expect(await replayOnce(id, 2, { by: 'olga', order: 'A' })).toBe('replayed');
    await stage.answer(id, 3, 401);
    await hasFailed(id);
    await stepUntil(run, async () => expect(await resultsOf(bulkId)).toEqual({ [id]: '208' }));
  });

  it('stays what another process has found, whoever replays it afterwards', async () => {
    const id = await stage.failed(209);
    const bulkId = await order([id]);
    const asleep = await takeUp(bulkId);
    await store.begin(bulkId, id, '41760009999');
    await store.settle(bulkId, id, '208', '41760009999');
    await replayOnce(id, 1, { by: 'olga', order: 'A' });
    expect(await asleep.step()).toMatchObject({ counts: { waiting: 0, failed: { 208: 1 } } });
    await stage.answer(id, 2, 401);
  });

  it('is looked for in a few commands, however many are open', async () => {
    const ids = Array.from({ length: 1200 }, (_, index) => newMsspTransId(index % 2));
    const bulkId = await order(ids);
    const jobs = client.pipeline();
    for (const id of ids) {
      jobs.hset(keyOf(id), 'atm', 1, 'data', '{}');
      jobs.hset(`{${stage.prefix}-replays}:bulk:${bulkId}:results`, id, 'replayed');
    }
    await jobs.exec();
    const run = await takeUp(bulkId);
    const sent = vi.spyOn(client, 'sendCommand');
    await run.step();
    expect(sent.mock.calls.length).toBeLessThan(10);
    sent.mockRestore();
    // All have their turn: the last ones, too.
    const removal = client.pipeline();
    for (const id of ids) removal.del(keyOf(id));
    await removal.exec();
    await soon(async () => expect(await run.step()).toMatchObject({ counts: { gone: 1200 } }));
  });
});

describe('what a bulk has in the audit log and then does not do', () => {
  const ofItem = async (id: string) =>
    ((await stage.audit.read({ target: id }))?.entries ?? []).map(({ who, action, details }) => ({
      who,
      action,
      details,
    }));

  it('gets an outcome there: a replay that somebody else was quicker with', async () => {
    const id = await stage.failed(208);
    const bulk = await order([id]);
    expect(await replayOnce(id, 1, { by: 'olga', order: 'A' })).toBe('replayed');
    await (await takeUp(bulk)).step();
    expect(await resultsOf(bulk)).toEqual({ [id]: 'changed' });
    expect(await ofItem(id)).toEqual([
      { who: 'olga', action: 'replay', details: { bulk, outcome: 'changed' } },
      { who: 'olga', action: 'replay', details: { bulk } },
    ]);
    await stage.answer(id, 2, 401);
  });

  it('gets an outcome there: a cancel that an answer was quicker than', async () => {
    const id = await stage.submit(stage.somebody());
    const bulk = await order([id], 'cancel');
    const record = vi.fn(stage.audit.record).mockImplementationOnce(async (...given) => {
      const entry = await stage.audit.record(...given);
      await stage.answer(id, 1, 208);
      await hasFailed(id);
      return entry;
    });
    await (await takeUp(bulk, { ...stage.audit, record })).step();
    expect(await resultsOf(bulk)).toEqual({ [id]: 'changed' });
    expect(await ofItem(id)).toEqual([
      { who: 'olga', action: 'cancel', details: { bulk, outcome: 'too-late' } },
      { who: 'olga', action: 'cancel', details: { bulk } },
    ]);
  });

  it('gets an outcome there: a cancel that another bulk was quicker with, which alone counts it', async () => {
    const id = await stage.submit(stage.somebody());
    const slow = await order([id], 'cancel');
    const quick = await order([id], 'cancel');
    const record = vi.fn(stage.audit.record).mockImplementationOnce(async (...given) => {
      const entry = await stage.audit.record(...given);
      await (await takeUp(quick)).step();
      return entry;
    });
    const late = await order([id], 'cancel');
    await (await takeUp(slow, { ...stage.audit, record })).step();
    await hasFailed(id);
    await (await takeUp(late)).step();
    expect(await resultsOf(quick)).toEqual({ [id]: 'cancelled' });
    expect(await resultsOf(slow)).toEqual({ [id]: 'changed' });
    expect(await resultsOf(late)).toEqual({ [id]: 'changed' });
    expect(await ofItem(id)).toEqual([
      { who: 'olga', action: 'cancel', details: { bulk: slow, outcome: 'too-late' } },
      { who: 'olga', action: 'cancel', details: { bulk: quick } },
      { who: 'olga', action: 'cancel', details: { bulk: slow } },
    ]);
  });

  it('gets an outcome there: a cancel whose process ended before it, and then came the answer', async () => {
    const id = await stage.submit(stage.somebody());
    const bulk = await order([id], 'cancel');
    const record = vi.fn(stage.audit.record).mockImplementationOnce(async (...given) => {
      await stage.audit.record(...given);
      throw new Error('the end of the process');
    });
    const step = (await takeUp(bulk, { ...stage.audit, record })).step();
    await expect(step).rejects.toThrow('the end of the process');
    await stage.answer(id, 1, 208);
    await hasFailed(id);
    await (await takeUp(bulk)).step();
    expect((await ofItem(id)).map(({ details }) => details)).toEqual([
      { bulk, outcome: 'too-late' },
      { bulk },
    ]);
  });
});

describe('one person', () => {
  it('is prompted by bulks no oftener than by single replays', async () => {
    const msisdn = stage.somebody();
    const often = await stage.failed(208, msisdn);
    const seldom = await stage.failed(208);
    const prompts = createPromptLimit(limiter());
    while (await prompts.take(msisdn.slice(1)));
    expect(await client.keys(`*${stage.prefix}*${msisdn.slice(1)}*`)).toEqual([]);
    expect(await stage.replays.replay(often, operator)).toEqual({ refused: 'too-many' });
    const bulkId = await order([often, seldom]);
    const run = await takeUp(bulkId);
    await stepUntil(run, () => expect(stage.asked()).toContain(`${seldom} 2`));
    expect(await resultsOf(bulkId)).toEqual({ [seldom]: 'replayed' });
    expect(await client.hget(`{${stage.prefix}-replays}:numbers`, msisdn.slice(1))).toBeNull();
    await prompts.putBack(msisdn.slice(1));
    await stepUntil(run, () => expect(stage.asked()).toContain(`${often} 2`));
    for (const id of [often, seldom]) await stage.answer(id, 2, 401);
    await soon(async () => expect(await run.step()).toBeDefined());
  });

  it('who was prompted often enough keeps no bulk from being stopped', async () => {
    const msisdn = stage.somebody();
    const bulkId = await order([await stage.failed(208, msisdn)]);
    const run = await takeUp(bulkId);
    const prompts = createPromptLimit(limiter());
    while (await prompts.take(msisdn.slice(1)));
    expect(await run.step()).toBeUndefined();
    await store.close(bulkId);
    await soon(async () => expect(await run.step()).toMatchObject({ counts: { waiting: 1 } }));
  });
});

describe('a bulk that this release cannot read', () => {
  it('keeps no other from going on', async () => {
    const [later, broken, other] = [
      await stage.failed(208),
      await stage.failed(208),
      await stage.failed(208),
    ];
    const bulks = await Promise.all([later, broken, other].map((id) => order([id])));
    const keyOfBulk = (index: number) => `{${stage.prefix}-replays}:bulk:${bulks[index]}`;
    await client.hset(`${keyOfBulk(0)}:results`, newMsspTransId(0), 'of-a-later-release');
    await client.rpush(`${keyOfBulk(1)}:items`, 'no item');
    stage.runner();
    for (const id of [later, other]) await stage.answer(id, 2, 401);
    await soon(async () =>
      expect((await stage.replays.list()).filter(({ id }) => bulks.includes(id))).toHaveLength(3),
    );
    const messages = stage.errors.map(({ message }) => message);
    expect(messages).toContain(`Replays pause for some seconds: ${bulks[1]}`);
    expect(stage.asked()).not.toContain(`${broken} 2`);
  });
});
