/**
 * Transactions: durable signature requests.
 *
 * A transaction is one BullMQ job; its id is the MSSP_TransID. Submitting adds the job, atomically
 * and in one round trip. After that the request is as durable as the data of Redis. A synchronous
 * caller also waits for the end of the job.
 *
 * Callers have been authenticated and requests checked before. This module decides which caller may
 * see which transaction.
 */

import type { Protocol } from '../../packages/protocol/src/parse.ts';
import type { SignatureRequest } from '../../packages/protocol/src/requests.ts';
import type { MssSignatureReq } from '../../packages/protocol/src/sign-request.ts';
import { createAnswer } from './answers.ts';
import { type SignatureJobData, signatureJobName } from './contract.ts';
import { type Endings, endingOf, endOf, type OnAccepted } from './endings.ts';
import { msspTransIdOf, newMsspTransId, requestFingerprint, shardOf } from './ids.ts';
import type { ReadEnd, TransactionState, TransactionView } from './outcomes.ts';
import { addOrJoin, type Shard, shardFor } from './shards.ts';

export { isRedisAway } from '../../packages/engine/src/redis/to-error.ts';
/** Whether an error of `submit`, or of sending a receipt, proves that nothing was accepted. */
export { isNotTakenIn } from '../redis/not-after.ts';

/** Time for which a caller waits after the deadline. */
const endingMarginMs = 5000;

/**
 * Time after its TimeOut in which an equal request still joins a transaction, even an ended one.
 */
const joinableAfterMs = 60_000;

export type Transactions = ReturnType<typeof createTransactions>;

export interface TransactionsOptions {
  readonly shards: readonly Shard[];
  /** The endings of the signature queue of each shard, in the order of the shards. */
  readonly endings: readonly Endings[];
  readonly protocol: Protocol;
  readonly readEnd: ReadEnd;
  readonly retention: { readonly signedMs: number; readonly failedMs: number };
  readonly now: () => number;
}

/** @returns Undefined for an id that is unknown, or whose retention is over. */
export type FindTransaction = (msspTransId: string) => Promise<TransactionView | undefined>;

export const createFind = ({
  shards,
  protocol,
  readEnd,
  retention,
  now,
}: Omit<TransactionsOptions, 'endings'>): FindTransaction => {
  const isRetained = (finishedOn: number, failed: boolean): boolean =>
    now() - finishedOn < (failed ? retention.failedMs : retention.signedMs);

  return async (msspTransId) => {
    const job = await shardFor(shards, msspTransId)?.signatures.jobs.read(msspTransId);
    if (job === undefined) return undefined;
    const ending = endingOf(job);
    if (ending !== undefined && !isRetained(job.finishedOn ?? 0, ending.kind === 'failed'))
      return undefined;
    const written = job.data as Partial<SignatureJobData> | null;
    const request = protocol.parseStoredSign(written?.MSS_SignatureReq);
    if (!request.ok) return undefined;
    const endedAt = job.finishedOn;
    const state =
      ending === undefined
        ? ({ kind: 'open' } as const)
        : await readEnd(ending, { id: msspTransId, request: request.value, endedAt });
    return { msspTransId, request: request.value, state, endedAt };
  };
};

/**
 * Makes a function that adds a request under a given id. An activity (`answerTo`) gets its end. A
 * job that exists under the id stays as it is.
 */
export const createSubmitFor =
  ({ shards, now }: Pick<TransactionsOptions, 'shards' | 'now'>) =>
  async (msspTransId: string, wire: MssSignatureReq, answerTo: string): Promise<void> => {
    const data: SignatureJobData = { MSS_SignatureReq: { ...wire }, answerTo };
    const options = { jobId: msspTransId, timestamp: now() };
    await shardFor(shards, msspTransId)?.signatures.queue.add(signatureJobName, data, options);
  };

