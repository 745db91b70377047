/**
 * The process that keeps the search index: it follows the events of the queues and writes what they tell of.
 *
 * Nobody who accepts or signs waits for it, or writes a word for it. What it knows can be made again from the jobs, so when
 * it falls behind, or was not running, it finds out what it has missed. One process at a time follows a shard; the others
 * look now and then whether it still does.
 */
import type { RedisClient } from '../redis/connect.ts';
import { createDuty } from './duty.ts';
import { untilRead } from './events.ts';
import type { Retention } from './filter.ts';
import { createFollower } from './follower.ts';
import { createIndexStore } from './index-store.ts';
import { shardKeys } from './keys.ts';
import { layout } from './packed-row.ts';
import { sweepDueIn, sweepShard } from './sweep.ts';

export interface Indexer {
  start(): void;
  /** Finishes the step in hand and lets others take over at once. */
  close(): Promise<void>;
  /** Resolves when all that had happened before the call is found, whichever process has seen to it. */
  idle(): Promise<void>;
  /**
   * Takes out what is over; also done by itself, as often as transactions are kept and at least every hour, whichever process
   * runs then.
   *
   * @returns How many transactions.
   */
  sweep(): Promise<number>;
}

export interface IndexerOptions {
  /** A connection that outlasts any absence of Redis. */
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: number;
  readonly retention: Retention;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
  /** How often is looked for events when there were none; default 200. It is the delay with which a list shows a change. */
  readonly pollMs?: number;
  /** How long after its last sign of life another process takes over; default 5000. */
  readonly leaseMs?: number;
}

export const createIndexer = (options: IndexerOptions): Indexer => {
  const { redis, prefix, shards, retention, now, onError, pollMs = 200, leaseMs } = options;

  const places = Array.from({ length: shards }, (_, shard) => {
    const keys = shardKeys(prefix, shard);
    const store = createIndexStore(redis, keys, now);
    const duty = createDuty({ redis, key: keys.lease, leaseMs, onError });
    const follower = createFollower({ redis, keys, store, now, mayGoOn: duty.mayGoOn, signal: duty.signal });
    // While releases are mixed, processes of the earlier one keep theirs.
    const earlier = Array.from({ length: layout - 1 }, (_, index) =>
      createIndexStore(redis, shardKeys(prefix, shard, index + 1), now),
    );
    const sweep = async (): Promise<number> => {
      for (const { removeUnkept } of earlier) await removeUnkept();
      return sweepShard({ redis, keys, store, retention, now: now() });
    };

    const start = (): void => {
      let lookAt = 0;
      duty.start(async () => {
        const result = await follower.step();
        if (performance.now() >= lookAt) {
          const dueInMs = await sweepDueIn(redis, keys, retention, now());
          if (dueInMs === 0) await sweep();
          else lookAt = performance.now() + dueInMs;
        }
        return result === 'more' ? 0 : result === 'much' ? pollMs / 4 : pollMs;
      });
    };

    return { start, close: duty.close, sweep, idle: () => untilRead(redis, keys, store.position, pollMs) };
  });

  return {
    start: () => {
      for (const { start } of places) start();
    },
    close: async () => {
      await Promise.all(places.map(({ close }) => close()));
    },
    idle: async () => {
      await Promise.all(places.map(({ idle }) => idle()));
    },
    sweep: async () => {
      const removed = await Promise.all(places.map(({ sweep }) => sweep()));
      return removed.reduce((sum, some) => sum + some, 0);
    },
  };
};
