/**
 * Waiting for jobs to end: what makes a synchronous caller out of an asynchronous transaction.
 *
 * However many callers wait, a process reads each queue's event stream once. The stream is a hint, not the truth: it
 * is trimmed, and a reader that falls behind or loses its connection can miss an event. So whoever has waited for a
 * second is also looked up, all of them in one pipeline, until the end is found.
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
   * @param until Milliseconds since the epoch.
   */
  wait(id: string, until: number): { readonly ended: Promise<Ending | undefined>; cancel(): void };
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

interface Waiter {
  readonly until: number;
  readonly settle: (ending: Ending | undefined) => void;
  /** False until one look-up interval has passed: events nearly always come first. */
  overdue: boolean;
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

  const events = new QueueEvents(queue.name, {
    connection: blocking,
    prefix,
    lastEventId: await lastEventId(redis, queue.toKey('events')),
  });
  events.on('error', onError);
  events.on('completed', ({ jobId, returnvalue }) =>
    settle(jobId, { kind: 'completed', returnValue: returnvalue }),
  );
  events.on('failed', ({ jobId, failedReason }) => settle(jobId, { kind: 'failed', failedReason }));

  const lookUp = async (id: string): Promise<void> => {
    const ending = endingOf(await at.home.readEnd(id));
    if (ending !== undefined) settle(id, ending);
  };

  let closed = false;
  let lookingUp = false;
  const tick = async (): Promise<void> => {
    const time = now();
    const overdue: string[] = [];
    for (const [id, waiting] of waiters) {
      for (const waiter of waiting) {
        if (time >= waiter.until) {
          waiting.delete(waiter);
          waiter.settle(undefined);
        } else if (waiter.overdue) overdue.push(id);
        else waiter.overdue = true;
      }
      if (waiting.size === 0) waiters.delete(id);
    }
    if (overdue.length === 0 || lookingUp) return;
    lookingUp = true;
    await Promise.all([...new Set(overdue)].map((id) => lookUp(id).catch(onError)));
    lookingUp = false;
  };
  const timer = setInterval(() => void tick(), lookUpEveryMs);

  return {
    wait: (id, until) => {
      let waiter: Waiter | undefined;
      const ended = new Promise<Ending | undefined>((resolve) => {
        if (closed) return resolve(undefined);
        waiter = { until, settle: resolve, overdue: false };
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
