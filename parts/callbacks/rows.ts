/** Reads the rows of callbacks from the fields of their jobs. */
import { z } from 'zod';
import type { RedisClient } from '../../src/redis/connect.ts';
import { member, parsed } from '../../src/transactions/history/row.ts';
import { instanceIdOf } from '../../src/transactions/jobs/instance-ids.ts';
import { type Shard, shardFor } from '../../src/transactions/shards.ts';
import {
  type CallbackData,
  callbackSchema,
  type ProcessMessage,
  processMessageSchema,
} from './callback.machine.ts';
import { type CallbackRow, type CallbackState, processName } from './callback-row.ts';
import { typeOfProcess } from './deliver.ts';
import { callbacksOf } from './queue.ts';

const fields = [
  'data',
  'progress',
  'processedOn',
  'finishedOn',
  'failedReason',
  'returnvalue',
] as const;
/** The score of a delayed job is its time multiplied by this, plus a counter. */
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

/** The messages to applications, which are shown. */
export const shownMessageSchema = z.union([callbackSchema, processMessageSchema]);

const aboutOf = (message: CallbackData | ProcessMessage) => {
  if (!('process' in message)) {
    const { msspTransId, apTransId, attempt, end } = message;
    return { msspTransId, apTransId, attempt, event: end.state };
  }
  const { apId, process, workflow = processName, step, key, url } = message;
  return {
    process,
    instanceId: instanceIdOf(apId, workflow, process),
    event: typeOfProcess(message),
    ...(step !== undefined && { step }),
    ...(key !== undefined && { key }),
    ...(url !== undefined && URL.canParse(url) && { host: new URL(url).host }),
  };
};

const rowOf = (
  id: string,
  [data, progress, processedOn, finishedOn, failedReason, returnValue]: readonly (string | null)[],
  delayedScore: string | null,
): CallbackRow | undefined => {
  const read = shownMessageSchema.safeParse(parsed(data ?? '')).data;
  if (read === undefined) return undefined;
  const state = stateOf(finishedOn ?? null, failedReason ?? null, returnValue ?? null);
  const record = parsed((state === 'delivered' ? returnValue : progress) ?? '');
  const tried = triedSchema.safeParse(member(record, 'context')).data;
  const { tries, problem = failedReason } = tried ?? { tries: 0 };
  const triedAt = Number(finishedOn ?? processedOn ?? 0);
  return {
    id,
    apId: read.apId,
    endedAt: read.at,
    ...aboutOf(read),
    state,
    tries,
    ...(state !== 'delivered' && problem && { problem }),
    ...(triedAt > 0 && { triedAt }),
    ...(delayedScore !== null && { nextTryAt: Math.floor(Number(delayedScore) / delayedScale) }),
  };
};

/** The possible shards of a callback: that of its transaction, or all for a process. */
export const shardsOfCallback = (shards: readonly Shard[], id: string): readonly Shard[] => {
  if (id.startsWith('process-')) return shards;
  const shard = shardFor(shards, /^([^-]+)-/.exec(id)?.[1] ?? '');
  return shard === undefined ? [] : [shard];
};

/** @returns One for each id, in the same order; undefined for an unknown callback. */
export const readCallbacks = (
  redis: RedisClient,
  shards: readonly Shard[],
  ids: readonly string[],
): Promise<readonly (CallbackRow | undefined)[]> =>
  Promise.all(
    ids.map(async (id) => {
      const rows = shardsOfCallback(shards, id).map(async (shard) => {
        const { queue } = callbacksOf(shard);
        const [stored, score] = await Promise.all([
          redis.hmget(queue.toKey(id), ...fields),
          redis.zscore(queue.toKey('delayed'), id),
        ]);
        return rowOf(id, stored, score);
      });
      return (await Promise.all(rows)).find((row) => row !== undefined);
    }),
  );
