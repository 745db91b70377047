import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fault } from '../../../packages/protocol/src/fault.ts';
import { createIndexStore } from '../../../src/transactions/history/index-store.ts';
import { readEntries } from '../../../src/transactions/history/jobs.ts';
import { shardKeys } from '../../../src/transactions/history/keys.ts';
import { type Change, createWatch } from '../../../src/transactions/history/watch.ts';
import { testRedis } from '../../support/redis.ts';
import { dayMs, retention, type Stage, startStage } from './stage.ts';

const test = testRedis();
let stage: Stage;
afterEach(async () => {
  await stage.close();
  expect(stage.errors).toEqual([]);
});

const begin = async (now?: () => number): Promise<Stage> => {
  stage = await startStage(test, now === undefined ? {} : { now });
  return stage;
};

/** What the lists say of each, by AP_TransID. */
const states = async (): Promise<Record<string, string>> => {
  const rows = await stage.all({});
  return Object.fromEntries(rows.map(({ apTransId, state }) => [apTransId, state]));
};

describe('the indexer', () => {
  it('follows a transaction through its states', async () => {
    const { submit, take, ask, sign, history } = await begin();
    const indexer = stage.indexer();
    const id = await submit({ apTransId: 'A' });
    await indexer.idle();
    expect(await states()).toEqual({ A: 'submitted' });
    await ask(await take());
    await indexer.idle();
    expect((await history.search({ state: ['pending'] }, { limit: 5 }))?.rows).toMatchObject([
      { msspTransId: id, state: 'pending', attempt: 1 },
    ]);
    await stage.queues[0]?.getJob(id).then((job) => job?.promote());
    await sign(await take());
    await indexer.idle();
    const [row] = await stage.all({ state: ['signed'] });
    expect(row).toMatchObject({ msspTransId: id, state: 'signed' });
    expect(row?.endedAt).toBeGreaterThanOrEqual(row?.submittedAt ?? Number.POSITIVE_INFINITY);
    expect(await stage.all({ state: ['submitted', 'pending', 'failed'] })).toEqual([]);
  });

  it('shows a failed transaction as open again when it is replayed, with its next attempt', async () => {
    const { submit, take, fail, sign, history } = await begin();
    const indexer = stage.indexer();
    const id = await submit();
    await fail(await take(), 401);
    await indexer.idle();
    expect(await stage.all({ fault: [401] })).toMatchObject([
      { fault: { code: 401, reason: 'USER_CANCEL' }, attempt: 1, state: 'failed' },
    ]);
    await stage.queues[0]?.getJob(id).then((job) => job?.retry('failed'));
    await indexer.idle();
    expect(await stage.all({ state: ['submitted'] })).toMatchObject([
      { msspTransId: id, attempt: 2 },
    ]);
    expect(await stage.all({ fault: [401] })).toEqual([]);
    await sign(await take(), { attempt: 2 });
    await indexer.idle();
    expect(await stage.all({ state: ['signed'] })).toMatchObject([{ msspTransId: id, attempt: 2 }]);
    const { submitted, signed, failed, faults } = await history.overview(Date.now() - 3_600_000);
    expect({ submitted, signed, failed, faults }).toEqual({
      submitted: 1,
      signed: 1,
      failed: 1,
      faults: [{ code: 401, reason: 'USER_CANCEL', count: 1 }],
    });
  });

  it('learns of a receipt, which changes a job that has ended', async () => {
    const { submit, take, sign, receipts } = await begin();
    const indexer = stage.indexer();
    const id = await submit();
    await sign(await take());
    await indexer.idle();
    const key = stage.queues[0]?.toKey(id) ?? '';
    await stage.redis.hset(key, 'returnvalue', JSON.stringify({ state: 'receipted', attempt: 1 }));
    await receipts.add('receipt', {}, { jobId: `${id}-receipt` });
    await stage.redis.xadd(
      receipts.toKey('events'),
      '*',
      'event',
      'completed',
      'jobId',
      `${id}-receipt`,
    );
    await indexer.idle();
    expect(await stage.all({ state: ['receipted'] })).toMatchObject([{ msspTransId: id }]);
  });

  it('goes on where another one stopped', async () => {
    const { submit, take, fail } = await begin();
    const first = stage.indexer();
    await submit({ apTransId: 'A' });
    await first.idle();
    await first.close();
    await submit({ apTransId: 'B' });
    await fail(await take(), 208);
    const position = await stage.redis.hget(shardKeys(stage.prefix, 0).state, 'position');
    const second = stage.indexer();
    await second.idle();
    expect(await states()).toEqual({ A: 'failed', B: 'submitted' });
    // By the events, not by another beginning: the generation is the same.
    const after = await stage.redis.hget(shardKeys(stage.prefix, 0).state, 'position');
    expect(after?.split(' ')[0]).toBe(position?.split(' ')[0]);
  });

  it('repairs what it missed when the events are gone', async () => {
    const { submit, take, fail, ask, sign } = await begin();
    const first = stage.indexer();
    for (const apTransId of ['A', 'B', 'C', 'D']) await submit({ apTransId });
    await sign(await take());
    await first.idle();
    await first.close();
    await fail(await take(), 401);
    await ask(await take());
    await submit({ apTransId: 'E' });
    await stage.queues[0]?.trimEvents(0);
    await submit({ apTransId: 'F' });
    const { state } = shardKeys(stage.prefix, 0);
    const generation = (await stage.redis.hget(state, 'position'))?.split(' ')[0];
    await stage.indexer().idle();
    expect(await states()).toEqual({
      A: 'signed',
      B: 'failed',
      C: 'pending',
      D: 'submitted',
      E: 'submitted',
      F: 'submitted',
    });
    expect((await stage.redis.hget(state, 'position'))?.split(' ')[0]).toBe(generation);
  });

  it('builds an index of what was there before it', async () => {
    const { submit, take, sign } = await begin();
    await submit({ apTransId: 'A' });
    await sign(await take());
    await submit({ apTransId: 'B' });
    await stage.queues[0]?.trimEvents(0);
    await stage.indexer().idle();
    expect(await states()).toEqual({ A: 'signed', B: 'submitted' });
  });

  it('is taken over from when its process dies', async () => {
    const { submit, redis } = await begin();
    const { lease } = shardKeys(stage.prefix, 0);
    await redis.set(lease, 'a process that died', 'PX', 400);
    const indexer = stage.indexer({ leaseMs: 300 });
    await submit({ apTransId: 'A' });
    await delay(100);
    expect(await states()).toEqual({});
    await indexer.idle();
    expect(await states()).toEqual({ A: 'submitted' });
  });

  it('keeps one index when two follow at the same time', async () => {
    const { submit, redis, queues, jobOf } = await begin();
    const { lease } = shardKeys(stage.prefix, 0);
    const one = stage.indexer({ leaseMs: 30 });
    const other = stage.indexer({ leaseMs: 30 });
    for (let round = 0; round < 20; round += 1) {
      await queues[0]?.addBulk([
        jobOf({ apTransId: `R${round}` }),
        jobOf({ apTransId: `S${round}` }),
      ]);
      await redis.del(lease);
      await delay(5);
    }
    await submit();
    await Promise.all([one.idle(), other.idle()]);
    const rows = await stage.all({});
    expect(rows.length).toBe(41);
    expect((await stage.history.overview(Date.now() - 60_000)).submitted).toBe(41);
  });

  it('does not list what is past its retention, and takes it out', async () => {
    let later = 0;
    const now = (): number => Date.now() + later;
    const { submit, take, sign, fail } = await begin(now);
    const indexer = stage.indexer({ now });
    for (const apTransId of ['A', 'B', 'C']) await submit({ apTransId });
    await sign(await take());
    await fail(await take(), 401);
    await indexer.idle();
    later = retention.signedMs + dayMs;
    expect(await states()).toEqual({ B: 'failed', C: 'submitted' });
    expect(await indexer.sweep()).toBe(1);
    later = retention.failedMs + dayMs;
    expect(await states()).toEqual({ C: 'submitted' });
    expect(await indexer.sweep()).toBe(1);
    expect(await states()).toEqual({ C: 'submitted' });
    const { redis, prefix } = stage;
    expect(await redis.hlen(shardKeys(prefix, 0).generation(1).at)).toBe(1);
  });

  it('takes it out by itself, as often as transactions are kept', async () => {
    let later = 0;
    const changes = {
      now: (): number => Date.now() + later,
      retention: { signedMs: 20_000, failedMs: 20_000 },
    };
    const { submit, take, sign, redis, prefix } = await begin(changes.now);
    const first = stage.indexer(changes);
    await submit();
    await sign(await take());
    await first.idle();
    await first.close();
    const rows = (): Promise<number> => redis.hlen(shardKeys(prefix, 0).generation(1).at);
    expect(await rows()).toBe(1);
    later = 30_000;
    stage.indexer(changes);
    await vi.waitFor(async () => expect(await rows()).toBe(0), { timeout: 20_000 });
  });

  it('takes out what was removed', async () => {
    const { submit } = await begin();
    const indexer = stage.indexer();
    const id = await submit();
    await indexer.idle();
    await stage.queues[0]?.getJob(id).then((job) => job?.remove());
    await indexer.idle();
    expect(await stage.all({})).toEqual([]);
    expect(await stage.redis.hlen(shardKeys(stage.prefix, 0).generation(1).at)).toBe(0);
  });

  it('lists jobs that cannot be read, whatever they hold', async () => {
    const { queues, history } = await begin();
    const indexer = stage.indexer();
    const uuid = '6f9619ff-8b86-4d01-b42d-00c04fc964ff';
    await queues[0]?.add(
      'sign',
      { MSS_SignatureReq: { AP_Info: [1], MobileUser: 'x' } },
      { jobId: uuid },
    );
    await queues[0]?.add('sign', null, { jobId: 'H00aaaaaaaaaaaaaaaaa', timestamp: 1e300 });
    await queues[0]?.add('sign', 'text', { jobId: 'x'.repeat(60) });
    await indexer.idle();
    const page = await history.search({}, { limit: 10 });
    expect(page?.rows.map(({ msspTransId }) => msspTransId).sort()).toEqual(
      ['6', 'H'].map((first) => (first === '6' ? uuid : 'H00aaaaaaaaaaaaaaaaa')),
    );
    expect((await history.search({ text: '8b86' }, { limit: 10 }))?.rows).toMatchObject([
      { msspTransId: uuid, apId: '', msisdn: '' },
    ]);
  });

  it('tells a watcher what changes after it has begun, and nothing older', async () => {
    const { redis, submit, history } = await begin();
    const indexer = stage.indexer();
    await submit();
    await indexer.idle();
    const heard: string[] = [];
    const stop = history.watch((change) =>
      heard.push(...(change.kind === 'ids' ? change.ids : ['many'])),
    );
    // On one connection answers come in order: when this is answered, it is settled where the
    // changes begin. What is indexed before may be missed by a watcher, and is then in the list
    // that it reads.
    await redis.ping();
    const id = await submit();
    await vi.waitFor(() => expect(heard).toContain(id), { timeout: 20_000 });
    expect([...new Set(heard)]).toEqual([id]);
    stop();
  });

  it('tells a watcher that anything may have changed when the end of the changes is not known', async () => {
    const { redis, prefix } = await begin();
    const keys = shardKeys(prefix, 0);
    await redis.set(keys.changes, 'no stream');
    const errors: Error[] = [];
    const watching = createWatch(redis, [keys], (error) => errors.push(error));
    const heard: Change[] = [];
    watching.watch((change) => heard.push(change));
    await vi.waitFor(() => expect(errors).toHaveLength(1), { timeout: 20_000 });
    await redis.del(keys.changes);
    await vi.waitFor(() => expect(heard).toEqual([{ kind: 'many' }]), { timeout: 20_000 });
    watching.close();
  });

  it('says what happened, by minute, and what is in the queue', async () => {
    const { submit, take, sign, fail, ask, history } = await begin();
    const indexer = stage.indexer();
    const at = Date.now();
    // Of three days ago: counted by hours alone.
    await submit({ timestamp: at - 72 * 3_600_000 });
    await fail(await take(), 105);
    for (let each = 0; each < 6; each += 1) await submit({ timestamp: at - 1000 });
    await sign(await take());
    await sign(await take());
    await fail(await take(), 401);
    await fail(await take(), 208);
    await ask(await take());
    await indexer.idle();
    const found = await history.overview(at - 3_600_000);
    expect(found).toMatchObject({ submitted: 6, signed: 2, failed: 3 });
    const month = await history.overview(at - 30 * 24 * 3_600_000);
    expect(month).toMatchObject({
      submitted: 7,
      signed: 2,
      failed: 3,
      timeToSignMs: found.timeToSignMs,
    });
    expect(month.series.length).toBeLessThanOrEqual(61);
    expect(month.series.filter(({ submitted }) => submitted > 0)).toHaveLength(2);
    expect(found.queue).toEqual({ waiting: 1, active: 0, delayed: 1 });
    expect(found.faults).toEqual([
      { code: 105, reason: 'UNKNOWN_CLIENT', count: 1 },
      { code: 208, reason: fault(208) && 'EXPIRED_TRANSACTION', count: 1 },
      { code: 401, reason: 'USER_CANCEL', count: 1 },
    ]);
    const rows = await stage.all({ state: ['signed'] });
    const longest = Math.max(...rows.map(({ tookMs = 0 }) => tookMs));
    expect((found.timeToSignMs?.p99 ?? 0) / longest).toBeGreaterThan(0.9);
    expect((found.timeToSignMs?.p99 ?? 0) / longest).toBeLessThan(1.1);
    expect(found.series.length).toBeLessThanOrEqual(61);
    expect(found.series.reduce((sum, { signed }) => sum + signed, 0)).toBe(2);
    await history.rebuild();
    expect(await history.overview(at - 3_600_000)).toEqual({ ...found, series: expect.anything() });
    const again = await history.overview(at - 30 * 24 * 3_600_000);
    expect(again).toEqual({ ...month, series: expect.anything() });
  });

  it('leaves the index as it was when a rebuild is stopped, and removes what that had begun', async () => {
    const { submit, history, redis, prefix } = await begin();
    const indexer = stage.indexer();
    await submit({ apTransId: 'A' });
    await indexer.idle();
    const stopped = AbortSignal.abort();
    await expect(history.rebuild(undefined, stopped)).rejects.toThrow();
    expect(await states()).toEqual({ A: 'submitted' });
    const { state, generation } = shardKeys(prefix, 0);
    expect(await redis.hexists(state, 'building')).toBe(0);
    expect(await redis.exists(generation(2).at, generation(2).meta)).toBe(0);
    await history.rebuild();
    expect(await redis.exists(generation(1).at, generation(1).meta, generation(1).facts(0))).toBe(
      0,
    );
    await submit({ apTransId: 'B' });
    await indexer.idle();
    expect(await states()).toEqual({ A: 'submitted', B: 'submitted' });
  });

  it('does not rebuild twice at a time', async () => {
    const { history, redis, prefix } = await begin();
    await redis.set(shardKeys(prefix, 0).rebuilding, 'another', 'PX', 60_000);
    await expect(history.rebuild()).rejects.toThrow('Another process rebuilds the index');
  });

  it('grows over many chunks and frees those that are empty', async () => {
    let later = 0;
    const now = (): number => Date.now() + later;
    const { queues, jobOf, redis, prefix } = await begin(now);
    const indexer = stage.indexer({ now });
    await queues[0]?.addBulk(
      Array.from({ length: 2500 }, (_, index) => jobOf({ apTransId: `T${index}` })),
    );
    await indexer.idle();
    const { facts, spans } = shardKeys(prefix, 0).generation(1);
    expect(Object.keys(await redis.hgetall(spans)).sort()).toEqual(['0', '1', '2']);
    expect((await stage.history.search({}, { limit: 1 }))?.total).toBe(2500);
    await queues[0]?.drain();
    // Drained in bulk, without a word for each; looked for once they are a day old.
    later = 2 * dayMs;
    expect(await indexer.sweep()).toBe(2500);
    expect(await redis.exists(facts(0), facts(1))).toBe(0);
    expect(await stage.all({})).toEqual([]);
  });

  it('loses nothing that changes while the index is built anew', async () => {
    const { submit, take, sign, queues, jobOf, redis, receipts, history } = await begin();
    const indexer = stage.indexer();
    const id = await submit();
    await sign(await take());
    await queues[0]?.addBulk(Array.from({ length: 3000 }, () => jobOf({})));
    await indexer.idle();
    let changing: Promise<unknown> | undefined;
    await history.rebuild(() => {
      // The signed one has been met by now.
      changing ??= (async () => {
        const record = JSON.stringify({ state: 'receipted', attempt: 1 });
        await redis.hset(queues[0]?.toKey(id) ?? '', 'returnvalue', record);
        const event = ['event', 'completed', 'jobId', `${id}-receipt`];
        await redis.xadd(receipts.toKey('events'), '*', ...event);
      })();
    });
    await changing;
    await indexer.idle();
    expect(await stage.all({ state: ['receipted'] })).toMatchObject([{ msspTransId: id }]);
  });

  it('does not write when another process has gone on', async () => {
    const { submit, redis, prefix } = await begin();
    const indexer = stage.indexer();
    const id = await submit();
    await indexer.idle();
    await indexer.close();
    const store = createIndexStore(redis, shardKeys(prefix, 0), Date.now);
    const from = await store.position();
    if (from === undefined) throw new Error('there is a position');
    const entries = await readEntries(redis, shardKeys(prefix, 0), [id]);
    const to = await store.write(from, { ...from, signatures: '9-9' }, entries);
    expect(to).toMatchObject({ signatures: '9-9' });
    expect(
      await store.write(from, { ...from, signatures: '8-8' }, [{ id, row: undefined }]),
    ).toBeUndefined();
    expect(await store.position()).toEqual(to);
    expect(await stage.all({})).toHaveLength(1);
    // Not even when it left the position as it was.
    expect(to && (await store.write(to, to, []))).toBeDefined();
    expect(to && (await store.write(to, to, []))).toBeUndefined();
  });

  it('ends a page early rather than look for thousands of jobs that are gone', async () => {
    const { queues, jobOf, history } = await begin();
    const indexer = stage.indexer();
    const timestamp = Date.now();
    await queues[0]?.addBulk([jobOf({ apTransId: 'old', timestamp: timestamp - 5000 })]);
    await indexer.idle();
    await queues[0]?.pause();
    await queues[0]?.addBulk(Array.from({ length: 2100 }, () => jobOf({ timestamp })));
    await indexer.idle();
    await queues[0]?.drain();
    const page = await history.search({ apId: 'mid://shop' }, { limit: 50 });
    expect(page?.rows).toEqual([]);
    expect(page?.cursor).toBeDefined();
    await queues[0]?.addBulk([jobOf({ apTransId: 'older', timestamp: timestamp - 9000 })]);
    await indexer.idle();
    expect(await states()).toEqual({ older: 'submitted' });
  });
});
