/**
 * The order in which jobs are taken, against BullMQ's own scripts: who adds, takes, pauses and
 * removes is BullMQ.
 */
import { type Job, Queue, Worker } from 'bullmq';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { addFairly } from '../../src/transactions/jobs/fair-adding.ts';
import {
  countByLane,
  countWaiting,
  type FairOrder,
  laneOf,
  sortFairly,
} from '../../src/transactions/jobs/fair-order.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const client = redis.client();
/** That of a producer of ours; `client` is that of one that knows only BullMQ. */
const ours = redis.client();
addFairly(ours);
const token = 'token';
const aheadCount = 64;

interface Stage {
  readonly queue: Queue;
  /** The same one, of a producer of ours. */
  readonly own: Queue;
  readonly order: FairOrder;
  /** @returns The ids. */
  add(
    apId: string,
    count: number,
    options?: { readonly priority?: number; readonly by?: 'bare' | 'ours' },
  ): Promise<readonly string[]>;
  /** @returns The jobs that a worker is given, in order. */
  take(count: number): Promise<readonly Job[]>;
  work(step: (job: Job) => Promise<void>, concurrency: number): Worker;
}

const ends: (() => Promise<void>)[] = [];
let stages = 0;
let jobs = 0;

const open = (): Stage => {
  stages += 1;
  const options = { connection: client, prefix: `{${redis.prefix}-${stages}}` };
  const queue = new Queue('signatures', options);
  const own = new Queue('signatures', { ...options, connection: ours });
  const taker = new Worker('signatures', undefined, { ...options, autorun: false });
  ends.push(async () => {
    await taker.close();
    await Promise.all([queue.close(), own.close()]);
  });
  return {
    queue,
    own,
    order: { queue, member: 'AP_ID' },
    add: async (apId, count, { by = 'bare', ...jobOptions } = {}) => {
      const added = Array.from({ length: count }, () => {
        jobs += 1;
        // Not in the order in which they are added: jobs of the same tag are in that of their ids.
        const jobId = `H${(jobs * 7919) % 100_000}x${jobs}`;
        const data = { MSS_SignatureReq: { AP_Info: { AP_ID: apId } } };
        return { name: 'sign', data, opts: { jobId, ...jobOptions } };
      });
      await (by === 'ours' ? own : queue).addBulk(added);
      return added.map(({ opts }) => opts.jobId);
    },
    take: async (count) => {
      const taken: Job[] = [];
      while (taken.length < count) {
        const job = await taker.getNextJob(token, { block: false });
        if (job === undefined) break;
        taken.push(job);
      }
      return taken;
    },
    work: (step, concurrency) => {
      const worker = new Worker('signatures', step, { ...options, concurrency });
      ends.push(() => worker.close());
      return worker;
    },
  };
};

const idsOf = (taken: readonly Job[]): readonly string[] => taken.map(({ id }) => id ?? '');

/** Until everybody has a place, also where few wait. */
const sortAll = async ({ order }: Stage): Promise<ReadonlyMap<string, number>> => {
  for (;;) {
    const lanes = await countByLane(client, order);
    if (lanes !== undefined) return lanes;
  }
};

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

