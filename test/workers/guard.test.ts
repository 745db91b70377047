/** What becomes of a job whose step throws something unexpected, on a real queue. */
import { Queue, QueueEvents, Worker } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fault } from '../../src/protocol/fault.ts';
import { createJobHome } from '../../src/transactions/job-home.ts';
import { guardStep } from '../../workers/guard.ts';
import { fail } from '../../workers/rest.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const options = { connection: redis.connection, prefix: `{${redis.prefix}}` };
let queue: Queue;
let events: QueueEvents;

beforeAll(async () => {
  queue = new Queue('guarded', options);
  events = new QueueEvents('guarded', options);
  await events.waitUntilReady();
});

afterAll(async () => {
  await events.close();
  await queue.close();
});

const run = async (
  step: (run: number) => string,
  lifeMs: number,
  giveUp = async (): Promise<string> => fail(fault(900)),
) => {
  const troubles: string[] = [];
  const notes: number[] = [];
  let runs = 0;
  const log = {
    asked: () => undefined,
    signed: () => undefined,
    failed: () => undefined,
    unreachable: () => undefined,
    receipted: () => undefined,
    trouble: (error: Error) => void troubles.push(error.message),
  };
  const worker = new Worker(
    'guarded',
    (job, token) =>
      guardStep<string>({
        at: { queue, home: createJobHome(queue, redis.client()) },
        job,
        token: token ?? '',
        step: async () => step(++runs),
        deadline: job.timestamp + lifeMs,
        note: async () => void notes.push(runs),
        giveUp,
        now: Date.now,
        log,
      }),
    // A job that is left where it is gets another run soon after its lock has lapsed.
    { ...options, lockDuration: 1000, stalledInterval: 200, maxStalledCount: 10 },
  );
  const job = await queue.add('job', {});
  const result = await job.waitUntilFinished(events).catch((error: Error) => error.message);
  const stored = await queue.getJob(job.id ?? '');
  await worker.close();
  return { result, troubles, notes, runs, attemptsMade: stored?.attemptsMade };
};

describe('a step that throws', () => {
  it('is run again until it succeeds, and BullMQ counts one run', async () => {
    const { result, troubles, notes, attemptsMade } = await run((times) => {
      if (times < 3) throw new Error(`broken ${times}`);
      return 'done';
    }, 60_000);
    expect(result).toBe('done');
    expect(troubles).toEqual(['broken 1', 'broken 2']);
    expect(notes).toEqual([1, 2]);
    expect(attemptsMade).toBe(1);
  });

  it('is an internal error when it still throws at the deadline, and the reason tells nothing of the inside', async () => {
    const { result, runs } = await run(() => {
      throw new Error('secret detail');
    }, 500);
    expect(result).toBe('_900 INTERNAL_ERROR: Unknown Error');
    expect(runs).toBeGreaterThan(1);
  });

  it('is not run again for a failure that it decided itself', async () => {
    const { result, runs } = await run(() => fail(fault(401)), 60_000);
    expect(result).toBe('_401 USER_CANCEL: User cancelled the request');
    expect(runs).toBe(1);
  });

  it('is left to the check for stalled jobs when its end cannot be written just after the deadline', async () => {
    const { result, runs, troubles, attemptsMade } = await run(
      (times) => {
        if (times === 1) throw new Error('cannot write');
        return 'as decided';
      },
      0,
      async () => {
        throw new Error('cannot write that either');
      },
    );
    expect(result).toBe('as decided');
    expect(runs).toBeGreaterThan(1);
    expect(troubles.slice(0, 2)).toEqual(['cannot write', 'cannot write that either']);
    expect(attemptsMade).toBe(1);
  });

  it('is an internal error when its end cannot be written a minute after the deadline either', async () => {
    const { result, runs } = await run(
      () => {
        throw new Error('cannot write');
      },
      -60_000,
      async () => {
        throw new Error('cannot write that either');
      },
    );
    expect(result).toBe('_900 INTERNAL_ERROR: Unknown Error');
    expect(runs).toBe(1);
  });
});
