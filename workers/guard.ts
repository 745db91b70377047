/**
 * What happens when a step throws something that nobody expected: a bug, or a dependency that is down. The job tries
 * again with growing pauses until its deadline, and then fails as an internal error. BullMQ's own retries stay unused,
 * because its count of failed runs tells replays from interruptions (see signature.worker.ts).
 */
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { fault } from '../src/protocol/fault.ts';
import type { StepLog } from './log.ts';
import { fail } from './rest.ts';

const pauseMs = (started: number): number => Math.min(200 * 2 ** Math.min(started, 6), 10_000);

export const guardStep =
  <D, R>(options: {
    readonly step: (job: Job<D, R>, token: string) => Promise<R>;
    /** When to give up; milliseconds since the epoch. */
    readonly deadlineOf: (job: Job<D, R>) => number;
    readonly now: () => number;
    readonly log: StepLog;
  }) =>
  async (job: Job<D, R>, token: string | undefined): Promise<R> => {
    const { step, deadlineOf, now, log } = options;
    if (token === undefined) throw new Error('BullMQ gave no lock token');
    try {
      return await step(job, token);
    } catch (error) {
      if (error instanceof DelayedError || error instanceof UnrecoverableError) throw error;
      log.trouble(error instanceof Error ? error : new Error(String(error)));
      const time = now();
      const deadline = deadlineOf(job);
      if (time >= deadline) return fail(fault(900));
      // When the lock is lost this throws as well, and the worker that has the job now is left alone.
      await job.moveToDelayed(Math.min(time + pauseMs(job.attemptsStarted), deadline), token);
      throw new DelayedError();
    }
  };
