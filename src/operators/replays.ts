/**
 * Replays as people order them: one transaction, or many by filter.
 *
 * A replay is a new attempt of the same transaction, and prompts a person. So it is ordered for one particular end: who has
 * looked at a fault, and was allowed to replay it, does not replay another one that came meanwhile. One by one it is done
 * here and now. A bulk is written down and worked off elsewhere (bulk-worker.ts), at its rate; nobody has to stay.
 *
 * Everything is in the audit log before it is done.
 */
import type { Queue } from 'bullmq';
import { createReplayOnce } from '../engine/redis/replay-once.ts';
import type { HistoryFilter } from '../history/filter.ts';
import type { History } from '../history/history.ts';
import type { TransactionRow } from '../history/row.ts';
import type { Protocol } from '../protocol/parse.ts';
import { type CancelResult, cancelTransaction } from '../queue/cancellation.ts';
import { queueIn, shardFor } from '../transactions/answers.ts';
import { type Audit, doneBy } from './audit.ts';
import { type BulkReport, type BulkStanding, countsOf, reportOf } from './bulk-report.ts';
import type { ReplayWork } from './bulk-run.ts';
import { type Bulk, type BulkItem, createBulkStore } from './bulk-store.ts';
import { readStandings, type Standing } from './failed-end.ts';
import { includesRole, type Operator } from './operator.ts';
import { createPromptLimit } from './prompt-limit.ts';
import { isReason, type ReplayPolicy, type ReplayRefusal, refusalOf } from './replay-policy.ts';

/** `too-many`: this person has been prompted often enough just now. */
export type Refused = { readonly refused: ReplayRefusal | 'too-many' };
export type OneReplay = 'replayed' | 'not-failed' | 'unknown' | Refused;

/** Failed transactions, narrowed; the state need not be given. */
export type ReplayFilter = Omit<HistoryFilter, 'states'> & {
  /** Not those that have been attempted so often already. */
  readonly maxAttempts?: number | undefined;
};

export type ReplaySelection = { readonly filter: ReplayFilter } | { readonly ids: readonly string[] };

export interface ReplayPlan {
  /** Failed transactions that were found. */
  readonly found: number;
  /** Of them those that a bulk would replay. */
  readonly replayable: number;
  /** Different numbers among those. */
  readonly numbers: number;
  /** Of these transactions those of the number that has most: one person is prompted at a limited pace. */
  readonly mostOfOne: number;
  /** The replayable ones, by fault code and by AP_ID. */
  readonly byFault: Readonly<Record<string, number>>;
  readonly byAp: Readonly<Record<string, number>>;
  /** Why the others would not be, by how many. `attempts`: they have had their attempts; `not-failed`, `unknown`: of ids. */
  readonly refused: Readonly<Record<ReplayRefusal | 'attempts' | 'not-failed' | 'unknown', number>>;
  /** Whom it would prompt: the replayable ones in the order of the bulk, but no more than the first hundred. */
  readonly first: readonly TransactionRow[];
  /** There are more than one bulk may hold; narrow the filter. */
  readonly truncated: boolean;
}

export type StartedBulk =
  | { readonly bulkId: string; readonly plan: ReplayPlan }
  | { readonly refused: 'role' | 'reason' | 'nothing' | 'rate'; readonly plan?: ReplayPlan };

export interface Replays {
  /** @throws When Redis is unreachable, as all of these do; it may then be done or not. */
  replay(msspTransId: string, operator: Operator, reason?: string): Promise<OneReplay>;
  cancel(
    msspTransId: string,
    operator: Operator,
    reason: string,
  ): Promise<CancelResult | { readonly refused: 'role' | 'reason' }>;
  /** What a bulk would do, without doing it. @param reason As it would be given. */
  plan(selection: ReplaySelection, operator: Operator, reason?: string): Promise<ReplayPlan>;
  start(
    selection: ReplaySelection,
    order: { readonly perSecond: number; readonly operator: Operator; readonly reason: string },
  ): Promise<StartedBulk>;
  /** Nothing more is replayed, but for one that is being begun. Who has been prompted stays prompted. */
  stop(
    bulkId: string,
    operator: Operator,
    reason?: string,
  ): Promise<'stopping' | 'not-running' | 'unknown' | { readonly refused: 'role' }>;
  progress(bulkId: string): Promise<BulkStanding | undefined>;
  /** Newest first. */
  list(limit?: number): Promise<readonly BulkStanding[]>;
  /** What became of each, for a month after the end. */
  report(bulkId: string): Promise<BulkReport | undefined>;
  /** Where bulks are worked off, to look at. */
  readonly queue: Queue;
}

