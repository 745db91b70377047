/** A bulk replay whose processes are killed in the middle, or believe themselves alone. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FaultCode } from '../../../packages/protocol/src/fault.ts';
import { createBulkStore } from '../../../src/console/operators/bulk-store.ts';
import { queueIn } from '../../../src/transactions/shards.ts';
import { type OtherProcess, startProcess } from '../../redis/embedded/processes.ts';
import { testRedis } from '../../support/redis.ts';
import { soon } from '../../support/soon.ts';
import { type ReplayStage, startReplayStage } from './replay-stage.ts';
import { operator } from './stage.ts';

const redis = testRedis();
const client = redis.client();
let stage: ReplayStage;
const running: OtherProcess[] = [];

beforeAll(async () => {
  stage = await startReplayStage(redis);
});
afterAll(async () => {
  for (const { signal, ended } of running) {
    signal('SIGKILL');
    await ended;
  }
  await stage.close();
  expect(stage.errors).toEqual([]);
});

const startRunner = async (): Promise<OtherProcess> => {
  const file = new URL('./runner-process.mjs', import.meta.url);
  const runner = startProcess(file, redis.url, stage.prefix, String(stage.shards.length));
  running.push(runner);
  expect(await runner.line()).toBe('running');
  return runner;
};

const kill = async (runner: OtherProcess): Promise<void> => {
  running.splice(running.indexOf(runner), 1);
  runner.signal('SIGKILL');
  await runner.ended;
};

/** A hundred, of mixed faults, some of them of one number. */
const failMany = async (apId: string): Promise<readonly string[]> => {
  const codes: readonly FaultCode[] = [208, 209, 401, 402, 406, 450, 900];
  const ids: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    const some = Array.from({ length: 18 }, (_, index) =>
      stage.failed(codes[index % codes.length] ?? 208, stage.somebody(), apId),
    );
    const shared = stage.somebody();
    ids.push(...(await Promise.all(some)));
    ids.push(await stage.failed(208, shared, apId), await stage.failed(401, shared, apId));
  }
  return ids;
};

const order = { perSecond: 200, operator, reason: 'The transport was down' };

const start = async (apId: string, changes: Partial<typeof order> = {}): Promise<string> => {
  await stage.indexer.idle();
  const started = await stage.replays.start({ filter: { apId } }, { ...order, ...changes });
  if (!('bulkId' in started)) throw new Error(started.refused);
  return started.bulkId;
};

/** Answers every second prompt, until the bulk is over. */
const answerAll = async (bulkId: string, ids: readonly string[]): Promise<void> => {
  const answered = new Set<string>();
  await soon(async () => {
    const second = new Set(ids.map((id) => `${id} 2`));
    const prompted = stage.asked().filter((line) => second.has(line) && !answered.has(line));
    for (const line of prompted) {
      answered.add(line);
      await stage.answer(line.split(' ')[0] ?? '', 2, 208);
    }
    expect(await stage.replays.progress(bulkId)).toMatchObject({ state: 'done' });
  }, 120_000);
};

const checkAll = async (bulkId: string, ids: readonly string[]): Promise<void> => {
  const attempts = stage.asked().filter((line) => ids.includes(line.split(' ')[0] ?? ''));
  expect(attempts.toSorted()).toEqual(ids.flatMap((id) => [`${id} 1`, `${id} 2`]).toSorted());
  expect(await stage.replays.progress(bulkId)).toMatchObject({
    total: ids.length,
    waiting: 0,
    inFlight: 0,
    failed: { 208: ids.length },
    changed: 0,
    gone: 0,
  });
  const audit = (await stage.audit.read({ limit: 1000 }))?.entries ?? [];
  const targets = audit.flatMap(({ target, details }) =>
    details?.bulk === bulkId ? (target ?? []) : [],
  );
  expect([...targets].sort()).toEqual([...ids].sort());
  expect(await client.hgetall(`{${stage.prefix}-replays}:numbers`)).toEqual({});
};

