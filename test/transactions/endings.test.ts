/** Waiting for ends: what is told of, what is looked up, and how often. */
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEndings, type Endings } from '../../src/transactions/endings.ts';
import { newMsspTransId } from '../../src/transactions/ids.ts';
import { tellEnds } from '../../src/transactions/jobs/end-stream.ts';
import { closeShards, openShards, type QueueAt } from '../../src/transactions/shards.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const client = redis.client();
const blocking = new Redis(redis.connection);
const shards = openShards({
  redis: client,
  prefix: redis.prefix,
  shards: 1,
  onError: () => undefined,
});
const looked: Promise<unknown>[] = [];
const forever = Number.POSITIVE_INFINITY;
let time = 0;
let at: QueueAt;
let endings: Endings;
let worker: Worker;

beforeAll(() => {
  const [shard] = shards;
  if (shard === undefined) throw new Error('there is no shard');
  const { queue, redis: commands, jobs } = shard.signatures;
  const awaitEnds: typeof jobs.awaitEnds = (ids) => {
    const look = jobs.awaitEnds(ids);
    looked.push(look);
    return look;
  };
  at = { queue, redis: commands, jobs: { ...jobs, awaitEnds } };
  tellEnds(client);
  worker = new Worker(queue.name, null, { connection: client, prefix: shard.prefix });
});
beforeEach(() => {
  // Only the clock of the look-ups: the connections keep theirs.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  looked.length = 0;
  time = 0;
  endings = open(blocking);
});
afterEach(async () => {
  await endings.close();
  vi.useRealTimers();
});
afterAll(async () => {
  await worker.close();
  await closeShards(shards);
  blocking.disconnect();
});

const open = (blocking: Redis): Endings =>
  createEndings({ redis: client, blocking, at, now: () => time, onError: () => undefined });

/** Of the connections that read the stream, what a pattern finds. */
const readers = async (pattern: RegExp): Promise<readonly string[]> => {
  const list = (await client.client('LIST')) as string;
  return list
    .split('\n')
    .filter((line) => line.includes(` name=${at.queue.qualifiedName}:ends `))
    .map((line) => pattern.exec(line)?.[1] ?? '');
};

const stream = (): string => at.queue.toKey('ends:told');

/** As a worker takes the next job and ends it. */
const end = async (
  how: { readonly with: unknown } | { readonly failed: string },
): Promise<void> => {
  const job = await worker.getNextJob('token', { block: false });
  if (job === undefined) throw new Error('a job was expected');
  if ('with' in how) await job.moveToCompleted(how.with, 'token', false);
  else await job.moveToFailed(new Error(how.failed), 'token', false);
};

const submitted = async (): Promise<string> => {
  const id = newMsspTransId(0);
  await at.queue.add('sign', {}, { jobId: id });
  return id;
};

