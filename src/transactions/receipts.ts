/**
 * Receipts: messages of an AP to its user after a signature, shown on the phone that signed.
 *
 * A transaction has one receipt, because the id of the job is derived from it. BullMQ does not tell
 * whether a job existed before, so the job is read back. Its fingerprint says whether it comes from
 * this request, sent once or twice, or from another one.
 */

import {
  type Checked,
  fault,
  ok,
  parseFaultLine,
  refuse,
} from '../../packages/protocol/src/fault.ts';
import type { ReceiptOutcome } from '../../packages/protocol/src/outcome.ts';
import type { ReceiptRequest } from '../../packages/protocol/src/requests.ts';
import type { ApplicationProviders } from '../registry/application-providers.ts';
import {
  type ReceiptJobResult,
  receiptJobDataSchema,
  receiptJobId,
  receiptJobName,
  type StoredReceipt,
} from './contract.ts';
import { type Endings, endOf, type OnAccepted } from './endings.ts';
import { fingerprintOf } from './ids.ts';
import type { StoredJob } from './jobs/job-store.ts';
import { type QueueAt, type Shard, shardFor } from './shards.ts';
import type { FindTransaction } from './transactions.ts';

const endingMarginMs = 5000;

/** Finds a receipt. A failed one was never shown, so it is removed and may be sent again. */
const knownReceipt = async (
  { queue, jobs }: QueueAt,
  id: string,
): Promise<StoredJob | undefined> => {
  const known = await jobs.read(id);
  if (known?.failedReason === undefined) return known;
  await queue.remove(id);
  return undefined;
};

/**
 * The detail for an unknown transaction, one of another AP, and one whose retention is over. The
 * caller must see no difference.
 */
export const unknownTransaction = 'MSSP_TransID is unknown';

export const receiptSent = 'MSS_ReceiptReq.MSSP_TransID has its receipt already';

export interface ReceiptsOptions {
  readonly providers: Pick<ApplicationProviders, 'checkReceipt'>;
  readonly find: FindTransaction;
  readonly shards: readonly Shard[];
  /** Time for which a receipt stays on the phone. */
  readonly timeoutSeconds: number;
  readonly now: () => number;
}

/** A receipt that is in its queue. */
interface OrderedReceipt {
  /** The id of its job. */
  readonly id: string;
  readonly shard: Shard;
  /** Whether it was ordered before, and its job has ended. */
  readonly hasEnded: boolean;
}

/**
 * Puts a receipt into its queue. The same order again finds the first one.
 *
 * @param order.fingerprint Equal for equal orders.
 * @param order.answerTo The token of an activity that gets the end.
 * @returns Fault 107 for a message without the prefix of the AP; fault 101 when the transaction is
 *   not the AP's, was not signed, is another number's, or has another receipt.
 */
export const createOrderReceipt =
  ({ providers, find, shards, timeoutSeconds, now }: ReceiptsOptions) =>
  async (
    request: ReceiptRequest,
    order: Pick<StoredReceipt, 'fingerprint' | 'answerTo'>,
  ): Promise<Checked<OrderedReceipt>> => {
    const { caller, msspTransId, msisdn, message, extension } = request;
    const allowed = providers.checkReceipt(caller.apId, message);
    if (!allowed.ok) return allowed;
    const view = await find(msspTransId);
    const shard = shardFor(shards, msspTransId);
    if (view?.request.caller.apId !== caller.apId || shard === undefined)
      return refuse(101, unknownTransaction);
    if (view.request.msisdn.number !== msisdn.number) {
      return refuse(101, 'MSS_ReceiptReq.MobileUser.MSISDN is not that of the signature');
    }
    if (view.state.kind !== 'signed' || view.state.signed.signature === undefined) {
      return refuse(101, 'MSS_ReceiptReq.MSSP_TransID is of no successful signature');
    }
    const { sscdId, upstream } = view.state.signed;
    const data: StoredReceipt = {
      msspTransId,
      apId: caller.apId,
      ...order,
      msisdn: msisdn.number,
      message,
      timeoutSeconds,
      ...(sscdId !== undefined && { sscdId }),
      ...(upstream !== undefined && { gateway: upstream.gateway }),
      ...(extension !== undefined && { language: extension.language }),
    };
    const at = shard.receipts;
    const id = receiptJobId(msspTransId);
    const known = await knownReceipt(at, id);
    if (known === undefined)
      await at.queue.add(receiptJobName, data, { jobId: id, timestamp: now() });
    const stored = known ?? (await at.jobs.read(id));
    const { data: there } = receiptJobDataSchema.safeParse(stored?.data);
    // Other programs add jobs, too, and a fingerprint can be computed.
    const isThis = (['fingerprint', 'apId', 'msisdn', 'message'] as const).every(
      (member) => there?.[member] === data[member],
    );
    return isThis
      ? ok({ id, shard, hasEnded: known?.finishedOn !== undefined })
      : refuse(101, receiptSent);
  };

export type Receipts = ReturnType<typeof createReceipts>;

export const createReceipts = (
  options: ReceiptsOptions & {
    /** The endings of the receipt queue of each shard, in the order of the shards. */
    readonly endings: readonly Endings[];
  },
) => {
  const { endings, timeoutSeconds, now } = options;
  const order = createOrderReceipt(options);
  return {
    /**
     * Sends a receipt and waits for the reaction of the user.
     *
     * @returns The faults of {@link createOrderReceipt}, and 101 when the transaction has its
     * receipt.
     * @throws When Redis is unreachable.
     */
    send: async (
      request: ReceiptRequest,
      onAccepted?: OnAccepted,
    ): Promise<Checked<ReceiptOutcome>> => {
      // Not even a hash of the password may be stored in the job.
      const caller = { ...request.caller, apPassword: undefined };
      const { id: fingerprint } = fingerprintOf({ ...request, caller }, 1);
      const ordered = await order(request, { fingerprint });
      if (!ordered.ok) return ordered;
      const { id, shard, hasEnded } = ordered.value;
      const ends = endings[shard.index];
      if (ends === undefined) throw new Error(`There is no shard ${shard.index}`);
      if (hasEnded) return refuse(101, receiptSent);
      const until = now() + timeoutSeconds * 1000 + endingMarginMs;
      const ending = await endOf(ends, id, until, onAccepted?.());
      if (ending?.kind !== 'completed') {
        const reason = ending && parseFaultLine(ending.failedReason);
        return { ok: false, fault: reason ?? fault(900) };
      }
      return ok((ending.returnValue as ReceiptJobResult).receipt);
    },
  };
};
