/** Waiting for ends that no event tells of: what is looked up, and how often. */
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEndings, type Endings } from '../../src/transactions/endings.ts';
import { newMsspTransId } from '../../src/transactions/ids.ts';
import { closeShards, openShards, type QueueAt } from '../../src/transactions/shards.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const client = redis.client();
const shards = openShards({ redis: client, prefix: redis.prefix, shards: 1, onError: () => undefined });
const looked: Promise<unknown>[] = [];
let at: QueueAt;
let endings: Endings;

beforeAll(() => {
  const [shard] = shards;
  if (shard === undefined) throw new Error('there is no shard');
  const { queue, redis: commands, home } = shard.signatures;
  const readEnds: typeof home.readEnds = (ids) => {
    const look = home.readEnds(ids);
    looked.push(look);
    return look;
  };
  at = { queue, redis: commands, home: { ...home, readEnds } };
});
beforeEach(() => {
  // Only the clock of the look-ups: the connections keep theirs.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  looked.length = 0;
  endings = open(client);
});
afterEach(async () => {
  await endings.close();
  vi.useRealTimers();
});
afterAll(() => closeShards(shards));

const open = (blocking: Redis): Endings =>
  createEndings({
    redis: client,
    blocking,
    at,
    prefix: `{${redis.prefix}-0}`,
    now: () => 0,
    onError: () => undefined,
  });

/** Of the connections that read the stream, by the names that BullMQ gives them, what a pattern finds. */
const readers = async (pattern: RegExp): Promise<readonly string[]> => {
  const list = (await client.client('LIST')) as string;
  return list
    .split('\n')
    .filter((line) => line.includes(redis.prefix) && line.includes(':qe'))
    .map((line) => pattern.exec(line)?.[1] ?? '');
};

const pass = async (seconds: number): Promise<void> => {
  for (let second = 0; second < seconds; second += 1) {
    await vi.advanceTimersByTimeAsync(1000);
    await looked.at(-1);
  }
};

const added = async (): Promise<string> => {
  const id = newMsspTransId(0);
  await at.queue.add('sign', {}, { jobId: id, delay: 3_600_000 });
  return id;
};

/** Whether they are blocked in a read: one of a connection's flags. */
const areReading = async (): Promise<readonly boolean[]> =>
  (await readers(/ flags=(\S+)/)).map((flags) => flags.includes('b'));

describe('the events', () => {
  it('are read while somebody waits, and not before', async () => {
    await vi.waitFor(async () => expect(await areReading()).toEqual([false]));
    await added();
    expect(await areReading()).toEqual([false]);
    const waiting = endings.wait(await added(), 1);
    await vi.waitFor(async () => expect(await areReading()).toEqual([true]));
    waiting.cancel();
  });

  it('are read no more a moment after the last one has gone', async () => {
    const id = await added();
    const waiting = endings.wait(id, 1, true);
    await vi.waitFor(async () => expect(await areReading()).toEqual([true]));
    waiting.cancel();
    await vi.waitFor(
      async () => {
        // An event ends a read; another one would begin at once.
        await added();
        expect(await areReading()).toEqual([false]);
      },
      { timeout: 5000, interval: 100 },
    );
  });
});

