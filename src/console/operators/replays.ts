/**
 * Replays and cancels that operators order: one transaction, or many by filter.
 *
 * A replay is a new attempt of the same transaction and prompts a person. It is ordered for one
 * particular end, so an operator never replays a later fault unseen. A single replay is done at
 * once. A bulk is stored, and worked on in the background at its rate (bulk-worker.ts). A bulk of
 * cancels is planned, ordered, stopped and reported in the same way.
 *
 * Every order is written to the audit log before it is done. A single order that is refused is
 * there, too, with the refusal as its outcome. Not recorded are orders with an unknown id, replays
 * without a required reason, and cancels without the required role.
 */
import type { Queue } from 'bullmq';
import type { BulkOrder } from '../../../machines/bulk-replay.machine.ts';
import type { Protocol } from '../../../packages/protocol/src/parse.ts';
import { type CancelResult, cancelTransaction } from '../../transactions/cancellation.ts';
import type { HistoryFilter } from '../../transactions/history/filter.ts';
import type { History } from '../../transactions/history/history.ts';
import type { TransactionRow } from '../../transactions/history/row.ts';
import { createReplayOnce } from '../../transactions/jobs/replay-once.ts';
import { queueIn, shardFor } from '../../transactions/shards.ts';
import { doneBy, type NewAuditEntry, noted } from './audit.ts';
import { type BulkProgress, type BulkReport, countsOf, reportOf } from './bulk-report.ts';
import type { ReplayWork } from './bulk-run.ts';
import { type Bulk, type BulkItem, createBulkStore } from './bulk-store.ts';
import { includesRole, type Operator } from './operator.ts';
import { createPromptLimit } from './prompt-limit.ts';
import { isReason, type ReplayPolicy, type ReplayRefusal, refusalOf } from './replay-policy.ts';
import { readRuns, type TransactionRun } from './transaction-runs.ts';

/** `too-many`: this person has just had too many prompts. */
type OneReplay =
  | 'replayed'
  | 'not-failed'
  | 'unknown'
  | { readonly refused: ReplayRefusal | 'too-many' };

export type BulkKind = NonNullable<BulkOrder['kind']>;

/** A filter of failed transactions, or of open ones for a cancel. It does not name the state. */
export type ReplayFilter = Omit<HistoryFilter, 'state'> & {
  /** Leaves out transactions with this number of attempts or more. */
  readonly maxAttempts?: number | undefined;
};

export type ReplaySelection = (
  | { readonly filter: ReplayFilter }
  | { readonly ids: readonly string[] }
) & {
  /** The kind of the bulk. Default: `replay`. */
  readonly kind?: BulkKind | undefined;
};

export interface ReplayPlan {
  /** Transactions that were found: failed ones, or open ones for a cancel. */
  readonly found: number;
  /** The number of found transactions that a bulk would replay, or cancel. */
  readonly replayable: number;
  /** The number of different phone numbers among the replayable ones. */
  readonly numbers: number;
  /** The most transactions of one phone number. The pace of prompts to one person is limited. */
  readonly mostOfOne: number;
  /** The replayable ones, by fault code (not of a cancel) and by AP_ID. */
  readonly byFault: Readonly<Record<string, number>>;
  readonly byAp: Readonly<Record<string, number>>;
  /**
   * The others, counted by reason. `attempts`: too many. `not-…`, `unknown`: only for given ids.
   */
  readonly refused: Readonly<
    Record<ReplayRefusal | 'attempts' | 'not-failed' | 'not-open' | 'unknown', number>
  >;
  /** The replayable ones in the order of the bulk, at most the first hundred. */
  readonly first: readonly TransactionRow[];
  /** Whether more were found than one bulk may hold. Then the filter must be narrowed. */
  readonly truncated: boolean;
}

export type StartedBulk =
  | { readonly bulkId: string; readonly plan: ReplayPlan }
  | { readonly refused: 'role' | 'reason' | 'nothing' | 'rate'; readonly plan?: ReplayPlan };

interface ReplaysOptions extends Omit<ReplayWork, 'onError'> {
  readonly history: Pick<History, 'search' | 'find'>;
  readonly protocol: Protocol;
  /** The queue of bulk replays (src/transactions/shards.ts). */
  readonly queue: Queue;
  readonly policy: ReplayPolicy;
}