describe('a bulk of 100', { timeout: 180_000 }, () => {
  it('goes on in another process when one is killed, prompts nobody twice and records each once', async () => {
    const apId = 'http://crash.example';
    const ids = await failMany(apId);
    const first = await startRunner();
    const second = await startRunner();
    const bulkId = await start(apId);
    await soon(
      () => expect(stage.asked().filter((line) => line.endsWith(' 2')).length).toBeGreaterThan(20),
      30_000,
    );
    const before = await stage.replays.progress(bulkId);
    expect(before?.state).toBe('running');
    expect(before?.waiting).toBeGreaterThan(0);
    // One of the two is at it; both die, and a third finds what is left.
    await kill(first);
    await kill(second);
    await startRunner();
    await answerAll(bulkId, ids);
    await checkAll(bulkId, ids);
  });

  it('is not done twice by two processes that both work at it', async () => {
    const apId = 'http://both.example';
    const ids = await failMany(apId);
    for (const runner of [...running]) await kill(runner);
    const prompted = () => ids.filter((id) => stage.asked().includes(`${id} 2`)).length;
    const asleep = await startRunner();
    const bulkId = await start(apId, { perSecond: 50 });
    await soon(() => expect(prompted()).toBeGreaterThan(3), 30_000);
    asleep.signal('SIGSTOP');
    const before = prompted();
    await startRunner();
    await soon(() => expect(prompted()).toBeGreaterThan(before + 5), 30_000);
    // It goes on where it was, and believes that the work is still its own.
    asleep.signal('SIGCONT');
    await answerAll(bulkId, ids);
    await checkAll(bulkId, ids);
  });

  it('is stopped at once, whichever process works at it', async () => {
    const apId = 'http://stopped.example';
    const ids = await failMany(apId);
    await startRunner();
    await startRunner();
    const bulkId = await start(apId, { perSecond: 20 });
    const prompted = () => ids.filter((id) => stage.asked().includes(`${id} 2`));
    await soon(() => expect(prompted().length).toBeGreaterThan(3), 30_000);
    expect(await stage.replays.stop(bulkId, operator)).toBe('stopping');
    expect(await stage.replays.stop(bulkId, operator)).toBe('not-running');
    const list = `{${stage.prefix}-replays}:bulk:${bulkId}:items`;
    await soon(async () => expect(await client.ttl(list)).toBeGreaterThan(0));
    const { waiting = 0 } = (await stage.replays.progress(bulkId)) ?? {};
    const answered = new Set<string>();
    await soon(async () => {
      for (const id of prompted().filter((each) => !answered.has(each))) {
        await stage.answer(id, 2, 208);
        answered.add(id);
      }
      expect(await stage.replays.progress(bulkId)).toMatchObject({ state: 'stopped', waiting });
    });
    expect(answered.size).toBe(ids.length - waiting);
  });

  it.each([
    ['before anything was done', false, false],
    ['when it was recorded', true, false],
    ['when it was replayed', true, true],
  ])('does an item once whose process died %s', async (_, recorded, replayed) => {
    const apId = `http://died-${recorded}-${replayed}.example`;
    const id = await stage.failed(208, stage.somebody(), apId);
    await stage.indexer.idle();
    const row = await stage.history.find(id);
    const { bulkQueue: queue, prefix } = stage;
    const store = createBulkStore({
      queue,
      redis: stage.product.core.blocking,
      prefix,
      now: Date.now,
    });
    const bulkId = store.newId();
    // As a process leaves it that has begun the item and dies.
    await client.hset(`{${prefix}-replays}:bulk:${bulkId}:results`, id, 'begun');
    await client.hset(`{${prefix}-replays}:numbers`, row?.msisdn ?? '', `${bulkId} ${id}`);
    if (recorded) {
      const entry = {
        who: 'olga',
        via: 'service',
        action: 'replay',
        target: id,
        details: { bulk: bulkId },
      } as const;
      await stage.audit.record(entry, `${bulkId}:${id}`);
    }
    if (replayed) {
      const { createReplayOnce } = await import('../../../src/transactions/jobs/replay-once.ts');
      const once = createReplayOnce(stage.product.core.blocking, queueIn(stage.shards));
      expect(await once(id, 1, { by: 'olga', order: bulkId })).toBe('replayed');
      await stage.answer(id, 2, 208);
      await soon(async () => expect((await stage.history.find(id))?.state).toBe('failed'));
    }
    const items = [{ id, endedRuns: 1 }];
    await store.create(
      { id: bulkId, by: 'olga', reason: 'x', perSecond: 100, createdAt: Date.now() },
      items,
    );
    await answerAll(bulkId, replayed ? [] : [id]);
    await checkAll(bulkId, [id]);
  });
});
