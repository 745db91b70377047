/**
 * How much work waits for a worker, in all and of one application.
 *
 * Whoever decides about a request needs the answer at once, so the queues are asked now and then and never for a request:
 * a few times a second, and also as soon as this process alone has added a good part of what may wait. Between two looks
 * the number is what was found plus what was added here since. Other processes add too, so a limit may be overrun by what
 * they accept between two looks; it is a bound on memory and waiting time, not a promise of exactness.
 *
 * Whose a job is, is known once it has its place in the fair order (fair-order.ts). Workers see to that, and this does where
 * there are none. While less than half of the limit waits in all, no application can have reached it, and nobody is asked.
 */

import { countByLane, countWaiting, type FairOrder, laneOf } from '../engine/redis/fair-order.ts';
import type { RedisClient } from '../redis/connect.ts';
import { settlesWithin } from '../redis/timeout.ts';
import { toError } from '../redis/to-error.ts';
import type { Shard } from './shards.ts';

export interface Backlog {
  /** Transactions of all shards that wait for a worker, as far as is known. */
  size(): number;
  /** Those of one application; while few wait, all of them. */
  sizeOf(apId: string): number;
  /** Tells that this process has added one. */
  added(apId: string | undefined): void;
  close(): Promise<void>;
}

const lookEveryMs = 250;
/** While the queue is too long: what the workers take from it makes room at once. */
const lookOftenMs = 50;
const closePatienceMs = 1000;
/** Where no worker runs: thousands of jobs in one look, the rest in the next. */
const mostSteps = 20;

type Lanes = ReadonlyMap<string, number>;

/** What a shard said last. */
interface Found {
  readonly waiting: number;
  /** Undefined when few wait. */
  readonly lanes: Lanes | undefined;
}

/**
 * Looks once and resolves; then goes on looking until it is closed.
 *
 * @param limit How many of one application may wait. It decides how often is looked, and for what; nothing else.
 */
export const createBacklog = async ({
  shards,
  redis,
  limit,
  onError,
}: {
  readonly shards: readonly Pick<Shard, 'signatures'>[];
  readonly redis: RedisClient;
  readonly limit: number;
  readonly onError: (error: Error) => void;
}): Promise<Backlog> => {
  const lookAfterAdded = Math.ceil(limit / 8);
  const orders = shards.map(({ signatures }): FairOrder => ({ queue: signatures.queue, member: 'AP_ID' }));
  /** One that does not answer keeps what it said: adding to it fails and says so itself. */
  let found: readonly Found[] = shards.map(() => ({ waiting: 0, lanes: undefined }));
  /** Before the question that is under way was asked, and since. */
  let addedBefore = new Map<string | undefined, number>();
  let addedSince = new Map<string | undefined, number>();
  let countBefore = 0;
  let countSince = 0;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;

  const foundIn = (lane: string): number =>
    found.reduce(
      (sum, { waiting, lanes }) => sum + (lanes === undefined ? waiting : (lanes.get(lane) ?? 0)),
      0,
    );

  /** What was added until now is in the answers. What is added meanwhile may be or not: counting it errs on the safe side. */
  const askAll = <T>(ask: (order: FairOrder) => Promise<T>): Promise<(T | undefined)[]> => {
    for (const [apId, count] of addedSince) addedBefore.set(apId, (addedBefore.get(apId) ?? 0) + count);
    countBefore += countSince;
    addedSince = new Map();
    countSince = 0;
    return Promise.all(
      orders.map((order) =>
        ask(order).catch((error) => {
          onError(toError(error));
          return undefined;
        }),
      ),
    );
  };

  const count = async (): Promise<void> => {
    const waiting = await askAll((order) => countWaiting(redis, order));
    const inAll = waiting.reduce<number>(
      (sum, shard, index) => sum + (shard ?? found[index]?.waiting ?? 0),
      0,
    );
    let lanes: (Lanes | undefined)[] = [];
    for (let steps = 0; 2 * inAll >= limit && steps < mostSteps; steps += 1) {
      lanes = await askAll((order) => countByLane(redis, order));
      if (lanes.every((shard) => shard !== undefined)) break;
    }
    found = found.map((before, index) => ({
      waiting: waiting[index] ?? before.waiting,
      lanes: 2 * inAll < limit ? undefined : (lanes[index] ?? before.lanes ?? new Map()),
    }));
    addedBefore = new Map();
    countBefore = 0;
  };

  /** There are thousands of lanes at worst, so each is counted once. */
  const isFull = (): boolean => {
    const sums = new Map<string, number>();
    for (const { lanes } of found)
      for (const [lane, waiting] of lanes ?? []) sums.set(lane, (sums.get(lane) ?? 0) + waiting);
    return [...sums.values()].some((waiting) => waiting >= limit);
  };

  const look = (): void => {
    if (looking !== undefined || closed) return;
    clearTimeout(timer);
    looking = count().then(() => {
      looking = undefined;
      if (!closed) timer = setTimeout(look, isFull() ? lookOftenMs : lookEveryMs);
    });
  };

  look();
  await looking;
  return {
    size: () => found.reduce((sum, { waiting }) => sum + waiting, countBefore + countSince),
    sizeOf: (apId) => foundIn(laneOf(apId)) + (addedBefore.get(apId) ?? 0) + (addedSince.get(apId) ?? 0),
    added: (apId) => {
      addedSince.set(apId, (addedSince.get(apId) ?? 0) + 1);
      countSince += 1;
      if (countSince >= lookAfterAdded) look();
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      if (looking !== undefined) await settlesWithin(looking, closePatienceMs);
    },
  };
};
