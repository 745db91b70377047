/**
 * The process that keeps the search index: it follows the events of the queues and writes what they tell of.
 *
 * Nobody who accepts or signs waits for it, or writes a word for it. What it knows can be made again from the jobs, so when
 * it falls behind, or was not running, it finds out what it has missed. One process at a time follows a shard; the others
 * look now and then whether it still does.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '../redis/connect.ts';
import { settlesWithin } from '../redis/patience.ts';
import { latestEvents } from './events.ts';
import type { Retention } from './filter.ts';
import { createFollower } from './follower.ts';
import { createIndexStore } from './index-store.ts';
import { shardKeys } from './keys.ts';
import { createLock } from './lock.ts';
import { isAtOrAfter } from './position.ts';
import { sweepShard } from './sweep.ts';

export interface Indexer {
  start(): void;
  /** Finishes the step in hand and lets others take over at once. */
  close(): Promise<void>;
  /** Resolves when all that had happened before the call is found, whichever process has seen to it. */
  idle(): Promise<void>;
  /** Takes out what is over; also done by itself, every hour. @returns How many transactions. */
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

const afterErrorMs = 1000;
const sweepEveryMs = 3_600_000;
const closePatienceMs = 2000;

export const createIndexer = (options: IndexerOptions): Indexer => {
  const { redis, prefix, shards, retention, now, onError, pollMs = 200, leaseMs = 5000 } = options;
  const closing = new AbortController();
  const { signal } = closing;
  let running: Promise<unknown> | undefined;

  const pause = async (ms: number): Promise<void> => {
    await delay(ms, undefined, { signal }).catch(() => undefined);
  };

  const places = Array.from({ length: shards }, (_, shard) => {
    const keys = shardKeys(prefix, shard);
    const store = createIndexStore(redis, keys, now);
    const lease = createLock(redis, keys.lease, leaseMs);
    let heldUntil = 0;
    /** Renewed when a third of it has passed, not at every step. */
    const mayGoOn = async (): Promise<boolean> => {
      const time = performance.now();
      if (signal.aborted) return false;
      if (time < heldUntil - (leaseMs * 2) / 3) return true;
      const held = await lease.hold();
      heldUntil = held ? time + leaseMs : 0;
      return held;
    };
    const follower = createFollower({ redis, keys, store, mayGoOn });
    return { keys, store, lease, mayGoOn, follower };
  });
  type Place = (typeof places)[number];

  const sweepPlace = ({ keys, store }: Place): Promise<number> =>
    sweepShard({ redis, keys, store, retention, now: now() });

  const follow = async (place: Place): Promise<void> => {
    let sweepAt = performance.now() + sweepEveryMs;
    while (!signal.aborted) {
      try {
        if (!(await place.mayGoOn())) {
          await pause(leaseMs / 3);
          continue;
        }
        const result = await place.follower.step();
        if (result !== 'more') await pause(pollMs);
        if (performance.now() >= sweepAt) {
          sweepAt = performance.now() + sweepEveryMs;
          await sweepPlace(place);
        }
      } catch (error) {
        onError(error instanceof Error ? error : new Error(String(error)));
        await pause(afterErrorMs);
      }
    }
  };

  const caughtUp = async ({ keys, store }: Place): Promise<void> => {
    const until = await latestEvents(redis, keys);
    for (;;) {
      const position = await store.position();
      if (
        position !== undefined &&
        isAtOrAfter(position.signatures, until.signatures) &&
        isAtOrAfter(position.receipts, until.receipts)
      )
        return;
      await delay(Math.min(pollMs, 20));
    }
  };

  return {
    start: () => {
      running ??= Promise.all(places.map(follow));
    },
    close: async () => {
      closing.abort();
      if (running === undefined) return;
      const lets = running.then(() => Promise.all(places.map(({ lease }) => lease.release())));
      await settlesWithin(lets, closePatienceMs);
    },
    idle: async () => {
      await Promise.all(places.map(caughtUp));
    },
    sweep: async () => {
      const removed = await Promise.all(places.map(sweepPlace));
      return removed.reduce((sum, some) => sum + some, 0);
    },
  };
};
