/**
 * Closes a gap that a trimmed stream of events has left: scans the queue for jobs that may have
 * changed.
 *
 * A scan takes longer the busier the queue is, and meanwhile the stream may be trimmed again. So
 * the events are followed between the parts of the scan, from their position at its beginning. A
 * scan of any length then ends at the end of the events, and the first gap causes no second one.
 *
 * Only found jobs are stored, so an interrupted scan is simply begun again.
 */
import type { RedisClient } from '../../redis/connect.ts';
import { latestEvents, type Read } from './events.ts';
import type { ShardKeys } from './keys.ts';
import { type EventPosition, timeIn } from './position.ts';
import { maxClockSkewMs, type Since, scanQueues } from './scan-queues.ts';

/**
 * Reads between two parts of a scan. They take thousands of events for a thousand scanned jobs,
 * more than a running queue emits meanwhile.
 */
const readsInBetween = 50;

/** The times from which to scan the queues with a gap. @param oldest The earliest such time. */
export const sinceGap = (from: EventPosition, gaps: Read['gaps'], oldest = 0): Since =>
  Object.fromEntries(
    gaps.map((queue) => [queue, Math.max(oldest, timeIn(from[queue]) - maxClockSkewMs)]),
  );

/**
 * @returns The position up to which events were followed; undefined when `see` or `follow` gave up.
 */
export const catchUp = async (options: {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  /** The position to which the events were read. A queue without a gap is followed from here. */
  readonly from: EventPosition;
  readonly since: Since;
  /** Handles transactions as they are now. @returns False to leave the rest to others. */
  readonly see: (ids: readonly string[]) => Promise<boolean>;
  /** Reads events and, unless there is a gap, handles them. */
  readonly follow: (at: EventPosition) => Promise<Read | undefined>;
}): Promise<EventPosition | undefined> => {
  const { redis, keys, from, since, see, follow } = options;
  const latest = await latestEvents(redis, keys);
  let at: EventPosition = {
    signatures: since.signatures === undefined ? from.signatures : latest.signatures,
    receipts: since.receipts === undefined ? from.receipts : latest.receipts,
  };
  let isLost = false;
  for await (const ids of scanQueues(redis, keys, since)) {
    if (!(await see(ids))) return undefined;
    let more = !isLost;
    for (let reads = 0; more && reads < readsInBetween; reads += 1) {
      const read = await follow(at);
      if (read === undefined) return undefined;
      // Another gap is found again, and closed, after this one.
      isLost = read.gaps.length > 0;
      if (!isLost) at = read.position;
      more = read.more && !isLost;
    }
  }
  return at;
};
