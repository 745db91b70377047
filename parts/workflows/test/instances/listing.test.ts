/**
 * The list of instances keeps each for as long as its job is kept, and has those of other programs,
 * too.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { z } from 'zod';
import { defineWorkflow } from '../../../../packages/engine/src/define.ts';
import type { WorkflowWorker } from '../../../../packages/engine/src/worker.ts';
import { createStage, type Stage } from '../../../../packages/engine/test/stage.ts';
import { instanceIdOf, tenantOf } from '../../../../src/transactions/jobs/instance-ids.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import { createTurns } from '../../../../workers/fairness.ts';
import { startWorkflowsWorker } from '../../activities/workflow.worker.ts';
import type { WorkflowStatus } from '../../instances/contract.ts';
import { createListing, listInstances, type Noted, peopleOf } from '../../instances/listing.ts';

const begin = createStage(testRedis());

/** Rows alone are listed: there is no record that has a reason. */
const noReason = async (): Promise<undefined> => undefined;
/** Nothing is over. */
const kept = { retention: { doneMs: 9e12, failedMs: 9e12 }, now: () => 1, reasonOf: noReason };

const listed = async (
  { queue, redis }: Pick<Stage, 'queue' | 'redis'>,
  status?: WorkflowStatus,
  as: Parameters<typeof listInstances>[3] = kept,
) => {
  const filter = status === undefined ? {} : { status: [status] };
  const page = await listInstances([{ queue, redis }], filter, { limit: 2000 }, as);
  return page?.rows.map(({ id }) => id);
};

describe('the end of an instance', () => {
  it('leaves the list with its job, whatever else has ended', async () => {
    const { queue, redis } = begin();
    let time = 0;
    const retention = { doneMs: 10, failedMs: 100 };
    const listing = createListing({ queue, redis, retention, now: () => time });
    const note = (id: string, status: WorkflowStatus, job: Noted['job']) =>
      listing.note({ id, createdAt: 1, people: { size: 1, numbers: [] }, status, job });
    const isListed = (status?: WorkflowStatus) =>
      listed({ queue, redis }, status, { retention, now: () => time, reasonOf: noReason });
    for (let index = 0; index < 1001; index += 1) await note(`f${index}`, 'failed', 'failed');
    await note('cancelled', 'cancelled', 'failed');
    time = 1;
    await note('completed', 'completed', 'completed');
    await note('decided', 'failed', 'completed');
    time = 50;
    await note('last', 'completed', 'completed');
    expect(await isListed('completed')).toEqual(['last']);
    expect(await isListed('cancelled')).toEqual(['cancelled']);
    expect(await isListed('failed')).toHaveLength(1001);
    time = 150;
    for (const id of ['a', 'b']) await note(id, 'completed', 'completed');
    expect(await isListed()).toEqual(['b', 'a']);
    expect(await listing.sweep()).toBe(1005);
    expect(await listing.sweep()).toBe(0);
    const kept = await redis.hkeys(queue.toKey('list:rows:at'));
    expect(kept.toSorted()).toEqual(['a', 'b']);
  });

  it('takes its row along from the lists of an earlier version, and counts it no second time', async () => {
    const { queue, redis } = begin();
    const retention = { doneMs: 10, failedMs: 100 };
    const listing = createListing({ queue, redis, retention, now: () => 50 });
    const apId = 'mid://a.example';
    const [open, done, gone] = ['1', '2', '3'].map((own) => instanceIdOf(apId, 'process', own));
    const key = (of: string) => queue.toKey(`list:${of}`);
    await redis.zadd(key('open'), 7, String(open));
    await redis.hset(key('sizes'), tenantOf(apId), 2, 'all', 2);
    await redis.zadd(key('completed'), 5, String(done), 4, String(gone));
    await redis.zadd(key('ends-completed'), 45, String(done), 40, String(gone));
    await redis.zadd(key('numbers'), 0, `41700092501:0000000000000007:${open}`);
    await redis.hset(queue.toKey(String(open)), {
      timestamp: 7,
      data: JSON.stringify({ input: { steps: [{ signers: [{ msisdn: '+41700092501' }] }] } }),
    });
    expect(await listing.sweep()).toBe(1);
    const find = async (filter: Parameters<typeof listInstances>[1]) => {
      const page = await listInstances([{ queue, redis }], filter, { limit: 9 }, kept);
      return page?.rows;
    };
    expect(await find({})).toEqual([
      { id: open, status: 'open', createdAt: 7 },
      { id: done, status: 'completed', createdAt: 5 },
    ]);
    expect(await find({ msisdn: '+41700092501' })).toHaveLength(1);
    expect(await redis.keys(key('{numbers,open,ends-*,completed}'))).toEqual([]);
    // A worker of that version has come after.
    await redis.zadd(key('open'), 7, String(open));
    const people = { size: 2, numbers: [] };
    await listing.note({
      id: String(open),
      createdAt: 7,
      people,
      status: 'completed',
      job: 'completed',
    });
    await listing.sweep();
    expect(await listing.sizes(apId)).toEqual({ own: 0, inAll: 0 });
    expect(await find({ status: ['open'] })).toEqual([]);
  });
});

