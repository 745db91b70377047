/**
 * Bulks of transactions: failed ones that are replayed, or open ones that are cancelled.
 *
 * Replays need more than other orders, because each prompts a person (bulk-run.ts). A cancel is
 * carried out like an order of any list.
 */
import type { Protocol } from '../../../packages/protocol/src/parse.ts';
import type { RedisClient } from '../../redis/connect.ts';
import { cancelTransaction, isCancelledBy } from '../../transactions/cancellation.ts';
import type { HistoryFilter } from '../../transactions/history/filter.ts';
import type { History } from '../../transactions/history/history.ts';
import type { TransactionRow } from '../../transactions/history/row.ts';
import { type Shard, shardFor } from '../../transactions/shards.ts';
import {
  type BulkList,
  type BulkPlan,
  type BulkSelection,
  type BulkWork,
  type Candidate,
  candidatesOf,
  gather,
  selectedAtOnce,
} from './bulk-list.ts';
import { includesRole } from './operator.ts';
import { type ReplayPolicy, type ReplayRefusal, refusalOf } from './replay-policy.ts';
import { readRuns, type TransactionRun } from './transaction-runs.ts';

export const bulkKinds = ['replay', 'cancel'] as const;
export type BulkKind = (typeof bulkKinds)[number];

/** A filter of failed transactions, or of open ones for a cancel. It does not name the state. */
export type ReplayFilter = Omit<HistoryFilter, 'state'> & {
  /** Leaves out transactions with this number of attempts or more. */
  readonly maxAttempts?: number | undefined;
};

export type ReplaySelection = BulkSelection<ReplayFilter, BulkKind>;

/** `attempts`: too many. `not-…`, `unknown`: only for given ids. */
type Refusal = ReplayRefusal | 'attempts' | 'not-failed' | 'not-open';

/** Found are failed transactions, or open ones for a cancel. */
export interface ReplayPlan extends BulkPlan<TransactionRow> {
  /** The number of different phone numbers among the replayable ones. */
  readonly numbers: number;
  /** The most transactions of one phone number. The pace of prompts to one person is limited. */
  readonly mostOfOne: number;
  /** The replayable ones, by fault code (not of a cancel) and by AP_ID. */
  readonly byFault: Readonly<Record<string, number>>;
  readonly byAp: Readonly<Record<string, number>>;
  readonly refused: Readonly<Record<Refusal | 'unknown', number>>;
}

const statesOf = { replay: ['failed'], cancel: ['submitted', 'pending'] } as const;
const outside = ['not-failed', 'not-open'] as const;
const reasons: readonly Refusal[] = [
  'login',
  'workflow',
  'never',
  'role',
  'reason',
  'attempts',
  ...outside,
];

export const increment = (counts: Map<string, number>, key: string) =>
  counts.set(key, (counts.get(key) ?? 0) + 1);

export const createTransactionBulk = ({
  history,
  redis,
  shards,
  policy,
}: {
  readonly history: Pick<History, 'search' | 'find'>;
  readonly redis: RedisClient;
  readonly shards: readonly Shard[];
  readonly policy: ReplayPolicy;
}): BulkList<ReplaySelection, ReplayPlan> => ({
  name: 'transactions',

  select: async (selection, { role }, reason) => {
    const { kind = 'replay' } = selection;
    const { maxAttempts = Number.POSITIVE_INFINITY, ...filter } =
      'filter' in selection ? selection.filter : {};
    // Maps, because other people choose the names: `__proto__` is possible.
    const byFault = new Map<string, number>();
    const byAp = new Map<string, number>();
    const numbers = new Map<string, number>();

    const read = async (ids: readonly string[]) =>
      (await readRuns(redis, shards, ids)).map(
        (run) => run && { ...run, item: { id: run.row.msspTransId, endedRuns: run.endedRuns } },
      );
    /** A transaction whose retention is over is left out. */
    const readKnown = async (ids: readonly string[]) => {
      const rows = await Promise.all(ids.map((id) => history.find(id)));
      const runs = await read(ids);
      return runs.map((run, index) => (rows[index] === undefined ? undefined : run));
    };
    const pages = candidatesOf(
      'ids' in selection ? { ids: selection.ids, read: readKnown } : undefined,
      read,
      async (cursor) => {
        const wanted = { ...filter, state: statesOf[kind] };
        const page = await history.search(wanted, { limit: selectedAtOnce, cursor });
        return (
          page && { ids: page.rows.map(({ msspTransId }) => msspTransId), cursor: page.cursor }
        );
      },
    );
    const refuse = ({ row, ofWorkflow }: TransactionRun): Refusal | undefined => {
      const tooMany = row.attempt >= maxAttempts ? 'attempts' : undefined;
      if (kind === 'cancel') {
        if (row.endedAt !== undefined) return 'not-open';
        return includesRole(role, 'operator') ? tooMany : 'role';
      }
      if (row.fault === undefined) return 'not-failed';
      const end = { apId: row.apId, code: row.fault.code, ofWorkflow };
      return refusalOf(policy, end, role, reason) ?? tooMany;
    };
    const take = ({ row }: TransactionRun): void => {
      if (row.fault !== undefined) increment(byFault, String(row.fault.code));
      increment(byAp, row.apId);
      increment(numbers, row.msisdn);
    };
    const { items, plan } = await gather<
      TransactionRow,
      TransactionRun & Candidate<TransactionRow>,
      Refusal
    >(pages, {
      refuse,
      take,
      reasons,
      outside,
    });
    return {
      items,
      details: { numbers: numbers.size },
      plan: {
        ...plan,
        numbers: numbers.size,
        mostOfOne: Math.max(0, ...numbers.values()),
        byFault: Object.fromEntries(byFault),
        byAp: Object.fromEntries(byAp),
      },
    };
  },
});

/** Cancels of transactions. Their replays are in bulk-run.ts. */
export const createCancelWork = ({
  redis,
  shards,
  protocol,
  now,
}: {
  readonly redis: RedisClient;
  readonly shards: readonly Shard[];
  readonly protocol: Protocol;
  readonly now: () => number;
}): BulkWork => ({
  of: 'transactions',
  action: (kind) => kind,

  carryOut: async ({ id, endedRuns }, order, { isAgain, note }) => {
    const at = shardFor(shards, id)?.signatures;
    const [run] = await readRuns(redis, shards, [id]);
    if (at === undefined || run === undefined) return 'gone';
    const isOurs = () => isCancelledBy(order.id, id, endedRuns + 1, { at, now });
    if (run.row.endedAt !== undefined || run.endedRuns !== endedRuns) {
      if (await isOurs()) return 'cancelled';
      if (isAgain) await note('too-late');
      return 'changed';
    }
    await note();
    const cancellation = { at, protocol, now, by: 'operator', order: order.id } as const;
    const result = await cancelTransaction(id, cancellation);
    if (result === 'busy') return undefined;
    // A cancel that was sent before a crash may have ended it meanwhile.
    if (result === 'cancelled' || (await isOurs())) return 'cancelled';
    await note(result);
    return result === 'unknown' ? 'gone' : 'changed';
  },
});
