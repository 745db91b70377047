/**
 * Keeps the index of one shard up to date, step by step: what the events tell, a gap that they leave, an index that is not
 * there yet. A step reads from the position and writes with it, so it may be cut off anywhere and done again.
 */
import type { RedisClient } from '../redis/connect.ts';
import { latestEvents, readChanges } from './events.ts';
import type { IndexStore } from './index-store.ts';
import { entriesOf, readEntries } from './jobs.ts';
import type { ShardKeys } from './keys.ts';
import { type Position, positionText, timeOf } from './position.ts';
import { rebuildShard } from './rebuild.ts';
import { walk } from './walk.ts';

/**
 * more   There is more to do at once.
 * idle   Nothing is left to do.
 * busy   Another process is at it.
 */
export type StepResult = 'more' | 'idle' | 'busy';

export interface Follower {
  step(): Promise<StepResult>;
}

/** Jobs end by the clocks of workers, events are stamped by that of Redis. */
const clocksDifferMs = 600_000;

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

  const repair = async (from: Position): Promise<StepResult> => {
    const events = await latestEvents(redis, keys);
    const since = Math.max(0, timeOf(from.signatures) - clocksDifferMs);
    const sinceReceipts = Math.max(0, timeOf(from.receipts) - clocksDifferMs);
    let at: Position | undefined = from;
    for await (const ids of walk(redis, keys, Math.min(since, sinceReceipts || since))) {
      if (!(await mayGoOn())) return 'busy';
      at = await store.write(at, at, await readEntries(redis, keys, ids));
      if (at === undefined) break;
    }
    known = at && (await store.write(at, { ...at, ...events }, []));
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
      const { changed, position, gap, more } = changes;
      if (gap) return repair(from);
      if (positionText(position) === positionText(from)) return 'idle';
      // A position that did not hold is read anew; what is left to do is found again.
      known = await store.write(from, position, entriesOf(changed));
      if (known === undefined) return 'more';
      return more ? 'more' : 'idle';
    },
  };
};
