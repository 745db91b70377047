/** The follower finds ends: for which applications, and after a gap in the events. */
import { afterEach, describe, expect, it } from 'vitest';
import type { RedisClient } from '../../../src/redis/connect.ts';
import { closeShards, openShards, type Shard } from '../../../src/transactions/shards.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { soon } from '../../../test/support/soon.ts';
import { type Stage, startStage } from '../../../test/transactions/history/stage.ts';
import {
  type CallbackFollower,
  createCallbackFollower,
  type FollowerOptions,
} from '../follower.ts';
import { callbacksOf as queueIn } from '../queue.ts';

const test = testRedis();
const shop = 'mid://shop';
const bank = 'mid://bank';
let stage: Stage;
let shards: readonly Shard[] = [];
const running: CallbackFollower[] = [];

const begin = async (): Promise<Stage> => {
  stage = await startStage(test);
  const { redis, prefix, errors } = stage;
  shards = openShards({
    redis,
    prefix,
    shards: 1,
    queues: ['callbacks'],
    onError: (error) => errors.push(error),
  });
  return stage;
};

afterEach(async () => {
  await Promise.all(running.splice(0).map((follower) => follower.close()));
  await closeShards(shards);
  await stage.close();
  expect(stage.errors).toEqual([]);
});

const start = (
  apIds: readonly string[],
  changes: Partial<FollowerOptions> = {},
): CallbackFollower => {
  const { redis, prefix, errors } = stage;
  const follower = createCallbackFollower({
    redis,
    prefix,
    shards,
    find: async () => undefined,
    apIds: new Set(apIds),
    now: Date.now,
    onError: (error) => errors.push(error),
    pollMs: 10,
    ...changes,
  });
  running.push(follower);
  follower.start();
  return follower;
};

const failOne = async (apId: string): Promise<string> => {
  const id = await stage.submit({ apId });
  await stage.fail(await stage.take(), 401);
  return id;
};

/** The AP_ID of an application that gets callbacks. */
const found = async (): Promise<readonly string[]> => {
  const [jobs] = await Promise.all(shards.map((shard) => queueIn(shard).queue.getWaiting()));
  return (jobs ?? []).map(({ id }) => String(id)).sort();
};
const ends = (ids: readonly string[]): readonly string[] =>
  ids.map((id) => `${id}-1-failed`).sort();

const applicationsKey = (): string => `{${stage.prefix}-callbacks}:applications`;

describe('the one who follows', () => {
  it('finds the ends of an application that another process has registered', async () => {
    await begin();
    const old = start([shop]);
    await old.idle();
    const silent = await failOne(bank);
    await old.idle();
    start([shop, bank]);
    await soon(async () =>
      expect(await stage.redis.zscore(applicationsKey(), bank)).not.toBeNull(),
    );
    const ids = [await failOne(bank), await failOne(shop)];
    await old.idle();
    expect(await found()).toEqual(ends(ids));
    expect(await found()).not.toContain(`${silent}-1-failed`);
  });

  it('finds them no more when no process has known the application for a while', async () => {
    await begin();
    await stage.redis.zadd(applicationsKey(), Date.now() - 700_000, bank);
    const follower = start([shop]);
    await follower.idle();
    await failOne(bank);
    const id = await failOne(shop);
    await follower.idle();
    expect(await found()).toEqual(ends([id]));
  });

  it('goes no further in the events than it has made jobs of, when Redis refuses them', async () => {
    const { redis, errors } = await begin();
    const follower = start([shop]);
    await follower.idle();
    // The first command of each job that is added fails on it, so nothing of the job is written.
    const [counter = ''] = shards.map((shard) => queueIn(shard).queue.toKey('id'));
    await redis.del(counter);
    await redis.lpush(counter, 'not a number');
    const id = await failOne(shop);
    await soon(() => expect(errors.join()).toContain('WRONGTYPE'));
    await redis.del(counter);
    await follower.idle();
    expect(await found()).toEqual(ends([id]));
    errors.splice(0);
  });

  it('closes a gap by looking through once, though more ends meanwhile than the events tell of', async () => {
    const { redis } = await begin();
    const ids: string[] = [];
    const first = start([shop]);
    ids.push(await failOne(shop));
    await first.idle();
    await first.close();
    const events = shards[0]?.signatures.queue.toKey('events') ?? '';
    for (let each = 0; each < 3; each += 1) ids.push(await failOne(shop));
    await redis.xtrim(events, 'MAXLEN', 2);
    let looked = 0;
    const whileLooking = new Proxy(redis, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (name !== 'lrange') return typeof value === 'function' ? value.bind(target) : value;
        return async (...given: Parameters<RedisClient['lrange']>) => {
          looked += 1;
          ids.push(await failOne(shop));
          // Four events of each: those from the beginning go before the last list is read.
          await redis.xtrim(events, 'MAXLEN', 10);
          return target.lrange(...given);
        };
      },
    });
    const second = start([shop], { redis: whileLooking });
    await second.idle();
    ids.push(await failOne(shop));
    await second.idle();
    // Once: the lists of those that wait, are paused and are active, and the end of the first one
    // again.
    expect(looked).toBe(3);
    expect(await found()).toEqual(ends(ids));
  });
});
