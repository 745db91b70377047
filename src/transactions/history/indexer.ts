/**
 * Keeps the search index: follows the events of the queues and writes the changes.
 *
 * Accepting and signing neither wait for it nor write for it. The index can be made from the jobs
 * at any time, so an indexer that falls behind or was not running can catch up. One process at a
 * time follows a shard (leader-task.ts).
 */
import type { RedisClient } from '../../redis/connect.ts';
import { untilRead } from './events.ts';
import type { Retention } from './filter.ts';
import { createIndexFollower } from './index-follower.ts';
import { createIndexStore } from './index-store.ts';
import { shardKeys } from './keys.ts';
import { createLeaderTask } from './leader-task.ts';
import { sweepDueIn, sweepShard } from './sweep.ts';

export interface IndexerOptions {
  /** A connection that reconnects without end. */
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: number;
  readonly retention: Retention;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
  /** The pause when there were no events, and so the delay of changes in a list. Default 200. */
  readonly pollMs?: number;
  /** The length of the lease, after which another process takes over. Default 5000. */
  readonly leaseMs?: number;
}

export const createIndexer = (options: IndexerOptions) => {
  const { redis, prefix, shards, retention, now, onError, pollMs = 200, leaseMs } = options;

  const indexers = Array.from({ length: shards }, (_, shard) => {
    const keys = shardKeys(prefix, shard);
    const store = createIndexStore(redis, keys, now);
    const leader = createLeaderTask({ redis, key: keys.lease, leaseMs, onError });
    const { mayGoOn, signal } = leader;
    const follower = createIndexFollower({ redis, keys, store, now, mayGoOn, signal });
    const sweep = (): Promise<number> => sweepShard({ redis, keys, store, retention, now: now() });

    const start = (): void => {
      let lookAt = 0;
      leader.start(async () => {
        const result = await follower.step();
        if (performance.now() >= lookAt) {
          const dueInMs = await sweepDueIn(redis, keys, retention, now());
          if (dueInMs === 0) await sweep();
          else lookAt = performance.now() + dueInMs;
        }
        return result === 'more' ? 0 : result === 'much' ? pollMs / 4 : pollMs;
      });
    };

    return {
      start,
      sweep,
      close: leader.close,
      idle: () => untilRead(redis, keys, store.position, pollMs),
    };
  });

  return {
    start: (): void => {
      for (const { start } of indexers) start();
    },
    /** Finishes the current step, and lets another process take over at once. */
    close: async (): Promise<void> => {
      await Promise.all(indexers.map(({ close }) => close()));
    },
    /** Resolves when all changes from before the call are indexed, by any process. */
    idle: async (): Promise<void> => {
      await Promise.all(indexers.map(({ idle }) => idle()));
    },
    /**
     * Removes rows whose retention is over. The leading process also does it by itself: once in the
     * retention time, and at least every hour.
     *
     * @returns The number of removed rows.
     */
    sweep: async (): Promise<number> => {
      const removed = await Promise.all(indexers.map(({ sweep }) => sweep()));
      return removed.reduce((sum, some) => sum + some, 0);
    },
  };
};

export type Indexer = ReturnType<typeof createIndexer>;