/** Items of one bulk: some megabytes in Redis and in the worker. */
const maxItems = 20_000;
const maxPerSecond = 1000;
const pageRows = 500;
const statesOf = { replay: ['failed'], cancel: ['submitted', 'pending'] } as const;
/** Transactions that a plan lists; it counts the others. */
const maxNamed = 100;

const increment = (counts: Map<string, number>, key: string) =>
  counts.set(key, (counts.get(key) ?? 0) + 1);

export const createReplays = (options: ReplaysOptions) => {
  const { history, shards, protocol, audit, redis, now, limiter, policy } = options;
  const store = createBulkStore(options);
  const replayOnce = createReplayOnce(redis, queueIn(shards));
  const prompts = createPromptLimit(limiter);

  /** Yields candidates in pages; undefined for an unknown id. */
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
    const state = statesOf[selection.kind ?? 'replay'];
    let cursor: string | undefined;
    do {
      const page = await history.search({ ...filter, state }, { limit: pageRows, cursor });
      yield page?.rows ?? [];
      cursor = page?.cursor;
    } while (cursor !== undefined);
  }

  const select = async (
    selection: ReplaySelection,
    { role }: Operator,
    reason: string | undefined,
  ) => {
    const maxAttempts =
      'filter' in selection ? (selection.filter.maxAttempts ?? Infinity) : Infinity;
    const policies = { login: 0, workflow: 0, never: 0, role: 0, reason: 0 };
    const refused = { ...policies, attempts: 0, 'not-failed': 0, 'not-open': 0, unknown: 0 };
    // Maps, because other people choose the names: `__proto__` is possible.
    const byFault = new Map<string, number>();
    const byAp = new Map<string, number>();
    const numbers = new Map<string, number>();
    const items: BulkItem[] = [];
    const first: TransactionRow[] = [];
    const seen = new Set<string>();
    let truncated = false;

    const findError = ({ row, ofWorkflow }: TransactionRun): keyof typeof refused | undefined => {
      const tooMany = row.attempt >= maxAttempts ? 'attempts' : undefined;
      if (selection.kind === 'cancel') {
        if (row.endedAt !== undefined) return 'not-open';
        return includesRole(role, 'operator') ? tooMany : 'role';
      }
      if (row.fault === undefined) return 'not-failed';
      const end = { apId: row.apId, code: row.fault.code, ofWorkflow };
      return refusalOf(policy, end, role, reason) ?? tooMany;
    };

    const take = ({ row, endedRuns }: TransactionRun): void => {
      if (row.fault !== undefined) increment(byFault, String(row.fault.code));
      increment(byAp, row.apId);
      increment(numbers, row.msisdn);
      items.push({ msspTransId: row.msspTransId, endedRuns });
      if (first.length < maxNamed) first.push(row);
    };

    for await (const rows of candidates(selection)) {
      refused.unknown += rows.filter((row) => row === undefined).length;
      const ids = rows.flatMap((row) => row?.msspTransId ?? []);
      for (const run of await readRuns(redis, shards, ids)) {
        if (items.length === maxItems) {
          truncated = true;
          break;
        }
        if (run === undefined || seen.has(run.row.msspTransId)) continue;
        seen.add(run.row.msspTransId);
        const error = findError(run);
        if (error === undefined) take(run);
        else refused[error] += 1;
      }
      if (truncated) break;
    }
    const found = seen.size - refused['not-failed'] - refused['not-open'];
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

  const withCounts = async (bulk: Bulk): Promise<BulkProgress> => ({
    ...bulk,
    ...(bulk.counts ?? countsOf(bulk.total, await store.results(bulk.id))),
  });

  const notDone = (entry: NewAuditEntry, outcome: string): Promise<string> =>
    audit.record({ ...entry, details: { ...entry.details, outcome } });

  return {
    /** The queue of bulk replays, for the console's board. */
    queue: options.queue,

    /**
     * @throws When Redis is unreachable, like the other methods. The order may then be done or not.
     */
    replay: async (
      msspTransId: string,
      operator: Operator,
      written?: string,
    ): Promise<OneReplay> => {
      const reason = written?.trim() || undefined;
      if (reason !== undefined && !isReason(reason)) return { refused: 'reason' };
      if ((await history.find(msspTransId)) === undefined) return 'unknown';
      const [run] = await readRuns(redis, shards, [msspTransId]);
      if (run === undefined) return 'unknown';
      const { row, endedRuns, ofWorkflow } = run;
      const { fault, attempt, apId, msisdn } = row;
      const details = { ...(fault && { fault: fault.code }), attempt: attempt + 1 };
      const entry = {
        ...doneBy(operator),
        action: 'replay',
        target: msspTransId,
        reason,
        details,
      } as const;
      if (fault === undefined) {
        await notDone(entry, 'not-failed');
        return 'not-failed';
      }
      const refusal =
        refusalOf(policy, { apId, code: fault.code, ofWorkflow }, operator.role, reason) ??
        ((await prompts.take(msisdn)) ? undefined : 'too-many');
      if (refusal !== undefined) {
        // A missing reason is not recorded: the console asks for it, and the order comes again.
        if (refusal !== 'reason') await notDone(entry, refusal);
        return { refused: refusal };
      }
      const result = await noted(
        audit,
        entry,
        (order) => replayOnce(msspTransId, endedRuns, { by: operator.name, order }),
        (done) => done === 'replayed' || done,
      );
      return result === 'replayed' || result === 'unknown' ? result : 'not-failed';
    },

    cancel: async (
      msspTransId: string,
      operator: Operator,
      reason: string,
    ): Promise<CancelResult | { readonly refused: 'role' | 'reason' }> => {
      if (!includesRole(operator.role, 'operator')) return { refused: 'role' };
      if (!isReason(reason)) return { refused: 'reason' };
      const at = shardFor(shards, msspTransId)?.signatures;
      if (at === undefined || (await history.find(msspTransId)) === undefined) return 'unknown';
      const entry = { ...doneBy(operator), action: 'cancel', target: msspTransId, reason } as const;
      const cancel = () => cancelTransaction(msspTransId, { at, protocol, now, by: 'operator' });
      return noted(audit, entry, cancel, (result) => result === 'cancelled' || result);
    },

    /** Computes what a bulk would do. @param reason The reason that the order would have. */
    plan: async (
      selection: ReplaySelection,
      operator: Operator,
      reason?: string,
    ): Promise<ReplayPlan> => (await select(selection, operator, reason)).plan,

    start: async (
      selection: ReplaySelection,
      order: { readonly perSecond: number; readonly operator: Operator; readonly reason: string },
    ): Promise<StartedBulk> => {
      const { kind = 'replay' } = selection;
      const { perSecond, operator, reason } = order;
      if (!includesRole(operator.role, 'operator')) return { refused: 'role' };
      if (!isReason(reason)) return { refused: 'reason' };
      if (!(perSecond > 0 && perSecond <= maxPerSecond)) return { refused: 'rate' };
      const { plan, items } = await select(selection, operator, reason);
      if (items.length === 0) return { refused: 'nothing', plan };
      const id = store.newId();
      const details = { count: items.length, numbers: plan.numbers, perSecond };
      await audit.record({
        ...doneBy(operator),
        action: `bulk-${kind}`,
        target: id,
        reason,
        details,
      });
      await store.create(
        { id, kind, by: operator.name, reason, perSecond, createdAt: now() },
        items,
      );
      return { bulkId: id, plan };
    },

    /** Begins no further item, except one in progress. Prompts that were sent stay. */
    stop: async (
      bulkId: string,
      operator: Operator,
      reason?: string,
    ): Promise<'stopping' | 'not-running' | 'unknown' | { readonly refused: 'role' }> => {
      if (!includesRole(operator.role, 'operator')) return { refused: 'role' };
      const bulk = await store.find(bulkId);
      if (bulk === undefined) return 'unknown';
      if (bulk.state !== 'running') return 'not-running';
      const entry = { ...doneBy(operator), action: 'bulk-stop', target: bulkId } as const;
      await audit.record({ ...entry, reason: isReason(reason) ? reason : undefined });
      return (await store.stop(bulkId)) ? 'stopping' : 'not-running';
    },

    progress: async (bulkId: string): Promise<BulkProgress | undefined> => {
      const bulk = await store.find(bulkId);
      return bulk && withCounts(bulk);
    },

    /** The bulks, newest first. */
    list: async (limit = 50): Promise<readonly BulkProgress[]> =>
      Promise.all((await store.list(limit)).map(withCounts)),

    /** The results of a bulk, until a month after its end. */
    report: async (bulkId: string): Promise<BulkReport | undefined> => {
      const bulk = await store.find(bulkId);
      if (bulk === undefined) return undefined;
      const [items, results] = await Promise.all([store.items(bulkId), store.results(bulkId)]);
      return reportOf(bulk, items, results);
    },
  };
};

export type Replays = ReturnType<typeof createReplays>;
