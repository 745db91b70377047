/** Replays that the service does by itself. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AutomaticRule } from '../../src/operators/automatic-replays.ts';
import { shardFor } from '../../src/transactions/answers.ts';
import { testRedis } from '../support/redis.ts';
import { type ReplayStage, soon, startReplayStage } from './replay-stage.ts';
import { operator } from './stage.ts';

const redis = testRedis();
const client = redis.client();
let stage: ReplayStage;

const rule = (apId: string, changes: Partial<AutomaticRule> = {}): AutomaticRule => ({
  apId,
  faults: [209, 900],
  maxAttempts: 3,
  backoffSeconds: 1,
  perSecond: 100,
  ...changes,
});

beforeAll(async () => {
  stage = await startReplayStage(redis);
});
// One that outlived its test would hold the lease that the next one waits for.
afterEach(() => stage.stopRunners());
afterAll(async () => {
  await stage.close();
  expect(stage.errors).toEqual([]);
});

const attemptsOf = (id: string) => stage.asked().filter((line) => line.startsWith(id)).length;
const linesKey = (): string => `{${stage.prefix}-replays}:automatic:due`;
const dueIn = (apId: string): Promise<number> => client.zcard(`${linesKey()}:${apId}`);
const outcomeOf = async (id = '') => (await stage.audit.read({ target: id }))?.entries[0]?.details?.outcome;
const aWhile = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('automatic replays', () => {
  it('are off by default', async () => {
    const runner = stage.runner();
    const id = await stage.failed(209, undefined, 'http://off.example');
    await aWhile(1300);
    expect(attemptsOf(id)).toBe(1);
    expect(await client.exists(`{${stage.prefix}-replays}:automatic:due`)).toBe(0);
    await runner.close();
  });

  it('follow a fault of the service after a pause that grows, so many times', async () => {
    const apId = 'http://on.example';
    const runner = stage.runner({ automatic: [rule(apId)] });
    const id = await stage.failed(209, undefined, apId);
    const failedAt = Date.now();
    const cancelled = await stage.failed(401, undefined, apId);
    const foreign = await stage.failed(209, undefined, 'http://other.example');
    await soon(() => expect(attemptsOf(id)).toBe(2));
    expect(Date.now() - failedAt).toBeGreaterThan(850);
    await stage.answer(id, 2, 900);
    const failedAgainAt = Date.now();
    await soon(() => expect(attemptsOf(id)).toBe(3));
    expect(Date.now() - failedAgainAt).toBeGreaterThan(1850);
    await stage.answer(id, 3, 209);
    await soon(async () => expect((await stage.history.find(id))?.state).toBe('failed'));
    await aWhile(1200);
    expect([id, cancelled, foreign].map(attemptsOf)).toEqual([3, 1, 1]);
    expect(await client.zcard(`{${stage.prefix}-replays}:automatic:due:${apId}`)).toBe(0);
    const entries = (await stage.audit.read({ target: id }))?.entries;
    expect(entries).toMatchObject([
      { who: 'automatic', via: 'service', action: 'replay', details: { fault: 900, attempt: 3 } },
      { who: 'automatic', via: 'service', action: 'replay', details: { fault: 209, attempt: 2 } },
    ]);
    await runner.close();
  });

  it('go on after a restart, with what failed meanwhile and what was due', async () => {
    const apId = 'http://restart.example';
    const automatic = [rule(apId, { backoffSeconds: 3 })];
    const first = stage.runner({ automatic });
    const before = await stage.failed(209, undefined, apId);
    await soon(async () =>
      expect(await client.zcard(`{${stage.prefix}-replays}:automatic:due:${apId}`)).toBe(1),
    );
    await first.close();
    const meanwhile = await stage.failed(900, undefined, apId);
    expect([before, meanwhile].map(attemptsOf)).toEqual([1, 1]);
    const runner = stage.runner({ automatic });
    await soon(() => expect([before, meanwhile].map(attemptsOf)).toEqual([2, 2]));
    for (const id of [before, meanwhile]) await stage.answer(id, 2, 401);
    await runner.close();
  });

  it('leave to people what failed more than an hour ago', async () => {
    const apId = 'http://old.example';
    const id = await stage.failed(209, undefined, apId);
    await client.del(`{${stage.prefix}-replays}:automatic`);
    const later = () => Date.now() + 3 * 3_600_000;
    const runner = stage.runner({ automatic: [rule(apId)], now: later });
    await soon(async () =>
      expect(await client.hlen(`{${stage.prefix}-replays}:automatic`)).toBe(stage.shards.length),
    );
    await runner.close();
    expect(attemptsOf(id)).toBe(1);
    expect(await client.zcard(`{${stage.prefix}-replays}:automatic:due:${apId}`)).toBe(0);
  });

  it('leave to people what could not begin within an hour of its time, and say so', async () => {
    const apId = 'http://late.example';
    const automatic = [rule(apId, { backoffSeconds: 3600 })];
    const first = stage.runner({ automatic });
    const [late, ruled, due] = await Promise.all([1, 2, 3].map(() => stage.failed(209, undefined, apId)));
    await soon(async () => expect(await dueIn(apId)).toBe(3));
    await first.close();
    const setTime = (id: string | undefined, ago: number) =>
      client.zadd(`${linesKey()}:${apId}`, Date.now() - ago, `${id} 1`);
    await setTime(late, 3_700_000);
    await setTime(due, 3_500_000);
    const second = stage.runner({ automatic });
    await soon(() => expect(attemptsOf(due ?? '')).toBe(2));
    await second.close();
    await setTime(ruled, 0);
    const third = stage.runner({ automatic: [rule(apId, { faults: [900] })] });
    await soon(async () => expect(await dueIn(apId)).toBe(0));
    await third.close();
    expect([late, ruled].map((id) => attemptsOf(id ?? ''))).toEqual([1, 1]);
    expect([await outcomeOf(late), await outcomeOf(ruled)]).toEqual(['too-late', 'no-rule']);
  });

  it('are not for logins nor for what workflows have asked for, whatever a rule or the list says', async () => {
    const apId = 'http://beside.example';
    const login = await stage.failedLogin(209);
    const loginAp = (await stage.history.find(login))?.apId ?? '';
    const ofWorkflow = await stage.failedOfWorkflow(209, apId);
    const id = await stage.failed(209, undefined, apId);
    const lines = `{${stage.prefix}-replays}:automatic:due`;
    await client.sadd(lines, loginAp);
    await client.zadd(`${lines}:${loginAp}`, 1, `${login} 1`);
    const runner = stage.runner({ automatic: [rule(loginAp), rule(apId)] });
    await soon(() => expect(attemptsOf(id)).toBe(2));
    await soon(async () => expect(await client.zcard(`${lines}:${loginAp}`)).toBe(0));
    expect((await stage.history.find(login))?.attempt).toBe(1);
    expect(attemptsOf(ofWorkflow)).toBe(1);
    await stage.answer(id, 2, 401);
    await runner.close();
  });

  it('keep to the rate of their application', async () => {
    const apId = 'http://rate.example';
    const ids = await Promise.all([1, 2, 3].map(() => stage.failed(209, undefined, apId)));
    const begun = performance.now();
    const runner = stage.runner({ automatic: [rule(apId, { perSecond: 0.5 })] });
    const replays = (): number => ids.reduce((sum, id) => sum + attemptsOf(id) - 1, 0);
    await soon(() => expect(replays()).toBeGreaterThan(0));
    await aWhile(1200);
    const done = replays();
    // One at once, and one in two seconds.
    expect(done).toBeLessThanOrEqual(1 + (performance.now() - begun) / 2000);
    await runner.close();
  });

  it('reach the rate of their application, whatever is due of others', async () => {
    const slow = 'http://slow.example';
    const quick = 'http://quick.example';
    const failMany = (count: number, apId: string) =>
      Promise.all(Array.from({ length: count }, () => stage.failed(209, undefined, apId)));
    const ofSlow = await failMany(110, slow);
    const ofQuick = await failMany(30, quick);
    const automatic = [
      rule(slow, { perSecond: 0.01, backoffSeconds: 0.01 }),
      rule(quick, { perSecond: 20, backoffSeconds: 0.01 }),
    ];
    const begun = performance.now();
    const runner = stage.runner({ automatic });
    // A runner that is short of CPU begins late.
    await soon(() => expect(ofQuick.some((id) => attemptsOf(id) > 1)).toBe(true), 30_000);
    // Twenty at once, and the others within the next second: not one in each, which is half a minute.
    await soon(() => expect(new Set(ofQuick.map(attemptsOf))).toEqual(new Set([2])), 20_000);
    expect(performance.now() - begun).toBeGreaterThan(450);
    expect(ofSlow.filter((id) => attemptsOf(id) > 1)).toHaveLength(1);
    await runner.close();
  }, 90_000);

  it('also follow what was written down by a worker whose clock is behind', async () => {
    const apId = 'http://behind.example';
    const id = await stage.failed(209, undefined, apId);
    const queue = shardFor(stage.shards, id)?.signatures.queue;
    const at = Date.now() - 50_000;
    await client.hset(queue?.toKey(id) ?? '', 'finishedOn', at);
    await client.zadd(queue?.toKey('failed') ?? '', at, id);
    for (const { index } of stage.shards) {
      await client.hset(`{${stage.prefix}-replays}:automatic`, index, Date.now());
    }
    const runner = stage.runner({ automatic: [rule(apId)] });
    await soon(() => expect(attemptsOf(id)).toBe(2));
    await runner.close();
  });

  it.each([
    ['of its application', 'http://gone.example', [rule('http://another.example')]],
    ['of all', 'http://gone-too.example', []],
  ])('forget what was due by the last rule %s, and say so', async (_, apId, automatic) => {
    const id = await stage.failed(209, undefined, apId);
    const first = stage.runner({ automatic: [rule(apId, { backoffSeconds: 1000 })] });
    await soon(async () => expect(await dueIn(apId)).toBe(1));
    await first.close();
    // More than one step takes, and all before it.
    for (let each = 0; each < 60; each += 1)
      await client.zadd(`${linesKey()}:${apId}`, each, `none-${each} 1`);
    const second = stage.runner({ automatic });
    await soon(async () => expect(await client.sismember(linesKey(), apId)).toBe(0));
    await second.close();
    expect([await dueIn(apId), attemptsOf(id)]).toEqual([0, 1]);
    expect(await outcomeOf(id)).toBe('no-rule');
  });

  it('say so where an operator was quicker, and only there', async () => {
    const apId = 'http://quicker.example';
    const automatic = [rule(apId, { backoffSeconds: 3600 })];
    const first = stage.runner({ automatic });
    const [open = '', ended = '', own = ''] = await Promise.all(
      [1, 2, 3].map(() => stage.failed(209, undefined, apId)),
    );
    const ids = [open, ended, own];
    await soon(async () => expect(await dueIn(apId)).toBe(3));
    const setDue = (id: string) => client.zadd(`${linesKey()}:${apId}`, Date.now(), `${id} 1`);
    await setDue(own);
    await soon(async () => expect(await dueIn(apId)).toBe(2));
    await first.close();
    for (const id of [open, ended]) expect(await stage.replays.replay(id, operator)).toBe('replayed');
    await stage.answer(ended, 2, 401);
    await soon(async () => expect((await stage.history.find(ended))?.state).toBe('failed'));
    // Its own as if the process had ended before it took the entry out.
    await Promise.all(ids.map(setDue));
    const second = stage.runner({ automatic });
    await soon(async () => expect(await dueIn(apId)).toBe(0));
    await second.close();
    expect(await Promise.all(ids.map(outcomeOf))).toEqual(['changed', 'changed', undefined]);
    for (const id of [open, own]) await stage.answer(id, 2, 401);
  });
});
