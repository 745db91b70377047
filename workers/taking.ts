/**
 * Taking a signature job: what its data means, which attempt this is, and whether it has begun before.
 *
 * A job is run for many reasons: it is new, it was woken, its last worker died, or somebody replays it. BullMQ counts
 * how often a job has ended (`attemptsMade`), and the data notes that count when an attempt begins (`endedRuns`). A
 * higher count later means that the attempt is over and the job has been run again: a replay. That holds whatever the
 * run before left behind, even nothing. Some tools reset the count; then the trace that BullMQ keeps of a failure tells.
 *
 * Data is trusted no more than a request from the wire: any service with access to the queue can write it.
 */
import type { Job } from 'bullmq';
import type { z } from 'zod';
import { advance, begin, isOfLaterVersion, type SignatureRecord } from '../machines/record.ts';
import { type Checked, fault, ok, refuse } from '../src/protocol/fault.ts';
import type { Protocol } from '../src/protocol/parse.ts';
import type { SignatureRequest } from '../src/protocol/requests.ts';
import {
  type SignatureJobData,
  signatureJobDataSchema,
  type signatureRecordSchema,
} from '../src/transactions/contract.ts';
import { shardOf } from '../src/transactions/ids.ts';
import type { JobHome } from '../src/transactions/job-home.ts';
import { idOf, saveOrStop } from './rest.ts';

export type SignatureJob = Job<SignatureJobData, SignatureRecord>;

/** Everything that one run of a step knows. */
export interface Run {
  readonly job: SignatureJob;
  readonly id: string;
  readonly token: string;
  readonly request: SignatureRequest;
  readonly data: SignatureJobData;
  readonly record: SignatureRecord;
  /** An answer from elsewhere has been possible: the end must be decided, not just written. */
  readonly asked: boolean;
}

/** How long a job that a newer release has begun waits for a worker of that release: longer than a roll-out takes. */
export const laterWorkerPatienceMs = 600_000;
/** No configuration allows a TimeOut as long as this. */
const longestAttemptMs = 86_400_000;

export interface Place {
  readonly shard: number;
  readonly shards: number;
}

/**
 * @returns The job's data and request, or what is wrong with them: fault 101, what the request deserves, or 900 for an end that
 *   is not believed.
 */
export const readJob = (
  job: SignatureJob,
  protocol: Protocol,
  { shard, shards }: Place,
): Checked<{ readonly data: SignatureJobData; readonly request: SignatureRequest }> => {
  if (shardOf(idOf(job), shards) !== shard) {
    return refuse(101, 'The job id must be an MSSP_TransID of this shard');
  }
  const { MSS_SignatureReq: given, ...others } = Object(job.data) as { MSS_SignatureReq?: unknown };
  if (given === undefined || given === null) return refuse(102, 'MSS_SignatureReq');
  const data = Object.keys(others).length === 0 ? ok(job.data) : readWritten(job);
  if (!data.ok) return data;
  const request = protocol.parseStoredSign(given);
  return request.ok ? ok({ data: data.value, request: request.value }) : request;
};

/** Data that the workers have added to, or should have. */
const readWritten = (job: SignatureJob): Checked<SignatureJobData> => {
  const data = signatureJobDataSchema.safeParse(job.data);
  if (!data.success) {
    const path = data.error.issues[0]?.path.map(String).join('.') ?? '';
    return refuse(101, `The job data is not usable: ${path || 'it must be an object'}`);
  }
  const { MSS_SignatureReq: _, ...written } = data.data;
  if (job.attemptsStarted <= 1 && Object.keys(written).length > 0) {
    return refuse(101, 'The job data may hold MSS_SignatureReq only; the rest is the workers’ own');
  }
  return hasEnded(written.transaction) ? refuse(900) : ok(data.data as SignatureJobData);
};

/** No step writes such a record: what was signed is returned. Somebody else did, and nobody has verified it. */
const hasEnded = (record: z.infer<typeof signatureRecordSchema> | undefined): boolean =>
  record !== undefined &&
  (record.outcome !== undefined || record.state === 'signed' || record.state === 'receipted');

