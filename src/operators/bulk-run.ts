/**
 * One bulk replay in the hands of the process that works it off.
 *
 * A step does three things: it looks how those that were replayed have ended, it replays as many as the rate allows, and it ends the
 * bulk when nothing is left. All that it remembers was read from the store when it was taken up, so that it can be taken
 * up anywhere after a crash, in the middle of anything.
 *
 * Of an item, in order: room among the prompts of its number (prompt-limit.ts), its turn and its number (store), the audit log,
 * the replay (replay-once.ts), the result (store). Cut off in between, the next process begins the item again: the audit log
 * has one entry for it all the same, and the person one prompt.
 */
import type { BulkEnd, BulkOrder } from '../../machines/bulk-replay.machine.ts';
import type { ReplayOnce } from '../engine/redis/replay-once.ts';
import type { RedisClient } from '../redis/connect.ts';
import { isLogin } from '../registry/login-ap-id.ts';
import type { RateLimiter } from '../registry/rate-limiter.ts';
import type { Shard } from '../transactions/shards.ts';
import type { Audit } from './audit.ts';
import { countsOf } from './bulk-report.ts';
import type { BulkItem, BulkResult, BulkStore } from './bulk-store.ts';
import { readStandings } from './failed-end.ts';
import { createPromptLimit } from './prompt-limit.ts';
import { resultsOf } from './replay-results.ts';

export interface BulkRun {
  /** @returns How it has ended, when it is over. */
  step(): Promise<BulkEnd | undefined>;
}

