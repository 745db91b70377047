/**
 * A task that one process at a time does, step by step, while it holds a lease. The others ask for
 * the lease at intervals. When its holder dies, another process goes on within the length of a
 * lease.
 *
 * A lease may lapse unnoticed, so a step must do no harm when it is done twice.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { toError } from '../../../packages/engine/src/redis/to-error.ts';
import { settlesWithin } from '../../../packages/engine/src/settles-within.ts';
import type { RedisClient } from '../../redis/connect.ts';
import { letGoOfKey, takeKey } from '../jobs/held-key.ts';

/** A lease of one process. It only saves others the same work: it may lapse unnoticed. */
export const createLease = (redis: RedisClient, key: string, ttlMs: number) => {
  const holder = randomBytes(12).toString('base64url');
  return {
    /** Gets or renews it. @returns Whether this process holds it now. */
    hold: async (): Promise<boolean> =>
      (await takeKey(redis, key, holder, { ms: ttlMs })) === undefined,
    release: (): Promise<void> => letGoOfKey(redis, key, holder),
  };
};

const afterErrorMs = 1000;

export const createLeaderTask = (options: {
  /** A connection that reconnects without end. */
  readonly redis: RedisClient;
  /** The key of the lease. */
  readonly key: string;
  /** The length of the lease, after which another process takes over. Default 5000. */
  readonly leaseMs?: number | undefined;
  readonly onError: (error: Error) => void;
  /** The longest time that `close` waits for a step. Default 2000. */
  readonly closeTimeoutMs?: number;
}) => {
  const { redis, key, leaseMs = 5000, onError, closeTimeoutMs = 2000 } = options;
  const lease = createLease(redis, key, leaseMs);
  const closing = new AbortController();
  const signal: AbortSignal = closing.signal;
  let heldUntil = 0;
  let running: Promise<void> | undefined;

  const pause = async (ms: number): Promise<void> => {
    await delay(ms, undefined, { signal }).catch(() => undefined);
  };

  /** Renews the lease when a third of it has passed, not at every step. */
  const mayGoOn = async (): Promise<boolean> => {
    const time = performance.now();
    if (signal.aborted) return false;
    if (time < heldUntil - (leaseMs * 2) / 3) return true;
    const held = await lease.hold();
    heldUntil = held ? time + leaseMs : 0;
    return held;
  };

  const run = async (step: () => Promise<number>): Promise<void> => {
    while (!signal.aborted) {
      try {
        const ms = (await mayGoOn()) ? await step() : leaseMs / 3;
        if (ms > 0) await pause(ms);
      } catch (error) {
        if (signal.aborted) return;
        onError(toError(error));
        await pause(afterErrorMs);
      }
    }
  };

  return {
    /**
     * To be asked between two parts of a long step. On false, stop and leave the rest to others.
     */
    mayGoOn,
    /** Aborted at `close`. A long step should end then, and may throw. */
    signal,
    /** @param step Returns the number of milliseconds until its next call. */
    start: (step: () => Promise<number>): void => {
      running ??= run(step);
    },
    /** Finishes the current step, and lets another process take over at once. */
    close: async (): Promise<void> => {
      closing.abort();
      if (running !== undefined) await settlesWithin(running.then(lease.release), closeTimeoutMs);
    },
  };
};
