/**
 * Orders of operators to callbacks: a replay of dead ones, and a try at once of those that wait for
 * their next try. Either is given to one, or to all that match a filter.
 *
 * They send no prompts, and the receiver recognises a repeated callback by its id. So they need
 * neither a policy of faults nor a stored list: an order puts the callbacks back into their queue,
 * each with its own earliest time. After a crash the rest is as it was, and the next order finds it.
 *
 * Both begin with the first try again: whoever gives them has mended the receiver.
 *
 * Every order is written to the audit log before it is done.
 */
import {
  type Audit,
  doneBy,
  type NewAuditEntry,
  noted,
} from '../../src/console/operators/audit.ts';
import { includesRole, type Operator } from '../../src/console/operators/operator.ts';
import { isReason } from '../../src/console/operators/replay-policy.ts';
import type { CallbackFilter, CallbackRow } from './callback-row.ts';
import type { CallbackReplayResult, Callbacks, CallbackTryResult } from './callbacks.ts';

/** `replay` is for dead callbacks, `try` for those that wait. */
export const callbackOrders = ['replay', 'try'] as const;
export type CallbackOrder = (typeof callbackOrders)[number];

export type CallbackError = 'role' | 'reason' | 'rate' | 'nothing';

/** Why an order is not for a callback as it stands. */
export type NotNow = 'delivered' | 'waiting' | 'dead' | 'trying';

type OneOrdered =
  | 'replayed'
  | 'tried'
  | 'unknown'
  | 'busy'
  | { readonly refused: 'role' | 'reason' | NotNow };

export interface CallbackPlan {
  /** Callbacks that an order would be carried out for. */
  readonly found: number;
  readonly byAp: Readonly<Record<string, number>>;
  /** Whether there are more than one order may hold. Then these are the newest. */
  readonly truncated: boolean;
}

export interface CallbackBulk {
  readonly found: number;
  /** Of a replay. */
  readonly replayed?: number;
  /** Of a try at once. */
  readonly tried?: number;
  /** The number of callbacks for which another order came first, or that are gone. */
  readonly left: number;
  /** Whether there are more, so that another order is needed. */
  readonly truncated: boolean;
}

/** Callbacks of one order: some seconds to order, some minutes to deliver at the usual rate. */
export const maxCallbacks = 10_000;
export const callbacksPerSecond = { min: 1, usual: 20, max: 1000 } as const;
const isRate = (perSecond: number): boolean =>
  perSecond >= callbacksPerSecond.min && perSecond <= callbacksPerSecond.max;
const pageRows = 500;
const orderedAtOnce = 50;

const isDone = (result: CallbackReplayResult | CallbackTryResult): boolean =>
  result === 'replayed' || result === 'tried';

const findError = (
  { role }: Operator,
  reason: string | undefined,
): 'role' | 'reason' | undefined => {
  if (!includesRole(role, 'operator')) return 'role';
  return reason === undefined || isReason(reason) ? undefined : 'reason';
};

