/** Reads callbacks from the fields of their jobs, as operators see them. */
import { z } from 'zod';
import { type CallbackData, callbackSchema } from '../../machines/callback.machine.ts';
import type { CallbackRow, CallbackState } from '../history/callback-row.ts';
import { member, parsed } from '../history/row.ts';
import type { RedisClient } from '../redis/connect.ts';
import { shardFor } from '../transactions/answers.ts';
import type { Shard } from '../transactions/shards.ts';

const fields = ['data', 'progress', 'processedOn', 'finishedOn', 'failedReason', 'returnvalue'] as const;
/** A delayed job's score is its time, times this, plus a counter. */
const delayedScale = 0x1000;

/** The shown part of the chart's context. */
const triedSchema = z.object({ tries: z.number(), problem: z.string().optional() });

const stateOf = (
  finishedOn: string | null,
  failedReason: string | null,
  returnValue: string | null,
): CallbackState => {
  if (finishedOn === null) return 'waiting';
  return failedReason !== null && returnValue === null ? 'dead' : 'delivered';
};

const rowOf = (
  id: string,
  [data, progress, processedOn, finishedOn, failedReason, returnValue]: readonly (string | null)[],
  delayedScore: string | null,
): CallbackRow | undefined => {
  const read: CallbackData | undefined = callbackSchema.safeParse(parsed(data ?? '')).data;
  if (read === undefined) return undefined;
  const { msspTransId, apId, apTransId, attempt, at, end } = read;
  const state = stateOf(finishedOn ?? null, failedReason ?? null, returnValue ?? null);
  const record = parsed((state === 'delivered' ? returnValue : progress) ?? '');
  const tried = triedSchema.safeParse(member(record, 'context')).data;
  const { tries, problem = failedReason } = tried ?? { tries: 0 };
  const triedAt = Number(finishedOn ?? processedOn ?? 0);
  return {
    id,
    msspTransId,
    apId,
    apTransId,
    attempt,
    event: end.state,
    endedAt: at,
    state,
    tries,
    ...(state !== 'delivered' && problem && { problem }),
    ...(triedAt > 0 && { triedAt }),
    ...(delayedScore !== null && { nextTryAt: Math.floor(Number(delayedScore) / delayedScale) }),
  };
};

/** The id begins with that of its transaction. */
export const shardOfCallback = (shards: readonly Shard[], id: string): Shard | undefined =>
  shardFor(shards, /^([^-]+)-/.exec(id)?.[1] ?? '');

/** @returns One for each id, in the same order; undefined for an unknown callback. */
export const readCallbacks = (
  redis: RedisClient,
  shards: readonly Shard[],
  ids: readonly string[],
): Promise<readonly (CallbackRow | undefined)[]> =>
  Promise.all(
    ids.map(async (id) => {
      const queue = shardOfCallback(shards, id)?.callbacks.queue;
      if (queue === undefined) return undefined;
      const [stored, score] = await Promise.all([
        redis.hmget(queue.toKey(id), ...fields),
        redis.zscore(queue.toKey('delayed'), id),
      ]);
      return rowOf(id, stored, score);
    }),
  );
