/**
 * Keeps the order of a queue fair (src/engine/redis/fair-order.ts) while jobs are taken from it.
 *
 * An idle queue costs nothing: a job that is taken sets it going, and it goes on for as long as there is an order to keep.
 */
import type { Worker } from 'bullmq';
import { type FairOrder, sortFairly } from '../src/engine/redis/fair-order.ts';
import type { RedisClient } from '../src/redis/connect.ts';
import { toError } from '../src/redis/to-error.ts';

/** A job that arrives waits this long for its place at most, when the process is not short of CPU. */
const everyMs = 10;

/** What fails (a missing right, Redis away) would otherwise fail, and be logged, with each job that is taken. */
const pauseMs = 1000;

export const keepFair = (options: {
  readonly workers: readonly Worker[];
  readonly order: FairOrder;
  readonly redis: RedisClient;
  readonly onError: (error: Error) => void;
}): { close(): void } => {
  const { workers, order, redis, onError } = options;
  let going = false;
  let closed = false;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const sort = (): void => {
    sortFairly(redis, order).then(
      ({ placed, left }) => {
        going = placed + left > 0 && !closed;
        if (going) timer = setTimeout(sort, left > 0 ? 0 : everyMs);
      },
      (error) => {
        going = false;
        pausedUntil = performance.now() + pauseMs;
        onError(toError(error));
      },
    );
  };

  const begin = (): void => {
    if (going || closed) return;
    going = true;
    timer = setTimeout(sort, Math.max(everyMs, pausedUntil - performance.now()));
  };
  for (const worker of workers) worker.on('active', begin);

  return {
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
};
