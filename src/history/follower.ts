/**
 * Keeps the index of one shard up to date, step by step: what the events tell, a gap that they leave, an index that is not
 * there yet. A step reads from the position and writes with it, so it may be cut off anywhere and done again.
 */
import type { RedisClient } from '../redis/connect.ts';
import { catchUp, sinceGap } from './catch-up.ts';
import { type Changes, readChanges } from './events.ts';
import type { IndexStore } from './index-store.ts';
import { entriesOf, readEntries } from './jobs.ts';
import type { ShardKeys } from './keys.ts';
import { type Position, positionText } from './position.ts';
import { rebuildShard } from './rebuild.ts';

/**
 * more   There is more to do at once.
 * idle   Nothing is left to do.
 * busy   Another process is at it.
 */
export type StepResult = 'more' | 'idle' | 'busy';

export interface Follower {
  step(): Promise<StepResult>;
}

export const createFollower = (options: {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly store: IndexStore;
  /** Asked between two parts of something long; without it the rest is left to others. */
  readonly mayGoOn: () => Promise<boolean>;
}): Follower => {
  const { redis, keys, store, mayGoOn } = options;
  /** As far as this process knows. A write with a wrong one writes nothing. */
  let known: Position | undefined;

  const repair = async (from: Position, gaps: Changes['gaps']): Promise<StepResult> => {
    let at: Position | undefined = from;
    const read = await catchUp({
      redis,
      keys,
      from,
      since: sinceGap(from, gaps),
      see: async (ids) => {
        if (at === undefined || !(await mayGoOn())) return false;
        at = await store.write(at, at, await readEntries(redis, keys, ids));
        return at !== undefined;
      },
      follow: async (since) => {
        const changes = at && (await readChanges(redis, keys, at, since));
        if (at !== undefined && changes !== undefined && changes.changed.length > 0) {
          at = await store.write(at, at, entriesOf(changes.changed));
        }
        return changes;
      },
    });
    known = at && read && (await store.write(at, { ...at, ...read }, []));
    return known === undefined ? 'busy' : 'more';
  };

  return {
    step: async () => {
      known ??= await store.position();
      if (known === undefined) {
        const built = await rebuildShard({ redis, keys, store });
        return built === undefined ? 'busy' : 'more';
      }
      const from = known;
      const changes = await readChanges(redis, keys, from);
      if (changes === undefined) {
        // Another process has gone on, or the index was built anew.
        known = undefined;
        return 'more';
      }
      const { changed, gaps, more } = changes;
      if (gaps.length > 0) return repair(from, gaps);
      const position = { ...from, ...changes.position };
      if (positionText(position) === positionText(from)) return 'idle';
      // A position that did not hold is read anew; what is left to do is found again.
      known = await store.write(from, position, entriesOf(changed));
      if (known === undefined) return 'more';
      return more ? 'more' : 'idle';
    },
  };
};
