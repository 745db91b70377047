/**
 * Makes the index of a shard from the jobs alone, beside the one in use, which is searched and kept
 * up to date meanwhile. The position of the events is noted before the first job is read, and the
 * new index is followed from there.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '../../redis/connect.ts';
import { latestEvents } from './events.ts';
import type { IndexStore } from './index-store.ts';
import { readEntries } from './jobs.ts';
import type { ShardKeys } from './keys.ts';
import { createLease } from './leader-task.ts';
import { countAll, scanQueues } from './scan-queues.ts';

export interface RebuildProgress {
  readonly indexed: number;
  /** An estimate that was counted before. */
  readonly expected: number;
}

const leaseMs = 30_000;

/** Ignores errors while tidying up: the next sweep or rebuild does it, and the lease lapses. */
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
  const lease = createLease(redis, keys.rebuilding, leaseMs);
  if (!(await lease.hold())) return undefined;
  const expected = await countAll(redis, keys);
  const generation = await store.beginGeneration();
  const check = (isOurs: boolean): void => {
    if (!isOurs) throw new Error('Another process has begun to rebuild the index');
  };
  try {
    const events = await latestEvents(redis, keys);
    let indexed = 0;
    for await (const ids of scanQueues(redis, keys, { signatures: 0 })) {
      signal?.throwIfAborted();
      const entries = (await readEntries(redis, keys, ids)).filter(({ row }) => row !== undefined);
      check((await lease.hold()) && (await store.build(generation, entries)));
      // The scan may meet a job twice, so the rows are counted.
      indexed = await store.size(generation);
      onProgress?.({ indexed, expected });
      // Signing goes first.
      await delay(1);
    }
    check(await store.use({ generation, ...events, writes: 0 }));
    return { indexed };
  } catch (error) {
    await store.giveUp(generation).catch(ignored);
    throw error;
  } finally {
    await store.removeLeft().catch(ignored);
    await lease.release().catch(ignored);
  }
};
