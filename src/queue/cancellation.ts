/**
 * Taking a request back.
 *
 * It is an event like any other: the chart takes it while nobody has answered, and refuses it afterwards. It ends the transaction like every
 * other failure: with an event for those who wait, a status over HTTP, a place for a replay.
 */

import { createInstanceStore } from '../engine/redis/instance-store.ts';
import { type Fault, fault } from '../protocol/fault.ts';
import { createSendOrder, type OrdersOptions } from '../transactions/answers.ts';
import type { QueueAt } from '../transactions/shards.ts';
import { readJobState } from './standing.ts';

/**
 * cancelled  Nobody will be asked, or the prompt is taken back. It ends as fault 401.
 * too-late   It had ended, or somebody has answered.
 * busy       A worker was at it all the time (10 s): ask again.
 * unknown    There is no such transaction.
 */
export type CancelResult = 'cancelled' | 'too-late' | 'busy' | 'unknown';

export interface Cancellation extends OrdersOptions {
  readonly at: QueueAt;
  /** Who is told to have done it; the application by default. */
  readonly by?: 'application' | 'operator';
}

const faultOf = (by: string): Fault => fault(401, `The ${by} cancelled the request`);

/** @throws When Redis is unreachable; the request may then be cancelled or not. */
export const cancelTransaction = async (id: string, cancellation: Cancellation): Promise<CancelResult> => {
  const { at, by = 'application', now } = cancellation;
  const { queue, redis } = at;
  const state = await readJobState(redis, queue.toKey(id));
  if (state === undefined) return 'unknown';
  if (state.ending !== undefined) return 'too-late';
  const { attempt } = state;
  const send = createSendOrder(at, cancellation);
  const order = { type: 'CANCEL', attempt, fault: faultOf(by) } as const;
  const sent = await send(id, `cancel/${attempt}/${by}`, order);
  if (sent === 'refused' || sent === 'finished') return 'too-late';
  if (sent !== 'taken') return sent;
  // One that no turn has begun yet sleeps until its time.
  await createInstanceStore(queue, redis, now).wake(id);
  // Equal requests are new from now on, unless HTTP still joins them to this end.
  const job = await queue.getJob(id);
  if (job?.opts.deduplication?.ttl === undefined) await job?.removeDeduplicationKey();
  return 'cancelled';
};
