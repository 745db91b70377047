/**
 * What happens when a step throws something that nobody expected: a bug, or a dependency that is down. The job tries
 * again with growing pauses until its deadline, and then ends as an internal error, unless somebody has been asked. BullMQ's own retries stay unused,
 * because its count of ended runs tells replays from interruptions (see taking.ts).
 */
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { fault } from '../src/protocol/fault.ts';
import type { QueueAt } from '../src/transactions/shards.ts';
import type { StepLog } from './log.ts';
import { delayUntil, fail } from './rest.ts';

/** Doubling from 200 ms, at most 10 s. */
const pauseMs = (started: number): number => Math.min(200 * 2 ** Math.min(started - 1, 6), 10_000);

/** How long after its deadline a job that cannot be ended is left to the check for stalled jobs. */
const lastResortMs = 60_000;

export const guardStep = async <R>(options: {
  readonly at: QueueAt;
  readonly job: Job;
  readonly token: string;
  readonly step: () => Promise<R>;
  /** When to give up; milliseconds since the epoch. */
  readonly deadline: number;
  /** Notes in the job that a step threw, so that it does not end as if its user had been silent, who was never asked. */
  readonly note: () => Promise<void>;
  /** Ends the job at its deadline. */
  readonly giveUp: () => Promise<R>;
  readonly now: () => number;
  readonly log: StepLog;
}): Promise<R> => {
  const { at, job, token, step, deadline, note, giveUp, now, log } = options;
  const trouble = (error: unknown): void =>
    log.trouble(error instanceof Error ? error : new Error(String(error)));
  /** Leaving the processor on purpose is not trouble. */
  const rethrowPurpose = (error: unknown): void => {
    if (error instanceof DelayedError || error instanceof UnrecoverableError) throw error;
    trouble(error);
  };
  try {
    return await step();
  } catch (error) {
    rethrowPurpose(error);
  }
  const time = now();
  if (time >= deadline) {
    try {
      return await giveUp();
    } catch (error) {
      rethrowPurpose(error);
      // Perhaps Redis takes nothing just now, and an answer that was accepted must not become an internal error.
      if (time < deadline + lastResortMs) throw new DelayedError();
      return fail(fault(900));
    }
  }
  try {
    await note();
    await delayUntil(at, job, token, Math.min(time + pauseMs(job.attemptsStarted), deadline), time);
  } catch (error) {
    // The lock is another worker's, or Redis is away. Either way the job is not ours to fail: whoever looks for
    // stalled jobs finds it.
    trouble(error);
  }
  throw new DelayedError();
};