describe('the size of open instances', () => {
  const person = { name: 'Anna', msisdn: '+41700092501' };
  const input = {
    steps: [
      { signers: [{ ...person, substitutes: [person, person] }, person] },
      { signers: [person], escalate: { after: 'P1D', to: person } },
    ],
    compensation: [{ tell: 'https://ap.example/' }, { signers: [person] }],
  };

  it('is one for each, and one more for each person in the definition of a process', () => {
    expect(peopleOf('process', { apId: 'a', input }).size).toBe(1 + 4 + 2 + 1);
    expect(peopleOf('other', { apId: 'a', input }).size).toBe(1);
    const thousands = { steps: [{ signers: Array.from({ length: 10_000 }, () => person) }] };
    expect(peopleOf('process', { input: thousands }).size).toBe(101);
    for (const data of [
      undefined,
      7,
      { input: null },
      { input: { steps: 'x', compensation: [null, 7] } },
    ])
      expect(peopleOf('process', data).size).toBe(1);
  });

  it('counts each once, whoever notes it how often, and those that are open alone', async () => {
    const { queue, redis } = begin();
    const retention = { doneMs: 1000, failedMs: 1000 };
    const listing = createListing({ queue, redis, retention, now: () => 1 });
    const [a, b] = ['mid://a.example', 'mid://b.example'];
    const note = async (id: string, status: WorkflowStatus, job: Noted['job']) => {
      await redis.set(queue.toKey(`${id}:lock`), 'held');
      await redis.hset(queue.toKey(id), 'timestamp', 1);
      await listing.note({
        id,
        createdAt: 1,
        people: { size: 4, numbers: [] },
        status,
        job,
        token: 'held',
      });
    };
    const ofA = instanceIdOf(a, 'process', '1');
    await note(ofA, 'open', 'added');
    await note(ofA, 'open', 'open');
    await note(ofA, 'open', 'added');
    await note(instanceIdOf(a, 'process', '2'), 'open', 'open');
    await note(instanceIdOf(b, 'process', '1'), 'open', 'open');
    expect(await listing.sizes(a)).toEqual({ own: 8, inAll: 12 });
    await note(ofA, 'cancelled', 'failed');
    await note(ofA, 'cancelled', 'failed');
    // The answer to whoever has added it comes late.
    await note(ofA, 'open', 'added');
    expect(await listed({ queue, redis }, 'cancelled')).toEqual([ofA]);
    expect(await listing.sizes(a)).toEqual({ own: 4, inAll: 8 });
    // It is run again.
    await note(ofA, 'open', 'open');
    expect(await listing.sizes(a)).toEqual({ own: 8, inAll: 12 });
    await note(instanceIdOf(b, 'process', '1'), 'completed', 'completed');
    expect(await listing.sizes(b)).toEqual({ own: 0, inAll: 8 });
  });
});

describe('the filter of the list', () => {
  const retention = { doneMs: 10, failedMs: 10 };
  const [anna, beat] = ['+41700092501', '+41700092502'];
  const process = (...numbers: readonly string[]) => ({
    input: { steps: [{ signers: numbers.map((msisdn) => ({ name: 'A', msisdn })) }] },
  });

  it('finds processes by the numbers of their people, in order, on pages, and no longer than they are listed', async () => {
    const stage = begin();
    const { queue, redis } = stage;
    let time = 1;
    const listing = createListing({ queue, redis, retention, now: () => time });
    const idOf = (own: string) => instanceIdOf('mid://a.example', 'process', own);
    const note = async (own: string, createdAt: number, status: WorkflowStatus, data: object) => {
      await redis.hset(queue.toKey(idOf(own)), {
        timestamp: createdAt,
        data: JSON.stringify(data),
      });
      await listing.note({
        id: idOf(own),
        createdAt,
        status,
        people: peopleOf('process', data),
        job: status === 'open' ? 'added' : 'completed',
      });
    };
    const found = async (filter: Parameters<typeof listInstances>[1]) => {
      const rows: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await listInstances(
          [stage],
          filter,
          { limit: 1, cursor },
          { retention, now: () => time, reasonOf: noReason },
        );
        rows.push(...(page?.rows ?? []).map(({ id }) => id.split('--')[1] ?? ''));
        cursor = page?.cursor;
      } while (cursor !== undefined);
      return rows;
    };
    await note('first', 1000, 'completed', process(anna));
    for (const [own, at, data] of [
      ['second', 2000, process(anna, beat)],
      ['third', 3000, process(beat)],
      ['fourth', 3000, { input: { steps: [{ signers: [{ substitutes: [{ msisdn: anna }] }] }] } }],
      ['fifth', 10_000, { input: { compensation: [{ escalate: { to: { msisdn: anna } } }] } }],
    ] as const)
      await note(own, at, 'open', data);
    // Of the same ones as anybody sees them.
    for (const msisdn of [anna, anna.slice(1)])
      expect(await found({ msisdn })).toEqual(['fifth', 'fourth', 'second', 'first']);
    expect(await found({ msisdn: beat })).toEqual(['third', 'second']);
    expect(await found({ msisdn: anna.slice(0, -1) })).toEqual([]);
    expect(await found({ msisdn: anna, status: ['completed'] })).toEqual(['first']);
    expect(await found({ msisdn: anna, from: 2000, to: 10_000 })).toEqual(['fourth', 'second']);
    expect(await found({ msisdn: anna, text: 'f' })).toEqual(['fifth', 'fourth', 'first']);
    expect(await found({ msisdn: anna, apId: 'mid://other.example' })).toEqual([]);
    expect(await found({ from: 2000, to: 3000 })).toEqual(['second']);
    expect(await found({ from: 3000 })).toEqual(['fifth', 'fourth', 'third']);
    expect(await found({ text: 'ir' })).toEqual(['third', 'first']);
    // Part of every id, and of none that an application has chosen.
    expect(await found({ text: 'process' })).toEqual([]);
    time = 20;
    await note('third', 3000, 'completed', process(beat));
    expect(await found({ msisdn: anna })).toEqual(['fifth', 'fourth', 'second']);
    expect(await found({})).toEqual(['fifth', 'fourth', 'third', 'second']);
  });
});

