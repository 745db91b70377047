/**
 * A handle of one transaction. All handles of a queue share one subscription for each shard, which
 * is opened for the first wait.
 */
import type { DeviceAnswer } from '../../packages/protocol/src/outcome.ts';
import type { Protocol } from '../../packages/protocol/src/parse.ts';
import type { RedisClient } from '../redis/connect.ts';
import { type AnswerResult, createAnswerAt } from '../transactions/answers.ts';
import { type CancelResult, cancelTransaction } from '../transactions/cancellation.ts';
import { type Endings, endOf } from '../transactions/endings.ts';
import type { ReadEnd, SignedView, TransactionState } from '../transactions/outcomes.ts';
import type { QueueAt } from '../transactions/shards.ts';
import { readJobState, type SignatureStatus, statusOf } from '../transactions/standing.ts';
import { NoResultError, SignatureFailedError } from './errors.ts';

/** The result. `signature` is undefined for a one-time password, which is not signed. */
export interface SignatureResult extends SignedView {
  readonly id: string;
}

export interface WaitOptions {
  /** Ends the wait, not the transaction; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Default: none, since every transaction ends by its TimeOut while workers run. */
  readonly timeoutMs?: number;
}

export interface SignatureHandle {
  /** The MSSP_TransID, which finds the transaction here and over HTTP. */
  readonly id: string;
  /**
   * Resolves when the person has signed.
   *
   * @throws SignatureFailedError   (rejects) When it ended otherwise.
   * @throws NoResultError          After the timeout, for an unknown or removed id, or when the
   *   queue was closed.
   */
  result(options?: WaitOptions): Promise<SignatureResult>;
  status(): Promise<SignatureStatus>;
  /** Cancels, whether or not the person has been asked. The first answer counts. */
  cancel(): Promise<CancelResult>;
  /**
   * Answers for a device. A signature is verified before it counts.
   *
   * @param attempt That of the prompt.
   * @throws When Redis is unreachable; the answer may then count or not.
   */
  answer(attempt: number, answer: DeviceAnswer): Promise<AnswerResult>;
}

interface HandleOptions {
  readonly redis: RedisClient;
  readonly protocol: Protocol;
  readonly readEnd: ReadEnd;
  readonly now: () => number;
  readonly isClosed: () => boolean;
  /** Called when the queue is closed. A set: signals are slow with many listeners. */
  readonly onClose: Set<() => void>;
}

/** The maximum of timers. */
const maxTimerMs = 2 ** 31 - 1;

export const createHandle = (
  id: string,
  at: QueueAt,
  endings: () => Endings,
  options: HandleOptions,
): SignatureHandle => {
  const { redis, protocol, readEnd, now, isClosed, onClose } = options;
  const standing = () => readJobState(redis, at.queue.toKey(id));

  /** @param over Ends the wait, and leaves the returned promise open. */
  const stateAtEnd = async (over: AbortSignal): Promise<TransactionState> => {
    const found = await standing();
    if (found === undefined) throw new NoResultError(id, 'unknown');
    let { ending } = found;
    if (ending === undefined && !over.aborted) {
      ending = await endOf(endings(), id, Number.POSITIVE_INFINITY, over);
    }
    if (ending === undefined) throw new NoResultError(id, 'unknown');
    const request = protocol.parseStoredSign(found.request);
    const of = { id, request: request.ok ? request.value : undefined, endedAt: found.endedAt };
    const state = await readEnd(ending, of);
    // The event may be forged: the end is what the job itself says.
    const isToldFalse = ending.kind === 'completed' && state.kind === 'failed';
    return isToldFalse && found.ending === undefined ? stateAtEnd(over) : state;
  };

  /** Signal, timeout and closing count from the call on, also while Redis is waited for. */
  const stateInTime = async ({
    signal,
    timeoutMs = maxTimerMs,
  }: WaitOptions): Promise<TransactionState> => {
    signal?.throwIfAborted();
    if (isClosed()) throw new NoResultError(id, 'closed');
    const over = new AbortController();
    const abort = (): void => over.abort(signal?.reason);
    const close = (): void => over.abort(new NoResultError(id, 'closed'));
    const expire = (): void => over.abort(new NoResultError(id, 'timeout'));
    const timer = setTimeout(expire, Math.min(timeoutMs, maxTimerMs));
    signal?.addEventListener('abort', abort);
    onClose.add(close);
    const cutOff = new Promise<never>((_, reject) => {
      over.signal.addEventListener('abort', () => reject(over.signal.reason));
    });
    try {
      return await Promise.race([stateAtEnd(over.signal), cutOff]);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      onClose.delete(close);
      over.abort();
    }
  };

  return {
    id,
    result: async (wait = {}) => {
      const state = await stateInTime(wait);
      switch (state.kind) {
        case 'signed':
          return { id, ...state.signed };
        case 'failed':
          throw new SignatureFailedError(id, state.fault);
        case 'open':
          throw new NoResultError(id, 'timeout');
      }
    },
    status: async () => statusOf(await standing()),
    cancel: () => cancelTransaction(id, { at, protocol, now }),
    answer: (attempt, answer) => createAnswerAt(at, { protocol, now })(id, attempt, answer),
  };
};
