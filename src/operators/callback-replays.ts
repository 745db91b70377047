/**
 * Replays of dead callbacks as people order them: one, or all that a filter finds.
 *
 * They prompt nobody, and a receiver knows by the id what it has had. So there is no policy of faults and no list that is worked
 * off: an order puts the callbacks back into their queue, each with its own earliest time, and is over. What an order that was
 * cut off has not come to is still dead, and is found by the next one.
 *
 * Everything is in the audit log before it is done.
 */
import type { CallbackReplayResult, Callbacks } from '../callbacks/callbacks.ts';
import type { CallbackFilter, CallbackRow } from '../history/callback-row.ts';
import { type Audit, doneBy, type NewAuditEntry } from './audit.ts';
import { includesRole, type Operator } from './operator.ts';
import { isReason } from './replay-policy.ts';

export type CallbackRefusal = 'role' | 'reason' | 'rate' | 'nothing';

/** `not-dead`: it has been delivered, waits for its next try, or somebody was quicker. */
export type OneCallbackReplay = CallbackReplayResult | { readonly refused: 'role' | 'reason' };

export interface CallbackPlan {
  /** Dead callbacks that an order would replay. */
  readonly found: number;
  readonly byAp: Readonly<Record<string, number>>;
  /** There are more than one order may hold: these are the newest. */
  readonly truncated: boolean;
}

export interface CallbackBulk {
  readonly found: number;
  readonly replayed: number;
  /** Somebody was quicker, or they are gone. */
  readonly left: number;
  /** There are more: order again. */
  readonly truncated: boolean;
}

export interface CallbackReplays extends Pick<Callbacks, 'of' | 'dead'> {
  /** @throws When Redis is unreachable, as all of these do; it may then be done or not. */
  replay(id: string, operator: Operator, reason?: string): Promise<OneCallbackReplay>;
  /** What {@link replayAll} would do, without doing it. */
  plan(filter: CallbackFilter): Promise<CallbackPlan>;
  /** The oldest first, so many in a second. Resolves when all of them are back in their queue. */
  replayAll(
    filter: CallbackFilter,
    order: {
      readonly perSecond: number;
      readonly operator: Operator;
      readonly reason?: string | undefined;
    },
  ): Promise<CallbackBulk | { readonly refused: CallbackRefusal }>;
}

/** Some seconds of work, and some minutes of deliveries at the usual rate. */
export const mostCallbacks = 10_000;
export const callbacksPerSecond = { least: 1, usual: 20, most: 1000 } as const;
const isRate = (perSecond: number): boolean =>
  perSecond >= callbacksPerSecond.least && perSecond <= callbacksPerSecond.most;
const pageRows = 500;
const replayedAtOnce = 50;

export const createCallbackReplays = ({
  callbacks,
  audit,
  now,
  most = mostCallbacks,
}: {
  readonly callbacks: Callbacks;
  readonly audit: Pick<Audit, 'record'>;
  readonly now: () => number;
  /** Of one order; default {@link mostCallbacks}. */
  readonly most?: number;
}): CallbackReplays => {
  const select = async (filter: CallbackFilter) => {
    const rows: CallbackRow[] = [];
    let cursor: string | undefined;
    do {
      const page = await callbacks.dead(filter, { limit: pageRows, cursor });
      rows.push(...(page?.rows ?? []));
      cursor = page?.cursor;
    } while (cursor !== undefined && rows.length <= most);
    return { rows: rows.slice(0, most), truncated: rows.length > most };
  };

  /** @param entry Of the order, or of the one. */
  const recorded = async (
    { id, msspTransId: target }: CallbackRow,
    entry: Omit<NewAuditEntry, 'action' | 'target'>,
    notBefore?: number,
  ): Promise<CallbackReplayResult> => {
    const details = { ...entry.details, callback: id };
    const whole = { ...entry, action: 'callback-replay', target, details } as const;
    await audit.record(whole);
    const result = await callbacks.replay(id, notBefore);
    if (result !== 'replayed') await audit.record({ ...whole, details: { ...details, outcome: result } });
    return result;
  };

  return {
    of: callbacks.of,
    dead: callbacks.dead,

    replay: async (id, operator, written) => {
      if (!includesRole(operator.role, 'operator')) return { refused: 'role' };
      const reason = written?.trim() || undefined;
      if (reason !== undefined && !isReason(reason)) return { refused: 'reason' };
      const row = await callbacks.find(id);
      if (row === undefined) return 'unknown';
      if (row.state !== 'dead') return 'not-dead';
      return recorded(row, { ...doneBy(operator), reason });
    },

    plan: async (filter) => {
      const { rows, truncated } = await select(filter);
      // Names of others: `__proto__` is one like any other.
      const byAp = new Map<string, number>();
      for (const { apId } of rows) byAp.set(apId, (byAp.get(apId) ?? 0) + 1);
      return { found: rows.length, byAp: Object.fromEntries(byAp), truncated };
    },

    replayAll: async (filter, { perSecond, operator, reason: written }) => {
      if (!includesRole(operator.role, 'operator')) return { refused: 'role' };
      const reason = written?.trim() || undefined;
      if (reason !== undefined && !isReason(reason)) return { refused: 'reason' };
      if (!isRate(perSecond)) return { refused: 'rate' };
      const { rows, truncated } = await select(filter);
      if (rows.length === 0) return { refused: 'nothing' };
      const { apId } = filter;
      const details = { count: rows.length, perSecond, ...(apId !== undefined && { ap: apId }) };
      const order = await audit.record({ ...doneBy(operator), action: 'callback-replay', reason, details });
      const oldestFirst = rows.toReversed();
      const beginsAt = now();
      const timeOf = (index: number): number => beginsAt + Math.round((index * 1000) / perSecond);
      let replayed = 0;
      for (let first = 0; first < oldestFirst.length; first += replayedAtOnce) {
        const some = oldestFirst.slice(first, first + replayedAtOnce);
        const results = await Promise.all(
          some.map((row, index) =>
            recorded(row, { ...doneBy(operator), details: { order } }, timeOf(first + index)),
          ),
        );
        replayed += results.filter((result) => result === 'replayed').length;
      }
      return { found: rows.length, replayed, left: rows.length - replayed, truncated };
    },
  };
};
