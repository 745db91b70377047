/**
 * The runs of a transaction, for replays: the current run, and the ends of replayed ones.
 *
 * An id and a count of ended runs name one particular end of a transaction.
 */

import type { RedisClient } from '../../redis/connect.ts';
import {
  fieldOf,
  jobFields,
  parsed,
  rowOf,
  type TransactionRow,
} from '../../transactions/history/row.ts';
import { type Shard, shardFor } from '../../transactions/shards.ts';
import type { BulkItem, BulkResult } from './bulk-store.ts';
import { statesOf } from './states.ts';

export interface TransactionRun {
  readonly row: TransactionRow;
  /** The count of BullMQ, which grows by one with each end. */
  readonly endedRuns: number;
  /** Whether a workflow has requested it, and so already has its end. */
  readonly ofWorkflow: boolean;
}

/** @returns One for each id, in the same order; undefined for an unknown transaction. */
export const readRuns = (
  redis: RedisClient,
  shards: readonly Shard[],
  ids: readonly string[],
): Promise<readonly (TransactionRun | undefined)[]> =>
  Promise.all(
    ids.map(async (id) => {
      const shard = shardFor(shards, id);
      if (shard === undefined) return undefined;
      const fields = await redis.hmget(shard.signatures.queue.toKey(id), ...jobFields);
      const row = rowOf(id, fields);
      const ofWorkflow = parsed(fieldOf(fields, 'data')).answerTo !== undefined;
      return row && { row, endedRuns: Number(fieldOf(fields, 'atm') ?? 0), ofWorkflow };
    }),
  );

/**
 * Finds ended runs. Most replayed transactions are still open when this runs, so it reads next to
 * nothing of them. The keys of the jobs are not announced to Redis, but are in the slot of the
 * announced key.
 *
 * KEYS: one of the queue. ARGV: the prefix of its jobs; then each id and its ended runs. Returns
 * those with more, or gone.
 */
const endedAgainScript = `
local ended = {}
for i = 2, #ARGV, 2 do
  local runs = redis.call('HGET', ARGV[1] .. ARGV[i], 'atm')
  if not runs or tonumber(runs) > tonumber(ARGV[i + 1]) then ended[#ended + 1] = ARGV[i] end
end
return ended`;

const endedAgain = async (
  redis: RedisClient,
  shards: readonly Shard[],
  items: readonly BulkItem[],
): Promise<readonly string[]> => {
  const found = await Promise.all(
    shards.map(async (shard) => {
      const some = items.filter(({ id }) => shardFor(shards, id) === shard);
      if (some.length === 0) return [];
      const { queue } = shard.signatures;
      const asked = some.flatMap(({ id, endedRuns }) => [id, endedRuns]);
      return (await redis.eval(
        endedAgainScript,
        1,
        queue.toKey('meta'),
        queue.toKey(''),
        ...asked,
      )) as readonly string[];
    }),
  );
  return found.flat();
};

/** Reads the result from the record of a transaction that was replayed again. */
const recordedResult = async (
  redis: RedisClient,
  shards: readonly Shard[],
  { row }: TransactionRun,
  endedRuns: number,
): Promise<BulkResult> => {
  const queue = shardFor(shards, row.msspTransId)?.signatures.queue;
  const job = queue === undefined ? {} : await redis.hgetall(queue.toKey(row.msspTransId));
  const end = statesOf(row, job).find(
    ({ state, attempt, fault }) =>
      attempt === endedRuns + 1 && state === 'failed' && fault !== undefined,
  );
  return end?.fault === undefined ? 'changed' : `${end.fault.code}`;
};

/**
 * @param items Some hundreds of items, each with the ended runs before its replay.
 * @returns The results of the items that have ended since, by id. `changed`: the transaction was
 *   replayed again, and the end of this replay is no longer known.
 */
export const findResults = async (
  redis: RedisClient,
  shards: readonly Shard[],
  items: readonly BulkItem[],
): Promise<ReadonlyMap<string, BulkResult>> => {
  const beforeOf = new Map(items.map(({ id, endedRuns }) => [id, endedRuns]));
  const ids = await endedAgain(redis, shards, items);
  const runs = await readRuns(redis, shards, ids);
  const results = ids.map(async (id, index): Promise<readonly [string, BulkResult]> => {
    const run = runs[index];
    if (run === undefined) return [id, 'gone'];
    const { row } = run;
    const before = beforeOf.get(id) ?? 0;
    if (run.endedRuns > before + 1 || row.endedAt === undefined) {
      return [id, await recordedResult(redis, shards, run, before)];
    }
    return [id, row.fault === undefined ? 'signed' : `${row.fault.code}`];
  });
  return new Map(await Promise.all(results));
};
