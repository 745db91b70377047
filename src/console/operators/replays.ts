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
import type { Protocol } from '../../../packages/protocol/src/parse.ts';
import { type CancelResult, cancelTransaction } from '../../transactions/cancellation.ts';
import type { History } from '../../transactions/history/history.ts';
import { createReplayOnce } from '../../transactions/jobs/replay-once.ts';
import { queueIn, shardFor } from '../../transactions/shards.ts';
import { doneBy, type NewAuditEntry, noted } from './audit.ts';
import type { ReplayWork } from './bulk-run.ts';
import { createBulkStore } from './bulk-store.ts';
import { createBulks, type OrderedRate, type StartedBulk } from './bulks.ts';
import { includesRole, type Operator } from './operator.ts';
import { createPromptLimit } from './prompt-limit.ts';
import { isReason, type ReplayPolicy, type ReplayRefusal, refusalOf } from './replay-policy.ts';
import {
  createTransactionBulk,
  type ReplayPlan,
  type ReplaySelection,
} from './transaction-bulk.ts';
import { readRuns } from './transaction-runs.ts';

/** `too-many`: this person has just had too many prompts. */
type OneReplay =
  | 'replayed'
  | 'not-failed'
  | 'unknown'
  | { readonly refused: ReplayRefusal | 'too-many' };

interface ReplaysOptions extends Omit<ReplayWork, 'onError'> {
  readonly history: Pick<History, 'search' | 'find'>;
  readonly protocol: Protocol;
  /** The queue of bulk replays (src/transactions/shards.ts). */
  readonly queue: Queue;
  readonly policy: ReplayPolicy;
}

export const createReplays = (options: ReplaysOptions) => {
  const { history, shards, protocol, audit, redis, now, limiter, policy } = options;
  const store = createBulkStore(options);
  const replayOnce = createReplayOnce(redis, queueIn(shards));
  const prompts = createPromptLimit(limiter);

  const transactions = createTransactionBulk(options);
  const bulks = createBulks({ store, audit, now });

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
    ): Promise<ReplayPlan> => (await transactions.select(selection, operator, reason)).plan,

    start: (selection: ReplaySelection, order: OrderedRate): Promise<StartedBulk<ReplayPlan>> =>
      bulks.startOf(transactions, selection, order),

    transactions,
    ...bulks,
  };
};

export type Replays = ReturnType<typeof createReplays>;
