/** Brings answers of devices, and other events from outside, to open transactions. */
import { randomUUID } from 'node:crypto';
import type { SignatureOrder } from '../../machines/signature.machine.ts';
import type { Workflow } from '../../packages/engine/src/define.ts';
import { createEngine, type SendResult } from '../../packages/engine/src/engine.ts';
import { createInstanceStore } from '../../packages/engine/src/redis/instance-store.ts';
import type { DeviceAnswer } from '../../packages/protocol/src/outcome.ts';
import type { Protocol } from '../../packages/protocol/src/parse.ts';
import { signatureOrderSchema } from './contract.ts';
import { shardOf } from './ids.ts';
import type { QueueAt, Shard } from './shards.ts';
import { defineSignature } from './signature-workflow.ts';

/**
 * accepted   This answer decided the attempt.
 * refused    Another answer was first, or the device has not been asked for this attempt.
 * finished   The transaction has ended.
 * unknown    There is no such transaction.
 * busy       A worker was busy with it for 10 s, so the result is unknown.
 * malformed  The value is not a valid answer. Nothing has changed.
 */
export type AnswerResult = 'accepted' | 'refused' | 'finished' | 'unknown' | 'busy' | 'malformed';

export type Answer = (
  msspTransId: string,
  attempt: number,
  answer: DeviceAnswer,
) => Promise<AnswerResult>;

export interface OrdersOptions {
  readonly protocol: Protocol;
  /** Milliseconds since the epoch, by the clock of Redis. */
  readonly now: () => number;
  /** Time after which an event that no turn has taken is `busy`. */
  readonly timeoutMs?: number;
}

/** Inspecting a chart takes a millisecond, so it is done once for each protocol. */
const workflows = new WeakMap<Protocol, Workflow>();
const workflowFor = (protocol: Protocol): Workflow => {
  const known = workflows.get(protocol) ?? defineSignature({ protocol });
  workflows.set(protocol, known);
  return known;
};

/**
 * Sends an event to a transaction of one queue.
 *
 * @param key The key of the event. An event that is sent again under its key counts once.
 * @param options.judged Waits until the event was taken or refused. Default: true.
 */
export type SendOrder = (
  id: string,
  key: string,
  order: SignatureOrder,
  options?: { readonly judged: boolean },
) => Promise<SendResult>;

export const createSendOrder = (
  { queue, redis }: QueueAt,
  { protocol, now, timeoutMs }: OrdersOptions,
): SendOrder => {
  const workflow = workflowFor(protocol);
  const location = { queue, store: createInstanceStore(queue, redis, now) };
  const engine = createEngine(() => location, now, timeoutMs);
  return (id, key, order, options = { judged: true }) =>
    engine.send(workflow, id, key, order, options);
};

/** Brings answers to the transactions of one queue. */
export const createAnswerAt = (at: QueueAt, options: OrdersOptions): Answer => {
  const send = createSendOrder(at, options);
  return async (msspTransId, attempt, answer) => {
    const order = { type: 'ANSWERED', attempt, answer } as const;
    if (!signatureOrderSchema.safeParse(order).success) return 'malformed';
    const result = await send(msspTransId, randomUUID(), order);
    return result === 'taken' ? 'accepted' : result;
  };
};

/** Brings answers to the transactions of all shards. */
export const createAnswer = (shards: readonly Shard[], options: OrdersOptions): Answer => {
  const answers = shards.map(({ signatures }) => createAnswerAt(signatures, options));
  return async (msspTransId, ...given) => {
    const answer = answers[shardOf(msspTransId, shards.length) ?? -1];
    return answer === undefined ? 'unknown' : answer(msspTransId, ...given);
  };
};
