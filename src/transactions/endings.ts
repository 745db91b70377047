/**
 * Waiting for jobs to end: what makes a synchronous caller out of an asynchronous transaction.
 *
 * Whoever begins to wait asks about the job, many in one command: it has ended, or its end is told in
 * a stream that a process reads once, however many wait (end-stream.ts). The stream is a hint, not
 * the truth: it is trimmed, a connection can be lost, and the worker may be of an earlier release. So
 * whoever has waited for a second is asked about again: every second at first and, while the stream
 * is read, less often the longer it has taken, because some wait for what is to be done tomorrow.
 */

import { createEndStream } from '../engine/redis/end-stream.ts';
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
  cancel(): void;
}

export interface Endings {
  /**
   * Resolves when the job ends: with undefined at the deadline, and when the job is removed. Call it
   * when the job has been added.
   *
   * @param until Milliseconds since the epoch.
   */
  wait(id: string, until: number): Waiting;
  /** Whether the stream can be read at the moment. While it cannot, ends are heard of by looking: a second later. */
  isConnected(): boolean;
  /** Resolves every wait with undefined and stops listening. Safe to call again. */
  close(): Promise<void>;
}

export interface EndingsOptions {
  /** The connection on which jobs are asked about. */
  readonly redis: RedisClient;
  /** The stream is read on a duplicate of this connection. */
  readonly blocking: RedisClient;
  readonly at: QueueAt;
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
  readonly settle: (ending: Ending | undefined) => void;
  ticks: number;
  lookUpAt: number;
}

export const createEndings = (options: EndingsOptions): Endings => {
  const { at, now, onError } = options;
  const waiters = new Map<string, Set<Waiter>>();

  const settle = (id: string, ending: Ending | undefined): void => {
    const waiting = waiters.get(id);
    waiters.delete(id);
    for (const waiter of waiting ?? []) waiter.settle(ending);
  };

  const lookUp = async (ids: readonly string[]): Promise<void> => {
    for (let first = 0; first < ids.length; first += looksAtOnce) {
      const { ended, gone } = await at.home.awaitEnds(ids.slice(first, first + looksAtOnce));
      for (const [id, end] of ended) settle(id, endingOf(end));
      for (const id of gone) settle(id, undefined);
    }
  };

  const stream = createEndStream({
    ...options,
    queue: at.queue,
    isWanted: () => waiters.size > 0,
    onEnd: (id, end) => settle(id, endingOf(end)),
  });

  /** Those who have begun to wait in this turn of the event loop. */
  let asking: string[] = [];
  const ask = (): void => {
    const ids = asking;
    asking = [];
    lookUp(ids).catch((error) => {
      onError(error);
      // Nobody tells of them before they are asked about.
      for (const id of ids) for (const waiter of waiters.get(id) ?? []) waiter.lookUpAt = 0;
    });
  };

  let closed = false;
  let lookingUp = false;
  const tick = async (): Promise<void> => {
    const time = now();
    const reading = stream.isConnected();
    const overdue = new Set<string>();
    for (const [id, waiting] of waiters) {
      for (const waiter of waiting) {
        waiter.ticks += 1;
        if (time >= waiter.until) {
          waiting.delete(waiter);
          waiter.settle(undefined);
        } else if (
          waiter.ticks >= Math.min(waiter.lookUpAt, reading ? Number.POSITIVE_INFINITY : firstLookUp) &&
          !lookingUp
        ) {
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
    wait: (id, until) => {
      let waiter: Waiter | undefined;
      const ended = new Promise<Ending | undefined>((resolve) => {
        if (closed) return resolve(undefined);
        waiter = { until, settle: resolve, ticks: 0, lookUpAt: firstLookUp };
        const waiting = waiters.get(id) ?? new Set();
        waiting.add(waiter);
        waiters.set(id, waiting);
        stream.listen();
        if (asking.push(id) === 1) setImmediate(ask);
      });
      return {
        ended,
        cancel: () => {
          const waiting = waiters.get(id);
          if (waiter === undefined || waiting === undefined) return;
          waiting.delete(waiter);
          if (waiting.size === 0) waiters.delete(id);
          waiter.settle(undefined);
        },
      };
    },
    isConnected: stream.isConnected,
    close: async () => {
      closed = true;
      clearInterval(timer);
      for (const id of [...waiters.keys()]) settle(id, undefined);
      await stream.close();
    },
  };
};
