/**
 * Tells a page that is open which transactions have changed, soon after the index knows. However many pages are open, a
 * process asks each shard twice a second, and not at all while none is.
 *
 * Where the changes begin is asked at once, on the connection that lists are read by: whoever watches first and reads then
 * misses nothing in between. Where that could not be learnt, everything may have changed.
 */
import type { RedisClient } from '../redis/connect.ts';
import { toError } from '../redis/to-error.ts';
import type { ShardKeys } from './keys.ts';

/** The ids that changed; `many` when they were too many to be named, or the index was built anew. */
export type Change = { readonly kind: 'ids'; readonly ids: readonly string[] } | { readonly kind: 'many' };
export type ChangeListener = (change: Change) => void;

export interface Watch {
  /** Told of what changes from now on. @returns Stops it. */
  watch(listener: ChangeListener): () => void;
  close(): void;
}

const lookEveryMs = 500;
/** More than this at one look is many. */
const mostIds = 200;
const entriesAtOnce = 50;

export const createWatch = (
  redis: RedisClient,
  shards: readonly ShardKeys[],
  onError: (error: Error) => void,
): Watch => {
  const listeners = new Set<ChangeListener>();
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  /** The last entry that was read of each shard; undefined where it is not known. */
  let read: (string | undefined)[] = [];

  const findEnd = async ({ changes }: ShardKeys, shard: number): Promise<void> => {
    const [last] = await redis.xrevrange(changes, '+', '-', 'COUNT', 1);
    read[shard] = last?.[0] ?? '0-0';
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
      ids.has('*') || ids.size > mostIds ? { kind: 'many' } : { kind: 'ids', ids: [...ids] };
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
    watch: (listener) => {
      listeners.add(listener);
      if (!running) {
        running = true;
        run(begin);
      }
      return () => {
        listeners.delete(listener);
      };
    },
    close: () => {
      listeners.clear();
      clearTimeout(timer);
      running = false;
    },
  };
};
