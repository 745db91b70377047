/**
 * Many replays at once: what a dry run says, the rate, one prompt for one number, stopping, the
 * report.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBulkStore } from '../../../src/console/operators/bulk-store.ts';
import { cancelTransaction } from '../../../src/transactions/cancellation.ts';
import { shardFor } from '../../../src/transactions/shards.ts';
import { testRedis } from '../../support/redis.ts';
import { soon } from '../../support/soon.ts';
import { type ReplayStage, startReplayStage } from './replay-stage.ts';
import { admin, operator, viewer } from './stage.ts';

const redis = testRedis();
let stage: ReplayStage;
let aps = 0;

beforeAll(async () => {
  stage = await startReplayStage(redis);
  stage.runner();
});
afterAll(async () => {
  await stage.close();
  expect(stage.errors).toEqual([]);
});

const client = redis.client();
const bulks = () =>
  createBulkStore({ queue: stage.bulkQueue, redis: client, prefix: stage.prefix, now: Date.now });

const anAp = (): string => `http://ap-${++aps}.example`;
const order = { perSecond: 500, operator, reason: 'The transport was down' };

const start = async (filter: { apId: string }, changes: Partial<typeof order> = {}) => {
  await stage.indexer.idle();
  const started = await stage.replays.start({ filter }, { ...order, ...changes });
  if (!('bulkId' in started)) throw new Error(`refused: ${started.refused}`);
  return started;
};

const isOver = (bulkId: string) =>
  soon(async () => {
    const standing = await stage.replays.progress(bulkId);
    expect(standing?.state).toMatch(/^(done|stopped)$/);
    return standing;
  });

const secondPrompts = (ids: readonly string[]) =>
  stage.asked().filter((line) => ids.some((id) => line === `${id} 2`));

describe('a dry run', () => {
  it('says how many and whom it would prompt, by fault and application, and why not the others', async () => {
    const apId = anAp();
    const msisdn = stage.somebody();
    const ids = [
      await stage.failed(208, msisdn, apId),
      await stage.failed(208, msisdn, apId),
      await stage.failed(401, stage.somebody(), apId),
      await stage.failed(104, stage.somebody(), apId),
      await stage.submit(stage.somebody(), { apId }),
    ];
    await stage.indexer.idle();
    const found = { found: 4, byAp: { [apId]: 2 }, truncated: false };
    const none = {
      login: 0,
      workflow: 0,
      never: 0,
      role: 0,
      reason: 0,
      attempts: 0,
      'not-failed': 0,
      'not-open': 0,
      unknown: 0,
    };
    expect(await stage.replays.plan({ filter: { apId } }, operator)).toEqual({
      ...found,
      replayable: 2,
      numbers: 1,
      mostOfOne: 2,
      byFault: { 208: 2 },
      refused: { ...none, never: 1, reason: 1 },
      first: [ids[1], ids[0]].map((msspTransId) =>
        expect.objectContaining({
          msspTransId,
          apId,
          msisdn: msisdn.slice(1),
          fault: expect.objectContaining({ code: 208 }),
          attempt: 1,
        }),
      ),
    });
    expect(await stage.replays.plan({ filter: { apId } }, admin, 'They called')).toMatchObject({
      replayable: 3,
      numbers: 2,
      mostOfOne: 2,
      refused: { ...none, never: 1 },
    });
    expect(await stage.replays.plan({ filter: { apId } }, viewer)).toMatchObject({
      replayable: 0,
      refused: { ...none, never: 1, role: 3 },
    });
    expect(
      await stage.replays.plan({ filter: { apId, fault: [208], maxAttempts: 1 } }, operator),
    ).toMatchObject({
      found: 2,
      replayable: 0,
      refused: { ...none, attempts: 2 },
    });
    expect(
      await stage.replays.plan({ ids: [...ids, ids[0] ?? '', 'H0000000000000000000'] }, operator),
    ).toMatchObject({ found: 4, replayable: 2, refused: { 'not-failed': 1, unknown: 1 } });
    for (const id of ids) expect(stage.asked()).not.toContain(`${id} 2`);
    await stage.answer(ids[4] ?? '', 1, 401);
  });
});

it('a dry run names a hundred and counts the others', async () => {
  const apId = anAp();
  const robot = '+41000092208';
  await Promise.all(Array.from({ length: 102 }, () => stage.submit(robot, { apId })));
  await soon(async () => {
    const plan = await stage.replays.plan({ filter: { apId } }, operator);
    expect([plan.replayable, plan.numbers, plan.first.length]).toEqual([102, 1, 100]);
    expect(new Set(plan.first.map(({ msspTransId }) => msspTransId)).size).toBe(100);
  });
});

describe('a bulk', () => {
  it('replays what the filter finds, once each, and reports what became of each', async () => {
    const apId = anAp();
    const ids = await Promise.all(
      [208, 209, 900, 401].map((code) => stage.failed(code as 208, undefined, apId)),
    );
    const wrong = await stage.failed(104, stage.somebody(), apId);
    const { bulkId, plan } = await start({ apId });
    expect(plan).toMatchObject({ replayable: 4, refused: { never: 1 } });
    for (const id of ids) await stage.answer(id, 2, 208);
    expect(await isOver(bulkId)).toMatchObject({
      by: 'olga',
      reason: 'The transport was down',
      state: 'done',
      total: 4,
      waiting: 0,
      inFlight: 0,
      signed: 0,
      failed: { 208: 4 },
    });
    const report = await stage.replays.report(bulkId);
    expect(report?.items).toHaveLength(4);
    expect(report?.counts).toMatchObject({ failed: { 208: 4 }, waiting: 0 });
    for (const id of ids) {
      expect(report?.items).toContainEqual({
        id,
        result: 'failed',
        fault: 208,
      });
    }
    expect([...secondPrompts(ids)].sort()).toEqual(ids.map((id) => `${id} 2`).sort());
    expect(await stage.history.find(wrong)).toMatchObject({
      state: 'failed',
      fault: { code: 104 },
      attempt: 1,
    });
    expect((await stage.replays.list()).map(({ id }) => id)).toContain(bulkId);
    const audit = (await stage.audit.read({ limit: 1000 }))?.entries ?? [];
    const ofBulk = audit.filter(
      ({ target, details }) => target === bulkId || details?.bulk === bulkId,
    );
    expect(ofBulk.map(({ action, who }) => `${action} ${who}`)).toEqual([
      'bulk-end olga',
      ...ids.map(() => 'replay olga'),
      'bulk-replay olga',
    ]);
    expect(ofBulk.at(-1)).toMatchObject({
      reason: 'The transport was down',
      details: { count: 4, numbers: 4 },
    });
  });

  it('ends as signed what is signed this time, and does not replay it again', async () => {
    const id = await stage.failed(208);
    await stage.indexer.idle();
    const started = await stage.replays.start({ ids: [id] }, order);
    const bulkId = 'bulkId' in started ? started.bulkId : '';
    await stage.sign(id, 2);
    expect(await isOver(bulkId)).toMatchObject({
      state: 'done',
      signed: 1,
      failed: {},
      inFlight: 0,
    });
    expect(await stage.status(id)).toBe('500');
    expect(await stage.replays.start({ ids: [id] }, order)).toMatchObject({
      refused: 'nothing',
      plan: { refused: { 'not-failed': 1 } },
    });
  });

  it('never prompts one number twice at the same time', async () => {
    const apId = anAp();
    const msisdn = stage.somebody();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push(await stage.failed(208, msisdn, apId));
    const other = await stage.failed(208, stage.somebody(), apId);
    const { bulkId } = await start({ apId });
    await soon(() => expect(secondPrompts([other])).toHaveLength(1));
    await stage.answer(other, 2, 208);
    const answered: string[] = [];
    while (answered.length < 3) {
      const open = await soon(() => {
        const prompted = ids.filter(
          (id) => !answered.includes(id) && secondPrompts([id]).length > 0,
        );
        expect(prompted).toHaveLength(1);
        return prompted[0] ?? '';
      });
      // A SIM that is asked while it shows a prompt ends the second one as 406.
      expect(secondPrompts(ids)).toHaveLength(answered.length + 1);
      await stage.answer(open, 2, 401);
      answered.push(open);
    }
    expect(await isOver(bulkId)).toMatchObject({ state: 'done', failed: { 401: 3, 208: 1 } });
  });

  it('keeps to its rate', async () => {
    const apId = anAp();
    const ids = await Promise.all(
      Array.from({ length: 8 }, () => stage.failed(208, undefined, apId)),
    );
    const begun = performance.now();
    const { bulkId } = await start({ apId }, { perSecond: 10 });
    await soon(() => expect(secondPrompts(ids)).toHaveLength(8));
    // One at once, then one each tenth of a second.
    expect(performance.now() - begun).toBeGreaterThan(690);
    for (const id of ids) await stage.answer(id, 2, 208);
    await isOver(bulkId);
  });

  it('stops when it is told to, and says what it has done', async () => {
    const apId = anAp();
    const ids = await Promise.all(
      Array.from({ length: 6 }, () => stage.failed(208, undefined, apId)),
    );
    const { bulkId } = await start({ apId }, { perSecond: 2 });
    await soon(() => expect(secondPrompts(ids).length).toBeGreaterThan(0));
    expect(await stage.replays.stop(bulkId, viewer)).toEqual({ refused: 'role' });
    expect(await stage.replays.stop(bulkId, operator, 'Enough')).toBe('stopping');
    expect(await stage.replays.stop(bulkId, operator)).toBe('not-running');
    expect(await stage.replays.stop('B0000000000000000', operator)).toBe('unknown');
    const prompted = await soon(async () => {
      const standing = await stage.replays.progress(bulkId);
      expect(standing?.inFlight).toBe(secondPrompts(ids).length);
      return ids.filter((id) => secondPrompts([id]).length > 0);
    });
    for (const id of prompted) await stage.answer(id, 2, 208);
    expect(await isOver(bulkId)).toMatchObject({ state: 'stopped', waiting: 6 - prompted.length });
    expect(secondPrompts(ids)).toHaveLength(prompted.length);
    expect(
      (await stage.audit.read({ target: bulkId }))?.entries.map(({ action }) => action),
    ).toEqual(['bulk-end', 'bulk-stop', 'bulk-replay']);
  });

  it('leaves alone what somebody else replays meanwhile', async () => {
    const apId = anAp();
    const ids = await Promise.all([1, 2, 3].map(() => stage.failed(208, undefined, apId)));
    await stage.indexer.idle();
    const { bulkId } = await start({ apId }, { perSecond: 1 });
    const left = await soon(async () => {
      expect(secondPrompts(ids)).toHaveLength(1);
      return ids.filter((id) => secondPrompts([id]).length === 0);
    });
    const [quicker = ''] = [...left].slice(-1);
    expect(await stage.replays.replay(quicker, operator)).toBe('replayed');
    for (const id of ids) await stage.answer(id, 2, 208);
    const standing = await isOver(bulkId);
    expect(secondPrompts(ids)).toHaveLength(3);
    expect((standing?.changed ?? 0) + (standing?.failed[208] ?? 0)).toBe(3);
    for (const id of ids) expect(stage.asked()).not.toContain(`${id} 3`);
  });

  it('leaves logins out, also those that are in its list already', async () => {
    const login = await stage.failedLogin(208);
    const id = await stage.failed(208);
    expect(await stage.replays.plan({ ids: [login, id] }, operator)).toMatchObject({
      found: 2,
      replayable: 1,
      refused: { login: 1 },
    });
    // As a release wrote it that did not tell logins apart.
    const store = bulks();
    const bulkId = store.newId();
    const items = [login, id].map((item) => ({ id: item, endedRuns: 1 }));
    await store.create(
      { id: bulkId, by: 'olga', reason: '', perSecond: 500, createdAt: Date.now() },
      items,
    );
    await stage.answer(id, 2, 208);
    expect(await isOver(bulkId)).toMatchObject({
      state: 'done',
      waiting: 0,
      refused: 1,
      failed: { 208: 1 },
    });
    expect((await stage.replays.report(bulkId))?.items[0]).toEqual({
      id: login,
      result: 'refused',
    });
    expect((await stage.history.find(login))?.attempt).toBe(1);
    expect((await stage.audit.read({ target: login }))?.entries).toEqual([]);
  });

  it('of cancels ends what is open, once each, and leaves what has ended', async () => {
    const apId = anAp();
    const open = await Promise.all([1, 2, 3].map(() => stage.submit(stage.somebody(), { apId })));
    const [first = ''] = open;
    await soon(() => expect(stage.asked()).toContain(`${first} 1`));
    const failed = await stage.failed(208, stage.somebody(), apId);
    await stage.indexer.idle();
    const plan = await stage.replays.plan({ kind: 'cancel', filter: { apId } }, operator, 'x');
    expect(plan).toMatchObject({
      found: 3,
      replayable: 3,
      numbers: 3,
      byFault: {},
      byAp: { [apId]: 3 },
    });
    expect(
      await stage.replays.plan({ kind: 'cancel', ids: [...open, failed] }, viewer, 'x'),
    ).toMatchObject({
      found: 3,
      replayable: 0,
      refused: { role: 3, 'not-open': 1 },
    });
    const tried = { kind: 'cancel', filter: { apId, maxAttempts: 1 } } as const;
    expect(await stage.replays.plan(tried, operator, 'x')).toMatchObject({
      found: 3,
      replayable: 0,
      refused: { attempts: 3 },
    });
    const cancels = { ...order, reason: 'A wrong campaign' };
    const start = (changes: object) =>
      stage.replays.start({ kind: 'cancel', filter: { apId } }, { ...cancels, ...changes });
    expect(await start({ operator: viewer })).toEqual({ refused: 'role' });
    expect(await start({ reason: ' ' })).toEqual({ refused: 'reason' });
    const started = await start({});
    const bulkId = 'bulkId' in started ? started.bulkId : '';
    expect(await isOver(bulkId)).toMatchObject({
      kind: 'cancel',
      state: 'done',
      cancelled: 3,
      waiting: 0,
    });
    const faultOf = async (id: string) => (await stage.history.find(id))?.fault?.code;
    for (const id of open) await soon(async () => expect(await faultOf(id)).toBe(401));
    expect(await faultOf(failed)).toBe(208);
    const audit = (await stage.audit.read({ limit: 1000 }))?.entries ?? [];
    const ofBulk = audit.filter(
      ({ target, details }) => target === bulkId || details?.bulk === bulkId,
    );
    expect(ofBulk.map(({ action }) => action)).toEqual([
      'bulk-end',
      'cancel',
      'cancel',
      'cancel',
      'bulk-cancel',
    ]);
    expect(await client.hlen(`{${stage.prefix}-replays}:numbers`)).toBe(0);
  });

  it('of cancels goes on where a process has ended between a cancel and its result', async () => {
    const [done, late, gone] = [
      await stage.submit(stage.somebody()),
      await stage.failed(208),
      'H000000000000000none',
    ];
    const store = bulks();
    const bulkId = store.newId();
    const at = shardFor(stage.shards, done)?.signatures;
    if (at === undefined) throw new Error('It has no shard');
    const { protocol } = stage.product.core;
    await cancelTransaction(done, { at, protocol, now: Date.now, by: 'operator', order: bulkId });
    await soon(async () => expect(await stage.status(done)).toBe('401'));
    const items = [done, late, gone].map((item) => ({ id: item, endedRuns: 0 }));
    await client.hset(`{${stage.prefix}-replays}:bulk:${bulkId}:results`, done, 'begun');
    expect(await store.results(bulkId)).toEqual(new Map([[done, 'begun']]));
    const written = {
      id: bulkId,
      kind: 'cancel',
      by: 'olga',
      reason: 'x',
      perSecond: 500,
    } as const;
    await store.create({ ...written, createdAt: Date.now() }, items);
    expect(await isOver(bulkId)).toMatchObject({
      state: 'done',
      cancelled: 1,
      changed: 1,
      gone: 1,
    });
  });

  it('is refused without a role, a reason, a rate or anything to replay', async () => {
    const selection = { filter: { apId: anAp() } };
    const { start: begin } = stage.replays;
    expect(await begin(selection, { ...order, operator: viewer })).toEqual({ refused: 'role' });
    expect(await begin(selection, { ...order, reason: ' ' })).toEqual({ refused: 'reason' });
    for (const perSecond of [0, -1, Number.NaN, 1001]) {
      expect(await begin(selection, { ...order, perSecond })).toEqual({ refused: 'rate' });
    }
    expect(await begin(selection, order)).toMatchObject({ refused: 'nothing', plan: { found: 0 } });
    expect(await stage.replays.progress('nonsense')).toBeUndefined();
    expect(await stage.replays.report('B0000000000000000')).toBeUndefined();
  });
});
