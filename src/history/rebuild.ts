/**
 * Makes the index of a shard from the jobs alone, beside the one in use, which is searched and kept up to date meanwhile.
 * Where the events stood is noted before the first job is read, so whoever follows them goes on from there.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '../redis/connect.ts';
import { latestEvents } from './events.ts';
import type { IndexStore } from './index-store.ts';
import { readEntries } from './jobs.ts';
import type { ShardKeys } from './keys.ts';
import { createLock } from './lock.ts';
import { countAll, walk } from './walk.ts';

export interface RebuildProgress {
  readonly indexed: number;
  /** Counted before, while others work: roughly. */
  readonly expected: number;
}

const lockMs = 30_000;

/** Of tidying up: what it leaves is removed by the next sweep or rebuild, and the lock lapses. */
const ignored = (): void => undefined;

/** @returns Undefined when another process rebuilds already. */
export const rebuildShard = async (options: {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly store: IndexStore;
  readonly onProgress?: (progress: RebuildProgress) => void;
  readonly signal?: AbortSignal | undefined;
}): Promise<{ readonly indexed: number } | undefined> => {
  const { redis, keys, store, onProgress, signal } = options;
  const lock = createLock(redis, keys.rebuilding, lockMs);
  if (!(await lock.hold())) return undefined;
  const expected = await countAll(redis, keys);
  const generation = await store.beginGeneration();
  try {
    const events = await latestEvents(redis, keys);
    let indexed = 0;
    for await (const ids of walk(redis, keys, { signatures: 0 })) {
      signal?.throwIfAborted();
      // A job that is gone by now is none, here.
      const entries = (await readEntries(redis, keys, ids)).filter(({ row }) => row !== undefined);
      if (!(await lock.hold()) || !(await store.build(generation, entries)))
        throw new Error('Another process has begun to rebuild the index');
      indexed += entries.length;
      onProgress?.({ indexed, expected });
      // Who waits for a signature goes first.
      await delay(1);
    }
    if (!(await store.use({ generation, ...events, writes: 0 })))
      throw new Error('Another process has begun to rebuild the index');
    return { indexed };
  } catch (error) {
    await store.giveUp(generation).catch(ignored);
    throw error;
  } finally {
    await store.removeLeft().catch(ignored);
    await lock.release().catch(ignored);
  }
};
