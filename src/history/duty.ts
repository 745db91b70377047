/**
 * Work that every process may do and one at a time does, step by step: it holds a lease, the others look now and then
 * whether it still does, and when it dies another goes on within the length of a lease.
 *
 * That the lease may lapse unnoticed must do no harm: what a step does can be done twice.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '../redis/connect.ts';
import { settlesWithin } from '../redis/patience.ts';
import { toError } from '../redis/to-error.ts';
import { createLock } from './lock.ts';

export interface Duty {
  /** Asked between two parts of something long; without it the rest is left to others. */
  mayGoOn(): Promise<boolean>;
  /**
   * @param step Returns after how many milliseconds it wants to be called again.
   * @param forget Called when another process may be at it, or a step was cut off by an error.
   */
  start(step: () => Promise<number>, forget?: () => void): void;
  /** Aborted when the duty is closed: a step that takes long should end then, and may do so by an error. */
  readonly signal: AbortSignal;
  /** Finishes the step in hand and lets others take over at once. */
  close(): Promise<void>;
}

const afterErrorMs = 1000;

export const createDuty = (options: {
  /** A connection that outlasts any absence of Redis. */
  readonly redis: RedisClient;
  /** Of the lease. */
  readonly key: string;
  /** How long after its last sign of life another process takes over; default 5000. */
  readonly leaseMs?: number | undefined;
  readonly onError: (error: Error) => void;
  /** A step that takes longer is not waited for at the end; default 2000. */
  readonly closePatienceMs?: number;
}): Duty => {
  const { redis, key, leaseMs = 5000, onError, closePatienceMs = 2000 } = options;
  const lease = createLock(redis, key, leaseMs);
  const closing = new AbortController();
  const { signal } = closing;
  let heldUntil = 0;
  let running: Promise<void> | undefined;

  const pause = async (ms: number): Promise<void> => {
    await delay(ms, undefined, { signal }).catch(() => undefined);
  };

  /** Renewed when a third of it has passed, not at every step. */
  const mayGoOn = async (): Promise<boolean> => {
    const time = performance.now();
    if (signal.aborted) return false;
    if (time < heldUntil - (leaseMs * 2) / 3) return true;
    const held = await lease.hold();
    heldUntil = held ? time + leaseMs : 0;
    return held;
  };

  const work = async (step: () => Promise<number>, forget: () => void): Promise<void> => {
    while (!signal.aborted) {
      try {
        const isOurs = await mayGoOn();
        if (!isOurs) forget();
        const ms = isOurs ? await step() : leaseMs / 3;
        if (ms > 0) await pause(ms);
      } catch (error) {
        forget();
        if (signal.aborted) return;
        onError(toError(error));
        await pause(afterErrorMs);
      }
    }
  };

  return {
    mayGoOn,
    signal,
    start: (step, forget = () => undefined) => {
      running ??= work(step, forget);
    },
    close: async () => {
      closing.abort();
      if (running !== undefined) await settlesWithin(running.then(lease.release), closePatienceMs);
    },
  };
};