export const createCallbackReplays = ({
  callbacks,
  audit,
  now,
  max = maxCallbacks,
}: {
  readonly callbacks: Callbacks;
  readonly audit: Pick<Audit, 'record'>;
  readonly now: () => number;
  /** The maximum of callbacks in one order. Default: {@link maxCallbacks}. */
  readonly max?: number;
}) => {
  const pageOf = (kind: CallbackOrder, filter: CallbackFilter, cursor: string | undefined) =>
    kind === 'replay'
      ? callbacks.dead(filter, { limit: pageRows, cursor })
      : callbacks.retried(filter.apId, { limit: pageRows, cursor });

  const select = async (kind: CallbackOrder, filter: CallbackFilter) => {
    const rows: CallbackRow[] = [];
    let cursor: string | undefined;
    do {
      const page = await pageOf(kind, filter, cursor);
      rows.push(...(page?.rows ?? []));
      cursor = page?.cursor;
    } while (cursor !== undefined && rows.length <= max);
    return { rows: rows.slice(0, max), truncated: rows.length > max };
  };

  /** @param entry The audit entry of the order, or of the single one. */
  const recorded = (
    kind: CallbackOrder,
    { id, msspTransId, instanceId }: CallbackRow,
    entry: Omit<NewAuditEntry, 'action' | 'target'>,
    notBefore?: number,
  ): Promise<CallbackReplayResult | CallbackTryResult> => {
    const details = { ...entry.details, callback: id };
    const whole = {
      ...entry,
      action: `callback-${kind}`,
      target: msspTransId ?? instanceId,
      details,
    } as const;
    const act = (): Promise<CallbackReplayResult | CallbackTryResult> =>
      kind === 'replay' ? callbacks.replay(id, notBefore) : callbacks.tryNow(id, notBefore);
    return noted(audit, whole, act, (result) => isDone(result) || result);
  };

  /** How it stands, where an order is not for it. */
  const standing = async (id: string): Promise<OneOrdered> => {
    const row = await callbacks.find(id);
    if (row === undefined) return 'unknown';
    if (row.state !== 'waiting') return { refused: row.state };
    return { refused: row.nextTryAt === undefined ? 'trying' : 'waiting' };
  };

  return {
    of: callbacks.of,
    dead: callbacks.dead,
    retried: callbacks.retried,
    newest: callbacks.newest,
    counts: callbacks.counts,

    /**
     * @throws When Redis is unreachable, like the other methods. The order may then be carried out
     * or not.
     */
    order: async (
      kind: CallbackOrder,
      id: string,
      operator: Operator,
      written?: string,
    ): Promise<OneOrdered> => {
      const reason = written?.trim() || undefined;
      const error = findError(operator, reason);
      if (error !== undefined) return { refused: error };
      const row = await callbacks.find(id);
      if (row === undefined) return 'unknown';
      if (row.state !== (kind === 'replay' ? 'dead' : 'waiting')) return standing(id);
      const result = await recorded(kind, row, { ...doneBy(operator), reason });
      return result === 'not-dead' || result === 'not-waiting' ? standing(id) : result;
    },

    /** Computes what `orderAll` would do. */
    plan: async (kind: CallbackOrder, filter: CallbackFilter): Promise<CallbackPlan> => {
      const { rows, truncated } = await select(kind, filter);
      // A map, because other people choose the names: `__proto__` is possible.
      const byAp = new Map<string, number>();
      for (const { apId } of rows) byAp.set(apId, (byAp.get(apId) ?? 0) + 1);
      return { found: rows.length, byAp: Object.fromEntries(byAp), truncated };
    },

    /**
     * The oldest first, and of those that wait the one with the earliest next try. Resolves when all
     * are back in their queue.
     */
    orderAll: async (
      kind: CallbackOrder,
      filter: CallbackFilter,
      order: {
        readonly perSecond: number;
        readonly operator: Operator;
        readonly reason?: string | undefined;
      },
    ): Promise<CallbackBulk | { readonly refused: CallbackError }> => {
      const { perSecond, operator } = order;
      const reason = order.reason?.trim() || undefined;
      const error = findError(operator, reason);
      if (error !== undefined) return { refused: error };
      if (!isRate(perSecond)) return { refused: 'rate' };
      const { rows, truncated } = await select(kind, filter);
      if (rows.length === 0) return { refused: 'nothing' };
      const { apId } = filter;
      const details = { count: rows.length, perSecond, ...(apId !== undefined && { ap: apId }) };
      const orderId = await audit.record({
        ...doneBy(operator),
        action: `callback-${kind}`,
        reason,
        details,
      });
      const oldestFirst = rows.toReversed();
      const beginsAt = now();
      const timeOf = (index: number): number => beginsAt + Math.round((index * 1000) / perSecond);
      let done = 0;
      for (let first = 0; first < oldestFirst.length; first += orderedAtOnce) {
        const some = oldestFirst.slice(first, first + orderedAtOnce);
        const results = await Promise.all(
          some.map((row, index) =>
            recorded(
              kind,
              row,
              { ...doneBy(operator), details: { order: orderId } },
              timeOf(first + index),
            ),
          ),
        );
        done += results.filter(isDone).length;
      }
      const counted = kind === 'replay' ? { replayed: done } : { tried: done };
      return { found: rows.length, ...counted, left: rows.length - done, truncated };
    },
  };
};

export type CallbackReplays = ReturnType<typeof createCallbackReplays>;
