/**
 * Reads the state of a job in one round trip, or in two while a cancel waits.
 *
 * | state | job |
 * |---|---|
 * | scheduled | before its time |
 * | submitted | no prompt in this attempt |
 * | pending | prompted |
 * | signed, receipted, failed | ended; a replay begins anew |
 * | unknown | none, or its retention is over |
 */
import { z } from 'zod';
import { parse } from '../../packages/engine/src/redis/inbox.ts';
import { hasRecord, isRunAgain } from '../../packages/engine/src/redis/instance-store.ts';
import type { RedisClient } from '../redis/connect.ts';
import { endRecordSchema, recordIn } from './contract.ts';
import { type Ending, endingOf } from './endings.ts';

export type SignatureStatus =
  | 'scheduled'
  | 'submitted'
  | 'pending'
  | 'signed'
  | 'receipted'
  | 'failed'
  | 'unknown';

/** The used part of a job's hash. */
export interface JobState {
  readonly request: unknown;
  readonly ending: Ending | undefined;
  /** Milliseconds since the epoch; undefined while it is open. */
  readonly endedAt: number | undefined;
  /** Whether it is cancelled and fails as soon as a worker takes it. */
  readonly withdrawn: boolean;
  readonly waitsForItsTime: boolean;
  /** The current, last or next attempt. */
  readonly attempt: number;
  /** Whether this attempt has sent a prompt. */
  readonly isPending: boolean;
}

const fields = [
  'data',
  'progress',
  'inbox',
  'finishedOn',
  'returnvalue',
  'failedReason',
  'defa',
  'ats',
  'delay',
  'stacktrace',
  'atm',
] as const;

/** An entry of the inbox (packages/engine/src/redis/instance-store.ts). */
const cancel = /^[^\t\n]*\t\["(out\/cancel\/(\d+)\/[^"\\]*)"/gm;

/** Whether the chart will take a waiting cancel: another answer may have come first. */
const isCancelled = async (
  redis: RedisClient,
  key: string,
  inbox: string,
  attempt: number,
): Promise<boolean> => {
  const names = [...inbox.matchAll(cancel)].flatMap(([, name, of]) =>
    Number(of) === attempt ? [`key:${name}`] : [],
  );
  if (names.length === 0) return false;
  return (await redis.hmget(key, ...names.slice(0, maxCancels))).includes('accepted');
};
/**
 * Cancels in one inbox that are read: those of the application, an operator, and bulks. Other
 * programs may write more.
 */
const maxCancels = 10;

const told = z.object({ attempt: z.number().int().min(1), state: z.string() });

/** @returns Undefined for an unknown job. */
export const readJobState = async (
  redis: RedisClient,
  key: string,
): Promise<JobState | undefined> => {
  const [
    text,
    progress,
    inbox,
    finishedOn,
    returnValue,
    failedReason,
    defa,
    ats,
    delay,
    trace,
    atm,
  ] = await redis.hmget(key, ...fields);
  if (text == null) return undefined;
  const data = parse(text);
  const stored = parse(progress);
  const endedAt = finishedOn == null ? undefined : Number(finishedOn);
  const { attempt: last, state } = told.safeParse(recordIn(stored)).data ?? {
    attempt: 1,
    state: 'submitted',
  };
  // A replay before its first turn has not begun.
  const isReplayed =
    endedAt === undefined &&
    isRunAgain({ hasFailed: trace != null, hasRecord: hasRecord(stored), ends: Number(atm ?? 0) });
  const attempt = isReplayed ? last + 1 : last;
  return {
    request: Object(data).MSS_SignatureReq,
    endedAt,
    ending: endingOf({
      finishedOn: endedAt,
      returnValue: parse(returnValue),
      failedReason: failedReason ?? undefined,
    }),
    withdrawn: defa != null || (await isCancelled(redis, key, inbox ?? '', attempt)),
    waitsForItsTime: Number(ats ?? 0) === 0 && Number(delay ?? 0) > 0,
    attempt,
    isPending: state === 'pending' && !isReplayed,
  };
};

const receiptedSchema = z.object({ state: z.literal('receipted') });

export const statusOf = (state: JobState | undefined): SignatureStatus => {
  if (state === undefined) return 'unknown';
  const { ending } = state;
  if (ending?.kind === 'failed' || state.withdrawn) return 'failed';
  if (ending?.kind === 'completed') {
    if (!endRecordSchema.safeParse(ending.returnValue).success) return 'failed';
    return receiptedSchema.safeParse(ending.returnValue).success ? 'receipted' : 'signed';
  }
  if (state.isPending) return 'pending';
  return state.waitsForItsTime ? 'scheduled' : 'submitted';
};
