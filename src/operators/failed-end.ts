/**
 * A transaction as a replay sees it: the row that a list shows, and how often it has been run to an end. The two together
 * name one end of one transaction, which is what a replay follows.
 */
import { fieldOf, jobFields, rowOf, type TransactionRow } from '../history/row.ts';
import type { RedisClient } from '../redis/connect.ts';
import { shardFor } from '../transactions/answers.ts';
import type { Shard } from '../transactions/shards.ts';

export interface Standing {
  readonly row: TransactionRow;
  /** BullMQ's count: grows by one with each end. */
  readonly endedRuns: number;
}

/** @returns One for each id, in the same order; undefined for a transaction that there is not. */
export const readStandings = (
  redis: RedisClient,
  shards: readonly Shard[],
  ids: readonly string[],
): Promise<readonly (Standing | undefined)[]> =>
  Promise.all(
    ids.map(async (id) => {
      const shard = shardFor(shards, id);
      if (shard === undefined) return undefined;
      const fields = await redis.hmget(shard.signatures.queue.toKey(id), ...jobFields);
      const row = rowOf(id, fields);
      return row && { row, endedRuns: Number(fieldOf(fields, 'atm') ?? 0) };
    }),
  );
