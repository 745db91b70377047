/**
 * Keeps the index of one shard up to date (follower.ts): by the events, by a scan where events are
 * gone, by a rebuild where there is no index.
 */
import type { RedisClient } from '../../redis/connect.ts';
import { createFollower } from './follower.ts';
import type { IndexStore } from './index-store.ts';
import { indexSubmitted } from './index-submitted.ts';
import { readEntries } from './jobs.ts';
import type { ShardKeys } from './keys.ts';
import type { Position } from './position.ts';
import { rebuildShard } from './rebuild.ts';

export const createIndexFollower = (options: {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly store: IndexStore;
  readonly now: () => number;
  /** See leader-task.ts. */
  readonly mayGoOn: () => Promise<boolean>;
  /** Ends a rebuild, by an error. */
  readonly signal?: AbortSignal;
}) => {
  const { redis, keys, store, now, signal } = options;
  /** The position of the index as this process knows it. A write at a wrong one changes nothing. */
  let known: Position | undefined;
  return createFollower<Position>({
    ...options,
    position: async () => {
      known ??= await store.position();
      return known;
    },
    begin: async () =>
      (await rebuildShard({ redis, keys, store, signal })) === undefined ? 'busy' : 'more',
    read: async (stored, since) => {
      const changes = await indexSubmitted(redis, keys, stored, since, now());
      // Another process has gone on, or the index was built anew.
      if (changes === undefined) known = undefined;
      return changes;
    },
    handle: async (stored, to, ids) => {
      const entries = await readEntries(redis, keys, ids);
      known = undefined;
      known = await store.write(stored, to, entries);
      return known;
    },
  });
};

export type IndexFollower = ReturnType<typeof createIndexFollower>;