export const createTransactions = (options: TransactionsOptions) => {
  const { shards, endings, readEnd, retention, now } = options;
  const find = createFind(options);

  const place = (index: number): { shard: Shard; ends: Endings } => {
    const shard = shards[index];
    const ends = endings[index];
    if (shard === undefined || ends === undefined) throw new Error(`There is no shard ${index}`);
    return { shard, ends };
  };

  /** The time for joining. With a shorter retention only open transactions can be joined. */
  const joinable = ({ TimeOut }: MssSignatureReq): { readonly ttl?: number } => {
    const ttl = Number(TimeOut) * 1000 + joinableAfterMs;
    return Math.min(retention.signedMs, retention.failedMs) < ttl ? {} : { ttl };
  };

  /** Adds a request. @returns The id of its job: `wanted`, or that of an earlier equal request. */
  const add = (
    wire: MssSignatureReq,
    fingerprint: { id: string; shard: number },
    wanted: string,
  ): Promise<string> => {
    const at = place(fingerprint.shard).shard.signatures;
    const data: SignatureJobData = { MSS_SignatureReq: { ...wire } };
    const deduplication = { id: fingerprint.id, ...joinable(wire) };
    const jobOptions = { jobId: wanted, deduplication, timestamp: now() };
    return addOrJoin(at, signatureJobName, data, jobOptions);
  };

  return {
    find,

    /** Finds a transaction of one AP; undefined for those of others. */
    findOwn: async (apId: string, msspTransId: string): Promise<TransactionView | undefined> => {
      const view = await find(msspTransId);
      return view?.request.caller.apId === apId ? view : undefined;
    },

    /**
     * Makes a request durable. An equal request joins the first one while that is open, and until a
     * minute after its TimeOut: it gets the same id, and the person is asked once.
     *
     * @param wire The request as it is stored: normalised, without AP_PWD.
     * @throws When Redis is unreachable, refuses, or was reached too late. The request may have
     *   been accepted before that, unless {@link isNotTakenIn} is true; it is not accepted
     *   afterwards.
     */
    submit: async (wire: MssSignatureReq): Promise<{ readonly msspTransId: string }> => {
      const fingerprint = requestFingerprint(wire, shards.length);
      return { msspTransId: await add(wire, fingerprint, newMsspTransId(fingerprint.shard)) };
    },

    /**
     * The same for a request that contains a random value. An equal request joins for as long as
     * the transaction is retained.
     */
    submitOnce: async (wire: MssSignatureReq): Promise<{ readonly msspTransId: string }> => {
      const fingerprint = requestFingerprint(wire, shards.length);
      return { msspTransId: await add(wire, fingerprint, msspTransIdOf(wire, fingerprint.shard)) };
    },

    /**
     * Submits and waits for the end. The state is `open` when the transaction has not ended some
     * seconds after its deadline, or when the caller has hung up.
     */
    submitAndWait: async (
      request: SignatureRequest,
      wire: MssSignatureReq,
      onAccepted?: OnAccepted,
    ): Promise<{ readonly msspTransId: string; readonly state: TransactionState }> => {
      const fingerprint = requestFingerprint(wire, shards.length);
      const { ends } = place(fingerprint.shard);
      const until = now() + request.timeoutSeconds * 1000 + endingMarginMs;
      const wanted = newMsspTransId(fingerprint.shard);
      const msspTransId = await add(wire, fingerprint, wanted);
      const gone = onAccepted?.();
      if (msspTransId !== wanted)
        return { msspTransId, state: await joinOpen(ends, msspTransId, until, gone) };
      const ending = await endOf(ends, msspTransId, until, gone);
      if (ending === undefined) return { msspTransId, state: { kind: 'open' } };
      const state = await readEnd(ending, { id: msspTransId, request });
      // Another program may have written to the stream, so the job itself is read.
      const isToldFalse = ending.kind === 'completed' && state.kind === 'failed';
      return {
        msspTransId,
        state: isToldFalse ? await joinOpen(ends, msspTransId, until, gone) : state,
      };
    },

    /**
     * Resolves when a transaction has ended, at `until` (milliseconds since the epoch), or when
     * `gone` aborts.
     */
    waitForEnd: async (msspTransId: string, until: number, gone: AbortSignal): Promise<void> => {
      const index = shardOf(msspTransId, shards.length);
      if (index !== undefined) await joinOpen(place(index).ends, msspTransId, until, gone);
    },

    /** Brings an answer from a device. The first answer counts. */
    answer: createAnswer(shards, options),
  };

  async function joinOpen(
    ends: Endings,
    msspTransId: string,
    until: number,
    gone: AbortSignal | undefined,
  ): Promise<TransactionState> {
    const view = await find(msspTransId);
    if (view === undefined || view.state.kind !== 'open') return view?.state ?? { kind: 'open' };
    const ending = await endOf(ends, msspTransId, until, gone);
    return ending === undefined
      ? { kind: 'open' }
      : readEnd(ending, { id: msspTransId, request: view.request });
  }
};
