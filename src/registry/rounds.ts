/**
 * Fairness among lanes, such as applications, inside one process. Requests (http/admission.ts) and
 * the turns of jobs (workers/fairness.ts) share it.
 *
 * What looks alike elsewhere is another mechanism. Jobs in a queue are ordered inside Redis, where
 * all processes see them (transactions/jobs/fair-order.ts). Passwords (fair-semaphore.ts) run one at a time of a
 * lane, in rounds of origins within it, and a flood is turned away from the fullest lane. Calls to
 * a receiver (workers/tenant-concurrency.ts) and transactions of workflows do not wait here at all:
 * they are told when to ask again.
 */

/** What waits, lane by lane. The lane that was served goes to the end. */
export const createRounds = <Lane, Item>() => {
  /** Only lanes in which something waits, in the order of their turns. */
  const waiting = new Map<Lane, Item[]>();
  return {
    add: (lane: Lane, item: Item): void => {
      const items = waiting.get(lane);
      if (items === undefined) waiting.set(lane, [item]);
      else items.push(item);
    },
    has: (lane: Lane): boolean => waiting.has(lane),
    isEmpty: (): boolean => waiting.size === 0,
    /** Lanes in which something waits, in the order of their turns. */
    lanes: (): IterableIterator<Lane> => waiting.keys(),
    /** What has waited longest in the lane. */
    first: (lane: Lane): Item | undefined => waiting.get(lane)?.[0],
    /** Takes what has waited longest in the lane. Its next one comes after one of each other. */
    take: (lane: Lane): Item | undefined => {
      const items = waiting.get(lane);
      const item = items?.shift();
      waiting.delete(lane);
      if (items !== undefined && items.length > 0) waiting.set(lane, items);
      return item;
    },
  };
};

export type Rounds<Lane, Item> = ReturnType<typeof createRounds<Lane, Item>>;

/**
 * Knows whether a lane has others beside it: a limit for the sake of others need not hold for a
 * lane that is alone.
 *
 * @param aloneAfterMs A lane is alone when no other one was noted for this time.
 * @param now Milliseconds, of a clock that is never set.
 */
export const createCompany = <Lane>(aloneAfterMs: number, now: () => number) => {
  let latest: { readonly lane: Lane | undefined; readonly at: number } = {
    lane: undefined,
    at: Number.NEGATIVE_INFINITY,
  };
  /** The latest of another lane than that. */
  let latestOther = latest;
  return {
    note: (lane: Lane): void => {
      if (latest.lane !== lane) latestOther = latest;
      latest = { lane, at: now() };
    },
    isAlone: (lane: Lane): boolean =>
      now() - (latest.lane === lane ? latestOther : latest).at >= aloneAfterMs,
  };
};
