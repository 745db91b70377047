/**
 * Waiting for jobs to end: what makes a synchronous caller out of an asynchronous transaction.
 *
 * However many callers wait, a process reads each queue's event stream once. The stream is a hint, not the truth: it
 * is trimmed, and a reader that falls behind or loses its connection can miss an event. So whoever has waited for a
 * second is also looked up, all of them in one pipeline, until the end is found: every second at first and, while the
 * stream is read, less often the longer it has taken, because some wait for what is to be done tomorrow.
 */
import { QueueEvents } from 'bullmq';
import type { RedisClient } from '../redis/connect.ts';
import { settlesWithin } from '../redis/patience.ts';
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

export interface Endings {
  /**
   * Resolves when the job ends, or with undefined at the deadline. Call it before the job is added: then its end
   * cannot be missed.
   *
   * @param until   Milliseconds since the epoch.
   * @param isAdded The job has been added. Then the wait ends, with undefined, also when it is removed.
   */
  wait(
    id: string,
    until: number,
    isAdded?: boolean,
  ): { readonly ended: Promise<Ending | undefined>; cancel(): void };
  /** Whether the stream is read at the moment. While it is not, ends are heard of by looking: a second later. */
  isReading(): boolean;
  /** Resolves every wait with undefined and stops listening. Safe to call again. */
  close(): Promise<void>;
}

export interface EndingsOptions {
  /** The connection on which the look-ups are made. */
  readonly redis: RedisClient;
  /** The connection whose likeness reads the stream. */
  readonly blocking: RedisClient;
  readonly at: QueueAt;
  readonly prefix: string;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

const lookUpEveryMs = 1000;
const closePatienceMs = 1000;

/** In ticks. Events nearly always come first, so nobody is looked up at the first one. */
const firstLookUp = 2;
const rarestLookUp = 60;

/** When to look again, after so many ticks: an end whose event was missed is found at most a tenth later than it took. */
const nextLookUp = (ticks: number): number =>
  ticks + Math.min(Math.max(Math.floor(ticks / 10), 1), rarestLookUp);

interface Waiter {
  readonly until: number;
  readonly isAdded: boolean;
  readonly settle: (ending: Ending | undefined) => void;
  ticks: number;
  lookUpAt: number;
}

/** The end of the stream as it is now, so that nothing that follows is skipped. */
const lastEventId = async (redis: RedisClient, key: string): Promise<string> => {
  const [last] = await redis.xrevrange(key, '+', '-', 'COUNT', 1);
  return last?.[0] ?? '0-0';
};

export const createEndings = async (options: EndingsOptions): Promise<Endings> => {
  const { redis, blocking, at, prefix, now, onError } = options;
  const { queue } = at;
  const waiters = new Map<string, Set<Waiter>>();

  const settle = (id: string, ending: Ending): void => {
    const waiting = waiters.get(id);
    if (waiting === undefined) return;
    waiters.delete(id);
    for (const waiter of waiting) waiter.settle(ending);
  };

  /** Not for who is about to add a job: a receipt takes the place of one that failed. */
  const settleRemoved = (id: string): void => {
    const waiting = waiters.get(id);
    if (waiting === undefined) return;
    for (const waiter of waiting) {
      if (!waiter.isAdded) continue;
      waiting.delete(waiter);
      waiter.settle(undefined);
    }
    if (waiting.size === 0) waiters.delete(id);
  };

  const events = new QueueEvents(queue.name, {
    connection: blocking,
    prefix,
    lastEventId: await lastEventId(redis, queue.toKey('events')),
  });
  events.on('error', onError);
  let connection: { readonly status: string } | undefined;
  events.getBackend().client.then(
    (client) => {
      connection = client;
    },
    () => undefined, // It has told `error`, or was closed before it was there.
  );
  events.on('completed', ({ jobId, returnvalue }) =>
    settle(jobId, { kind: 'completed', returnValue: returnvalue }),
  );
  events.on('failed', ({ jobId, failedReason }) => settle(jobId, { kind: 'failed', failedReason }));
  events.on('removed', ({ jobId }) => settleRemoved(jobId));

  const lookUp = async (id: string): Promise<void> => {
    const end = await at.home.readEnd(id);
    // The event was missed, or Redis was emptied, of which there is none.
    if (end === undefined) return settleRemoved(id);
    const ending = endingOf(end);
    if (ending !== undefined) settle(id, ending);
  };

  let closed = false;
  let lookingUp = false;
  const isReading = (): boolean => !closed && connection?.status === 'ready';

  const tick = async (): Promise<void> => {
    const time = now();
    const reading = isReading();
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
      await Promise.all([...overdue].map((id) => lookUp(id).catch(onError)));
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
        waiter = { until, isAdded, settle: resolve, ticks: 0, lookUpAt: firstLookUp };
        const waiting = waiters.get(id) ?? new Set();
        waiting.add(waiter);
        waiters.set(id, waiting);
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
    isReading,
    close: async () => {
      closed = true;
      clearInterval(timer);
      for (const waiting of waiters.values()) for (const waiter of waiting) waiter.settle(undefined);
      waiters.clear();
      if (!(await settlesWithin(events.close(), closePatienceMs)))
        (await events.getBackend().client).disconnect();
    },
  };
};
