/**
 * Works off what was ordered, and what replays itself. Every process may run one; one of them holds the lease and works, and
 * when it dies another goes on within the length of a lease. That the lease may lapse unnoticed does no harm: see
 * bulk-store.ts and replay-once.ts.
 */
import { createDuty } from '../history/duty.ts';
import type { RedisClient } from '../redis/connect.ts';
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

/** While there is something to replay. */
const stepEveryMs = 20;
const lookForBulksMs = 250;
const automaticEveryMs = 1000;
const afterErrorMs = 5000;
const closePatienceMs = 3000;

export const createReplayRunner = (options: ReplayRunnerOptions): ReplayRunner => {
  const { redis, prefix, shards, audit, limiter, now, onError, leaseMs } = options;
  const store = createBulkStore(redis, prefix);
  const replayOnce = createReplayOnce(redis, shards);
  const duty = createDuty({ redis, key: replayKey(prefix, 'lease'), leaseMs, onError, closePatienceMs });

  const common = { redis, shards, audit, limiter, replayOnce, now, mayGoOn: duty.mayGoOn };
  const automatic = createAutomaticReplays({ ...common, prefix, rules: options.automatic });
  const runs = new Map<string, BulkRun>();
  const restingUntil = new Map<string, number>();
  let bulksLookedAt = Number.NEGATIVE_INFINITY;
  let automaticAt = Number.NEGATIVE_INFINITY;
  let moreIsDue = false;

  /** What cannot be done, such as a bulk that cannot be read, rests for a while and keeps nothing else from being done. */
  const attempt = async (name: string, work: () => Promise<void>): Promise<void> => {
    if (performance.now() < (restingUntil.get(name) ?? 0)) return;
    try {
      await work();
      restingUntil.delete(name);
    } catch (error) {
      runs.delete(name);
      restingUntil.set(name, performance.now() + afterErrorMs);
      onError(new Error(`Replays rest for some seconds: ${name}`));
      onError(error instanceof Error ? error : new Error(String(error)));
    }
  };

  const replayAutomatically = async (): Promise<void> => {
    const time = performance.now();
    if (time >= automaticAt + automaticEveryMs) {
      automaticAt = time;
      await automatic.look();
    } else if (!moreIsDue) return;
    moreIsDue = await automatic.replayDue();
  };

  const takeUp = async (id: string): Promise<void> => {
    const bulk = await store.find(id);
    if (bulk !== undefined) runs.set(id, await takeUpBulk(bulk, { ...common, store }));
  };

  const lookForBulks = async (): Promise<void> => {
    const open = await store.open();
    for (const id of open) if (!runs.has(id)) await attempt(id, () => takeUp(id));
    for (const id of runs.keys()) if (!open.includes(id)) runs.delete(id);
  };

  const step = async (): Promise<number> => {
    await attempt('automatic', replayAutomatically);
    const time = performance.now();
    if (time >= bulksLookedAt + lookForBulksMs) {
      bulksLookedAt = time;
      await lookForBulks();
    }
    for (const [id, run] of runs) {
      await attempt(id, async () => {
        if (!(await run.step())) runs.delete(id);
      });
    }
    return runs.size > 0 || moreIsDue ? stepEveryMs : lookForBulksMs;
  };

  return {
    // What another process does meanwhile is not known here, and what was half done is taken up from what is stored.
    start: () => duty.start(step, () => runs.clear()),
    close: duty.close,
  };
};