describe('beside a flood of events about others', () => {
  const events = (): string => at.queue.toKey('events');

  /** All at once, so that one read finds them all. */
  const tellOfOthers = async (): Promise<void> => {
    const crowd = client.multi();
    for (let other = 0; other < 100; other += 1)
      crowd.xadd(events(), '*', 'event', 'added', 'jobId', newMsspTransId(0));
    await crowd.exec();
  };

  /** The flood goes on as long as somebody waits. */
  const inFlood = async <T>(ended: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = ended.finally(() => {
      isOver = true;
    });
    for (; !isOver; await delay(5)) await tellOfOthers();
    return over;
  };

  it('the jobs that are waited for are looked up, and each end is heard of', async () => {
    const ids = [await added(), await added(), await added()] as const;
    const waits = ids.map((id) => endings.wait(id, 1, true));
    await vi.waitFor(async () => expect(await areReading()).toEqual([true]));
    await vi.waitFor(async () => {
      await tellOfOthers();
      expect(looked).not.toEqual([]);
    });
    await client.hset(at.queue.toKey(ids[0]), 'finishedOn', 1, 'returnvalue', '7');
    await client.hset(at.queue.toKey(ids[1]), 'finishedOn', 1, 'failedReason', '_401 USER_CANCEL: No');
    await client.del(at.queue.toKey(ids[2]));
    expect(await inFlood(Promise.all(waits.map(({ ended }) => ended)))).toEqual([
      { kind: 'completed', returnValue: 7 },
      { kind: 'failed', failedReason: '_401 USER_CANCEL: No' },
      undefined,
    ]);
  });

  it('what is about to be added anew is not looked up before', async () => {
    const [again, other] = [await added(), await added()];
    await client.hset(at.queue.toKey(again), 'finishedOn', 1, 'failedReason', '_401 USER_CANCEL: No');
    const [waiting, beside] = [endings.wait(again, 1), endings.wait(other, 1, true)];
    await vi.waitFor(async () => expect(await areReading()).toEqual([true]));
    await vi.waitFor(async () => {
      await tellOfOthers();
      expect(looked.length).toBeGreaterThan(2);
    });
    await at.queue.remove(again);
    await at.queue.add('sign', {}, { jobId: again, delay: 3_600_000 });
    await client.hset(at.queue.toKey(again), 'finishedOn', 1, 'returnvalue', '7');
    waiting.isAdded();
    expect(await inFlood(waiting.ended)).toEqual({ kind: 'completed', returnValue: 7 });
    beside.cancel();
  });

  it('an end that came before it was said that the job is there is found when that is said', async () => {
    const [id, other] = [await added(), await added()];
    const [waiting, beside] = [endings.wait(id, 1), endings.wait(other, 1, true)];
    await vi.waitFor(async () => expect(await areReading()).toEqual([true]));
    await vi.waitFor(async () => {
      await tellOfOthers();
      expect(looked).not.toEqual([]);
    });
    await client.hset(at.queue.toKey(id), 'finishedOn', 1, 'returnvalue', '7');
    // For longer than the jobs are looked up before the stream is asked.
    await inFlood(delay(300));
    await vi.waitFor(async () => expect(await areReading()).toEqual([true]));
    waiting.isAdded();
    expect(await waiting.ended).toEqual({ kind: 'completed', returnValue: 7 });
    beside.cancel();
  });

  it('an end that was found is not told again to who has added the job anew', async () => {
    const id = await added();
    const first = endings.wait(id, 1, true);
    await vi.waitFor(async () => expect(await areReading()).toEqual([true]));
    // Once: then the stream is quiet at the next question.
    await tellOfOthers();
    await vi.waitFor(() => expect(looked).not.toEqual([]), { interval: 1 });
    await client.hset(at.queue.toKey(id), 'finishedOn', 1, 'failedReason', '_401 USER_CANCEL: No');
    await client.xadd(events(), '*', 'event', 'failed', 'jobId', id, 'failedReason', '_401 USER_CANCEL: No');
    expect(await first.ended).toMatchObject({ kind: 'failed' });
    const second = endings.wait(id, 1);
    await at.queue.remove(id);
    await at.queue.add('sign', {}, { jobId: id, delay: 3_600_000 });
    second.isAdded();
    await vi.waitFor(async () => expect(await areReading()).toEqual([true]));
    await client.hset(at.queue.toKey(id), 'finishedOn', 1, 'returnvalue', '7');
    await client.xadd(events(), '*', 'event', 'completed', 'jobId', id, 'returnvalue', '7');
    expect(await second.ended).toEqual({ kind: 'completed', returnValue: 7 });
  });

  it('the stream is read as before when it is over', async () => {
    const waiting = endings.wait(await added(), 1, true);
    await vi.waitFor(async () => expect(await areReading()).toEqual([true]));
    await vi.waitFor(async () => {
      await tellOfOthers();
      expect(looked).not.toEqual([]);
    });
    await vi.waitFor(async () => expect(await areReading()).toEqual([true]));
    waiting.cancel();
  });
});

describe('a failure that is told of late', () => {
  it('is not that of the job which has taken its place', async () => {
    const [id, other] = [await added(), await added()];
    const [waiting, behind] = [endings.wait(id, 1), endings.wait(other, 1, true)];
    await vi.waitFor(async () => expect(await areReading()).toEqual([true]));
    const tell = (event: string, jobId: string, ...more: readonly string[]) =>
      client.xadd(at.queue.toKey('events'), '*', 'event', event, 'jobId', jobId, ...more);
    await tell('failed', id, 'failedReason', '_401 USER_CANCEL: No');
    await tell('completed', other, 'returnvalue', '7');
    await behind.ended;
    waiting.isAdded();
    await tell('completed', id, 'returnvalue', '7');
    expect(await waiting.ended).toEqual({ kind: 'completed', returnValue: 7 });
  });

  it('is heard of by whoever says after it that the job is there', async () => {
    const [id, other] = [await added(), await added()];
    const [waiting, behind] = [endings.wait(id, 1), endings.wait(other, 1, true)];
    await vi.waitFor(async () => expect(await areReading()).toEqual([true]));
    const failed = ['event', 'failed', 'jobId', id, 'failedReason', '_401 USER_CANCEL: No'];
    await client.hset(at.queue.toKey(id), 'finishedOn', 1, 'failedReason', '_401 USER_CANCEL: No');
    await client.xadd(at.queue.toKey('events'), '*', ...failed);
    await client.xadd(
      at.queue.toKey('events'),
      '*',
      'event',
      'completed',
      'jobId',
      other,
      'returnvalue',
      '7',
    );
    await behind.ended;
    waiting.isAdded();
    expect(await waiting.ended).toEqual({ kind: 'failed', failedReason: '_401 USER_CANCEL: No' });
  });
});

