/**
 * Replays one particular end of a job once, also when it is ordered several times.
 *
 * BullMQ's retry only checks that the job has failed. A process that was paused before it could
 * replay a job that another one has replayed meanwhile and that has failed again. So the number of
 * ended runs is compared in the same step. The order is noted in the job as `replay:<number>`, for
 * a caller that repeats it after a crash.
 *
 * After this check BullMQ's own script runs. It does not run after its caller got an error
 * (src/redis/not-after.ts knows the script by its name).
 */
import type { Queue } from 'bullmq';
import { reprocessJob } from '../../../packages/engine/src/redis/bullmq-script.ts';
import type { RedisClient } from '../../redis/connect.ts';

/** The order of a replay, for the timeline. Equal notes are the same order. */
export interface ReplayNote {
  readonly by: string;
  /** The id of the entry in the audit log, or of the bulk. */
  readonly order: string;
}

/**
 * replayed  This order has replayed it, now or before.
 * changed   The job does not have that end, or no longer.
 * unknown   There is no such job.
 */
export type ReplayOnceResult = 'replayed' | 'changed' | 'unknown';

export type ReplayOnce = (
  id: string,
  endedRuns: number,
  note: ReplayNote,
) => Promise<ReplayOnceResult>;

const guardedScript = `
local field = 'replay:' .. ARGV[7]
if redis.call('HGET', KEYS[1], field) == ARGV[8] then return 2 end
if redis.call('EXISTS', KEYS[1]) == 0 then return -1 end
if (redis.call('HGET', KEYS[1], 'atm') or '0') ~= ARGV[7] then return -3 end
if not redis.call('ZSCORE', KEYS[3], ARGV[1]) then return -3 end
redis.call('HSET', KEYS[1], field, ARGV[8])
${reprocessJob.content}`;

const scriptName = 'reprocessJob:once';

/** @param queueOf Gives the queue of a job; undefined for an invalid id. */
export const createReplayOnce = (
  redis: RedisClient,
  queueOf: (id: string) => Queue | undefined,
): ReplayOnce => {
  redis.defineCommand(scriptName, { numberOfKeys: reprocessJob.keys, lua: guardedScript });
  const run = Reflect.get(redis, scriptName) as (given: readonly unknown[]) => Promise<unknown>;

  return async (id, endedRuns, { by, order }) => {
    const queue = queueOf(id);
    if (queue === undefined) return 'unknown';
    const key = (name: string): string => queue.toKey(name);
    const result = await run.call(redis, [
      key(id),
      key('events'),
      key('failed'),
      key('wait'),
      key('meta'),
      key('active'),
      key('marker'),
      key('prioritized'),
      key('pc'),
      id,
      'LPUSH',
      'failedReason',
      'failed',
      '0',
      '0',
      endedRuns,
      JSON.stringify({ by, order }),
    ]);
    switch (result) {
      case 1:
      case 2:
        return 'replayed';
      case -1:
        return 'unknown';
      default:
        return 'changed';
    }
  };
};