describe('an instance that has ended', () => {
  it('is not open again by a note that comes late, of a worker without the lock or of who has added it', async () => {
    const { queue, redis } = begin();
    const listing = createListing({
      queue,
      redis,
      retention: { doneMs: 9, failedMs: 9 },
      now: () => 1,
    });
    const apId = 'mid://a.example';
    const id = instanceIdOf(apId, 'process', '1');
    const note = (status: WorkflowStatus, job: Noted['job'], token?: string) =>
      listing.note({ id, createdAt: 1, people: { size: 4, numbers: [] }, status, job, token });
    await redis.hset(queue.toKey(id), 'timestamp', 1);
    await redis.set(queue.toKey(`${id}:lock`), 'second');
    await note('open', 'open', 'second');
    await note('completed', 'completed');
    await note('open', 'open', 'first');
    await redis.del(queue.toKey(`${id}:lock`));
    await note('open', 'open', 'first');
    expect(await listed({ queue, redis }, 'completed')).toEqual([id]);
    expect(await listed({ queue, redis }, 'open')).toEqual([]);
    // Its entry has been removed meanwhile.
    await redis.del(queue.toKey('list:rows:at'), queue.toKey('list:rows:spans'));
    await redis.hset(queue.toKey(id), 'finishedOn', 2);
    await note('open', 'added');
    await redis.del(queue.toKey(id));
    await note('open', 'added');
    expect(await listed({ queue, redis })).toEqual([]);
    expect(await listing.sizes(apId)).toEqual({ own: 0, inAll: 0 });
  });
});

describe('an instance that a worker takes', () => {
  const apId = 'http://ap.example';
  const restingId = instanceIdOf(apId, 'resting', 'I-1');
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
      queue,
      connection: redis,
      subscribers: { find: () => undefined },
      workflows: [resting],
      isHidden: () => false,
      activities: {},
      concurrency: 4,
      fetchers: 1,
      turns: createTurns(),
      retention: { doneMs: 60_000, failedMs: 60_000 },
      graceMs: 100,
      now: Date.now,
      worker: { connection: redis, prefix: String(queue.opts.prefix) },
      notifyEnd: async () => undefined,
      count: { ended: () => undefined, failed: () => undefined },
      onError: (error) => errors.push(error),
    });
    workers.push(worker);
    return errors;
  };
  /** A worker has fetched it, and was killed before it did anything. */
  const addTaken = async ({ queue, redis }: Stage, data: unknown): Promise<void> => {
    await queue.add('resting@1', data, { jobId: restingId });
    await redis.hset(queue.toKey(restingId), 'ats', 1);
  };

  it('is listed when the worker before was killed as it took it', async () => {
    const stage = begin();
    await addTaken(stage, { apId });
    take(stage);
    await expect.poll(() => stage.queue.getDelayedCount()).toBe(1);
    expect(await listed(stage, 'open')).toEqual([restingId]);
  });

  it('is listed as failed when it fails before its turn, whichever worker takes it', async () => {
    const stage = begin();
    await addTaken(stage, { apId: 7 });
    take(stage);
    await stage.ended(restingId);
    expect(await listed(stage, 'failed')).toEqual([restingId]);
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
    await queue.add('resting@1', { apId }, { jobId: restingId });
    const errors = take(stage);
    await expect.poll(() => listed(stage, 'open')).toEqual([restingId]);
    await stage.until(restingId, ({ record }) => record?.value === 'open');
    expect([refused, errors.map(({ message }) => message)]).toEqual([
      1,
      ['OOM command not allowed'],
    ]);
    expect(await queue.getFailedCount()).toBe(0);
  });
});
