/**
 * A transaction in the hand of who asked for it, or of who knows its id.
 *
 * All handles of a queue share one subscription for each shard, which is opened when somebody first waits.
 */
import type { DeviceAnswer } from '../../machines/outcome.ts';
import type { Protocol } from '../protocol/parse.ts';
import type { RedisClient } from '../redis/connect.ts';
import { type AnswerResult, createAnswerAt } from '../transactions/answers.ts';
import { cancelWith, type Endings } from '../transactions/endings.ts';
import type { ReadEnd, SignedView, TransactionState } from '../transactions/outcomes.ts';
import type { QueueAt } from '../transactions/shards.ts';
import { type CancelResult, cancelTransaction } from './cancellation.ts';
import { NoResultError, SignatureFailedError } from './errors.ts';
import { readJobState, type SignatureStatus, statusOf } from './standing.ts';

/** What came back. `signature` is undefined for a one-time password: the text was delivered, nothing was signed. */
export interface SignatureResult extends SignedView {
  readonly id: string;
}

export interface WaitOptions {
  /** Ends the wait, not the transaction. The promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** As long as it takes, by default: every transaction ends by its TimeOut while workers run. */
  readonly timeoutMs?: number;
}

export interface SignatureHandle {
  /** The MSSP_TransID: by it the transaction is found again, here and over HTTP. */
  readonly id: string;
  /**
   * Resolves when the person has signed.
   *
   * @throws SignatureFailedError   (rejects) When it ended otherwise.
   * @throws NoResultError          When there is nothing to say: time is up, the id is unknown (also when the job is removed
   *   meanwhile), the queue was closed.
   */
  result(options?: WaitOptions): Promise<SignatureResult>;
  status(): Promise<SignatureStatus>;
  /** Takes the request back, whether or not somebody has been asked. The first answer stands. */
  cancel(): Promise<CancelResult>;
  /**
   * Answers in the place of a device. A signature is verified before it counts.
   *
   * @param attempt The one that the person was asked for.
   * @throws When Redis is unreachable; the answer may then count or not.
   */
  answer(attempt: number, answer: DeviceAnswer): Promise<AnswerResult>;
}

export interface HandleOptions {
  readonly redis: RedisClient;
  readonly protocol: Protocol;
  readonly readEnd: ReadEnd;
  readonly now: () => number;
  readonly isClosed: () => boolean;
  /** Called when the queue is closed. A set, because signals are slow with thousands of listeners. */
  readonly onClose: Set<() => void>;
}

/** Timers can do no more. */
const longestMs = 2 ** 31 - 1;

export const createHandle = (
  id: string,
  at: QueueAt,
  endings: () => Endings,
  options: HandleOptions,
): SignatureHandle => {
  const { redis, protocol, readEnd, now, isClosed, onClose } = options;
  const standing = () => readJobState(redis, at.queue.toKey(id));

  /** @param over Ends the wait. Who aborts it does not hear what this comes to. */
  const stateAtEnd = async (over: AbortSignal): Promise<TransactionState> => {
    const found = await standing();
    if (found === undefined) throw new NoResultError(id, 'unknown');
    let { ending } = found;
    if (ending === undefined && !over.aborted) {
      const waiting = endings().wait(id, Number.POSITIVE_INFINITY);
      cancelWith(over, waiting);
      ending = await waiting.ended;
    }
    if (ending === undefined) throw new NoResultError(id, 'unknown');
    const request = protocol.parseStoredSign(found.request);
    const of = { id, request: request.ok ? request.value : undefined, endedAt: found.endedAt };
    const state = await readEnd(ending, of);
    // Somebody else may have written the event. What the job itself says is the end.
    const isToldFalse = ending.kind === 'completed' && state.kind === 'failed';
    return isToldFalse && found.ending === undefined ? stateAtEnd(over) : state;
  };

  /** The caller's signal, the time and the queue's closing count from the call on, also while Redis is waited for. */
  const stateInTime = async ({ signal, timeoutMs = longestMs }: WaitOptions): Promise<TransactionState> => {
    signal?.throwIfAborted();
    if (isClosed()) throw new NoResultError(id, 'closed');
    const over = new AbortController();
    const abort = (): void => over.abort(signal?.reason);
    const close = (): void => over.abort(new NoResultError(id, 'closed'));
    const expire = (): void => over.abort(new NoResultError(id, 'timeout'));
    const timer = setTimeout(expire, Math.min(timeoutMs, longestMs));
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
