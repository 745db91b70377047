/**
 * Past and present transactions, as the people who run the service look for them: lists, numbers, and what just changed.
 *
 * What is listed is found in the index that an indexer keeps (indexer.ts) and read from the jobs.
 */
import type { RedisClient } from '../redis/connect.ts';
import { shardOf } from '../transactions/ids.ts';
import { type HistoryFilter, matches, type Retention } from './filter.ts';
import { createIndexStore } from './index-store.ts';
import { readRows } from './jobs.ts';
import { shardKeys } from './keys.ts';
import { type Overview, overview } from './overview.ts';
import { type RebuildProgress, rebuildShard } from './rebuild.ts';
import type { TransactionRow } from './row.ts';
import { type Page, search } from './search.ts';
import { type ChangeListener, createWatch } from './watch.ts';

export interface PageOptions {
  /** 1 to 500; what is beyond is cut. */
  readonly limit: number;
  /** Of the page before. */
  readonly cursor?: string | undefined;
}

export interface History {
  /**
   * Transactions by filter, newest first. A page may have fewer rows than its limit, even none, and yet a cursor.
   *
   * @returns Undefined when the cursor is none.
   */
  search(filter: HistoryFilter, page: PageOptions): Promise<Page | undefined>;
  /** One of them as it is now, whether the index knows it or not. Undefined when its retention is over. */
  find(msspTransId: string): Promise<TransactionRow | undefined>;
  /** @param sinceMs Milliseconds since the epoch, at most 25 hours ago. */
  overview(sinceMs: number): Promise<Overview>;
  /**
   * Makes the index from the jobs alone. It is searched meanwhile as it was.
   *
   * @throws When another process rebuilds it, or when the signal is aborted: then the index stays as it was.
   */
  rebuild(
    onProgress?: (progress: RebuildProgress) => void,
    signal?: AbortSignal,
  ): Promise<{ readonly indexed: number }>;
  /** @returns Stops it. */
  watch(listener: ChangeListener): () => void;
  /** Stops all watching. The connection is the caller's. */
  close(): void;
}

export interface HistoryOptions {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: number;
  readonly retention: Retention;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

const mostRows = 500;

export const createHistory = (options: HistoryOptions): History => {
  const { redis, prefix, retention, now, onError } = options;
  const shards = Array.from({ length: options.shards }, (_, shard) => shardKeys(prefix, shard));
  const watching = createWatch(redis, shards, onError);

  const find = async (msspTransId: string): Promise<TransactionRow | undefined> => {
    const keys = shards[shardOf(msspTransId, shards.length) ?? -1];
    if (keys === undefined) return undefined;
    const [row] = await readRows(redis, keys, [msspTransId]);
    return row !== undefined && matches({}, row, retention, now()) ? row : undefined;
  };

  return {
    find,

    search: async (filter, { limit, cursor }) => {
      const { text } = filter;
      if (text !== undefined && cursor === undefined && shardOf(text, shards.length) !== undefined) {
        // A whole MSSP_TransID needs no looking for, and is found before the index knows it.
        const row = await find(text);
        if (row !== undefined) {
          const rows = matches(filter, row, retention, now()) ? [row] : [];
          return { rows, total: rows.length };
        }
      }
      const rows = Math.min(Math.max(Math.trunc(limit), 1), mostRows);
      return search({ redis, shards, retention, now }, filter, { limit: rows, cursor });
    },

    overview: (sinceMs) => overview(redis, shards, sinceMs, now()),

    rebuild: async (onProgress, signal) => {
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

    watch: watching.watch,
    close: watching.close,
  };
};
