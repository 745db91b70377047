/**
 * Waiting for jobs to end: what makes a synchronous caller out of an asynchronous transaction.
 *
 * However many callers wait, a process reads each queue's event stream once. The stream is a hint, not the truth: it
 * is trimmed, and a reader that falls behind or loses its connection can miss an event. So whoever has waited for a
 * second is also looked up, all of them in one command, until the end is found: every second at first and, while the
 * stream is read, less often the longer it has taken, because some wait for what is to be done tomorrow.
 */

import { createEndEvents } from '../engine/redis/end-events.ts';
import { parse } from '../engine/redis/instance-store.ts';
import type { RedisClient } from '../redis/connect.ts';
import { type Ending, endingOf } from './ending.ts';
import type { QueueAt } from './shards.ts';

/**
 * Told that from here on only an end is waited for.
 *
 * @returns A signal that is aborted when nobody waits any more.
 */
export type Waits = () => AbortSignal;

/** Ends a wait when nobody is interested any more. */
export const cancelWith = (gone: AbortSignal | undefined, waiting: { cancel(): void }): void => {
  if (gone?.aborted) waiting.cancel();
  else gone?.addEventListener('abort', waiting.cancel, { once: true });
};

export interface Waiting {
  readonly ended: Promise<Ending | undefined>;
  /** Tells that the job has been added: what a look at it finds counts from now on. */
  isAdded(): void;
  cancel(): void;
}

export interface Endings {
  /**
   * Resolves when the job ends, or with undefined at the deadline. Call it before the job is added, and say when it is:
   * then its end cannot be missed.
   *
   * @param until   Milliseconds since the epoch.
   * @param isAdded The job has been added. Then the wait ends, with undefined, also when it is removed.
   */
  wait(id: string, until: number, isAdded?: boolean): Waiting;
  /** Whether the stream can be read at the moment. While it cannot, ends are heard of by looking: a second later. */
  isConnected(): boolean;
  /** Resolves every wait with undefined and stops listening. Safe to call again. */
  close(): Promise<void>;
}

export interface EndingsOptions {
  /** The connection on which is looked up, and on which those who wait add their jobs. */
  readonly redis: RedisClient;
  /** The connection whose likeness reads the stream. */
  readonly blocking: RedisClient;
  readonly at: QueueAt;
  readonly prefix: string;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

const lookUpEveryMs = 1000;
const looksAtOnce = 250;

/** In ticks. Events nearly always come first, so nobody is looked up at the first one. */
const firstLookUp = 2;
const rarestLookUp = 60;

/** When to look again, after so many ticks: an end whose event was missed is found at most a tenth later than it took. */
const nextLookUp = (ticks: number): number =>
  ticks + Math.min(Math.max(Math.floor(ticks / 10), 1), rarestLookUp);

interface Waiter {
  readonly until: number;
  isAdded: boolean;
  /** A look has found an end before the job was said to be added: its own, or that of the one which it replaces. */
  looksAgain: boolean;
  readonly settle: (ending: Ending | undefined) => void;
  ticks: number;
  lookUpAt: number;
}

export const createEndings = (options: EndingsOptions): Endings => {
  const { at, now, onError } = options;
  const waiters = new Map<string, Set<Waiter>>();

  const settle = (id: string, ending: Ending): void => {
    const waiting = waiters.get(id);
    if (waiting === undefined) return;
    waiters.delete(id);
    for (const waiter of waiting) waiter.settle(ending);
  };

  /** Not for who is about to add a job: a receipt takes the place of one that failed. */
  const settleAdded = (id: string, ending: Ending | undefined): void => {
    const waiting = waiters.get(id);
    if (waiting === undefined) return;
    for (const waiter of waiting) {
      if (waiter.isAdded) {
        waiting.delete(waiter);
        waiter.settle(ending);
      } else waiter.looksAgain = ending !== undefined;
    }
    if (waiting.size === 0) waiters.delete(id);
  };

  /** @returns How many of them have ended. */
  const lookUp = async (ids: readonly string[]): Promise<number> => {
    let count = 0;
    // What is found is told before others are looked up: by then it may be about a job that has been replaced.
    for (let first = 0; first < ids.length; first += looksAtOnce) {
      const { ended, gone } = await at.home.readEnds(ids.slice(first, first + looksAtOnce));
      for (const [id, end] of ended) settleAdded(id, endingOf(end));
      // The event was missed, or Redis was emptied, of which there is none.
      for (const id of gone) settleAdded(id, undefined);
      count += ended.size;
    }
    return count;
  };

  const events = createEndEvents({
    ...options,
    listener: {
      wanted: () => waiters,
      completed: (id, returnValue) => {
        if (waiters.has(id)) settle(id, { kind: 'completed', returnValue: parse(returnValue) });
      },
      failed: (id, failedReason) => settleAdded(id, { kind: 'failed', failedReason }),
      removed: (id) => {
        // By now it may have been added anew.
        if (waiters.has(id)) lookUp([id]).catch(onError);
      },
      lookUp: async () => {
        const ids = [...waiters.keys()];
        const ended = await lookUp(ids);
        return { open: ids.length - ended, ended };
      },
    },
  });

  let closed = false;
  let lookingUp = false;
  const tick = async (): Promise<void> => {
    const time = now();
    const reading = events.isConnected();
    const overdue = new Set<string>();
    for (const [id, waiting] of waiters) {
      for (const waiter of waiting) {
        waiter.ticks += 1;
        if (time >= waiter.until) {
          waiting.delete(waiter);
          waiter.settle(undefined);
        } else if (waiter.ticks >= (reading ? waiter.lookUpAt : firstLookUp) && !lookingUp) {
          waiter.lookUpAt = nextLookUp(waiter.ticks);
          overdue.add(id);
        }
      }
      if (waiting.size === 0) waiters.delete(id);
    }
    if (overdue.size === 0) return;
    lookingUp = true;
    try {
      await lookUp([...overdue]).catch(onError);
    } finally {
      lookingUp = false;
    }
  };
  const timer = setInterval(() => void tick(), lookUpEveryMs);

  return {
    wait: (id, until, isAdded = false) => {
      let waiter: Waiter | undefined;
      const ended = new Promise<Ending | undefined>((resolve) => {
        if (closed) return resolve(undefined);
        waiter = { until, isAdded, looksAgain: false, settle: resolve, ticks: 0, lookUpAt: firstLookUp };
        const waiting = waiters.get(id) ?? new Set();
        waiting.add(waiter);
        waiters.set(id, waiting);
        events.listen();
      });
      return {
        ended,
        isAdded: () => {
          if (waiter === undefined) return;
          waiter.isAdded = true;
          if (waiter.looksAgain) lookUp([id]).catch(onError);
        },
        cancel: () => {
          const waiting = waiters.get(id);
          if (waiter === undefined || waiting === undefined) return;
          waiting.delete(waiter);
          if (waiting.size === 0) waiters.delete(id);
          waiter.settle(undefined);
        },
      };
    },
    isConnected: events.isConnected,
    close: async () => {
      closed = true;
      clearInterval(timer);
      for (const waiting of waiters.values()) for (const waiter of waiting) waiter.settle(undefined);
      waiters.clear();
      await events.close();
    },
  };
};
