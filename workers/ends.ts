/**
 * What the queue says of transactions: that a worker has one for the first time, and that an attempt has ended.
 *
 * A turn only proposes an end: it may be cut off before the end is stored, and be run again; and a job may end without any turn. BullMQ
 * confirms each end to one worker, whoever brought it about, so here each is told once and Redis is asked for nothing. What is lost is
 * an end whose confirmation is lost, with its process or connection.
 *
 * Listeners run inside BullMQ's own handling of a job, so nothing here may throw.
 */
import type { Job, Worker } from 'bullmq';
import type { SignatureRecord } from '../machines/record.ts';
import { parseFaultLine } from '../src/protocol/fault.ts';
import type { Protocol } from '../src/protocol/parse.ts';
import { recordIn, type SignatureJobData } from '../src/transactions/contract.ts';
import type { StepLog, TransactionLog } from './log.ts';

type SignatureJob = Job<SignatureJobData, SignatureRecord>;
export type SignatureWorker = Worker<SignatureJobData, SignatureRecord>;

/** Other programs write jobs, too. */
const member = (from: unknown, name: string): unknown => (Object(from) as Record<string, unknown>)[name];

const callerIn = ({ data }: SignatureJob) => {
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
    if (apId !== undefined) log.signed(job.id ?? '', record.attempt, { caller: { apId, apTransId } }, record);
  });
  worker.on('failed', (job) => {
    // A run that failed is told, too, when its producer wants the job to be tried again.
    if (job?.finishedOn === undefined) return;
    const code = parseFaultLine(job.failedReason ?? '')?.code ?? 900;
    const { data } = job;
    transactionLog.failed(callerIn(job).apId, code);
    const attempt = member(recordIn(job.progress, data), 'attempt');
    // What a job says of itself is not written down where its request cannot be read.
    const request = protocol.parseStoredSign(member(data, 'MSS_SignatureReq'));
    log.failed(
      job.id ?? '',
      typeof attempt === 'number' ? attempt : 0,
      code,
      request.ok ? request.value : undefined,
    );
  });
};