const isAsked = async (): Promise<void> => {
  await vi.waitFor(() => expect(looked).not.toEqual([]), { interval: 1, timeout: 20_000 });
  await looked.at(-1);
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

/** Whether one is blocked in a read: one of a connection's flags. */
const isReading = async (): Promise<boolean> =>
  (await readers(/ flags=(\S+)/)).some((flags) => flags.includes('b'));

describe('the stream of ends', () => {
  it('is read while somebody waits, and not before', async () => {
    await vi.waitFor(() => expect(endings.isConnected()).toBe(true), 20_000);
    expect(await isReading()).toBe(false);
    const waiting = endings.wait(await added(), forever);
    await vi.waitFor(async () => expect(await isReading()).toBe(true), 20_000);
    waiting.cancel();
  });

  it('is read no more a moment after the last one has gone', async () => {
    const waiting = endings.wait(await added(), forever);
    await vi.waitFor(async () => expect(await isReading()).toBe(true), 20_000);
    waiting.cancel();
    await vi.waitFor(
      async () => {
        // An entry ends a read; another one would begin at once.
        await client.xadd(stream(), '*', 'id', 'other', 'completed', '7');
        expect(await isReading()).toBe(false);
      },
      { timeout: 20_000, interval: 100 },
    );
  });

  it('tells how a job ends that somebody waits for', async () => {
    const completed = endings.wait(await submitted(), forever);
    await isAsked();
    await end({ with: 7 });
    expect(await completed.ended).toEqual({ kind: 'completed', returnValue: 7 });
    looked.length = 0;
    const failed = endings.wait(await submitted(), forever);
    await isAsked();
    await end({ failed: '_401 USER_CANCEL: No' });
    expect(await failed.ended).toEqual({ kind: 'failed', failedReason: '_401 USER_CANCEL: No' });
    expect(looked.length).toBe(1);
  });

  it('tells everybody who waits for the job, in other processes, too', async () => {
    const other = open(blocking);
    const id = await submitted();
    const waits = [endings.wait(id, forever), endings.wait(id, forever), other.wait(id, forever)];
    await vi.waitFor(() => expect(looked.length).toBe(2), 20_000);
    await Promise.all(looked);
    await end({ with: 7 });
    for (const { ended } of waits)
      expect(await ended).toEqual({ kind: 'completed', returnValue: 7 });
    await other.close();
  });

  it('says nothing of jobs that nobody waits for, nor of one that could not be ended', async () => {
    await client.del(stream());
    await submitted();
    await end({ with: 7 });
    const id = await submitted();
    const waiting = endings.wait(id, forever);
    await isAsked();
    const job = await worker.getNextJob('token', { block: false });
    await expect(job?.moveToCompleted(7, 'token of another', false)).rejects.toThrow();
    expect(await client.exists(stream())).toBe(0);
    await job?.moveToCompleted(8, 'token', false);
    expect(await waiting.ended).toEqual({ kind: 'completed', returnValue: 8 });
  });

  it('is bounded', async () => {
    for (let n = 0; n < 1300; n += 1)
      await client.xadd(stream(), '*', 'id', `x${n}`, 'completed', '7');
    const waiting = endings.wait(await submitted(), forever);
    await isAsked();
    await end({ with: 7 });
    await waiting.ended;
    expect(await client.xlen(stream())).toBeLessThan(1200);
  });
});

describe('many who begin to wait at once', () => {
  it('ask in one command', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, added));
    const waits = ids.map((id) => endings.wait(id, forever));
    await isAsked();
    expect(looked.length).toBe(1);
    for (const { cancel } of waits) cancel();
  });
});