export interface ReplaysOptions extends Omit<ReplayWork, 'onError'> {
  readonly history: Pick<History, 'search' | 'find'>;
  readonly protocol: Protocol;
  /** Of bulk replays (src/transactions/shards.ts). */
  readonly queue: Queue;
  readonly policy: ReplayPolicy;
}

/** A list of this length is some megabytes in Redis, and in the process that works it off. */
const maxItems = 20_000;
const maxPerSecond = 1000;
const pageRows = 500;
/** A plan names so many; the others it counts. */
const maxNamed = 100;

interface Selected {
  readonly plan: ReplayPlan;
  readonly items: readonly BulkItem[];
}

const increment = (counts: Map<string, number>, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};

export const createReplays = (options: ReplaysOptions): Replays => {
  const { history, shards, protocol, audit, redis, now, limiter, policy } = options;
  const store = createBulkStore(options);
  const replayOnce = createReplayOnce(redis, queueIn(shards));
  const prompts = createPromptLimit(limiter);

  /** Candidates in pages; undefined for an id that there is not. */
  async function* candidates(
    selection: ReplaySelection,
  ): AsyncGenerator<readonly (TransactionRow | undefined)[]> {
    if ('ids' in selection) {
      const ids = [...new Set(selection.ids)];
      for (let from = 0; from < ids.length; from += pageRows) {
        yield Promise.all(ids.slice(from, from + pageRows).map((id) => history.find(id)));
      }
      return;
    }
    const { maxAttempts: _, ...filter } = selection.filter;
    let cursor: string | undefined;
    do {
      const page = await history.search({ ...filter, states: ['failed'] }, { limit: pageRows, cursor });
      yield page?.rows ?? [];
      cursor = page?.cursor;
    } while (cursor !== undefined);
  }

  const select = async (
    selection: ReplaySelection,
    { role }: Operator,
    reason: string | undefined,
  ): Promise<Selected> => {
    const most = 'filter' in selection ? (selection.filter.maxAttempts ?? Infinity) : Infinity;
    const refused = { login: 0, never: 0, role: 0, reason: 0, attempts: 0, 'not-failed': 0, unknown: 0 };
    // Names of others: `__proto__` is one like any other.
    const byFault = new Map<string, number>();
    const byAp = new Map<string, number>();
    const numbers = new Map<string, number>();
    const items: BulkItem[] = [];
    const first: TransactionRow[] = [];
    const seen = new Set<string>();
    let truncated = false;

    const objectionTo = ({ row }: Standing): keyof typeof refused | undefined => {
      if (row.fault === undefined) return 'not-failed';
      const refusal = refusalOf(policy, { apId: row.apId, code: row.fault.code }, role, reason);
      return refusal ?? (row.attempt >= most ? 'attempts' : undefined);
    };

    const take = ({ row, endedRuns }: Standing): void => {
      increment(byFault, String(row.fault?.code));
      increment(byAp, row.apId);
      increment(numbers, row.msisdn);
      items.push({ msspTransId: row.msspTransId, endedRuns });
      if (first.length < maxNamed) first.push(row);
    };

    for await (const rows of candidates(selection)) {
      refused.unknown += rows.filter((row) => row === undefined).length;
      const ids = rows.flatMap((row) => row?.msspTransId ?? []);
      for (const standing of await readStandings(redis, shards, ids)) {
        if (items.length === maxItems) {
          truncated = true;
          break;
        }
        if (standing === undefined || seen.has(standing.row.msspTransId)) continue;
        seen.add(standing.row.msspTransId);
        const objection = objectionTo(standing);
        if (objection === undefined) take(standing);
        else refused[objection] += 1;
      }
      if (truncated) break;
    }
    const found = seen.size - refused['not-failed'];
    return {
      items,
      plan: {
        found,
        replayable: items.length,
        numbers: numbers.size,
        mostOfOne: Math.max(0, ...numbers.values()),
        byFault: Object.fromEntries(byFault),
        byAp: Object.fromEntries(byAp),
        refused,
        first,
        truncated,
      },
    };
  };

  const standing = async (bulk: Bulk): Promise<BulkStanding> => ({
    ...bulk,
    ...(bulk.counts ?? countsOf(bulk.total, await store.results(bulk.id))),
  });

  const notDone = async (entry: Parameters<Audit['record']>[0], outcome: string): Promise<void> => {
    await audit.record({ ...entry, details: { ...entry.details, outcome } });
  };

  return {
    queue: options.queue,

    replay: async (msspTransId, operator, written) => {
      const reason = written?.trim() || undefined;
      if (reason !== undefined && !isReason(reason)) return { refused: 'reason' };
      if ((await history.find(msspTransId)) === undefined) return 'unknown';
      const [standing] = await readStandings(redis, shards, [msspTransId]);
      if (standing === undefined) return 'unknown';
      const { row, endedRuns } = standing;
      if (row.fault === undefined) return 'not-failed';
      const failed = { apId: row.apId, code: row.fault.code };
      const refusal = refusalOf(policy, failed, operator.role, reason);
      if (refusal !== undefined) return { refused: refusal };
      if (!(await prompts.take(row.msisdn))) return { refused: 'too-many' };
      const details = { fault: row.fault.code, attempt: row.attempt + 1 };
      const entry = { ...doneBy(operator), action: 'replay', target: msspTransId, reason, details } as const;
      const order = await audit.record(entry);
      const result = await replayOnce(msspTransId, endedRuns, { by: operator.name, order });
      if (result === 'replayed') return 'replayed';
      await notDone(entry, result);
      return result === 'unknown' ? 'unknown' : 'not-failed';
    },

    cancel: async (msspTransId, operator, reason) => {
      if (!includesRole(operator.role, 'operator')) return { refused: 'role' };
      if (!isReason(reason)) return { refused: 'reason' };
      const at = shardFor(shards, msspTransId)?.signatures;
      if (at === undefined || (await history.find(msspTransId)) === undefined) return 'unknown';
      const entry = { ...doneBy(operator), action: 'cancel', target: msspTransId, reason } as const;
      await audit.record(entry);
      const result = await cancelTransaction(msspTransId, { at, protocol, now, by: 'operator' });
      if (result !== 'cancelled') await notDone(entry, result);
      return result;
    },

    plan: async (selection, operator, reason) => (await select(selection, operator, reason)).plan,

    start: async (selection, { perSecond, operator, reason }) => {
      if (!includesRole(operator.role, 'operator')) return { refused: 'role' };
      if (!isReason(reason)) return { refused: 'reason' };
      if (!(perSecond > 0 && perSecond <= maxPerSecond)) return { refused: 'rate' };
      const { plan, items } = await select(selection, operator, reason);
      if (items.length === 0) return { refused: 'nothing', plan };
      const id = store.newId();
      const details = { count: items.length, numbers: plan.numbers, perSecond };
      await audit.record({ ...doneBy(operator), action: 'bulk-replay', target: id, reason, details });
      await store.create({ id, by: operator.name, reason, perSecond, createdAt: now() }, items);
      return { bulkId: id, plan };
    },

    stop: async (bulkId, operator, reason) => {
      if (!includesRole(operator.role, 'operator')) return { refused: 'role' };
      const bulk = await store.find(bulkId);
      if (bulk === undefined) return 'unknown';
      if (bulk.state !== 'running') return 'not-running';
      const entry = { ...doneBy(operator), action: 'bulk-stop', target: bulkId } as const;
      await audit.record({ ...entry, reason: isReason(reason) ? reason : undefined });
      return (await store.stop(bulkId)) ? 'stopping' : 'not-running';
    },

    progress: async (bulkId) => {
      const bulk = await store.find(bulkId);
      return bulk && standing(bulk);
    },

    list: async (limit = 50) => Promise.all((await store.list(limit)).map(standing)),

    report: async (bulkId) => {
      const bulk = await store.find(bulkId);
      if (bulk === undefined) return undefined;
      const [items, results] = await Promise.all([store.items(bulkId), store.results(bulkId)]);
      return reportOf(bulk, items, results);
    },
  };
};
