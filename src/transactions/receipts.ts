/**
 * Receipts: messages of an AP to its user after a signature, shown on the phone that signed.
 *
 * A transaction has one receipt, because the id of the job is derived from it. BullMQ does not tell
 * whether a job existed before, so the job is read back. Its fingerprint says whether it comes from
 * this request, sent once or twice, or from another one.
 */
import type { ReceiptOutcome } from '../../machines/outcome.ts';
import type { StoredJob } from '../engine/redis/job-store.ts';
import { type Checked, fault, ok, parseFaultLine, refuse } from '../protocol/fault.ts';
import type { ReceiptRequest } from '../protocol/requests.ts';
import { shardFor } from './answers.ts';
import {
  type ReceiptJobData,
  type ReceiptJobResult,
  receiptJobDataSchema,
  receiptJobId,
  receiptJobName,
} from './contract.ts';
import { cancelWith, type Endings, type OnAccepted } from './endings.ts';
import { fingerprintOf } from './ids.ts';
import type { QueueAt, Shard } from './shards.ts';
import type { Transactions } from './transactions.ts';

const endingMarginMs = 5000;

/** A receipt that failed was never shown, so it is removed and may be sent again. */
const knownReceipt = async ({ queue, jobs }: QueueAt, id: string): Promise<StoredJob | undefined> => {
  const known = await jobs.read(id);
  if (known?.failedReason === undefined) return known;
  await queue.remove(id);
  return undefined;
};

/**
 * Also for a transaction of another AP, or past its retention: the caller must see no difference.
 */
export const unknownTransaction = 'MSSP_TransID is unknown';

export const receiptSent = 'MSS_ReceiptReq.MSSP_TransID has its receipt already';

export type Receipts = ReturnType<typeof createReceipts>;

export const createReceipts = (options: {
  readonly transactions: Transactions;
  readonly shards: readonly Shard[];
  /** One for each shard's receipt queue, in the same order. */
  readonly endings: readonly Endings[];
  /** How long a receipt stays on the phone. */
  readonly timeoutSeconds: number;
  readonly now: () => number;
}) => {
  const { transactions, shards, endings, timeoutSeconds, now } = options;
  return {
    /**
     * Sends a receipt and waits for what the user does with it.
     *
     * @returns Fault 101 when the transaction is not the AP's, was not signed, is another number's,
     *   or has its receipt.
     * @throws When Redis is unreachable.
     */
    send: async (request: ReceiptRequest, onAccepted?: OnAccepted): Promise<Checked<ReceiptOutcome>> => {
      const { msspTransId, msisdn } = request;
      const view = await transactions.findOwn(request.caller.apId, msspTransId);
      if (view === undefined) return refuse(101, unknownTransaction);
      if (view.request.msisdn.number !== msisdn.number) {
        return refuse(101, 'MSS_ReceiptReq.MobileUser.MSISDN is not that of the signature');
      }
      if (view.state.kind !== 'signed' || view.state.signed.signature === undefined) {
        return refuse(101, 'MSS_ReceiptReq.MSSP_TransID is of no successful signature');
      }
      const shard = shardFor(shards, msspTransId);
      const ends = shard === undefined ? undefined : endings[shard.index];
      if (shard === undefined || ends === undefined) return refuse(101, unknownTransaction);
      const at = shard.receipts;

      // Not even a hash of the password may be stored in the job.
      const caller = { ...request.caller, apPassword: undefined };
      const { id: fingerprint } = fingerprintOf({ ...request, caller }, 1);
      const data: ReceiptJobData = {
        msspTransId,
        apId: request.caller.apId,
        fingerprint,
        msisdn: msisdn.number,
        message: request.message,
        timeoutSeconds,
        ...(view.state.signed.sscdId !== undefined && { sscdId: view.state.signed.sscdId }),
        ...(request.extension !== undefined && { language: request.extension.language }),
      };
      const id = receiptJobId(msspTransId);
      const until = now() + timeoutSeconds * 1000 + endingMarginMs;
      const known = await knownReceipt(at, id);
      if (known === undefined) await at.queue.add(receiptJobName, data, { jobId: id, timestamp: now() });
      const stored = known ?? (await at.jobs.read(id));
      const theirs = receiptJobDataSchema.safeParse(stored?.data).data?.fingerprint !== fingerprint;
      if (theirs || known?.finishedOn !== undefined) {
        return refuse(101, receiptSent);
      }
      const waiting = ends.wait(id, until);
      cancelWith(onAccepted?.(), waiting);
      const ending = await waiting.ended;
      if (ending?.kind !== 'completed') {
        const reason = ending && parseFaultLine(ending.failedReason);
        return { ok: false, fault: reason ?? fault(900) };
      }
      return ok((ending.returnValue as ReceiptJobResult).receipt);
    },
  };
};
