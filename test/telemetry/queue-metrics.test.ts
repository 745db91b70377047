/** What is looked up in the queues when somebody scrapes. */
import { type Job, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createQueueMetrics } from '../../src/telemetry/queue-metrics.ts';
import { sortFairly } from '../../src/transactions/jobs/fair-order.ts';
import {
  closeShards,
  openShards,
  queueOf,
  queuesIn,
  type Shard,
} from '../../src/transactions/shards.ts';
import { testRedis } from '../support/redis.ts';
import { readExposition } from './exposition.ts';

const redis = testRedis();
const client = redis.client();
const prefix = redis.prefix.slice(-32);
let shards: readonly Shard[] = [];
let time = Date.now();

beforeAll(() => {
  shards = openShards({
    redis: client,
    prefix,
    shards: 2,
    queues: ['callbacks', 'workflows'],
    onError: () => undefined,
  });
});
afterAll(() => closeShards(shards));

const shardAt = (index: number): Shard => {
  const shard = shards[index];
  if (shard === undefined) throw new Error('no such shard');
  return shard;
};

/** @param evaluate What answers instead of Redis. */
const watch = (evaluate: (...given: unknown[]) => Promise<unknown>) => {
  const registry = new Registry();
  const over = Object.create(client, { eval: { value: evaluate } }) as Redis;
  createQueueMetrics(registry)({ redis: over, queues: queuesIn(shards), now: () => time });
  return async () => readExposition(await registry.metrics());
};

const asked = (): { scrape: ReturnType<typeof watch>; times: () => number } => {
  let times = 0;
  const scrape = watch((...given) => {
    times += 1;
    return (client.eval as (...all: unknown[]) => Promise<unknown>).apply(client, given);
  });
  return { scrape, times: () => times };
};

const jobs = 'paraph_queue_jobs';
const age = 'paraph_queue_oldest_age_seconds';
const at = (state: string, shard = '0') => ({ queue: 'signatures', shard, state });

describe('the look', () => {
  it('is one command for each queue, shared by all who scrape within a second', async () => {
    const { scrape, times } = asked();
    await Promise.all([scrape(), scrape(), scrape()]);
    await scrape();
    expect(times()).toBe(8);
    time += 1000;
    await scrape();
    expect(times()).toBe(16);
  });

  it('leaves the gauges out when Redis does not answer', async () => {
    const silent = watch(() => new Promise(() => undefined));
    const refusing = watch(async () => {
      throw new Error('Redis is away');
    });
    for (const scrape of [silent, refusing]) {
      const seen = await scrape();
      expect(seen.types.get(jobs)).toBe('gauge');
      expect(seen.samples).toEqual([]);
    }
  });

  it('forgets old numbers when Redis stops to answer', async () => {
    let away = false;
    const scrape = watch((...given) =>
      away
        ? Promise.reject(new Error('away'))
        : (client.eval as (...all: unknown[]) => Promise<unknown>).apply(client, given),
    );
    expect((await scrape()).samples).not.toEqual([]);
    away = true;
    time += 1000;
    expect((await scrape()).samples).toEqual([]);
  });
});

