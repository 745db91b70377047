/**
 * One step of a receipt: show it on the phone that signed, and wait for what the user does.
 *
 * It is the signature step in small: asked once, answered from elsewhere or lapsed at the deadline, first writer wins.
 * When it ends, the signature's record moves on to `receipted`.
 */
import type { Job } from 'bullmq';
import type { ReceiptOutcome } from '../machines/outcome.ts';
import { advance, type SignatureRecord } from '../machines/record.ts';
import type { SubscriberRegistry } from '../src/registry/subscriber.ts';
import type { Devices } from '../src/sscd/devices.ts';
import type { ReceiptJobData, ReceiptJobResult } from '../src/transactions/contract.ts';
import type { Decision } from '../src/transactions/job-home.ts';
import type { Shard } from '../src/transactions/shards.ts';
import type { StepLog } from './log.ts';
import { idOf, saveOrStop, sleep } from './rest.ts';

export type ReceiptStep = (
  job: Job<ReceiptJobData, ReceiptJobResult>,
  token: string,
) => Promise<ReceiptJobResult>;

/** A receipt is asked once; the field that decides it is that of the first attempt. */
const attempt = 1;

export const receiptDeadline = (job: Job<ReceiptJobData, ReceiptJobResult>): number =>
  job.timestamp + job.data.timeoutSeconds * 1000;

export const createReceiptStep = (options: {
  readonly shard: Shard;
  readonly subscribers: SubscriberRegistry;
  readonly devices: Devices;
  readonly now: () => number;
  readonly log: StepLog;
}): ReceiptStep => {
  const { shard, subscribers, devices, now, log } = options;
  const { signatures, receipts } = shard;

  const end = async (job: Job<ReceiptJobData, ReceiptJobResult>, receipt: ReceiptOutcome) => {
    const { msspTransId } = job.data;
    const signed = await signatures.home.read(msspTransId);
    if (signed?.finishedOn !== undefined && signed.returnValue !== undefined) {
      const record = advance(signed.returnValue as SignatureRecord, {
        type: 'RECEIPTED',
        at: now(),
        receipt,
      });
      await signatures.home.amend(msspTransId, record);
    }
    log.receipted(msspTransId, receipt);
    return { receipt };
  };

  const receiptOf = (decision: Decision, lapsesAs: ReceiptOutcome): ReceiptOutcome =>
    decision.kind === 'receipt' ? decision.receipt : lapsesAs;

  const ask = async (job: Job<ReceiptJobData, ReceiptJobResult>, token: string) => {
    const { msspTransId, msisdn, message, language, profile } = job.data;
    const subscriber = subscribers.find(msisdn);
    const sscd = profile === 'Device-LoA4' ? subscriber?.apps[0] : subscriber?.sim;
    if (sscd === undefined) return end(job, 'unanswered');
    const deadline = receiptDeadline(job);
    const device = devices.deviceFor({ method: sscd.kind, sscd });
    const result = await device.receipt({
      transactionId: msspTransId,
      msisdn,
      subscriber,
      sscd,
      message,
      language: language ?? subscriber?.language,
      deadline,
    });
    switch (result.kind) {
      case 'answered':
        return end(job, result.receipt);
      case 'awaiting':
        await saveOrStop(receipts.home, job, token, { ...job.data, lapsesAs: result.lapsesAs }, attempt);
        return sleep(receipts, job, token, deadline, attempt);
      case 'unreachable':
        log.unreachable(msspTransId, attempt, job.attemptsStarted, result.cause);
        return sleep(receipts, job, token, Math.min(now() + 1000, deadline));
    }
  };

  return async (job, token) => {
    const id = idOf(job);
    const { lapsesAs } = job.data;
    const decision = lapsesAs === undefined ? undefined : await receipts.home.decision(id, attempt);
    if (decision !== undefined) return end(job, receiptOf(decision, lapsesAs ?? 'unanswered'));
    if (now() < receiptDeadline(job)) return ask(job, token);
    const lapsed = await receipts.home.decide(id, attempt, { kind: 'expired' });
    return end(job, receiptOf(lapsed, lapsesAs ?? 'unanswered'));
  };
};
