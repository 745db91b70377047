/**
 * Keeps the index of one shard up to date, step by step: by the events, by a scan where events are
 * gone, by a rebuild where there is no index. A step begins at the stored position and moves it
 * with its last write, so an interrupted step is simply done again.
 *
 * A step reads all events first and the jobs afterwards: a job that was added, begun and signed
 * meanwhile is read and written once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '../redis/connect.ts';
import { catchUp, sinceGap } from './catch-up.ts';
import type { Read } from './events.ts';
import type { IndexStore } from './index-store.ts';
import { type Changes, indexSubmitted } from './index-submitted.ts';
import { readEntries } from './jobs.ts';
import type { ShardKeys } from './keys.ts';
import { type EventPosition, type Position, positionText } from './position.ts';
import { rebuildShard } from './rebuild.ts';

/**
 * more   There is more to do at once.
 * much   Nothing is left, but there was so much that the streams may soon be trimmed.
 * idle   Nothing is left to do.
 * busy   Another process does the work.
 */
export type StepResult = 'more' | 'much' | 'idle' | 'busy';

/** Reads of events before their changes are written. */
const maxReads = 24;
/** The pause between two reads, so that accepting and signing go first. */
const pauseMs = 3;
/**
 * Jobs that are written at a time. More data makes garbage collections long, and delays signing.
 */
const writesAtOnce = 250;
/** Reads that count as much: their events are a fifth of those in the streams (events.ts). */
const muchReads = 8;

export const createFollower = (options: {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly store: IndexStore;
  readonly now: () => number;
  /** Whether this process still leads (leader-task.ts). */
  readonly mayGoOn: () => Promise<boolean>;
  /** Makes a rebuild throw when it is aborted. */
  readonly signal?: AbortSignal;
}) => {
  const { redis, keys, store, now, mayGoOn, signal } = options;
  /** The position of the index, as far as this process knows. A write with a wrong one is void. */
  let known: Position | undefined;

  const writeJobs = async (
    at: Position,
    to: Position,
    ids: readonly string[],
  ): Promise<Position | undefined> => store.write(at, to, await readEntries(redis, keys, ids));

  const repair = async (from: Position, gaps: Read['gaps']): Promise<StepResult> => {
    let at: Position | undefined = from;
    const read = await catchUp({
      redis,
      keys,
      from,
      since: sinceGap(from, gaps),
      see: async (ids) => {
        if (at === undefined || !(await mayGoOn())) return false;
        if (ids.length > 0) at = await writeJobs(at, at, ids);
        return at !== undefined;
      },
      follow: async (since) => {
        const changes = at && (await indexSubmitted(redis, keys, at, since, now()));
        if (at && changes && changes.changed.length > 0)
          at = await writeJobs(at, at, changes.changed);
        return changes;
      },
    });
    known = at && read && (await store.write(at, { ...at, ...read }, []));
    return known === undefined ? 'busy' : 'more';
  };

  /**
   * Reads events up to a gap or a bound, and indexes jobs that were just submitted.
   *
   * @returns The other changes; undefined when the index has another position.
   */
  const gather = async (
    from: Position,
  ): Promise<(Changes & { readonly reads: number }) | undefined> => {
    const changed = new Set<string>();
    let position: EventPosition = from;
    for (let reads = 1; ; reads += 1) {
      const changes = await indexSubmitted(redis, keys, from, position, now());
      if (changes === undefined) return undefined;
      // A gap behind events that were read waits for the next step.
      if (changes.gaps.length > 0 && reads > 1)
        return { changed: [...changed], position, gaps: [], more: true, reads };
      for (const id of changes.changed) changed.add(id);
      position = changes.position;
      if (!changes.more || changes.gaps.length > 0 || reads === maxReads)
        return { ...changes, changed: [...changed], reads };
      await delay(pauseMs);
    }
  };

  const writeAll = async (from: Position, to: Position, ids: readonly string[]) => {
    let at: Position | undefined = from;
    for (
      let first = 0;
      at !== undefined && (first === 0 || first < ids.length);
      first += writesAtOnce
    ) {
      const end = first + writesAtOnce;
      at = await writeJobs(at, end < ids.length ? at : to, ids.slice(first, end));
    }
    return at;
  };

  return {
    step: async (): Promise<StepResult> => {
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
      // If the write fails, the next step reads the position anew and finds the rest again.
      known = await writeAll(from, position, changed);
      if (known === undefined || more) return 'more';
      return reads >= muchReads ? 'much' : 'idle';
    },
  };
};

export type Follower = ReturnType<typeof createFollower>;