describe('ages', () => {
  let scrape: ReturnType<typeof watch>;
  const look = async () => {
    time += 1000;
    return scrape();
  };
  let worker: Worker;
  const takeJob = async (token: string): Promise<Job> => {
    const job = (await worker.getNextJob(token, { block: false })) as Job | undefined;
    if (job === undefined) throw new Error('there is no job');
    return job;
  };

  beforeAll(() => {
    ({ scrape } = asked());
    const { queue } = shardAt(0).signatures;
    worker = new Worker(queue.name, null, {
      connection: redis.connection,
      prefix: shardAt(0).prefix,
      lockDuration: 60_000,
    });
  });
  afterAll(() => worker.close());

  it('are those of the oldest, by queue and shard', async () => {
    const { queue } = shardAt(0).signatures;
    time = Date.now();
    await queue.add('sign', {}, { timestamp: time - 30_000 });
    await queue.add('sign', {}, { timestamp: time - 10_000 });
    const seen = await look();
    expect(seen.valueOf(jobs, at('waiting'))).toBe(2);
    expect(seen.valueOf(age, at('waiting'))).toBe(31);
    expect(seen.valueOf(jobs, at('waiting', '1'))).toBe(0);
    expect(seen.valueOf(age, at('waiting', '1'))).toBe(0);
  });

  it('are those of the oldest, although one of another application is taken before it', async () => {
    const at = queueOf(shardAt(1), 'callbacks');
    const order = { queue: at.queue, member: 'apId' } as const;
    await at.queue.addBulk(
      Array.from({ length: 100 }, () => ({
        name: 'callback',
        data: { apId: 'http://crowd.example' },
        opts: { timestamp: time - 50_000 },
      })),
    );
    while ((await sortFairly(client, order)).left > 0);
    await at.queue.add(
      'callback',
      { apId: 'http://other.example' },
      { timestamp: time, lifo: true },
    );
    const about = { queue: 'callbacks', shard: '1', state: 'waiting' };
    expect((await look()).valueOf(age, about)).toBe(51);
  });

  it('of workflows are told, too', async () => {
    await queueOf(shardAt(1), 'workflows').queue.add('process', {}, { timestamp: time - 20_000 });
    const about = { queue: 'workflows', shard: '1', state: 'waiting' };
    expect((await look()).valueOf(age, about)).toBe(21);
  });

  it('of active jobs count from when they were taken', async () => {
    const job = await takeJob('t');
    time = (job.processedOn ?? 0) + 6000;
    const seen = await look();
    expect(seen.valueOf(jobs, at('active'))).toBe(1);
    expect(seen.valueOf(age, at('active'))).toBe(7);
    await job.moveToDelayed(time + 20_000, 't');
  });

  it('of delayed jobs are how long the first is overdue', async () => {
    const before = await look();
    expect(before.valueOf(jobs, at('delayed'))).toBe(1);
    expect(before.valueOf(age, at('delayed'))).toBe(0);
    time += 22_000;
    expect((await look()).valueOf(age, at('delayed'))).toBeCloseTo(4, 0);
  });

  it('of waiting jobs that have run before count from when they were first seen in front', async () => {
    const { queue } = shardAt(0).signatures;
    await (await takeJob('u')).moveToDelayed(time + 1e6, 'u');
    const [slept] = await queue.getDelayed();
    await slept?.promote();
    expect((await look()).valueOf(age, at('waiting'))).toBe(0);
    time += 8000;
    expect((await look()).valueOf(age, at('waiting'))).toBe(9);
  });

  it('of jobs that were scheduled count from their time', async () => {
    const { queue } = shardAt(1).signatures;
    const day = 86_400_000;
    const job = await queue.add('sign', {}, { timestamp: time - day, delay: day - 5000 });
    await job.promote();
    const seen = await look();
    expect(seen.valueOf(jobs, at('waiting', '1'))).toBe(1);
    expect(seen.valueOf(age, at('waiting', '1'))).toBe(6);
  });

  it('of jobs that were promoted before their time count from when they were first seen', async () => {
    const { queue } = shardAt(1).receipts;
    const job = await queue.add('receipt', {}, { delay: 3_600_000 });
    await job.promote();
    const about = { queue: 'receipts', shard: '1', state: 'waiting' };
    expect((await look()).valueOf(age, about)).toBe(0);
    time += 3000;
    expect((await look()).valueOf(age, about)).toBe(4);
  });

  it('of failed jobs count from their end', async () => {
    const job = await takeJob('v');
    await job.moveToFailed(new Error('no'), 'v');
    time = (job.finishedOn ?? 0) + 59_000;
    const seen = await look();
    expect(seen.valueOf(jobs, at('failed'))).toBe(1);
    expect(seen.valueOf(age, at('failed'))).toBe(60);
  });
});
