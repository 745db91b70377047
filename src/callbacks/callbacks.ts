/** What people see of callbacks, and the one thing that they do with them. */
import type { Job } from 'bullmq';
import { type CallbackJobData, callbackJobSchema } from '../../workers/callback.worker.ts';
import { shardFor } from '../transactions/answers.ts';
import type { Shard } from '../transactions/shards.ts';
import { callbackId, unrecordedId } from './ends.ts';

/**
 * waiting    It will be tried, or is being tried.
 * delivered  The receiver has answered 2xx. Kept for two days.
 * dead       It will not be tried again by itself.
 */
export type CallbackState = 'waiting' | 'delivered' | 'dead';

export interface CallbackRow {
  /** The receiver's `webhook-id`. */
  readonly id: string;
  readonly data: CallbackJobData;
  readonly state: CallbackState;
  readonly tries: number;
  /** Of the last try that failed: `HTTP 500`. */
  readonly problem?: string;
}

/** dead callbacks alone are replayed; the others have been delivered, or will be. */
export type CallbackReplayResult = 'replayed' | 'not-dead' | 'unknown';

export interface Callbacks {
  /** @param attempts How many the transaction has had. */
  of(msspTransId: string, attempts: number): Promise<readonly CallbackRow[]>;
  /** Begins with the first of all tries again. */
  replay(id: string): Promise<CallbackReplayResult>;
}

const mostAttempts = 100;

const stateOf = ({ finishedOn, failedReason, returnvalue }: Job): CallbackState => {
  if (finishedOn === undefined) return 'waiting';
  return failedReason !== undefined && (returnvalue === null || returnvalue === undefined)
    ? 'dead'
    : 'delivered';
};

const rowOf = (job: Job | undefined): readonly CallbackRow[] => {
  const data = callbackJobSchema.safeParse(job?.data).data;
  if (job?.id === undefined || data === undefined) return [];
  const state = stateOf(job);
  return [
    {
      id: job.id,
      data,
      state,
      tries: job.attemptsMade,
      ...(state !== 'delivered' && job.failedReason !== undefined && { problem: job.failedReason }),
    },
  ];
};

export const createCallbacks = ({ shards }: { readonly shards: readonly Shard[] }): Callbacks => ({
  of: async (msspTransId, attempts) => {
    const queue = shardFor(shards, msspTransId)?.callbacks.queue;
    if (queue === undefined) return [];
    const ids = Array.from({ length: Math.min(attempts, mostAttempts) }, (_, index) => index + 1).flatMap(
      (attempt) => [
        callbackId(msspTransId, attempt, 'failed'),
        unrecordedId(msspTransId, attempt),
        callbackId(msspTransId, attempt, 'signed'),
        callbackId(msspTransId, attempt, 'receipted'),
      ],
    );
    const jobs: readonly (Job | undefined)[] = await Promise.all(ids.map((id) => queue.getJob(id)));
    return jobs.flatMap(rowOf);
  },

  replay: async (id) => {
    const msspTransId = /^([^-]+)-/.exec(id)?.[1] ?? '';
    const job: Job | undefined = await shardFor(shards, msspTransId)?.callbacks.queue.getJob(id);
    if (job === undefined) return 'unknown';
    if (!(await job.isFailed())) return 'not-dead';
    try {
      await job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
    } catch (error) {
      // Somebody else was quicker: it is no longer failed (-3), or gone (-1).
      if (error instanceof Error && 'code' in error && (error.code === -3 || error.code === -1)) {
        return 'not-dead';
      }
      throw error;
    }
    return 'replayed';
  },
});
