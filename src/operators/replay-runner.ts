/**
 * Works off what was ordered, and what replays itself. Every process may run one; one of them holds the lease and works, and
 * when it dies another goes on within the length of a lease. That the lease may lapse unnoticed does no harm: see
 * bulk-store.ts and replay-once.ts.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createLock } from '../history/lock.ts';
import type { RedisClient } from '../redis/connect.ts';
import { settlesWithin } from '../redis/patience.ts';
import type { RateLimiter } from '../registry/rate-limiter.ts';
import type { Shard } from '../transactions/shards.ts';
import type { Audit } from './audit.ts';
import { type AutomaticRule, createAutomaticReplays } from './automatic-replays.ts';
import { type BulkRun, takeUpBulk } from './bulk-run.ts';
import { createBulkStore, replayKey } from './bulk-store.ts';
import { createReplayOnce } from './replay-once.ts';

export interface ReplayRunner {
  start(): void;
  /** Finishes the replay in hand and lets others take over at once. */
  close(): Promise<void>;
}

export interface ReplayRunnerOptions {
  /** A connection that outlasts any absence of Redis. */
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: readonly Shard[];
  readonly audit: Audit;
  readonly limiter: RateLimiter;
  readonly automatic: readonly AutomaticRule[];
  readonly now: () => number;
  readonly onError: (error: Error) => void;
  /** How long after its last sign of life another process takes over; default 5000. */
  readonly leaseMs?: number;
}

/** While a bulk runs. */
const stepEveryMs = 20;
const lookForBulksMs = 300;
const automaticEveryMs = 1000;
const afterErrorMs = 1000;
const closePatienceMs = 3000;

export const createReplayRunner = (options: ReplayRunnerOptions): ReplayRunner => {
  const { redis, prefix, shards, audit, limiter, now, onError, leaseMs = 5000 } = options;
  const store = createBulkStore(redis, prefix);
  const replayOnce = createReplayOnce(redis, shards);
  const lease = createLock(redis, replayKey(prefix, 'lease'), leaseMs);
  const closing = new AbortController();
  const { signal } = closing;
  let heldUntil = 0;
  let running: Promise<void> | undefined;

  /** Renewed when a third of it has passed, not at every step. */
  const mayGoOn = async (): Promise<boolean> => {
    if (signal.aborted) return false;
    const time = performance.now();
    if (time < heldUntil - (leaseMs * 2) / 3) return true;
    const held = await lease.hold();
    heldUntil = held ? time + leaseMs : 0;
    return held;
  };

  const common = { redis, shards, audit, limiter, replayOnce, now, mayGoOn };
  const automatic = createAutomaticReplays({ ...common, prefix, rules: options.automatic });
  const runs = new Map<string, BulkRun>();
  let bulksLookedAt = Number.NEGATIVE_INFINITY;
  let automaticAt = Number.NEGATIVE_INFINITY;

  const pause = async (ms: number): Promise<void> => {
    await delay(ms, undefined, { signal }).catch(() => undefined);
  };

  const lookForBulks = async (): Promise<void> => {
    const open = await store.open();
    for (const id of open) {
      const bulk = runs.has(id) ? undefined : await store.find(id);
      if (bulk !== undefined) runs.set(id, await takeUpBulk(bulk, { ...common, store }));
    }
    for (const id of runs.keys()) if (!open.includes(id)) runs.delete(id);
  };

  const step = async (): Promise<number> => {
    if (!(await mayGoOn())) {
      // What another process does meanwhile is not known here.
      runs.clear();
      return leaseMs / 3;
    }
    const time = performance.now();
    if (time >= bulksLookedAt + lookForBulksMs) {
      bulksLookedAt = time;
      await lookForBulks();
    }
    if (time >= automaticAt + automaticEveryMs) {
      automaticAt = time;
      await automatic.step();
    }
    for (const [id, run] of runs) if (!(await run.step())) runs.delete(id);
    return runs.size > 0 ? stepEveryMs : lookForBulksMs;
  };

  const work = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await pause(await step());
      } catch (error) {
        // Whatever was half done is taken up from what is stored.
        runs.clear();
        onError(error instanceof Error ? error : new Error(String(error)));
        await pause(afterErrorMs);
      }
    }
  };

  return {
    start: () => {
      running ??= work();
    },
    close: async () => {
      closing.abort();
      if (running !== undefined) await settlesWithin(running.then(lease.release), closePatienceMs);
    },
  };
};
