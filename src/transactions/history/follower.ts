/**
 * Follows the transactions of one shard, step by step: by the events of its queues, and by a scan
 * of the queues where events are gone. Two follow them: the search index (index-follower.ts) and
 * what tells applications of ends (parts/callbacks/follower.ts). What each reads of the events, and
 * where it stores its position, are theirs.
 *
 * A step begins at the stored position and moves it with its last write, so an interrupted step is
 * simply done again. It reads all events first and handles the transactions afterwards: one that
 * was added, begun and signed meanwhile is handled once.
 *
 * The end stream (jobs/end-stream.ts) is another mechanism, because its readers want the opposite:
 * each process wants the ends of its own jobs within a millisecond and keeps no position, while
 * here one process handles all ends of a shard, at least once, after any absence.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '../../redis/connect.ts';
import { catchUp, sinceGap } from './catch-up.ts';
import type { Changes } from './events.ts';
import type { ShardKeys } from './keys.ts';
import type { EventPosition } from './position.ts';
import type { Since } from './scan-queues.ts';

/**
 * more   There is more to do at once.
 * much   Nothing is left, but there was so much that the streams may soon be trimmed.
 * idle   Nothing is left to do.
 * busy   Another process does the work.
 */
export type StepResult = 'more' | 'much' | 'idle' | 'busy';

/** The index or stream that follows. A function gives undefined when the position has changed. */
export interface Followed<At extends EventPosition> {
  /** The stored position; undefined before there is one. */
  position(): Promise<At | undefined>;
  /** A step without a stored position. */
  begin(scan: (from: At, since: Since) => Promise<StepResult>): Promise<StepResult>;
  /** @param since Where reading begins; it may be ahead of the stored position. */
  read(stored: At, since: EventPosition): Promise<Changes | undefined>;
  /**
   * Handles transactions as they are now and then stores the position.
   *
   * @param to `stored` itself where the position does not move yet.
   * @returns The position that is stored now.
   */
  handle(stored: At, to: At, ids: readonly string[]): Promise<At | undefined>;
  /** A scan looks no further back: milliseconds since the epoch. */
  readonly oldest?: () => number;
}

/** The most reads of events before the transactions that they name are handled. */
const maxReads = 24;
/** The pause between two reads, so that accepting and signing go first. */
const pauseMs = 3;
/** Few at a time: much data in hand makes garbage collections long, and signing waits for them. */
const handledAtOnce = 250;
/** A fifth of what the streams hold (events.ts). */
const muchReads = 8;

export const createFollower = <At extends EventPosition>(
  options: Followed<At> & {
    readonly redis: RedisClient;
    readonly keys: ShardKeys;
    /** See leader-task.ts. */
    readonly mayGoOn: () => Promise<boolean>;
  },
) => {
  const { redis, keys, mayGoOn, position, begin, read, handle, oldest } = options;

  const scan = async (from: At, since: Since): Promise<StepResult> => {
    let at: At | undefined = from;
    const end = await catchUp({
      redis,
      keys,
      from,
      since,
      see: async (ids) => {
        if (at === undefined || !(await mayGoOn())) return false;
        if (ids.length > 0) at = await handle(at, at, ids);
        return at !== undefined;
      },
      follow: async (next) => {
        const changes = at && (await read(at, next));
        if (at && changes && changes.ids.length > 0 && changes.gaps.length === 0)
          at = await handle(at, at, changes.ids);
        return changes;
      },
    });
    const stored = at && end && (await handle(at, { ...at, ...end }, []));
    return stored === undefined ? 'busy' : 'more';
  };

  /** Reads events up to a gap or a bound. */
  const gather = async (
    stored: At,
  ): Promise<(Changes & { readonly reads: number }) | undefined> => {
    const ids = new Set<string>();
    let at: EventPosition = stored;
    for (let reads = 1; ; reads += 1) {
      const changes = await read(stored, at);
      if (changes === undefined) return undefined;
      // A gap behind events that were read waits for the next step.
      if (changes.gaps.length > 0 && reads > 1)
        return { ids: [...ids], position: at, gaps: [], more: true, reads };
      for (const id of changes.ids) ids.add(id);
      at = changes.position;
      if (!changes.more || changes.gaps.length > 0 || reads === maxReads)
        return { ...changes, ids: [...ids], reads };
      await delay(pauseMs);
    }
  };

  const handleAll = async (from: At, to: At, ids: readonly string[]): Promise<At | undefined> => {
    let at: At | undefined = from;
    for (
      let first = 0;
      at !== undefined && (first === 0 || first < ids.length);
      first += handledAtOnce
    ) {
      const end = first + handledAtOnce;
      at = await handle(at, end < ids.length ? at : to, ids.slice(first, end));
    }
    return at;
  };

  return {
    step: async (): Promise<StepResult> => {
      const from = await position();
      if (from === undefined) return begin(scan);
      const changes = await gather(from);
      if (changes === undefined) return 'more';
      const { ids, gaps, more, reads, position: to } = changes;
      if (gaps.length > 0) return scan(from, sinceGap(from, gaps, oldest?.()));
      if (to.signatures === from.signatures && to.receipts === from.receipts) return 'idle';
      const stored = await handleAll(from, { ...from, ...to }, ids);
      if (stored === undefined || more) return 'more';
      return reads >= muchReads ? 'much' : 'idle';
    },
  };
};
