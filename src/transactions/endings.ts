/**
 * Waits for jobs to end, for synchronous callers.
 *
 * A new wait asks whether its job has ended, many waits in one command. If not, the end comes in a
 * stream, which a process reads once for all waits (end-stream.ts). The stream may miss an end: it
 * is trimmed, and a connection can be lost. So jobs are looked up again after a second. Then every
 * second while the stream cannot be read, and otherwise less often the longer a wait lasts.
 */

import type { RedisClient } from '../redis/connect.ts';
import { createEndStream } from './jobs/end-stream.ts';
import type { StoredEnd } from './jobs/job-store.ts';
import type { QueueAt } from './shards.ts';

/** The end of a job. */
export type Ending =
  | { readonly kind: 'completed'; readonly returnValue: unknown }
  | { readonly kind: 'failed'; readonly failedReason: string };

/** @returns Undefined while the job is open. */
export const endingOf = ({
  finishedOn,
  failedReason,
  returnValue,
}: StoredEnd): Ending | undefined => {
  if (finishedOn === undefined) return undefined;
  return failedReason === undefined
    ? { kind: 'completed', returnValue }
    : { kind: 'failed', failedReason };
};

/**
 * Called when the request is accepted, before the wait for its end.
 *
 * @returns A signal that aborts when the caller has hung up.
 */
export type OnAccepted = () => AbortSignal;

export type Endings = ReturnType<typeof createEndings>;

/** Waits like {@link Endings}, but at most until `gone` aborts. */
export const endOf = (
  endings: Endings,
  id: string,
  until: number,
  gone: AbortSignal | undefined,
): Promise<Ending | undefined> => {
  const { ended, cancel } = endings.wait(id, until);
  if (gone?.aborted) cancel();
  else gone?.addEventListener('abort', cancel, { once: true });
  return ended;
};

const lookUpEveryMs = 1000;
const maxLookUps = 250;

/** The tick of the first look-up. Not 1, because the stream is nearly always faster. */
const firstLookUp = 2;
const maxTicksApart = 60;

/**
 * The tick of the next look-up. A missed end is found at most a tenth of the wait later.
 */
const nextLookUp = (ticks: number): number =>
  ticks + Math.min(Math.max(Math.floor(ticks / 10), 1), maxTicksApart);

interface Waiter {
  readonly since: number;
  readonly until: number;
  readonly settle: (ending: Ending | undefined) => void;
  ticks: number;
  lookUpAt: number;
}

export const createEndings = (options: {
  /** The connection on which jobs are looked up. */
  readonly redis: RedisClient;
  /** The stream is read on a duplicate of this connection. */
  readonly blocking: RedisClient;
  readonly at: QueueAt;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}) => {
  const { at, now, onError } = options;
  const waiters = new Map<string, Set<Waiter>>();

  const settle = (id: string, ending: Ending | undefined): void => {
    const waiting = waiters.get(id);
    waiters.delete(id);
    for (const waiter of waiting ?? []) waiter.settle(ending);
  };

  const lookUp = async (ids: readonly string[]): Promise<void> => {
    for (let first = 0; first < ids.length; first += maxLookUps) {
      const { ended, gone } = await at.jobs.awaitEnds(ids.slice(first, first + maxLookUps));
      for (const [id, end] of ended) settle(id, endingOf(end));
      for (const id of gone) settle(id, undefined);
    }
  };

  const stream = createEndStream({
    ...options,
    queue: at.queue,
    isWanted: () => waiters.size > 0,
    onEnd: (id, end) => {
      const { finishedOn = 0 } = end;
      const waiting = waiters.get(id);
      for (const waiter of waiting ?? []) {
        // A late end, of the job that this one has replaced, or of its earlier run.
        if (finishedOn < waiter.since) continue;
        waiting?.delete(waiter);
        waiter.settle(endingOf(end));
      }
      if (waiting?.size === 0) waiters.delete(id);
    },
  });

  const tryLookUp = (ids: readonly string[]): Promise<void> =>
    lookUp(ids).catch((error) => {
      onError(error);
      // The jobs may not be marked, so that their ends do not come in the stream.
      for (const id of ids) for (const waiter of waiters.get(id) ?? []) waiter.lookUpAt = 0;
    });

  /** Waits that have begun in this turn of the event loop. */
  let asking: string[] = [];
  const ask = (): void => {
    const ids = asking;
    asking = [];
    void tryLookUp(ids);
  };

  let closed = false;
  let lookingUp = false;
  /**
   * Whether a wait needs a look-up. One comes just before the deadline, too: a missed end would
   * otherwise count as no end.
   */
  const isDue = ({ ticks, lookUpAt, until }: Waiter, time: number): boolean =>
    ticks >= lookUpAt ||
    (ticks >= firstLookUp && (!stream.isConnected() || time >= until - 2 * lookUpEveryMs));
  const tick = async (): Promise<void> => {
    const time = now();
    const overdue = new Set<string>();
    for (const [id, waiting] of waiters) {
      for (const waiter of waiting) {
        waiter.ticks += 1;
        if (time >= waiter.until) {
          waiting.delete(waiter);
          waiter.settle(undefined);
        } else if (!lookingUp && isDue(waiter, time)) {
          waiter.lookUpAt = nextLookUp(waiter.ticks);
          overdue.add(id);
        }
      }
      if (waiting.size === 0) waiters.delete(id);
    }
    if (overdue.size === 0) return;
    lookingUp = true;
    try {
      await tryLookUp([...overdue]);
    } finally {
      lookingUp = false;
    }
  };
  const timer = setInterval(() => void tick(), lookUpEveryMs);

  return {
    /**
     * Call it when the job has been added. Resolves when the job ends, or with undefined at `until`
     * (milliseconds since the epoch). When the job is removed it resolves with undefined, after one
     * to two seconds, or a tenth of the wait where that is longer.
     */
    wait: (
      id: string,
      until: number,
    ): { ended: Promise<Ending | undefined>; cancel: () => void } => {
      let waiter: Waiter | undefined;
      const ended = new Promise<Ending | undefined>((resolve) => {
        if (closed) return resolve(undefined);
        waiter = { since: now(), until, settle: resolve, ticks: 0, lookUpAt: firstLookUp };
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
    /** Whether the stream can be read. While it cannot, ends are noticed a second later. */
    isConnected: stream.isConnected,
    /** Resolves every wait with undefined. May be called again. */
    close: async (): Promise<void> => {
      closed = true;
      clearInterval(timer);
      for (const id of [...waiters.keys()]) settle(id, undefined);
      await stream.close();
    },
  };
};
