/**
 * Counts the transactions that wait for a worker, in all and of one application.
 *
 * Admission needs the number at once, so it does not ask Redis for each request. The queues are
 * counted a few times a second, and as soon as this process has added an eighth of the limit. In
 * between, the number is the last count plus what was added here. Other processes add, too, so the
 * limit may be exceeded by what they accept between two counts.
 *
 * The application of a job is known when the job is sorted into the fair order (fair-order.ts).
 * Workers do this, or this module where none runs. While less than half of the limit waits in all,
 * applications are not counted, because none can have reached it.
 */

import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import type { RedisClient } from '../redis/connect.ts';
import { countByLane, countWaiting, type FairOrder, laneOf } from './jobs/fair-order.ts';
import type { Shard } from './shards.ts';

export type Backlog = Awaited<ReturnType<typeof createBacklog>>;

const countEveryMs = 250;
/** The interval of counts while the queue is full, so that free room is noticed soon. */
const countOftenMs = 50;
const closeTimeoutMs = 1000;
/** Sorting steps in one count, where no worker sorts. The next count sorts the rest. */
const maxSortSteps = 20;

type Lanes = ReadonlyMap<string, number>;

/** The last count of a shard. */
interface Found {
  readonly waiting: number;
  /** Undefined when few wait. */
  readonly lanes: Lanes | undefined;
}

/** Full backlogs that are accepted, each of one application. More would fill Redis. */
export const maxBacklogs = 100;

/**
 * Resolves after the first count, and counts until it is closed.
 *
 * @param limit The most waiting transactions of one application. It only decides how often and what
 *   is counted.
 * @param onDemand Counts only while `sizeOf` is asked: for programs that seldom add.
 */
export const createBacklog = async ({
  shards,
  redis,
  limit,
  onDemand = false,
  onError,
}: {
  readonly shards: readonly Pick<Shard, 'signatures'>[];
  readonly redis: RedisClient;
  readonly limit: number;
  readonly onDemand?: boolean;
  readonly onError: (error: Error) => void;
}) => {
  const countAfterAdded = Math.ceil(limit / 8);
  const orders = shards.map(
    ({ signatures }): FairOrder => ({ queue: signatures.queue, member: 'AP_ID' }),
  );
  /** A shard that does not answer keeps its last count. */
  let found: readonly Found[] = shards.map(() => ({ waiting: 0, lanes: undefined }));
  /** Transactions that were added before the current count, and since; by application. */
  let addedBefore = new Map<string | undefined, number>();
  let addedSince = new Map<string | undefined, number>();
  let countBefore = 0;
  let countSince = 0;
  let closed = false;
  let lookedAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;

  /** The last count of an application. The name of a lane is made only when lanes are counted. */
  const foundOf = (apId: string): number => {
    let lane: string | undefined;
    let sum = 0;
    for (const { waiting, lanes } of found) {
      if (lanes === undefined) sum += waiting;
      else {
        lane ??= laneOf(apId);
        sum += lanes.get(lane) ?? 0;
      }
    }
    return sum;
  };

  /** Asks all shards. Transactions that are added meanwhile may be counted twice. */
  const askAll = <T>(ask: (order: FairOrder) => Promise<T>): Promise<(T | undefined)[]> => {
    for (const [apId, count] of addedSince)
      addedBefore.set(apId, (addedBefore.get(apId) ?? 0) + count);
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
    for (let steps = 0; 2 * inAll >= limit && steps < maxSortSteps; steps += 1) {
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

  const isFull = (): boolean => {
    const sums = new Map<string, number>();
    for (const { lanes } of found)
      for (const [lane, waiting] of lanes ?? []) sums.set(lane, (sums.get(lane) ?? 0) + waiting);
    return [...sums.values()].some((waiting) => waiting >= limit);
  };

  const look = (): void => {
    if (looking !== undefined || closed) return;
    clearTimeout(timer);
    lookedAt = performance.now();
    looking = count().then(() => {
      looking = undefined;
      if (!closed && !onDemand) timer = setTimeout(look, isFull() ? countOftenMs : countEveryMs);
    });
  };

  look();
  await looking;
  return {
    /** Transactions of all shards that wait for a worker. */
    size: (): number => found.reduce((sum, { waiting }) => sum + waiting, countBefore + countSince),
    /** The waiting transactions of one application; while few wait, those of all applications. */
    sizeOf: (apId: string): number => {
      if (onDemand && performance.now() - lookedAt >= countEveryMs) look();
      return foundOf(apId) + (addedBefore.get(apId) ?? 0) + (addedSince.get(apId) ?? 0);
    },
    /** Counts a transaction. Call it when this process has added one. */
    added: (apId: string | undefined): void => {
      addedSince.set(apId, (addedSince.get(apId) ?? 0) + 1);
      countSince += 1;
      if (countSince >= countAfterAdded) look();
    },
    close: async (): Promise<void> => {
      closed = true;
      clearTimeout(timer);
      if (looking !== undefined) await settlesWithin(looking, closeTimeoutMs);
    },
  };
};
