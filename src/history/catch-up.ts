/**
 * Makes good what a trimmed stream of events no longer tells: looks through the queue for what may have changed since.
 *
 * That takes the longer the more is going on, and in that time the stream may be trimmed again. So who looks through the
 * queue goes on following the events, in between and from where they stood when it began: when it is done it is where
 * they end, however long it took, and no second gap follows from the first.
 *
 * Nothing is stored on the way but what was found, so it may be cut off anywhere; then it is begun again.
 */
import type { RedisClient } from '../redis/connect.ts';
import { latestEvents, type Read } from './events.ts';
import type { ShardKeys } from './keys.ts';
import { type EventPosition, timeOf } from './position.ts';
import { clocksDifferMs, type Ended, type Since, walk } from './walk.ts';

/** Thousands of events for each thousand transactions that are looked at: more than a queue that runs can tell meanwhile. */
const readsInBetween = 20;

/** From when on to look, for a gap behind what was read last. @param oldest Nobody wants to know what was before. */
export const sinceGap = (from: EventPosition, gaps: Read['gaps'], oldest = 0): Since =>
  Object.fromEntries(gaps.map((queue) => [queue, Math.max(oldest, timeOf(from[queue]) - clocksDifferMs)]));

/** @returns How far the events have been followed; undefined when `see` or `follow` said to leave it to others. */
export const catchUp = async (options: {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  /** Up to where the events were read; of a queue without a gap they are followed from here on. */
  readonly from: EventPosition;
  readonly since: Since;
  /** See walk.ts. */
  readonly worthIt?: (ended: readonly Ended[]) => Promise<readonly string[]>;
  /** Sees to transactions as they are now. @returns False to leave the rest to others. */
  readonly see: (ids: readonly string[]) => Promise<boolean>;
  /** Reads the events from there on and, unless there is a gap, sees to what they tell of. */
  readonly follow: (at: EventPosition) => Promise<Read | undefined>;
}): Promise<EventPosition | undefined> => {
  const { redis, keys, from, since, worthIt, see, follow } = options;
  const latest = await latestEvents(redis, keys);
  let at: EventPosition = {
    signatures: since.signatures === undefined ? from.signatures : latest.signatures,
    receipts: since.receipts === undefined ? from.receipts : latest.receipts,
  };
  let isLost = false;
  for await (const ids of walk(redis, keys, since, worthIt)) {
    if (!(await see(ids))) return undefined;
    let more = !isLost;
    for (let reads = 0; more && reads < readsInBetween; reads += 1) {
      const read = await follow(at);
      if (read === undefined) return undefined;
      // Another gap: it is met with again, and seen to, when this one is done.
      isLost = read.gaps.length > 0;
      if (!isLost) at = read.position;
      more = read.more && !isLost;
    }
  }
  return at;
};
