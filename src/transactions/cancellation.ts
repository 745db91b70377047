/**
 * Cancels a transaction: an event that the chart accepts while there is no answer. The transaction
 * fails like any other: with an event for waiting callers, a status over HTTP, a possible replay.
 */
import { createEngine } from '../../packages/engine/src/engine.ts';
import { createInstanceStore } from '../../packages/engine/src/redis/instance-store.ts';
import { takenBackBy } from '../../packages/protocol/src/fault.ts';
import { createSendOrder, type OrdersOptions } from './answers.ts';
import type { QueueAt } from './shards.ts';
import { readJobState } from './standing.ts';

/**
 * cancelled  It ends with fault 401; a prompt on the phone is removed.
 * too-late   It had ended, or there is an answer.
 * busy       A worker was processing it for 10 s: ask again.
 * unknown    There is no such transaction.
 */
export type CancelResult = 'cancelled' | 'too-late' | 'busy' | 'unknown';

interface Cancellation extends OrdersOptions {
  readonly at: QueueAt;
  /** The origin of the cancel. Default: `application`. */
  readonly by?: 'application' | 'operator';
  /** The id of a bulk. A transaction that another order has cancelled is `too-late` for it. */
  readonly order?: string;
}

/** The key of a cancel. `standing.ts` reads this form. */
const keyOf = (attempt: number, by: string): string => `cancel/${attempt}/${by}`;

/** Whether this order, and no other one, has ended the attempt. */
export const isCancelledBy = async (
  order: string,
  id: string,
  attempt: number,
  { at: { queue, redis }, now }: Pick<Cancellation, 'at' | 'now'>,
): Promise<boolean> => {
  const location = { queue, store: createInstanceStore(queue, redis, now) };
  const verdict = await createEngine(() => location, now).verdict(id, keyOf(attempt, order));
  return verdict === 'taken' || verdict === 'accepted';
};

/** @throws When Redis is unreachable; the request may then be cancelled or not. */
export const cancelTransaction = async (
  id: string,
  cancellation: Cancellation,
): Promise<CancelResult> => {
  const { at, by = 'application', now } = cancellation;
  const { queue, redis } = at;
  const state = await readJobState(redis, queue.toKey(id));
  if (state === undefined) return 'unknown';
  if (state.ending !== undefined) return 'too-late';
  const { attempt } = state;
  const send = createSendOrder(at, cancellation);
  const order = { type: 'CANCEL', attempt, fault: takenBackBy[by] } as const;
  const sent = await send(id, keyOf(attempt, cancellation.order ?? by), order);
  if (sent === 'refused' || sent === 'finished') return 'too-late';
  if (sent !== 'taken') return sent;
  // A transaction before its first turn sleeps until its time.
  await createInstanceStore(queue, redis, now).wake(id);
  // Equal requests are new from now on, unless HTTP still joins them to this end.
  const job = await queue.getJob(id);
  if (job?.opts.deduplication?.ttl === undefined) await job?.removeDeduplicationKey();
  return 'cancelled';
};
