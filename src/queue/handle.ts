/**
 * A transaction in the hand of who asked for it, or of who knows its id.
 *
 * All handles of a queue share one subscription for each shard, which is opened when somebody first waits.
 */
import type { KeyCustody } from '../pki/ports.ts';
import type { Protocol } from '../protocol/parse.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { Ending } from '../transactions/ending.ts';
import type { Endings } from '../transactions/endings.ts';
import { stateOfEnding } from '../transactions/outcomes.ts';
import type { QueueAt } from '../transactions/shards.ts';
import type { SignedView } from '../transactions/view.ts';
import { type CancelResult, cancelTransaction } from './cancellation.ts';
import { NoResultError, SignatureFailedError } from './errors.ts';
import { readStanding, type SignatureStatus, statusOf } from './standing.ts';

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
   * @throws NoResultError          When there is nothing to say: time is up, the id is unknown, the queue was closed.
   */
  result(options?: WaitOptions): Promise<SignatureResult>;
  status(): Promise<SignatureStatus>;
  /** Takes the request back, whether or not somebody has been asked. The first answer stands. */
  cancel(): Promise<CancelResult>;
}

export interface HandleOptions {
  readonly redis: RedisClient;
  readonly protocol: Protocol;
  readonly certificates: KeyCustody;
  readonly now: () => number;
  readonly isClosed: () => boolean;
}

/** Timers can do no more. */
const longestMs = 2 ** 31 - 1;

export const createHandle = (
  id: string,
  at: QueueAt,
  endings: () => Promise<Endings>,
  options: HandleOptions,
): SignatureHandle => {
  const { redis, protocol, certificates, now, isClosed } = options;
  const standing = () => readStanding(redis, at.queue.toKey(id));

  const waitForEnd = async ({ signal, timeoutMs = longestMs }: WaitOptions): Promise<Ending> => {
    signal?.throwIfAborted();
    if (isClosed()) throw new NoResultError(id, 'closed');
    // Before the look: an end between the two cannot be missed.
    const waiting = (await endings()).wait(id, Number.POSITIVE_INFINITY);
    const timer = setTimeout(waiting.cancel, Math.min(timeoutMs, longestMs));
    signal?.addEventListener('abort', waiting.cancel, { once: true });
    try {
      const found = await standing();
      if (found === undefined) throw new NoResultError(id, 'unknown');
      const ending = found.ending ?? (await waiting.ended);
      signal?.throwIfAborted();
      if (ending === undefined) throw new NoResultError(id, isClosed() ? 'closed' : 'timeout');
      return ending;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', waiting.cancel);
      waiting.cancel();
    }
  };

  return {
    id,
    result: async (wait = {}) => {
      const state = await stateOfEnding(await waitForEnd(wait), certificates);
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
    cancel: () => cancelTransaction(id, { at, redis, protocol, now }),
  };
};
