/** Jobs that wait while nobody takes one, on a real queue. */
import { Worker } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { closeShards, openShards, type Shard } from '../../src/transactions/shards.ts';
import { type Standstill, watchStandstill } from '../../src/transactions/standstill.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const client = redis.client();
let shards: readonly Shard[];
let shard: Shard;
let standstill: Standstill;
let time = 1_000_000;
const said: number[] = [];

beforeAll(() => {
  // The looks come when the test wants them.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  shards = openShards({
    redis: client,
    prefix: redis.prefix.slice(-32),
    shards: 2,
    onError: () => undefined,
  });
  const [, second] = shards;
  if (second === undefined) throw new Error('a shard was expected');
  shard = second;
  standstill = watchStandstill({
    redis: client,
    shards,
    now: () => time,
    onStandstill: (index, seconds) => void said.push(index, seconds),
    onError: (error) => {
      throw error;
    },
  });
});
afterAll(async () => {
  await standstill.close();
  vi.useRealTimers();
  await closeShards(shards);
});

const until = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 20 });
const stands = (seconds: number) =>
  until(() => {
    vi.advanceTimersByTime(1000);
    expect(standstill.seconds()).toEqual([0, seconds]);
  });

describe('jobs that wait', () => {
  it('are told of when none is taken, also while the job of a dead worker is still in its hands', async () => {
    const { queue } = shard.signatures;
    const worker = new Worker(queue.name, null, {
      connection: redis.connection,
      prefix: shard.prefix,
    });
    const take = () => worker.getNextJob('hand', { block: false });
    for (const priority of [0, 0, 7]) await queue.add('sign', {}, { priority });
    await take();
    const look = vi.spyOn(client, 'lindex');
    /** Two looks at both shards: when the second has begun, the first has ended. */
    const looked = () => {
      const before = look.mock.calls.length;
      return until(() => {
        vi.advanceTimersByTime(1000);
        expect(look.mock.calls.length).toBeGreaterThanOrEqual(before + 4);
      });
    };
    await looked();
    time += 9999;
    await looked();
    expect(said).toEqual([]);
    time += 1;
    await stands(10);
    await looked();
    expect(said).toEqual([1, 10]);

    // The next one is taken, and then it is those with a priority that wait.
    await take();
    await stands(0);
    await looked();
    time += 70_000;
    await looked();
    expect(said).toEqual([1, 10, 1, 70]);
    await take();
    await stands(0);
    await looked();
    time += 70_000;
    await looked();
    expect(said).toEqual([1, 10, 1, 70]);
    await worker.close();
  });
});
