/**
 * Runs one bulk in the process that works on it.
 *
 * A step looks up the ends of replayed transactions, replays as many as the rate allows, and ends
 * the bulk when nothing is left. All state comes from the store, so another process can take over
 * at any point after a crash.
 *
 * The steps for one item: room for a prompt to its number (prompt-limit.ts), its begin and its
 * number (store), the audit log, the replay (replay-once.ts), the result (store). After a crash in
 * between, the next process begins the item again: it still has one entry in the audit log, and the
 * person gets one prompt.
 *
 * A replay that is in the audit log and is then not done gets a second entry there, as everywhere.
 *
 * Any other bulk is run in the same way (`carryOut` of its list, bulk-list.ts): an entry in the audit
 * log, the order, the result. There is no number to wait for, and no item stays in flight.
 */
import type { BulkEnd, BulkOrder } from '../../../machines/bulk-replay.machine.ts';
import type { RedisClient } from '../../redis/connect.ts';
import { isLogin } from '../../registry/login-ap-id.ts';
import type { RateLimiter } from '../../registry/rate-limiter.ts';
import type { ReplayOnce } from '../../transactions/jobs/replay-once.ts';
import type { Shard } from '../../transactions/shards.ts';
import type { Audit } from './audit.ts';
import type { BulkWork } from './bulk-list.ts';
import { countsOf } from './bulk-report.ts';
import type { BulkItem, BulkResult, BulkStore } from './bulk-store.ts';
import { createPromptLimit } from './prompt-limit.ts';
import { findResults, readRuns } from './transaction-runs.ts';