describe('the fair order', () => {
  it('is that of start-time fair queueing, whatever is added, taken and sorted in whatever order', async () => {
    const apId = fc.constantFrom('http://a.example', 'http://b.example', 'http://c.example');
    const command = fc.oneof(
      fc.record({ kind: fc.constant('add'), apId, count: fc.integer({ min: 1, max: 90 }) }),
      fc.record({ kind: fc.constant('take'), count: fc.integer({ min: 1, max: 80 }) }),
      fc.record({ kind: fc.constant('sort') }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 4, maxLength: 14 }), async (commands) => {
        const stage = open();
        interface Waiting {
          readonly id: string;
          readonly apId: string;
          readonly tag: number;
        }
        const byTag = (a: Waiting, b: Waiting): number => a.tag - b.tag || (a.id < b.id ? -1 : 1);
        let arrived: { readonly id: string; readonly apId: string }[] = [];
        let placed: Waiting[] = [];
        let ahead = 0;
        const last = new Map<string, number>();
        let clock = 1;

        for (const each of commands) {
          if ('apId' in each) {
            for (const id of await stage.add(each.apId, each.count))
              arrived.push({ id, apId: each.apId });
          } else if ('count' in each) {
            const expected: string[] = [];
            while (expected.length < each.count) {
              const next = ahead > 0 ? placed.shift() : (arrived.shift() ?? placed.shift());
              if (next === undefined) break;
              ahead = Math.max(0, ahead - 1);
              expected.push(next.id);
            }
            expect(idsOf(await stage.take(each.count))).toEqual(expected);
          } else {
            const lanes = await sortAll(stage);
            if (placed.length === 0) last.clear();
            clock = placed.length === 0 ? 1 : Math.max(clock, placed[0]?.tag ?? 1);
            const changed = arrived.length > 0;
            for (const { id, apId: lane } of arrived) {
              const tag = Math.max(clock, (last.get(lane) ?? 0) + 1);
              last.set(lane, tag);
              placed.push({ id, apId: lane, tag });
            }
            arrived = [];
            placed = placed.toSorted(byTag);
            if (changed) ahead = Math.min(placed.length, aheadCount);
            for (const lane of ['http://a.example', 'http://b.example', 'http://c.example']) {
              const waiting = placed.filter((one) => one.apId === lane).length;
              const counted = lanes.get(laneOf(lane)) ?? 0;
              expect(counted).toBeGreaterThanOrEqual(waiting);
              expect(counted).toBeLessThanOrEqual(waiting + 1);
            }
          }
        }
        expect(await countWaiting(client, stage.order)).toBe(arrived.length + placed.length);
      }),
      { numRuns: 25 },
    );
  });

  it('gives every application its turn, however many jobs another has', async () => {
    const stage = open();
    await stage.add('http://crowd.example', 300);
    await stage.add('http://a.example', 3);
    await sortAll(stage);
    await stage.add('http://crowd.example', 300);
    await stage.add('http://b.example', 3);
    const lanes = await sortAll(stage);
    expect(Object.fromEntries(lanes)).toMatchObject({
      [laneOf('http://crowd.example')]: 600,
      [laneOf('http://a.example')]: 3,
      [laneOf('http://b.example')]: 3,
    });
    const first = await stage.take(12);
    const taken = first.map(({ data }) => data.MSS_SignatureReq.AP_Info.AP_ID.at(7)).sort();
    expect(taken.join('')).toBe('aaabbbcccccc');
  });

  it('leaves a few as they came, and what they left behind is gone then', async () => {
    const stage = open();
    const ids = [
      ...(await stage.add('http://a.example', 20)),
      ...(await stage.add('http://b.example', 1)),
    ];
    expect(await sortFairly(client, stage.order)).toEqual({ placed: 0, left: 0 });
    expect(idsOf(await stage.take(30))).toEqual(ids);
    await stage.add('http://a.example', 500);
    expect(await sortFairly(client, stage.order)).toEqual({ placed: 200, left: 300 });
    await sortAll(stage);
    await stage.take(500);
    await sortFairly(client, stage.order);
    expect(
      await client.exists(stage.queue.toKey('fair:lanes'), stage.queue.toKey('fair:ahead')),
    ).toBe(0);
  });

  it('lets nobody who has begun wait behind what is new', async () => {
    const stage = open();
    await stage.add('http://a.example', 300);
    const [asked] = await stage.take(1);
    await asked?.moveToDelayed(Date.now() + 3_600_000, token);
    await sortAll(stage);
    await stage.add('http://b.example', 300);
    await asked?.promote();
    await sortAll(stage);
    expect(idsOf(await stage.take(6))).toContain(asked?.id);
  });

  it('puts jobs of a lower priority behind all others, as their producer wanted', async () => {
    const stage = open();
    const later = await stage.add('http://b.example', 2, { priority: 1 });
    await stage.add('http://a.example', 100);
    await sortAll(stage);
    expect(idsOf(await stage.take(200)).slice(-2)).toEqual(later);
  });

  it('has a common lane for jobs that do not say whose they are', async () => {
    const stage = open();
    for (const [index, data] of [null, [], 'AP_ID', { AP_ID: 7 }].entries()) {
      await stage.queue.add('sign', data, { jobId: `Hany${index}` });
    }
    await client.lpush(stage.queue.toKey('wait'), 'HnoSuchJob');
    expect((await sortAll(stage)).get(laneOf(''))).toBe(5);
  });

  it('tells applications apart by names that JSON writes in another way', async () => {
    const stage = open();
    const names = ['http://é.example', 'a"b', 'a\\b', 'x'.repeat(300)];
    for (const name of names) await stage.add(name, 2);
    const lanes = await sortAll(stage);
    for (const name of names) expect(lanes.get(laneOf(name))).toBe(2);
  });
});

