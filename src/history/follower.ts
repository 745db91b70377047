/**
 * Keeps the index of one shard up to date, step by step: what the events tell, a gap that they leave, an index that is not
 * there yet. A step reads from the position and writes with it, so it may be cut off anywhere and done again.
 *
 * First all that has happened is read, and then the jobs: one that was added, begun and signed meanwhile is read and written
 * once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '../redis/connect.ts';
import { catchUp, sinceGap } from './catch-up.ts';
import type { Read } from './events.ts';
import type { IndexStore } from './index-store.ts';
import { readEntries } from './jobs.ts';
import type { ShardKeys } from './keys.ts';
import { type EventPosition, type Position, positionText } from './position.ts';
import { rebuildShard } from './rebuild.ts';
import { type Changes, takeIn } from './take-in.ts';

/**
 * more   There is more to do at once.
 * much   Nothing is left to do, but much was: streams that are written so fast are trimmed fast.
 * idle   Nothing is left to do.
 * busy   Another process is at it.
 */
export type StepResult = 'more' | 'much' | 'idle' | 'busy';

/** How often events are read before what they tell is written. */
const readsInStep = 24;
/** Between two reads. */
const restMs = 3;
/** So many transactions are read and written in one go. */
const inHand = 250;
/** A fifth of what the streams hold (events.ts). */
const muchReads = 8;

export interface Follower {
  step(): Promise<StepResult>;
}

export const createFollower = (options: {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly store: IndexStore;
  readonly now: () => number;
  /** Asked between two parts of something long; without it the rest is left to others. */
  readonly mayGoOn: () => Promise<boolean>;
  /** Ends a rebuild, by an error. */
  readonly signal?: AbortSignal;
}): Follower => {
  const { redis, keys, store, now, mayGoOn, signal } = options;
  /** As far as this process knows. A write with a wrong one writes nothing. */
  let known: Position | undefined;

  const repair = async (from: Position, gaps: Read['gaps']): Promise<StepResult> => {
    let at: Position | undefined = from;
    const read = await catchUp({
      redis,
      keys,
      from,
      since: sinceGap(from, gaps),
      // It goes back by as much as clocks may differ, so most of what it meets is known.
      worthIt: (ended) => store.notEndedThen(from.generation, ended),
      see: async (ids) => {
        if (at === undefined || !(await mayGoOn())) return false;
        if (ids.length === 0) return true;
        at = await store.write(at, at, await readEntries(redis, keys, ids));
        return at !== undefined;
      },
      follow: async (since) => {
        const changes = at && (await takeIn(redis, keys, at, since, now()));
        if (at !== undefined && changes !== undefined && changes.changed.length > 0) {
          at = await store.write(at, at, await readEntries(redis, keys, changes.changed));
        }
        return changes;
      },
    });
    known = at && read && (await store.write(at, { ...at, ...read }, []));
    return known === undefined ? 'busy' : 'more';
  };

  /** What is told up to a gap, or up to a bound, and was not taken in at once. @returns Undefined when the index stands elsewhere. */
  const gather = async (from: Position): Promise<(Changes & { readonly reads: number }) | undefined> => {
    const changed = new Set<string>();
    let position: EventPosition = from;
    for (let reads = 1; ; reads += 1) {
      const changes = await takeIn(redis, keys, from, position, now());
      if (changes === undefined) return undefined;
      // After something that was told a gap waits for the next step.
      if (changes.gaps.length > 0 && reads > 1)
        return { changed: [...changed], position, gaps: [], more: true, reads };
      for (const id of changes.changed) changed.add(id);
      position = changes.position;
      if (!changes.more || changes.gaps.length > 0 || reads === readsInStep)
        return { ...changes, changed: [...changed], reads };
      // Who accepts and signs goes first.
      await delay(restMs);
    }
  };

  /** Some at a time: what is in hand for long makes the collection of garbage long, and signing waits for that. */
  const writeAll = async (
    from: Position,
    to: Position,
    ids: readonly string[],
  ): Promise<Position | undefined> => {
    let at: Position | undefined = from;
    for (let first = 0; at !== undefined && (first === 0 || first < ids.length); first += inHand) {
      const entries = await readEntries(redis, keys, ids.slice(first, first + inHand));
      at = await store.write(at, first + inHand < ids.length ? at : to, entries);
    }
    return at;
  };

  return {
    step: async () => {
      known ??= await store.position();
      if (known === undefined) {
        const built = await rebuildShard({ redis, keys, store, signal });
        return built === undefined ? 'busy' : 'more';
      }
      const from = known;
      const changes = await gather(from);
      if (changes === undefined) {
        // Another process has gone on, or the index was built anew.
        known = undefined;
        return 'more';
      }
      const { changed, gaps, more, reads } = changes;
      if (gaps.length > 0) return repair(from, gaps);
      const position = { ...from, ...changes.position };
      if (positionText(position) === positionText(from)) return 'idle';
      // A position that did not hold is read anew; what is left to do is found again.
      known = await writeAll(from, position, changed);
      if (known === undefined || more) return 'more';
      return reads >= muchReads ? 'much' : 'idle';
    },
  };
};