describe('an end that nothing tells of', () => {
  it('is found at once when it was there before', async () => {
    const id = await submitted();
    await end({ with: 7 });
    expect(await endings.wait(id, forever).ended).toEqual({ kind: 'completed', returnValue: 7 });
  });

  it('is found', async () => {
    const id = await added();
    const waiting = endings.wait(id, forever);
    await isAsked();
    await client.hset(at.queue.toKey(id), 'finishedOn', 1, 'failedReason', '_401 USER_CANCEL: No');
    await pass(2);
    expect(await waiting.ended).toEqual({ kind: 'failed', failedReason: '_401 USER_CANCEL: No' });
  });

  it('is found beside one that cannot be read', async () => {
    const [broken, id] = [await added(), await added()];
    const waits = [endings.wait(broken, forever), endings.wait(id, forever)];
    await isAsked();
    await client.hset(at.queue.toKey(broken), 'finishedOn', 1, 'returnvalue', '{');
    await client.hset(at.queue.toKey(id), 'finishedOn', 1, 'returnvalue', '7');
    await pass(2);
    expect(await waits[1]?.ended).toEqual({ kind: 'completed', returnValue: 7 });
    expect(await waits[0]?.ended).toEqual({ kind: 'completed', returnValue: undefined });
  });

  it('is looked for every second, and less often the longer it takes', async () => {
    await vi.waitFor(() => expect(endings.isConnected()).toBe(true), 20_000);
    looked.length = 0;
    const waiting = endings.wait(await added(), forever);
    await isAsked();
    looked.length = 0;
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

describe('while the stream is not read', () => {
  it('an end is looked for every second, however long it takes', async () => {
    const fragile = new Redis({ ...redis.connection, retryStrategy: () => 3_600_000 });
    const deaf = open(fragile);
    await vi.waitFor(() => expect(deaf.isConnected()).toBe(true), 20_000);
    for (const reader of await readers(/^id=(\d+)/)) await client.client('KILL', 'ID', reader);
    await vi.waitFor(() => expect(deaf.isConnected()).toBe(false), 20_000);
    const waiting = deaf.wait(await added(), forever);
    await isAsked();
    looked.length = 0;
    await pass(120);
    expect(looked.length).toBe(119);
    waiting.cancel();
    await deaf.close();
    fragile.disconnect();
  });
});

describe('a job that is removed', () => {
  it('ends the wait', async () => {
    const id = await added();
    const waiting = endings.wait(id, forever);
    await isAsked();
    await at.queue.remove(id);
    await pass(2);
    expect(await waiting.ended).toBeUndefined();
  });

  it('and is added again under its id, and waited for, is another one', async () => {
    const id = await added();
    const first = endings.wait(id, forever);
    await isAsked();
    await at.queue.remove(id);
    await at.queue.add('sign', {}, { jobId: id });
    const second = endings.wait(id, forever);
    await vi.waitFor(() => expect(looked.length).toBe(2), 20_000);
    await looked.at(-1);
    await end({ with: 7 });
    expect(await first.ended).toEqual({ kind: 'completed', returnValue: 7 });
    expect(await second.ended).toEqual({ kind: 'completed', returnValue: 7 });
  });
});

describe('an end that is told late', () => {
  it('is not that of whoever has begun to wait after it', async () => {
    const id = await submitted();
    const first = endings.wait(id, forever);
    await isAsked();
    time = Date.now() + 60_000;
    const second = endings.wait(id, forever);
    await vi.waitFor(() => expect(looked.length).toBe(2), 20_000);
    await looked.at(-1);
    await client.xadd(stream(), '*', 'id', id, 'failed', '_401 USER_CANCEL: No');
    expect(await first.ended).toEqual({ kind: 'failed', failedReason: '_401 USER_CANCEL: No' });
    time = 0;
    const third = endings.wait(id, forever);
    await vi.waitFor(() => expect(looked.length).toBe(3), 20_000);
    await end({ with: 7 });
    expect(await third.ended).toEqual({ kind: 'completed', returnValue: 7 });
    await pass(3);
    expect(await second.ended).toEqual({ kind: 'completed', returnValue: 7 });
  });
});

describe('the last two seconds of a wait', () => {
  it('find an end that nothing has told of, however long the wait was', async () => {
    const id = await added();
    const waiting = endings.wait(id, 65_000);
    await isAsked();
    for (time = 0; time < 62_000; time += 1000) await pass(1);
    await client.hset(
      at.queue.toKey(id),
      'finishedOn',
      1,
      'failedReason',
      '_208 EXPIRED_TRANSACTION: No',
    );
    for (; time < 65_000; time += 1000) await pass(1);
    expect(await waiting.ended).toMatchObject({ kind: 'failed' });
  });
});

describe('a look-up that fails', () => {
  it('is made again at the next tick', async () => {
    const id = await added();
    let isAway = true;
    const awaitEnds: typeof at.jobs.awaitEnds = (ids) =>
      isAway ? Promise.reject(new Error('Redis is away')) : at.jobs.awaitEnds(ids);
    const failing = { ...at, jobs: { ...at.jobs, awaitEnds } };
    const alone = createEndings({
      redis: client,
      blocking,
      at: failing,
      now: () => 0,
      onError: () => undefined,
    });
    const waiting = alone.wait(id, forever);
    await vi.advanceTimersByTimeAsync(1000);
    isAway = false;
    looked.length = 0;
    await vi.advanceTimersByTimeAsync(1000);
    await isAsked();
    waiting.cancel();
    await alone.close();
  });
});
