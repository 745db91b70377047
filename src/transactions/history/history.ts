/**
 * Past and present transactions for operators: lists, numbers, and recent changes. Rows are found
 * in the index that an indexer keeps (indexer.ts), and read from the jobs.
 */
import type { RedisClient } from '../../redis/connect.ts';
import { shardOf } from '../ids.ts';
import { createMatcher, type HistoryFilter, type Retention, toNeedle } from './filter.ts';
import { createIndexStore } from './index-store.ts';
import { readRows } from './jobs.ts';
import { shardKeys } from './keys.ts';
import { type Overview, overview } from './overview.ts';
import { transactionLayout } from './packed-row.ts';
import { readPosition } from './position.ts';
import { type ProcessReport, readProcesses } from './processes.ts';
import { readNumbered } from './reading.ts';
import { type RebuildProgress, rebuildShard } from './rebuild.ts';
import {
  countRefusals,
  countRefusalsByFault,
  type RefusalFilter,
  type Refusals,
  readRefusals,
} from './refusals.ts';
import type { TransactionRow } from './row.ts';
import { isFiltered, type ListedShard, type Page, search } from './search.ts';
import { createWatch } from './watch.ts';

export const createHistory = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: number;
  readonly retention: Retention;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}) => {
  const { redis, prefix, retention, now, onError } = options;
  const shards = Array.from({ length: options.shards }, (_, shard) => shardKeys(prefix, shard));
  const listed = shards.map(
    (keys): ListedShard<TransactionRow> => ({
      redis,
      generation: async () => {
        const position = readPosition(await redis.hget(keys.state, 'position'));
        return position && keys.generation(position.generation);
      },
      read: (generation, numbers) => readNumbered(redis, keys, generation, numbers),
    }),
  );
  const { watch, close } = createWatch(redis, shards, onError);

  const isListed = (row: TransactionRow, filter: HistoryFilter): boolean =>
    createMatcher(filter, retention, now()).matches(row);

  const find = async (msspTransId: string): Promise<TransactionRow | undefined> => {
    const keys = shards[shardOf(msspTransId, shards.length) ?? -1];
    if (keys === undefined) return undefined;
    const [row] = await readRows(redis, keys, [msspTransId]);
    return row !== undefined && isListed(row, {}) ? row : undefined;
  };

  return {
    /** The current row of a transaction, indexed or not. Undefined when its retention is over. */
    find,

    /**
     * Transactions by filter, newest first. A page may have fewer rows than its limit, even none,
     * and yet a cursor.
     *
     * @param page `limit` is 1 to 500; `cursor` comes from the page before.
     * @returns Undefined when the cursor is malformed.
     */
    search: async (
      filter: HistoryFilter,
      { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
    ): Promise<Page<TransactionRow> | undefined> => {
      const { text } = filter;
      if (
        text !== undefined &&
        cursor === undefined &&
        shardOf(text, shards.length) !== undefined
      ) {
        // A whole MSSP_TransID is read directly, and found before the index knows it.
        const row = await find(text);
        if (row !== undefined) {
          const rows = isListed(row, filter) ? [row] : [];
          return { rows, total: rows.length };
        }
      }
      const { from, to } = filter;
      return search(
        listed,
        {
          ...createMatcher(filter, retention, now()),
          layout: transactionLayout,
          needle: toNeedle(filter),
          from,
          to,
          isFiltered: isFiltered(filter),
        },
        { limit, cursor },
      );
    },

    /** @param sinceMs Milliseconds since the epoch, at most 31 days ago. */
    overview: (sinceMs: number): Promise<Overview> => overview(redis, shards, sinceMs, now()),

    /** The numbers of requests that were refused in the last hour and in the last day. */
    refused: () => countRefusals(redis, prefix, now()),

    /** The refused requests of the last hour by fault, the most frequent first. */
    refusedByFault: () => countRefusalsByFault(redis, prefix, now()),

    /** Refused requests of all API processes. */
    refusals: (filter?: RefusalFilter): Promise<Refusals> =>
      readRefusals(redis, prefix, now(), filter),

    /** The running processes of the service. */
    processes: (): Promise<readonly ProcessReport[]> => readProcesses(redis, prefix, now()),

    /**
     * Rebuilds the index from the jobs. Searches use the old one meanwhile.
     *
     * @throws When another process rebuilds it, or the signal is aborted; the old index then stays.
     */
    rebuild: async (
      onProgress?: (progress: RebuildProgress) => void,
      signal?: AbortSignal,
    ): Promise<{ readonly indexed: number }> => {
      let indexed = 0;
      for (const keys of shards) {
        const before = indexed;
        const built = await rebuildShard({
          redis,
          keys,
          store: createIndexStore(redis, keys, now),
          signal,
          onProgress: (progress) =>
            onProgress?.({
              indexed: before + progress.indexed,
              expected: before + progress.expected,
            }),
        });
        if (built === undefined) throw new Error('Another process rebuilds the index');
        indexed += built.indexed;
      }
      return { indexed };
    },

    watch,
    /** Stops all watching. The connection is the caller's. */
    close,
  };
};

export type History = ReturnType<typeof createHistory>;
