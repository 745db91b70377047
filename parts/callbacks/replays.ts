/**
 * Replays of dead callbacks that operators order: one, or all that match a filter.
 *
 * They send no prompts, and the receiver recognises a repeated callback by its id. So they need
 * neither a policy of faults nor a stored list: an order puts the callbacks back into their queue,
 * each with its own earliest time. After a crash the rest is still dead, and the next order finds
 * it.
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
import type { CallbackReplayResult, Callbacks } from './callbacks.ts';

export type CallbackError = 'role' | 'reason' | 'rate' | 'nothing';

/** `not-dead`: it was delivered, waits for its next try, or was replayed by another order. */
type OneCallbackReplay = CallbackReplayResult | { readonly refused: 'role' | 'reason' };

export interface CallbackPlan {
  /** Dead callbacks that an order would replay. */
  readonly found: number;
  readonly byAp: Readonly<Record<string, number>>;
  /** Whether there are more than one order may hold. Then these are the newest. */
  readonly truncated: boolean;
}

export interface CallbackBulk {
  readonly found: number;
  readonly replayed: number;
  /** The number of callbacks that another order has replayed, or that are gone. */
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
const replayedAtOnce = 50;

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
  const select = async (filter: CallbackFilter) => {
    const rows: CallbackRow[] = [];
    let cursor: string | undefined;
    do {
      const page = await callbacks.dead(filter, { limit: pageRows, cursor });
      rows.push(...(page?.rows ?? []));
      cursor = page?.cursor;
    } while (cursor !== undefined && rows.length <= max);
    return { rows: rows.slice(0, max), truncated: rows.length > max };
  };

  /** @param entry The audit entry of the order, or of the single replay. */
  const recorded = (
    { id, msspTransId, instanceId }: CallbackRow,
    entry: Omit<NewAuditEntry, 'action' | 'target'>,
    notBefore?: number,
  ): Promise<CallbackReplayResult> => {
    const details = { ...entry.details, callback: id };
    const whole = {
      ...entry,
      action: 'callback-replay',
      target: msspTransId ?? instanceId,
      details,
    } as const;
    const replay = () => callbacks.replay(id, notBefore);
    return noted(audit, whole, replay, (result) => result === 'replayed' || result);
  };

  return {
    of: callbacks.of,
    dead: callbacks.dead,
    retried: callbacks.retried,
    counts: callbacks.counts,

    /**
     * @throws When Redis is unreachable, like the other methods. The replay may then be done or
     * not.
     */
    replay: async (
      id: string,
      operator: Operator,
      written?: string,
    ): Promise<OneCallbackReplay> => {
      const reason = written?.trim() || undefined;
      const error = findError(operator, reason);
      if (error !== undefined) return { refused: error };
      const row = await callbacks.find(id);
      if (row === undefined) return 'unknown';
      if (row.state !== 'dead') return 'not-dead';
      return recorded(row, { ...doneBy(operator), reason });
    },

    /** Computes what `replayAll` would do. */
    plan: async (filter: CallbackFilter): Promise<CallbackPlan> => {
      const { rows, truncated } = await select(filter);
      // A map, because other people choose the names: `__proto__` is possible.
      const byAp = new Map<string, number>();
      for (const { apId } of rows) byAp.set(apId, (byAp.get(apId) ?? 0) + 1);
      return { found: rows.length, byAp: Object.fromEntries(byAp), truncated };
    },

    /** Replays the oldest first. Resolves when all are back in their queue. */
    replayAll: async (
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
      const { rows, truncated } = await select(filter);
      if (rows.length === 0) return { refused: 'nothing' };
      const { apId } = filter;
      const details = { count: rows.length, perSecond, ...(apId !== undefined && { ap: apId }) };
      const orderId = await audit.record({
        ...doneBy(operator),
        action: 'callback-replay',
        reason,
        details,
      });
      const oldestFirst = rows.toReversed();
      const beginsAt = now();
      const timeOf = (index: number): number => beginsAt + Math.round((index * 1000) / perSecond);
      let replayed = 0;
      for (let first = 0; first < oldestFirst.length; first += replayedAtOnce) {
        const some = oldestFirst.slice(first, first + replayedAtOnce);
        const results = await Promise.all(
          some.map((row, index) =>
            recorded(
              row,
              { ...doneBy(operator), details: { order: orderId } },
              timeOf(first + index),
            ),
          ),
        );
        replayed += results.filter((result) => result === 'replayed').length;
      }
      return { found: rows.length, replayed, left: rows.length - replayed, truncated };
    },
  };
};

export type CallbackReplays = ReturnType<typeof createCallbackReplays>;
