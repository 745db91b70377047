/**
 * What the queue says of transactions: that a worker has one for the first time, and that an attempt has ended.
 *
 * A step only proposes an end. It may be cut off before the end is stored, and is run again; and a request that was taken
 * back ends without any step. BullMQ confirms each end to one worker, whoever brought it about, so here each is told once
 * and Redis is asked for nothing. What is lost is an end whose confirmation is lost, with its process or connection.
 *
 * Listeners run inside BullMQ's own handling of a job, so nothing here may throw.
 */
import type { Job, Worker } from 'bullmq';
import type { SignatureRecord } from '../machines/record.ts';
import { parseFaultLine } from '../src/protocol/fault.ts';
import type { Protocol } from '../src/protocol/parse.ts';
import type { SignatureJobData } from '../src/transactions/contract.ts';
import type { StepLog, TransactionLog } from './log.ts';

type SignatureJob = Job<SignatureJobData, SignatureRecord>;

/** Other programs write jobs, too. */
const member = (from: unknown, name: string): unknown => (Object(from) as Record<string, unknown>)[name];

const apIdOf = ({ data }: SignatureJob): string | undefined => {
  const apId = member(member(member(data, 'MSS_SignatureReq'), 'AP_Info'), 'AP_ID');
  return typeof apId === 'string' ? apId : undefined;
};

export const tellOfTransactions = (
  worker: Worker<SignatureJobData, SignatureRecord>,
  to: {
    readonly transactionLog: TransactionLog;
    /** Hears of the ends that no step has told of. */
    readonly log: Pick<StepLog, 'failed'>;
    readonly protocol: Protocol;
  },
): void => {
  const { transactionLog, log, protocol } = to;

  /**
   * Of a job that was marked to fail: taken back (src/queue/cancellation.ts), with its record written along with the mark, or
   * not to be read (unreadable.ts).
   */
  const tellMarked = (job: SignatureJob, code: number): void => {
    const attempt = member(member(job.data, 'transaction'), 'attempt');
    const request = protocol.parseStoredSign(member(job.data, 'MSS_SignatureReq'));
    log.failed(
      job.id ?? '',
      typeof attempt === 'number' ? attempt : 0,
      code,
      request.ok ? request.value : undefined,
    );
  };

  worker.on('active', (job) => {
    if (job.attemptsStarted === 1) transactionLog.submitted(apIdOf(job));
  });
  worker.on('completed', (job, record) => transactionLog.signed(apIdOf(job), record));
  worker.on('failed', (job) => {
    // A run that failed is told, too, when its producer wants the job to be tried again.
    if (job?.finishedOn === undefined) return;
    const code = parseFaultLine(job.failedReason ?? '')?.code ?? 900;
    transactionLog.failed(apIdOf(job), code);
    if (job.deferredFailure) tellMarked(job, code);
  });
};