/**
 * When a job stops waiting for a worker that understands it.
 *
 * @param times When it was to end, or came, as the job says; the first is believed that is not far in the future, since
 *   other programs write jobs too.
 */
export const laterWorkerUntil = (times: readonly unknown[], now: number): number => {
  const believed = times.find((time) => typeof time === 'number' && time <= now + longestAttemptMs);
  return (typeof believed === 'number' ? believed : 0) + laterWorkerPatienceMs;
};

/**
 * While a release is rolled out, or back, old workers take up what newer ones have begun; it is not theirs to judge, only
 * theirs to leave alone, for as long as a newer worker may come.
 *
 * @returns Milliseconds since the epoch; undefined for a job that this program understands.
 */
export const leftAloneUntil = (job: SignatureJob, now: number): number | undefined => {
  if (job.attemptsStarted <= 1) return undefined;
  const { transaction } = Object(job.data) as { transaction?: unknown };
  const { version, deadline } = Object(transaction) as { version?: unknown; deadline?: unknown };
  return isOfLaterVersion(version) ? laterWorkerUntil([deadline, job.timestamp], now) : undefined;
};

/**
 * When its time began to run: when it was added, or the time that it was scheduled for. Whoever added the job may have had
 * a clock that is ahead, or have made the time up.
 */
const submittedAt = (job: SignatureJob, now: number): number => {
  const { delay } = job.opts;
  return Math.min(job.timestamp + (typeof delay === 'number' ? Math.max(delay, 0) : 0), now);
};

/** When the attempt in hand is over, for a job whose data has been read. */
export const signatureDeadline = async (
  home: Pick<JobHome, 'hasFailed'>,
  job: SignatureJob,
  data: SignatureJobData,
  request: SignatureRequest,
  now: number,
): Promise<number> => {
  const lasts = request.timeoutSeconds * 1000;
  const { transaction } = data;
  // Where Redis cannot say, it is the attempt that the data tells of: its step fails too, and is tried again.
  const isOver = transaction?.state === 'failed' && (await home.hasFailed(idOf(job)).catch(() => false));
  if (transaction !== undefined && data.endedRuns === job.attemptsMade && !isOver)
    return transaction.deadline;
  // A replay that has not been recorded yet counts from when it was taken.
  return (job.attemptsMade > 0 || isOver ? (job.processedOn ?? now) : submittedAt(job, now)) + lasts;
};

/** @throws When the lock is lost, or Redis is. */
export const takeUp = async (
  home: JobHome,
  job: SignatureJob,
  token: string,
  read: { readonly data: SignatureJobData; readonly request: SignatureRequest },
  now: number,
): Promise<Run> => {
  const { data, request } = read;
  const id = idOf(job);
  const ended = job.attemptsMade;
  const run = { job, id, token, request };
  const last =
    data.transaction ?? begin({ submittedAt: submittedAt(job, now), timeoutSeconds: request.timeoutSeconds });
  const asked = last.state === 'pending';
  // A failure that was saved is told again, unless the queue has had it and somebody runs the job once more.
  const isOver = last.state === 'failed' && (await home.hasFailed(id));
  if (ended === (data.endedRuns ?? 0) && !isOver) return { ...run, data, record: last, asked };
  if (asked && (await home.decision(id, last.attempt))?.kind === 'signature') {
    // Some tools run completed jobs again. What a person signed stands, and is found where it was decided.
    return { ...run, data, record: last, asked };
  }
  const record = advance(
    last,
    { type: 'FAULTED', at: now, attempt: last.attempt, fault: fault(900) },
    { type: 'REPLAY', at: now, deadline: now + request.timeoutSeconds * 1000 },
  );
  const replay: SignatureJobData = {
    MSS_SignatureReq: data.MSS_SignatureReq,
    transaction: record,
    endedRuns: ended,
  };
  // From here on nobody can answer the attempt before, and an equal request joins this one.
  const { deduplicationId } = job;
  const ttlMs = job.opts.deduplication?.ttl;
  await saveOrStop(
    home,
    job,
    token,
    replay,
    0,
    deduplicationId === undefined ? undefined : { deduplicationId, ttlMs },
  );
  return { ...run, data: replay, record, asked: false };
};
