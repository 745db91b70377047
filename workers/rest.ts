/**
 * How a job leaves the worker without being finished: it falls asleep until a time, or until it is woken.
 */
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { type Fault, faultLine } from '../src/protocol/fault.ts';
import { type JobHome, type Joinable, wake } from '../src/transactions/job-home.ts';
import type { QueueAt } from '../src/transactions/shards.ts';
import type { StepLog } from './log.ts';

/** Another worker has the job now. Nothing more may be written by this one. */
const lostLock = (): Error => new Error('The lock was lost to another worker');

/** Takes the job out of the worker's hands until a time. Not by BullMQ's `job.moveToDelayed`, which asks another clock. */
export const delayUntil = async (
  { queue }: QueueAt,
  job: Job,
  token: string,
  until: number,
  now: number,
): Promise<void> => {
  await queue
    .getBackend()
    .moveToDelayed(idOf(job), now, Math.max(until - now, 0), token, { skipAttempt: true });
};

/**
 * Sends the job to sleep and leaves the processor.
 *
 * The order matters. An answer that arrives before the job sleeps finds nothing to wake, so after falling asleep the
 * decision is looked for once more, and the job wakes itself when there is one.
 *
 * @param attempt The attempt whose decision ends the sleep; undefined when nobody has been asked yet.
 * @throws DelayedError always: it is how BullMQ is told that the job has moved.
 */
export const sleep = async (
  at: QueueAt,
  job: Job,
  token: string,
  until: number,
  now: number,
  attempt?: number,
): Promise<never> => {
  const { queue, home } = at;
  const id = idOf(job);
  await delayUntil(at, job, token, until, now);
  if (attempt !== undefined && (await home.decision(id, attempt)) !== undefined) await wake(queue, id);
  throw new DelayedError();
};

/**
 * For a job that is not this worker's to judge: whatever keeps it from falling asleep, it is not failed. Left as it is, it
 * stalls and is taken up again.
 */
export const leaveToOthers = async (falling: Promise<never>, log: StepLog): Promise<never> => {
  try {
    return await falling;
  } catch (error) {
    if (!(error instanceof DelayedError))
      log.trouble(error instanceof Error ? error : new Error(String(error)));
    throw new DelayedError();
  }
};

/** Ends the job as failed, for good until somebody replays it. */
export const fail = (reason: Fault): never => {
  const error = new UnrecoverableError(faultLine(reason));
  // BullMQ stores the stack with the job. An expected failure has no stack worth keeping.
  error.stack = '';
  throw error;
};

export const idOf = (job: Job): string => {
  if (job.id === undefined) throw new Error('A job without an id cannot be run');
  return job.id;
};

/** @throws When another worker has taken the job over. */
export const saveOrStop = async (
  home: JobHome,
  job: Job,
  token: string,
  data: unknown,
  awaitingAttempt?: number,
  joinable?: Joinable,
): Promise<void> => {
  if (!(await home.save(idOf(job), token, data, awaitingAttempt, joinable))) throw lostLock();
};
