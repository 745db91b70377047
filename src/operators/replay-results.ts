/**
 * How replayed transactions have ended.
 *
 * Of many, nearly all are still open whenever it is asked. So next to nothing is read of those, and all of a shard in one
 * step; the jobs' keys are not announced to Redis, but share the slot of the one that is.
 */
import type { RedisClient } from '../redis/connect.ts';
import { shardFor } from '../transactions/answers.ts';
import type { Shard } from '../transactions/shards.ts';
import type { BulkItem, BulkResult } from './bulk-store.ts';
import { readStandings, type Standing } from './failed-end.ts';
import { statesOf } from './states.ts';

/** KEYS: one of the queue. ARGV: what its jobs begin with; of each id and ended runs. Those that have more, or are gone. */
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
      const some = items.filter(({ msspTransId }) => shardFor(shards, msspTransId) === shard);
      if (some.length === 0) return [];
      const { queue } = shard.signatures;
      const asked = some.flatMap(({ msspTransId, endedRuns }) => [msspTransId, endedRuns]);
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

/** By the record, since it has been run again: the run that follows so many ended ones is the attempt after them. */
const recordedResult = async (
  redis: RedisClient,
  shards: readonly Shard[],
  { row }: Standing,
  endedRuns: number,
): Promise<BulkResult> => {
  const queue = shardFor(shards, row.msspTransId)?.signatures.queue;
  const job = queue === undefined ? {} : await redis.hgetall(queue.toKey(row.msspTransId));
  const end = statesOf(row, job).find(
    ({ state, attempt, fault }) => attempt === endedRuns + 1 && state === 'failed' && fault !== undefined,
  );
  return end?.fault === undefined ? 'changed' : `${end.fault.code}`;
};

/**
 * @param items Some hundreds that were replayed, with the count of ended runs at which they were.
 * @returns Of those that have ended since, by id. `changed`: somebody has replayed it again, and nothing tells any more.
 */
export const resultsOf = async (
  redis: RedisClient,
  shards: readonly Shard[],
  items: readonly BulkItem[],
): Promise<ReadonlyMap<string, BulkResult>> => {
  const runsOf = new Map(items.map(({ msspTransId, endedRuns }) => [msspTransId, endedRuns]));
  const ids = await endedAgain(redis, shards, items);
  const standings = await readStandings(redis, shards, ids);
  const results = ids.map(async (id, index): Promise<readonly [string, BulkResult]> => {
    const standing = standings[index];
    if (standing === undefined) return [id, 'gone'];
    const { row } = standing;
    const runs = runsOf.get(id) ?? 0;
    if (standing.endedRuns > runs + 1 || row.endedAt === undefined) {
      return [id, await recordedResult(redis, shards, standing, runs)];
    }
    return [id, row.fault === undefined ? 'signed' : `${row.fault.code}`];
  });
  return new Map(await Promise.all(results));
};
