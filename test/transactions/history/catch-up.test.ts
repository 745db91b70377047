/** Gaps in the events, met by a follower whose steps the test takes itself. */
import { afterEach, describe, expect, it } from 'vitest';
import type { StepResult } from '../../../src/transactions/history/follower.ts';
import {
  createIndexFollower,
  type IndexFollower,
} from '../../../src/transactions/history/index-follower.ts';
import { createIndexStore } from '../../../src/transactions/history/index-store.ts';
import { type ShardKeys, shardKeys } from '../../../src/transactions/history/keys.ts';
import { scanQueues } from '../../../src/transactions/history/scan-queues.ts';
import { testRedis } from '../../support/redis.ts';
import { dayMs, type Stage, startStage } from './stage.ts';

const test = testRedis();
let stage: Stage;
afterEach(() => stage.close());

interface Followed {
  readonly keys: ShardKeys;
  readonly follower: IndexFollower;
  /** How many parts of the queue were looked through. */
  looked(): number;
}

/** @param inBetween What happens between two parts of a repair. */
const begin = async (inBetween: () => Promise<void> = async () => undefined): Promise<Followed> => {
  stage = await startStage(test);
  const { redis, prefix } = stage;
  const keys = shardKeys(prefix, 0);
  let looked = 0;
  const mayGoOn = async (): Promise<boolean> => {
    looked += 1;
    await inBetween();
    return true;
  };
  const store = createIndexStore(redis, keys, Date.now);
  return {
    keys,
    follower: createIndexFollower({ redis, keys, store, now: Date.now, mayGoOn }),
    looked: () => looked,
  };
};

/** @returns What was last said, after so many steps at most. */
const untilIdle = async ({ follower }: Followed, steps: number): Promise<StepResult> => {
  let result: StepResult = 'more';
  for (let step = 0; step < steps && result !== 'idle'; step += 1) result = await follower.step();
  return result;
};

const addMany = async (many: number): Promise<void> => {
  const jobs = Array.from({ length: many }, () => stage.jobOf({ apTransId: 'W' }));
  await stage.queues[0]?.addBulk(jobs);
};

/** Jobs that have ended, without an event. */
const endMany = async (many: number, at: (job: number) => number): Promise<void> => {
  const pipeline = stage.redis.pipeline();
  const keys = shardKeys(stage.prefix, 0);
  for (let job = 0; job < many; job += 1) {
    const { data, opts } = stage.jobOf({ apTransId: 'E' });
    const [id, endedAt] = [String(opts?.jobId), at(job)];
    const fields = {
      data: JSON.stringify(data),
      timestamp: endedAt,
      finishedOn: endedAt,
      returnvalue: '{}',
    };
    pipeline.hset(keys.signatures(id), fields).zadd(keys.signatures('completed'), endedAt, id);
  }
  await pipeline.exec();
};

describe('a gap in the events', () => {
  it('is closed by one repair, though more happens meanwhile than the events tell of', async () => {
    const later: string[] = [];
    let isBusy = false;
    const followed = await begin(async () => {
      if (!isBusy) return;
      for (let each = 0; each < 5; each += 1) later.push(await stage.submit({ apTransId: 'L' }));
      await stage.redis.xtrim(followed.keys.signatures('events'), 'MAXLEN', 20);
    });
    await addMany(10);
    expect(await untilIdle(followed, 5)).toBe('idle');
    await stage.queues[0]?.trimEvents(0);
    await addMany(1100);
    isBusy = true;
    expect(await untilIdle(followed, 5)).toBe('idle');
    // Ten events between two parts: those from the beginning have been trimmed long ago.
    const repaired = followed.looked();
    expect(repaired).toBeGreaterThan(2);
    expect(later.length).toBe(repaired * 5);
    const ids = (await stage.all({})).map(({ msspTransId }) => msspTransId);
    expect(ids.length).toBe(10 + 1100 + later.length);
    expect(ids).toEqual(expect.arrayContaining(later));
  });

  it('is met with again when the events were trimmed during the repair faster than they were read', async () => {
    let trims = 0;
    const followed = await begin(async () => {
      if (trims === 0) return;
      trims -= 1;
      await stage.submit({ apTransId: 'L' });
      await stage.queues[0]?.trimEvents(0);
      await stage.submit({ apTransId: 'M' });
    });
    await addMany(10);
    expect(await untilIdle(followed, 5)).toBe('idle');
    trims = 3;
    await stage.queues[0]?.trimEvents(0);
    await addMany(10);
    expect(await untilIdle(followed, 10)).toBe('idle');
    expect(trims).toBe(0);
    expect((await stage.all({})).length).toBe(10 + 10 + 6);
  });

  it('in one queue is no reason to look further back for the other', async () => {
    const looked = [];
    for (const receiptAgoMs of [0, 5 * dayMs]) {
      const followed = await begin();
      const now = Date.now();
      const { redis, queues } = stage;
      await endMany(1200, (job) => now - 5 * dayMs + job * 250_000);
      if (receiptAgoMs > 0) {
        const told = ['event', 'completed', 'jobId', 'X-receipt'];
        await redis.xadd(followed.keys.receipts('events'), `${now - receiptAgoMs}-1`, ...told);
      }
      await addMany(2);
      expect(await untilIdle(followed, 5)).toBe('idle');
      await queues[0]?.trimEvents(0);
      await addMany(2);
      expect(await untilIdle(followed, 5)).toBe('idle');
      expect((await stage.all({})).length).toBe(1204);
      looked.push(followed.looked());
      if (receiptAgoMs === 0) await stage.close();
    }
    expect(looked[1]).toBe(looked[0]);
  });

  it('in the receipts alone leaves the other queue alone, and finds them', async () => {
    const followed = await begin();
    const { redis, queues, submit, take, sign } = stage;
    const id = await submit();
    await sign(await take());
    const events = followed.keys.receipts('events');
    await redis.xadd(events, '*', 'event', 'added', 'jobId', 'X-receipt');
    expect(await untilIdle(followed, 5)).toBe('idle');
    await redis.hset(
      queues[0]?.toKey(id) ?? '',
      'returnvalue',
      JSON.stringify({ state: 'receipted', attempt: 1 }),
    );
    await redis.zadd(followed.keys.receipts('completed'), Date.now(), `${id}-receipt`);
    await redis.xadd(events, '*', 'event', 'added', 'jobId', 'Y-receipt');
    await redis.xtrim(events, 'MAXLEN', 1);
    expect(await untilIdle(followed, 5)).toBe('idle');
    expect(await stage.all({ state: ['receipted'] })).toMatchObject([{ msspTransId: id }]);
    expect(followed.looked()).toBe(1);
  });
});

describe('a scan of the queues', () => {
  it('finds what the fair order puts ahead meanwhile', async () => {
    stage = await startStage(test);
    const keys = shardKeys(stage.prefix, 0);
    const [parked, waiting] = [keys.signatures('prioritized'), keys.signatures('wait')];
    await stage.redis.zadd(parked, 1, 'parked');
    const found: string[] = [];
    let looks = 0;
    for await (const ids of scanQueues(stage.redis, keys, { signatures: 0 })) {
      found.push(...ids);
      looks += 1;
      // Completed, failed and `wait` have been read.
      if (looks === 3)
        await stage.redis.multi().zrem(parked, 'parked').lpush(waiting, 'parked').exec();
    }
    expect(found).toContain('parked');
  });
});
