/**
 * Where a job stands, read in one round trip.
 *
 * | state | job |
 * |---|---|
 * | scheduled | its time has not come |
 * | submitted | nobody has been asked, in this attempt |
 * | pending | the phone has it |
 * | signed, receipted, failed | the end; a replay begins anew |
 * | unknown | there is none, or it was removed when its retention was over |
 */
import { z } from 'zod';
import type { RedisClient } from '../redis/connect.ts';
import { endRecordSchema, type SignatureJobData, signatureJobDataSchema } from '../transactions/contract.ts';
import { type Ending, endingOf } from '../transactions/ending.ts';

export type SignatureStatus =
  | 'scheduled'
  | 'submitted'
  | 'pending'
  | 'signed'
  | 'receipted'
  | 'failed'
  | 'unknown';

/** A job's hash, as far as it matters here. Field names are BullMQ's. */
export interface Standing {
  /** As written. */
  readonly text: string;
  /** Undefined for what no worker will understand. */
  readonly data: SignatureJobData | undefined;
  /** MSS_SignatureReq, also beside what only a later release understands. */
  readonly request: unknown;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly ending: Ending | undefined;
  /** Milliseconds since the epoch; undefined while it is open. */
  readonly endedAt: number | undefined;
  /** It will fail as soon as a worker takes it. */
  readonly withdrawn: boolean;
  readonly waitsForItsTime: boolean;
  /** How often it was run to an end. */
  readonly endedRuns: number;
  /** It has been run to a failure since the attempt that its data tell of began. */
  readonly hasFailed: boolean;
}

const fields = [
  'data',
  'timestamp',
  'finishedOn',
  'returnvalue',
  'failedReason',
  'defa',
  'ats',
  'atm',
  'delay',
  'stacktrace',
] as const;

const parsed = (text: string | null | undefined): unknown => {
  try {
    return text == null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** @returns Undefined for a job that there is not. */
export const readStanding = async (redis: RedisClient, key: string): Promise<Standing | undefined> => {
  const [text, timestamp, finishedOn, returnValue, failedReason, defa, ats, atm, delay, trace] =
    await redis.hmget(key, ...fields);
  if (text == null) return undefined;
  const written = parsed(text);
  const data = signatureJobDataSchema.safeParse(written);
  const endedAt = finishedOn == null ? undefined : Number(finishedOn);
  return {
    text,
    request: Object(written).MSS_SignatureReq,
    endedAt,
    data: data.success ? (data.data as SignatureJobData) : undefined,
    timestamp: Number(timestamp),
    ending: endingOf({
      finishedOn: endedAt,
      returnValue: parsed(returnValue),
      failedReason: failedReason ?? undefined,
    }),
    withdrawn: defa != null,
    waitsForItsTime: Number(ats ?? 0) === 0 && Number(delay ?? 0) > 0,
    endedRuns: Number(atm ?? 0),
    hasFailed: trace != null,
  };
};

/** Whether what the job's data say is of the attempt in hand: a replay that no worker has taken yet has not begun. */
export const isOfThisRun = ({ data, endedRuns, hasFailed }: Standing): boolean =>
  (data?.endedRuns ?? 0) === endedRuns && !(hasFailed && data?.transaction?.state === 'failed');

/** @returns The attempt that somebody has been asked for and may be answered. */
export const pendingAttempt = (standing: Standing): number | undefined => {
  const transaction = standing.data?.transaction;
  return transaction?.state === 'pending' && isOfThisRun(standing) ? transaction.attempt : undefined;
};

const receiptedSchema = z.object({ state: z.literal('receipted') });

export const statusOf = (standing: Standing | undefined): SignatureStatus => {
  if (standing === undefined) return 'unknown';
  const { ending } = standing;
  if (ending?.kind === 'failed' || standing.withdrawn) return 'failed';
  if (ending?.kind === 'completed') {
    if (!endRecordSchema.safeParse(ending.returnValue).success) return 'failed';
    return receiptedSchema.safeParse(ending.returnValue).success ? 'receipted' : 'signed';
  }
  if (pendingAttempt(standing) !== undefined) return 'pending';
  return standing.waitsForItsTime ? 'scheduled' : 'submitted';
};