describe('an end that no event has told of', () => {
  it('is found', async () => {
    const id = await added();
    const waiting = endings.wait(id, 1, true);
    await client.hset(at.queue.toKey(id), 'finishedOn', 1, 'failedReason', '_401 USER_CANCEL: No');
    await pass(2);
    expect(await waiting.ended).toEqual({ kind: 'failed', failedReason: '_401 USER_CANCEL: No' });
  });

  it('is found beside one that cannot be read', async () => {
    const [broken, id] = [await added(), await added()];
    const waits = [endings.wait(broken, 1, true), endings.wait(id, 1, true)];
    await client.hset(at.queue.toKey(broken), 'finishedOn', 1, 'returnvalue', '{');
    await client.hset(at.queue.toKey(id), 'finishedOn', 1, 'returnvalue', '7');
    await pass(2);
    expect(await waits[1]?.ended).toEqual({ kind: 'completed', returnValue: 7 });
    expect(await waits[0]?.ended).toEqual({ kind: 'completed', returnValue: undefined });
  });

  it('is not that of the job which is about to be replaced', async () => {
    const id = await added();
    await client.hset(at.queue.toKey(id), 'finishedOn', 1, 'failedReason', '_401 USER_CANCEL: No');
    const waiting = endings.wait(id, 1);
    await pass(3);
    await at.queue.remove(id);
    await at.queue.add('sign', {}, { jobId: id, delay: 3_600_000 });
    waiting.isAdded();
    await client.hset(at.queue.toKey(id), 'finishedOn', 1, 'returnvalue', '7');
    await pass(2);
    expect(await waiting.ended).toEqual({ kind: 'completed', returnValue: 7 });
  });

  it('is looked for every second, and less often the longer it takes', async () => {
    await vi.waitFor(() => expect(endings.isConnected()).toBe(true));
    looked.length = 0;
    const waiting = endings.wait(await added(), 1);
    await pass(20);
    expect(looked.length).toBe(19);
    await pass(100);
    expect(looked.length).toBeLessThan(45);
    await pass(1080);
    // Once a minute now.
    const before = looked.length;
    await pass(600);
    expect(looked.length).toBe(before + 10);
    waiting.cancel();
  });
});

describe('while the events are not read', () => {
  it('an end is looked for every second, however long it takes', async () => {
    const fragile = new Redis({ ...redis.connection, retryStrategy: () => 3_600_000 });
    const deaf = open(fragile);
    await vi.waitFor(() => expect(deaf.isConnected()).toBe(true));
    for (const reader of await readers(/^id=(\d+)/)) await client.client('KILL', 'ID', reader);
    await vi.waitFor(() => expect(deaf.isConnected()).toBe(false));
    looked.length = 0;
    const waiting = deaf.wait(await added(), 1);
    await pass(120);
    expect(looked.length).toBe(119);
    waiting.cancel();
    await deaf.close();
    fragile.disconnect();
  });
});

describe('a job that is removed', () => {
  it('ends the wait, whether an event tells of it or nothing does', async () => {
    const [told, untold] = [await added(), await added()];
    const waits = [endings.wait(told, 1, true), endings.wait(untold, 1, true)];
    await at.queue.remove(told);
    await client.del(at.queue.toKey(untold));
    expect(await waits[0]?.ended).toBeUndefined();
    await pass(2);
    expect(await waits[1]?.ended).toBeUndefined();
  });

  it('is told of too late when it has been added anew', async () => {
    const id = await added();
    const waiting = endings.wait(id, 1, true);
    await vi.waitFor(async () => expect(await areReading()).toEqual([true]));
    await client.xadd(at.queue.toKey('events'), '*', 'event', 'removed', 'jobId', id, 'prev', 'failed');
    await client.xadd(at.queue.toKey('events'), '*', 'event', 'completed', 'jobId', id, 'returnvalue', '7');
    expect(await waiting.ended).toEqual({ kind: 'completed', returnValue: 7 });
  });

  it('is waited for by who is about to add it anew', async () => {
    const id = await added();
    const [waiting, other] = [endings.wait(id, 1), endings.wait(id, 1, true)];
    await at.queue.remove(id);
    expect(await other.ended).toBeUndefined();
    looked.length = 0;
    await pass(3);
    expect(looked.length).toBe(2);
    await at.queue.add('sign', {}, { jobId: id, delay: 3_600_000 });
    waiting.isAdded();
    await client.hset(at.queue.toKey(id), 'finishedOn', 1, 'returnvalue', '7');
    await pass(1);
    expect(await waiting.ended).toEqual({ kind: 'completed', returnValue: 7 });
  });
});
