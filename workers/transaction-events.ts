/**
 * Logs and counts what happens to transactions: a worker has one for the first time, and an attempt
 * has ended.
 *
 * A turn only proposes an end: it may be cut off before the end is stored, and a job may also end
 * without a turn. BullMQ confirms each end to one worker, so it is counted here, once. An end is
 * not counted when its confirmation is lost with the process or the connection.
 *
 * Listeners run inside BullMQ's own handling of a job, so nothing here may throw.
 */
import type { Job, Worker } from 'bullmq';
import type { SignatureRecord } from '../machines/record.ts';
import { parseFaultLine } from '../packages/protocol/src/fault.ts';
import type { Protocol } from '../packages/protocol/src/parse.ts';
import { recordIn, type SignatureJobData } from '../src/transactions/contract.ts';
import type { StepLog, TransactionLog } from './log.ts';

export type SignatureWorker = Worker<SignatureJobData, SignatureRecord>;

/** Other programs write jobs, too, so each member may be missing. */
const member = (from: unknown, name: string): unknown =>
  (Object(from) as Record<string, unknown>)[name];

/** The caller that a job names. Its data has not been checked. */
export const callerIn = ({ data }: Pick<Job, 'data'>) => {
  const caller = member(member(data, 'MSS_SignatureReq'), 'AP_Info');
  const apId = member(caller, 'AP_ID');
  const apTransId = member(caller, 'AP_TransID');
  return {
    apId: typeof apId === 'string' ? apId : undefined,
    apTransId: typeof apTransId === 'string' ? apTransId : '',
  };
};

export const tellOfTransactions = (
  worker: SignatureWorker,
  to: {
    readonly transactionLog: TransactionLog;
    readonly log: Pick<StepLog, 'signed' | 'failed'>;
    readonly protocol: Protocol;
  },
): void => {
  const { transactionLog, log, protocol } = to;

  worker.on('active', (job) => {
    if (job.attemptsStarted === 1) transactionLog.submitted(callerIn(job).apId);
  });
  worker.on('completed', (job, record) => {
    const { apId, apTransId } = callerIn(job);
    transactionLog.signed(apId, record);
    if (apId !== undefined)
      log.signed(job.id ?? '', record.attempt, { caller: { apId, apTransId } }, record);
  });
  worker.on('failed', (job) => {
    // BullMQ also tells of a failed run after which the job is tried again.
    if (job?.finishedOn === undefined) return;
    const code = parseFaultLine(job.failedReason ?? '')?.code ?? 900;
    const { data } = job;
    transactionLog.failed(callerIn(job).apId, code);
    const attempt = member(recordIn(job.progress), 'attempt');
    // Nothing of the job is logged when its request cannot be read.
    const request = protocol.parseStoredSign(member(data, 'MSS_SignatureReq'));
    log.failed(
      job.id ?? '',
      typeof attempt === 'number' ? attempt : 0,
      code,
      request.ok ? request.value : undefined,
    );
  });
};
