/** What a worker tells Redis of the time; it also holds where BullMQ's scripts take it. */
import { Queue, Worker } from 'bullmq';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { testRedis } from '../../../test/support/redis.ts';
import { graceOf, inRedisTime } from '../src/redis/redis-time.ts';

const redis = testRedis();
const options = { connection: redis.connection, prefix: `{${redis.prefix}}` };
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

describe.each([300_000, -300_000])('A worker whose process is %i ms behind Redis', (behindMs) => {
  const now = (): number => Date.now() + behindMs;

  it('dates, delays and wakes jobs by the time of Redis, and waits in between', async () => {
    const queue = new Queue(`timed-${behindMs}`, options);
    const began = now();
    const takenAt: number[] = [];
    let looks = 0;
    const worker = new Worker(
      queue.name,
      async () => {
        takenAt.push(now());
        if (takenAt.length === 1) throw new Error('once more');
      },
      { ...options, drainDelay: 60 },
      (...given) => {
        const backend = inRedisTime(now)(...given);
        const moveToActive = backend.moveToActive.bind(backend);
        backend.moveToActive = (...more) => {
          looks += 1;
          return moveToActive(...more);
        };
        return backend;
      },
    );
    open.push(worker, queue);
    await worker.waitUntilReady();
    const added = await queue.add(
      'job',
      {},
      { timestamp: now(), delay: 500, attempts: 2, backoff: { type: 'fixed', delay: 700 } },
    );
    const job = await vi.waitFor(
      async () => {
        const found = await queue.getJob(added.id ?? '');
        expect(found?.finishedOn).toBeDefined();
        return found;
      },
      { timeout: 20_000 },
    );
    const [first = 0, second = 0] = takenAt;
    expect(first - began).toBeGreaterThanOrEqual(500);
    expect(second - first).toBeGreaterThanOrEqual(690);
    expect(now() - second).toBeLessThan(8000);
    expect(Math.abs((job?.processedOn ?? 0) - second)).toBeLessThan(2000);
    expect(Math.abs((job?.finishedOn ?? 0) - second)).toBeLessThan(2000);
    expect(looks, 'looks for a job').toBeLessThan(12);
    expect(await queue.clean(graceOf(60_000, now), 10, 'completed')).toEqual([]);
    expect(await queue.clean(graceOf(-60_000, now), 10, 'completed')).toEqual([added.id]);
  });
});
