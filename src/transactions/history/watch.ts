/**
 * Tells open pages which transactions have changed, soon after the index has the change. A process
 * asks each shard twice a second for all open pages together, and not at all while none is open.
 *
 * The end of the list of changes is read at once, on the connection that reads lists: a page that
 * watches first and then reads misses nothing. If that read fails, everything may have changed.
 */

import { toError } from '../../../packages/engine/src/redis/to-error.ts';
import type { RedisClient } from '../../redis/connect.ts';
import { lastEntryId } from '../../redis/streams.ts';
import type { ShardKeys } from './keys.ts';

/** The ids that changed; `many` for too many, or when the index was built anew. */
export type Change =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  | { readonly kind: 'many' };
type ChangeListener = (change: Change) => void;

const lookEveryMs = 500;
/** Ids of one read; more of them are told as `many`. */
const maxIds = 200;
const entriesAtOnce = 50;

export const createWatch = (
  redis: RedisClient,
  shards: readonly ShardKeys[],
  onError: (error: Error) => void,
) => {
  const listeners = new Set<ChangeListener>();
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  /** The last entry that was read of each shard; undefined where it is not known. */
  let read: (string | undefined)[] = [];

  const findEnd = async ({ changes }: ShardKeys, shard: number): Promise<void> => {
    read[shard] = await lastEntryId(redis, changes);
  };

  const begin = async (): Promise<void> => {
    read = shards.map(() => undefined);
    await Promise.all(shards.map(findEnd));
  };

  const lookAt = async (keys: ShardKeys, shard: number): Promise<readonly string[]> => {
    const since = read[shard];
    if (since === undefined) {
      await findEnd(keys, shard);
      return ['*'];
    }
    const entries = await redis.xrange(keys.changes, `(${since}`, '+', 'COUNT', entriesAtOnce);
    read[shard] = entries.at(-1)?.[0] ?? since;
    const ids = entries.flatMap(([, [, text = '*']]) => text.split(' '));
    return entries.length === entriesAtOnce ? ['*'] : ids;
  };

  const look = async (): Promise<void> => {
    const ids = new Set((await Promise.all(shards.map(lookAt))).flat());
    if (ids.size === 0) return;
    const change: Change =
      ids.has('*') || ids.size > maxIds ? { kind: 'many' } : { kind: 'ids', ids: [...ids] };
    for (const listener of listeners) listener(change);
  };

  const run = (step: () => Promise<void>): void => {
    step()
      .catch((error: unknown) => onError(toError(error)))
      .finally(() => {
        running = listeners.size > 0;
        if (running) timer = setTimeout(run, lookEveryMs, look);
      });
  };

  return {
    /** Tells the listener of changes from now on. @returns A function that stops it. */
    watch: (listener: ChangeListener): (() => void) => {
      listeners.add(listener);
      if (!running) {
        running = true;
        run(begin);
      }
      return () => {
        listeners.delete(listener);
      };
    },
    close: (): void => {
      listeners.clear();
      clearTimeout(timer);
      running = false;
    },
  };
};