describe('a job that a producer of ours adds', () => {
  const crowd = 'http://crowd.example';
  const byUs = { by: 'ours' } as const;

  it('has its place at once, though thousands wait for theirs', async () => {
    const stage = open();
    await stage.add(crowd, 300);
    await sortAll(stage);
    await stage.add(crowd, 2000);
    const [first] = await stage.add('http://a.example', 1, byUs);
    const [second, third] = await stage.add('http://b.example', 2, byUs);
    expect(idsOf(await stage.take(5))).toEqual(expect.arrayContaining([first, second, third]));
    expect(await countWaiting(client, stage.order)).toBe(2298);
  });

  it('has its turn also when none of those ahead is left, and nobody has put the next ones there', async () => {
    const stage = open();
    await stage.add(crowd, 300);
    await sortAll(stage);
    await stage.add(crowd, 500);
    await stage.take(aheadCount);
    const [id] = await stage.add('http://a.example', 1, byUs);
    expect(idsOf(await stage.take(1))).toEqual([id]);
  });

  it('comes after those of its application that have their places, and takes turns with others', async () => {
    const stage = open();
    await stage.add(crowd, 100);
    await sortAll(stage);
    const added = [
      ...(await stage.add('http://a.example', 20, byUs)),
      ...(await stage.add('http://a.example', 20, byUs)),
    ];
    await stage.add(crowd, 20, byUs);
    await sortAll(stage);
    const taken = await stage.take(200);
    expect(taken).toHaveLength(160);
    expect(idsOf(taken.filter(({ id }) => added.includes(id ?? '')))).toEqual(added);
    for (let turn = 0; turn < 40; turn += 1) {
      const pair = taken.slice(2 * turn, 2 * turn + 2).map(({ id }) => added.includes(id ?? ''));
      expect(pair.toSorted()).toEqual([false, true]);
    }
  });

  it('waits like any other where no order is kept', async () => {
    const stage = open();
    const ids = [
      ...(await stage.add(crowd, 20)),
      ...(await stage.add('http://a.example', 1, byUs)),
    ];
    expect(await client.keys(stage.queue.toKey('fair:*'))).toEqual([]);
    expect(idsOf(await stage.take(30))).toEqual(ids);
  });

  it('keeps its place when it is added again', async () => {
    const stage = open();
    await stage.add(crowd, 100);
    await sortAll(stage);
    const data = { AP_ID: 'http://a.example' };
    for (let time = 0; time < 3; time += 1) await stage.own.add('sign', data, { jobId: 'Hagain' });
    expect(await countWaiting(client, stage.order)).toBe(101);
    expect(idsOf(await stage.take(200)).filter((id) => id === 'Hagain')).toHaveLength(1);
  });
});

describe('a job that has its place', () => {
  it('is to BullMQ a job like any other: found, counted, removed, paused and put elsewhere', async () => {
    const stage = open();
    await stage.add('http://a.example', 100);
    await sortAll(stage);
    const parked = await client.zrange(stage.queue.toKey('prioritized'), '0', '-1');
    expect(parked).toHaveLength(100 - aheadCount);
    const [first = '', second = '', third = ''] = parked;
    const job = await stage.queue.getJob(first);
    expect(job?.opts.priority).toBeUndefined();
    expect(await job?.getState()).toBe('prioritized');
    expect(await stage.queue.getJobCounts('waiting', 'prioritized')).toEqual({
      waiting: 64,
      prioritized: 36,
    });
    await job?.remove();
    expect(await stage.queue.getJob(first)).toBeUndefined();
    await (await stage.queue.getJob(second))?.changePriority({ priority: 5 });
    await stage.queue.pause();
    await sortAll(stage);
    expect(await stage.take(1)).toEqual([]);
    await stage.queue.resume();
    const taken = idsOf(await stage.take(200));
    expect(taken).toHaveLength(99);
    expect(taken[64]).toBe(third);
    expect(taken.at(-1)).toBe(second);
  });

  it('is taken once, while many add, take, remove, pause and sort at the same time', async () => {
    const stage = open();
    const worked: string[] = [];
    const added: string[] = [];
    const removed = new Set<string>();
    const stalled = new Set<string>();
    const clients = [client, redis.client(), redis.client()];
    let going = true;
    const sorting = clients.map(async (each) => {
      while (going) await sortFairly(each, stage.order);
    });
    const counting = (async () => {
      while (going) await countByLane(client, stage.order);
    })();
    for (let worker = 0; worker < 3; worker += 1) {
      stage
        .work(async ({ id = '' }) => {
          await new Promise(setImmediate);
          worked.push(id);
        }, 5)
        .on('stalled', (id) => stalled.add(id));
    }
    const producers = ['http://a.example', 'http://b.example', 'http://c.example'].map(
      async (apId, index) => {
        for (let round = 0; round < 12; round += 1) {
          const by = round % 2 === 0 ? 'bare' : 'ours';
          const ids = await stage.add(apId, 20 * (index + 1), { by });
          added.push(...ids);
          for (const id of ids.slice(0, 5)) {
            const job = await stage.queue.getJob(id);
            // One that a worker has is not removed, and one that has ended is not removed from any
            // order.
            if ((await job?.getState()) === 'completed') continue;
            await job?.remove().then(
              () => removed.add(id),
              () => undefined,
            );
          }
        }
      },
    );
    const pausing = (async () => {
      for (let round = 0; round < 5; round += 1) {
        await stage.queue.pause();
        await new Promise(setImmediate);
        await stage.queue.resume();
      }
    })();
    await Promise.all([...producers, pausing]);
    await expect
      .poll(() => added.filter((id) => !removed.has(id) && !worked.includes(id)).length, {
        timeout: 40_000,
      })
      .toBe(0);
    going = false;
    await Promise.all([...sorting, counting]);
    expect(await countWaiting(client, stage.order)).toBe(0);
    expect(worked.filter((id, index) => worked.indexOf(id) !== index && !stalled.has(id))).toEqual(
      [],
    );
  });
});