/** The dependencies of replays in the background. */
export interface ReplayWork {
  /** A connection that reconnects without end. */
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: readonly Shard[];
  readonly audit: Audit;
  readonly limiter: RateLimiter;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

interface BulkRunOptions extends Omit<ReplayWork, 'prefix' | 'onError'> {
  readonly store: BulkStore;
  readonly replayOnce: ReplayOnce;
  /** What lists do to one item. Replays of transactions are not among them. */
  readonly works: readonly BulkWork[];
  /** Asked before each replay. If it is false, the rest is left to other processes. */
  readonly mayGoOn: () => boolean;
}

/** Pause before a number is tried again that another transaction of a bulk is prompting. */
const numberPauseMs = 500;
/** Pause before a number is tried again that was prompted too often just now. */
const promptsPauseMs = 1000;
/** The interval of look-ups of ends, and the number of transactions in one look-up. */
const lookEveryMs = 250;
const lookAtOnce = 1000;

export const takeUpBulk = async (order: BulkOrder, options: BulkRunOptions) => {
  const { redis, shards, store, audit, limiter, replayOnce, now, mayGoOn } = options;
  const { id, kind = 'replay', of = 'transactions', by, perSecond, total } = order;
  /** Undefined for replays of transactions. */
  const work =
    of === 'transactions' && kind === 'replay'
      ? undefined
      : options.works.find((each) => each.of === of);
  if (work === undefined && (of !== 'transactions' || kind !== 'replay'))
    throw new Error(`No part of this service has the list of the bulk: ${of}`);
  // A burst for a tenth of a second, so that the limiter is not asked for each item.
  const burst = Math.max(1, Math.ceil(perSecond / 10));
  const pace = { requests: burst, perSeconds: burst / perSecond };
  const prompts = createPromptLimit(limiter);

  const [items, results, numbers] = await Promise.all([
    store.items(id),
    store.results(id),
    store.numbers(id),
  ]);
  const isWaiting = (item: BulkItem): boolean =>
    [undefined, 'begun'].includes(results.get(item.id));
  /** Items to do. Begun ones come first, because their person may already have a prompt. */
  const waiting = items
    .filter(isWaiting)
    .sort((a, b) => Number(results.has(b.id)) - Number(results.has(a.id)));
  const inFlight = new Map<string, BulkItem>();
  for (const item of items) {
    if (results.get(item.id) === 'replayed') inFlight.set(item.id, item);
  }
  const numberOf = new Map(numbers);
  /** Items whose number is busy, and when to try it again, by a monotonic clock. */
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

  /** Looks up the items whose last look-up is the longest ago. */
  const look = async (): Promise<void> => {
    const time = performance.now();
    if (time - lookedAt < lookEveryMs) return;
    lookedAt = time;
    const some = [...inFlight.values()].slice(0, lookAtOnce);
    for (const item of some) {
      inFlight.delete(item.id);
      inFlight.set(item.id, item);
    }
    const results = await findResults(redis, shards, some);
    await Promise.all([...results].map(([msspTransId, result]) => settle(msspTransId, result)));
  };

  /** Writes an audit entry. @param outcome The reason why the action was not done after all. */
  const note = (target: string, outcome?: string): Promise<string> => {
    const details = { bulk: id, ...(outcome && { outcome }) };
    const once = [id, target, ...(outcome ? [outcome] : [])].join(':');
    const action = work?.action(kind) ?? kind;
    return audit.record({ who: by, via: 'service', action, target, details }, once);
  };

  /** Items whose order may already be in the audit log. */
  const tried = new Set(results.keys());

  /** Carries out an order that sends no prompt by itself, so that there is no number to wait for. */
  const orderOnce = async (item: BulkItem, { carryOut }: BulkWork): Promise<boolean> => {
    const turn = await store.begin(id, item.id, '');
    if (turn !== 'go') return turn !== 'over';
    const isAgain = tried.has(item.id);
    tried.add(item.id);
    const result = await carryOut(item, order, {
      isAgain,
      note: (outcome) => note(item.id, outcome),
    });
    if (result === undefined) putOff(item, item.id, numberPauseMs);
    else await settle(item.id, result);
    return true;
  };

  /** Replays an item. @returns False when no further item may be begun. */
  const replay = async (item: BulkItem): Promise<boolean> => {
    const { id: msspTransId, endedRuns } = item;
    const [run] = await readRuns(redis, shards, [msspTransId]);
    // Other programs may have written the list.
    if (run === undefined || run.ofWorkflow || isLogin(run.row.apId)) {
      await settle(msspTransId, run === undefined ? 'gone' : 'refused');
      return true;
    }
    // An unreadable transaction has no number: its id stands in.
    const msisdn = run.row.msisdn || msspTransId;
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
        // Another process took this one for dead and replayed it. Its end is looked up, too.
        numberOf.set(msspTransId, msisdn);
        inFlight.set(msspTransId, item);
        return true;
      case 'number':
        putOff(item, msisdn, numberPauseMs);
        return true;
      case 'go':
        numberOf.set(msspTransId, msisdn);
    }
    await note(msspTransId);
    const result = await replayOnce(msspTransId, endedRuns, { by, order: id });
    if (result !== 'replayed') {
      await note(msspTransId, result);
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
      if (await (work === undefined ? replay(item) : orderOnce(item, work))) continue;
      // Stopped: items that were begun are still completed.
      const begun = new Set([...(await store.results(id)).keys()]);
      const rest = [...waiting, ...later.map((one) => one.item)].filter((one) => begun.has(one.id));
      waiting.splice(0, waiting.length, ...rest);
      later = [];
      return;
    }
  };

  const finish = async (): Promise<BulkEnd> => {
    const counts = countsOf(total, await store.results(id));
    const { waiting: left, signed, done, cancelled } = counts;
    const good = of === 'transactions' ? { signed } : { done: done + cancelled };
    const details = { state: left > 0 ? 'stopped' : 'done', total, begun: total - left, ...good };
    await audit.record(
      { who: by, via: 'service', action: 'bulk-end', target: id, details },
      `${id}:end`,
    );
    await store.finish(id);
    return { counts, endedAt: now() };
  };

  return {
    /** Does one step. @returns The end of the bulk, once it is over. */
    step: async (): Promise<BulkEnd | undefined> => {
      await look();
      await replaySome();
      return waiting.length + later.length + inFlight.size > 0 ? undefined : finish();
    },
  };
};

export type BulkRun = Awaited<ReturnType<typeof takeUpBulk>>;