/** What replays are done with that nobody waits for. */
export interface ReplayWork {
  /** A connection that outlasts any absence of Redis. */
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: readonly Shard[];
  readonly audit: Audit;
  readonly limiter: RateLimiter;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

export interface BulkRunOptions extends Omit<ReplayWork, 'prefix' | 'onError'> {
  readonly store: BulkStore;
  readonly replayOnce: ReplayOnce;
  /** Asked before each replay; without it the rest is left to others. */
  readonly mayGoOn: () => boolean;
}

/** A number that another bulk prompts is asked for again. */
const numberPauseMs = 500;
/** One that has been prompted often enough just now, too. */
const promptsPauseMs = 1000;
/** How often is looked for the ends of those that were replayed, and of how many of them. */
const lookEveryMs = 250;
const lookAtOnce = 1000;

export const takeUpBulk = async (order: BulkOrder, options: BulkRunOptions): Promise<BulkRun> => {
  const { redis, shards, store, audit, limiter, replayOnce, now, mayGoOn } = options;
  const { id, by, perSecond, total } = order;
  // A tenth of a second's worth at once, so that looking for room now and then is enough.
  const burst = Math.max(1, Math.ceil(perSecond / 10));
  const pace = { requests: burst, perSeconds: burst / perSecond };
  const prompts = createPromptLimit(limiter);

  const [items, results, numbers] = await Promise.all([
    store.items(id),
    store.results(id),
    store.numbers(id),
  ]);
  const isWaiting = ({ msspTransId }: BulkItem): boolean =>
    [undefined, 'begun'].includes(results.get(msspTransId));
  /** Begun ones first: somebody may have been prompted for them already. */
  const waiting = items
    .filter(isWaiting)
    .sort((a, b) => Number(results.has(b.msspTransId)) - Number(results.has(a.msspTransId)));
  const inFlight = new Map<string, BulkItem>();
  for (const item of items) {
    if (results.get(item.msspTransId) === 'replayed') inFlight.set(item.msspTransId, item);
  }
  const numberOf = new Map(numbers);
  /** Those whose number has to be waited for, and when to ask for it again; by a clock that nobody sets. */
  let later: { readonly item: BulkItem; readonly msisdn: string }[] = [];
  const askAgainAt = new Map<string, number>();
  let lookedAt = Number.NEGATIVE_INFINITY;

  const putOff = (item: BulkItem, msisdn: string, pauseMs: number): void => {
    later.push({ item, msisdn });
    askAgainAt.set(msisdn, performance.now() + pauseMs);
  };

  const settle = async (msspTransId: string, result: BulkResult): Promise<void> => {
    await store.settle(id, msspTransId, result, numberOf.get(msspTransId));
    inFlight.delete(msspTransId);
    numberOf.delete(msspTransId);
  };

  /** Of thousands at those that were not looked at for longest. */
  const look = async (): Promise<void> => {
    const time = performance.now();
    if (time - lookedAt < lookEveryMs) return;
    lookedAt = time;
    const some = [...inFlight.values()].slice(0, lookAtOnce);
    for (const item of some) {
      inFlight.delete(item.msspTransId);
      inFlight.set(item.msspTransId, item);
    }
    const results = await resultsOf(redis, shards, some);
    await Promise.all([...results].map(([msspTransId, result]) => settle(msspTransId, result)));
  };

  /** @returns False when nothing more may be begun. */
  const replay = async (item: BulkItem): Promise<boolean> => {
    const { msspTransId, endedRuns } = item;
    const [standing] = await readStandings(redis, shards, [msspTransId]);
    if (standing === undefined) {
      await settle(msspTransId, 'gone');
      return true;
    }
    // The list may have been written by a release that took them.
    if (isLogin(standing.row.apId)) {
      await settle(msspTransId, 'refused');
      return true;
    }
    // What nobody can read has no number: it stands for itself.
    const msisdn = standing.row.msisdn || msspTransId;
    if (!(await prompts.take(msisdn))) {
      putOff(item, msisdn, promptsPauseMs);
      return !(await store.isClosed(id));
    }
    const turn = await store.begin(id, msspTransId, msisdn);
    if (turn !== 'go') await prompts.putBack(msisdn);
    switch (turn) {
      case 'over':
        return false;
      case 'settled':
        return true;
      case 'replayed':
        // By a process that took this one for dead: how it ends is looked for like the others.
        numberOf.set(msspTransId, msisdn);
        inFlight.set(msspTransId, item);
        return true;
      case 'number':
        putOff(item, msisdn, numberPauseMs);
        return true;
      case 'go':
        numberOf.set(msspTransId, msisdn);
    }
    await audit.record(
      { who: by, via: 'service', action: 'replay', target: msspTransId, details: { bulk: id } },
      `${id}:${msspTransId}`,
    );
    const result = await replayOnce(msspTransId, endedRuns, { by, order: id });
    if (result !== 'replayed') {
      await settle(msspTransId, result === 'unknown' ? 'gone' : 'changed');
      return true;
    }
    await store.settle(id, msspTransId, 'replayed');
    inFlight.set(msspTransId, item);
    return true;
  };

  const next = (): BulkItem | undefined => {
    const first = waiting.shift();
    if (first !== undefined) return first;
    const time = performance.now();
    const prompted = new Set(numberOf.values());
    const index = later.findIndex(
      ({ msisdn }) => !prompted.has(msisdn) && (askAgainAt.get(msisdn) ?? 0) <= time,
    );
    if (index === -1) return undefined;
    const [found] = later.splice(index, 1);
    if (found !== undefined) askAgainAt.delete(found.msisdn);
    return found?.item;
  };

  const replaySome = async (): Promise<void> => {
    for (let count = 0; count < burst; count += 1) {
      if (waiting.length + later.length === 0 || !mayGoOn()) return;
      const item = next();
      if (item === undefined) return;
      if (!(await limiter.take(`replays:${id}`, pace))) {
        waiting.unshift(item);
        return;
      }
      if (await replay(item)) continue;
      // Stopped: what has been begun is gone through all the same.
      const begun = new Set([...(await store.results(id)).keys()]);
      const rest = [...waiting, ...later.map((one) => one.item)].filter((one) => begun.has(one.msspTransId));
      waiting.splice(0, waiting.length, ...rest);
      later = [];
      return;
    }
  };

  const finish = async (): Promise<BulkEnd> => {
    const counts = countsOf(total, await store.results(id));
    const { waiting: left, signed } = counts;
    const details = { state: left > 0 ? 'stopped' : 'done', total, begun: total - left, signed };
    await audit.record({ who: by, via: 'service', action: 'bulk-end', target: id, details }, `${id}:end`);
    await store.finish(id);
    return { counts, endedAt: now() };
  };

  return {
    step: async () => {
      await look();
      await replaySome();
      return waiting.length + later.length + inFlight.size > 0 ? undefined : finish();
    },
  };
};
