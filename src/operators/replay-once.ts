/**
 * The replay of one particular end of a transaction: done once, however often and by however many it is ordered.
 *
 * BullMQ's retry asks only whether the job has failed. A process that was stopped just before it, and goes on when the
 * transaction has meanwhile been replayed by another and has failed again, would prompt the person once more for the same
 * order. So the count of ended runs is compared in the same step, and the order is noted in the job, as `replay:<count>`: whoever
 * orders the same again, because they died before they could write down that it was done, finds the note.
 *
 * The rest is BullMQ's own script, run behind that guard. On a connection for commands it is not done any more once its caller
 * has been told that it failed (src/redis/not-after.ts knows the script by its name).
 */
import { createRequire } from 'node:module';
import { z } from 'zod';
import type { RedisClient } from '../redis/connect.ts';
import { shardFor } from '../transactions/answers.ts';
import type { Shard } from '../transactions/shards.ts';

/** Who ordered a replay, for the timeline. The same order is the same text. */
export interface ReplayNote {
  readonly by: string;
  /** Id of the entry in the audit log, or of the bulk. */
  readonly order: string;
}

/**
 * replayed  By this order, now or before.
 * changed   The transaction is not, or no longer, at that end.
 * unknown   There is no such transaction.
 */
export type ReplayOnceResult = 'replayed' | 'changed' | 'unknown';

export type ReplayOnce = (
  msspTransId: string,
  endedRuns: number,
  note: ReplayNote,
) => Promise<ReplayOnceResult>;

const scriptSchema = z.object({ reprocessJob: z.object({ content: z.string(), keys: z.literal(9) }) });

const { reprocessJob } = scriptSchema.parse(
  createRequire(import.meta.url)('bullmq/dist/cjs/scripts/reprocessJob-9.js'),
);

const guardedScript = `
local field = 'replay:' .. ARGV[7]
if redis.call('HGET', KEYS[1], field) == ARGV[8] then return 2 end
if redis.call('EXISTS', KEYS[1]) == 0 then return -1 end
if (redis.call('HGET', KEYS[1], 'atm') or '0') ~= ARGV[7] then return -3 end
if not redis.call('ZSCORE', KEYS[3], ARGV[1]) then return -3 end
redis.call('HSET', KEYS[1], field, ARGV[8])
${reprocessJob.content}`;

const scriptName = 'reprocessJob:once';

export const createReplayOnce = (redis: RedisClient, shards: readonly Shard[]): ReplayOnce => {
  redis.defineCommand(scriptName, { numberOfKeys: reprocessJob.keys, lua: guardedScript });
  const run = Reflect.get(redis, scriptName) as (given: readonly unknown[]) => Promise<unknown>;

  return async (msspTransId, endedRuns, { by, order }) => {
    const shard = shardFor(shards, msspTransId);
    if (shard === undefined) return 'unknown';
    const key = (name: string): string => shard.signatures.queue.toKey(name);
    const result = await run.call(redis, [
      key(msspTransId),
      key('events'),
      key('failed'),
      key('wait'),
      key('meta'),
      key('active'),
      key('marker'),
      key('prioritized'),
      key('pc'),
      msspTransId,
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
