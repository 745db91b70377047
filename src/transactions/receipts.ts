/**
 * Receipts: what an AP tells its user after a signature, on the phone that signed.
 *
 * A transaction has one receipt, and its job's id says so: whoever adds it first has it. Adding a job whose id exists
 * changes nothing and says nothing, so the job is read back: the fingerprint in it tells whether it is ours, or that of
 * the same request sent twice, or somebody's earlier one.
 */
import type { ReceiptOutcome } from '../../machines/outcome.ts';
import type { StoredJob } from '../engine/redis/job-home.ts';
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
import { cancelWith, type Endings, type Waits } from './endings.ts';
import { fingerprintOf } from './ids.ts';
import type { QueueAt, Shard } from './shards.ts';
import type { Transactions } from './transactions.ts';

const endingMarginMs = 5000;

/** A receipt that failed was never shown: it makes way for another. */
const knownReceipt = async ({ queue, home }: QueueAt, id: string): Promise<StoredJob | undefined> => {
  const known = await home.read(id);
  if (known?.failedReason === undefined) return known;
  await queue.remove(id);
  return undefined;
};

/** The one text for an id that is unknown, not the caller's, or past its retention: they must not be told apart. */
export const unknownTransaction = 'MSSP_TransID is unknown';

export interface Receipts {
  /**
   * Sends a receipt and waits for what the user does with it.
   *
   * @param waits Called when from here on the user is waited for.
   * @returns Fault 101 when the transaction is not the AP's, was not signed, is another number's, or has its receipt.
   * @throws When Redis is unreachable.
   */
  send(request: ReceiptRequest, waits?: Waits): Promise<Checked<ReceiptOutcome>>;
}

export const createReceipts = (options: {
  readonly transactions: Transactions;
  readonly shards: readonly Shard[];
  /** One for each shard's receipt queue, in the same order. */
  readonly endings: readonly Endings[];
  /** How long a receipt stays on the phone. */
  readonly timeoutSeconds: number;
  readonly now: () => number;
}): Receipts => {
  const { transactions, shards, endings, timeoutSeconds, now } = options;
  return {
    send: async (request, waits) => {
      const { msspTransId, msisdn } = request;
      const view = await transactions.findOwn(request.caller.apId, msspTransId);
      if (view === undefined) return refuse(101, unknownTransaction);
      if (view.request.msisdn.number !== msisdn.number) {
        return refuse(101, 'MSS_ReceiptReq.MobileUser.MSISDN is not that of the signature');
      }
      if (view.state.kind !== 'signed' || view.state.signed.signature === undefined) {
        return refuse(101, 'A receipt follows a successful signature');
      }
      const shard = shardFor(shards, msspTransId);
      const ends = shard === undefined ? undefined : endings[shard.index];
      if (shard === undefined || ends === undefined) return refuse(101, unknownTransaction);
      const at = shard.receipts;

      // The password is the caller's alone: not even a hash of it may end up in the job.
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
      const stored = known ?? (await at.home.read(id));
      const theirs = receiptJobDataSchema.safeParse(stored?.data).data?.fingerprint !== fingerprint;
      if (theirs || known?.finishedOn !== undefined) {
        return refuse(101, 'The transaction has its receipt already');
      }
      const waiting = ends.wait(id, until);
      cancelWith(waits?.(), waiting);
      const ending = await waiting.ended;
      if (ending?.kind !== 'completed') {
        const reason = ending && parseFaultLine(ending.failedReason);
        return { ok: false, fault: reason ?? fault(900) };
      }
      return ok((ending.returnValue as ReceiptJobResult).receipt);
    },
  };
};
