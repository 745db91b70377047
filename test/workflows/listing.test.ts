/** The list of instances keeps each for as long as its job is kept, and has those of other programs, too. */
import { afterEach, describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { z } from 'zod';
import { defineWorkflow } from '../../src/engine/define.ts';
import { spreadOver } from '../../src/engine/engine.ts';
import type { WorkflowWorker } from '../../src/engine/worker.ts';
import type { Shard } from '../../src/transactions/shards.ts';
import { createListing, listInstances, type WorkflowStatus } from '../../src/workflows/listing.ts';
import { createTurns } from '../../workers/fairness.ts';
import { startWorkflowsWorker } from '../../workers/workflow.worker.ts';
import { createStage, type Stage } from '../engine/stage.ts';
import { testRedis } from '../support/redis.ts';

const begin = createStage(testRedis());

const listed = async ({ queue, redis }: Pick<Stage, 'queue' | 'redis'>, status?: WorkflowStatus) => {
  const page = await listInstances([{ queue, redis }], { status }, { limit: 2000 });
  return page?.rows.map(({ id }) => id);
};

describe('the end of an instance', () => {
  it('leaves the list with its job, whatever else has ended', async () => {
    const { queue, redis } = begin();
    let time = 0;
    const retention = { doneMs: 10, failedMs: 100 };
    const listing = createListing({ queue, redis, retention, now: () => time });
    for (let index = 0; index < 1001; index += 1) await listing.note(`f${index}`, 1, 'failed', 'failed');
    await listing.note('cancelled', 1, 'cancelled', 'failed');
    time = 1;
    await listing.note('completed', 1, 'completed', 'completed');
    await listing.note('decided', 1, 'failed', 'completed');
    time = 50;
    await listing.note('last', 1, 'completed', 'completed');
    expect(await listed({ queue, redis }, 'completed')).toEqual(['last']);
    expect(await listed({ queue, redis }, 'cancelled')).toEqual(['cancelled']);
    expect(await listed({ queue, redis }, 'failed')).toHaveLength(1001);
    time = 150;
    for (const id of ['a', 'b']) await listing.note(id, 1, 'completed', 'completed');
    expect(await listed({ queue, redis })).toEqual(['b', 'a']);
  });
});

describe('an instance that a worker takes', () => {
  const workers: WorkflowWorker[] = [];
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.close();
  });
  const resting = defineWorkflow({
    name: 'resting',
    version: 1,
    input: z.object({ apId: z.string() }),
    chart: setup({ types: {} as { input: { apId: string } } }).createMachine({
      initial: 'open',
      states: { open: {} },
    }),
  });
  const take = ({ queue, redis }: Stage): readonly Error[] => {
    const errors: Error[] = [];
    const worker = startWorkflowsWorker({
      shard: { workflows: { queue, redis } } as unknown as Shard,
      connection: redis,
      locate: spreadOver([queue], redis, Date.now),
      ...{ workflows: [resting], activities: {}, concurrency: 4, fetchers: 1, turns: createTurns() },
      ...{ retention: { doneMs: 60_000, failedMs: 60_000 }, graceMs: 100, now: Date.now },
      worker: { connection: redis, prefix: String(queue.opts.prefix) },
      onError: (error) => errors.push(error),
    });
    workers.push(worker);
    return errors;
  };
  /** A worker has fetched it, and was killed before it did anything. */
  const addTaken = async ({ queue, redis }: Stage, data: unknown): Promise<void> => {
    await queue.add('resting@1', data, { jobId: 'I-1' });
    await redis.hset(queue.toKey('I-1'), 'ats', 1);
  };

  it('is listed when the worker before was killed as it took it', async () => {
    const stage = begin();
    await addTaken(stage, { apId: 'http://ap.example' });
    take(stage);
    await expect.poll(() => stage.queue.getDelayedCount()).toBe(1);
    expect(await listed(stage, 'open')).toEqual(['I-1']);
  });

  it('is listed as failed when it fails before its turn, whichever worker takes it', async () => {
    const stage = begin();
    await addTaken(stage, { apId: 7 });
    take(stage);
    await stage.ended('I-1');
    expect(await listed(stage, 'failed')).toEqual(['I-1']);
    expect(await listed(stage, 'open')).toEqual([]);
  });

  it('is taken again when Redis did not take the note', async () => {
    const stage = begin();
    const { queue, redis } = stage;
    const real = redis.eval.bind(redis) as (...given: readonly unknown[]) => Promise<unknown>;
    let refused = 0;
    redis.eval = (async (...given: readonly unknown[]) => {
      if (!given.includes('open') || refused > 0) return real(...given);
      refused += 1;
      throw new Error('OOM command not allowed');
    }) as never;
    await queue.add('resting@1', { apId: 'http://ap.example' }, { jobId: 'I-1' });
    const errors = take(stage);
    await expect.poll(() => listed(stage, 'open'), { timeout: 5000 }).toEqual(['I-1']);
    await stage.until('I-1', ({ record }) => record?.value === 'open');
    expect([refused, errors.map(({ message }) => message)]).toEqual([1, ['OOM command not allowed']]);
    expect(await queue.getFailedCount()).toBe(0);
  });
});
