/**
 * Fairness among applications, at the two places where their jobs wait for a worker: in the queue,
 * and for the CPU of the process that has taken them.
 */
import { toError } from '../packages/engine/src/redis/to-error.ts';
import type { TurnWorker } from '../packages/engine/src/turn-worker.ts';
import type { RedisClient } from '../src/redis/connect.ts';
import { createCompany, createRounds } from '../src/registry/rounds.ts';
import { type FairOrder, sortFairly } from '../src/transactions/jobs/fair-order.ts';

/** A new job waits at most this long to be sorted in, when the process is not short of CPU. */
const everyMs = 10;
/** The pause after an error, so that it is not repeated and logged with each job. */
const pauseMs = 1000;

/**
 * Keeps the order of a queue fair (src/transactions/jobs/fair-order.ts) while jobs are taken from it. A job that
 * is taken starts it where others wait, and it runs while there is an order to keep: an idle queue
 * costs nothing.
 */
export const keepFair = (options: {
  readonly workers: readonly TurnWorker[];
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
  for (const worker of workers)
    worker.on('active', () => {
      if (!worker.isQueueEmpty()) begin();
    });

  return {
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
};

/**
 * More would not be faster: a turn is mostly CPU, and most of the rest is one round trip to Redis.
 */
const maxOfOne = 8;
/** An application is alone when no other one has begun a turn for this time. */
const aloneAfterMs = 10_000;

/**
 * Lets the jobs that a process has taken begin their turns in fair order. All share one CPU: with
 * sixteen jobs of one application in hand, a job of another one would wait behind all of them. So
 * an application runs at most {@link maxOfOne} turns while another one has jobs. Turns begin one
 * after the other, with I/O in between. A job that waits here keeps its lock and its slot of the
 * worker, but the next job is fetched as soon as any turn ends.
 *
 * @param now Milliseconds, of a clock that is never set.
 */
export const createTurns = (now: () => number = () => performance.now()) => {
  const rounds = createRounds<string, () => void>();
  const company = createCompany<string>(aloneAfterMs, now);
  const running = new Map<string, number>();
  let serving = false;

  const runningOf = (apId: string): number => running.get(apId) ?? 0;

  /** @returns Whether one waited. */
  const beginNext = (apId: string): boolean => {
    const begin = rounds.take(apId);
    if (begin === undefined) return false;
    running.set(apId, runningOf(apId) + 1);
    begin();
    return true;
  };

  const serve = (): void => {
    serving = false;
    for (const apId of rounds.lanes()) {
      if (company.isAlone(apId)) {
        let isLeft = true;
        while (isLeft) isLeft = beginNext(apId);
      } else if (runningOf(apId) < maxOfOne) {
        beginNext(apId);
        serveSoon();
        return;
      }
    }
  };
  const serveSoon = (): void => {
    if (serving) return;
    serving = true;
    setImmediate(serve);
  };

  return {
    run: async <T>(apId: string, turn: () => Promise<T>): Promise<T> => {
      company.note(apId);
      if (!rounds.has(apId) && company.isAlone(apId)) running.set(apId, runningOf(apId) + 1);
      else {
        await new Promise<void>((resolve) => {
          rounds.add(apId, resolve);
          serveSoon();
        });
      }
      try {
        return await turn();
      } finally {
        const left = runningOf(apId) - 1;
        if (left === 0) running.delete(apId);
        else running.set(apId, left);
        if (!rounds.isEmpty()) serveSoon();
      }
    },
  };
};
