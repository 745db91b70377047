/**
 * The row of a transaction in a list. It is computed from the fields of its job alone, so that the
 * index can be made again from the jobs at any time.
 *
 * Other programs write jobs, too, so nothing here relies on their form. A member that cannot be
 * read is empty, and the transaction is still listed: operators look for jobs that cannot be read.
 */
import type { SignatureState } from '../../../machines/signature.machine.ts';
import {
  type FaultReason,
  fault,
  faultTable,
  parseFaultLine,
} from '../../../packages/protocol/src/fault.ts';
import { type ProfileName, profileNames } from '../../../packages/protocol/src/requests.ts';
import { recordIn } from '../contract.ts';

export interface TransactionRow {
  readonly msspTransId: string;
  /** This member and the next three are empty when the data of the job has no such value. */
  readonly apId: string;
  readonly apTransId: string;
  /** Digits without the plus sign. */
  readonly msisdn: string;
  /** The requested profile. */
  readonly profile: ProfileName | undefined;
  readonly state: SignatureState;
  /** The fault of a failed transaction. */
  readonly fault?: { readonly code: number; readonly reason: FaultReason; readonly detail: string };
  readonly attempt: number;
  /** Milliseconds since the epoch. */
  readonly submittedAt: number;
  /** Milliseconds since the epoch; absent while it is open. */
  readonly endedAt?: number;
  /** The duration of the last attempt, milliseconds; absent while it is open, or unknown. */
  readonly tookMs?: number;
}

/** The fields of a job's hash that a row is made of, in the order of {@link StoredFields}. */
export const jobFields = [
  'data',
  'timestamp',
  'finishedOn',
  'atm',
  'failedReason',
  'returnvalue',
  'progress',
] as const;
/** The values of {@link jobFields}, as HMGET returns them. */
export type StoredFields = readonly (string | null | undefined)[];

export const fieldOf = (
  fields: StoredFields,
  name: (typeof jobFields)[number],
): string | null | undefined => fields[jobFields.indexOf(name)];

/** Parses a JSON object. Returns an empty object for any other text. */
export const parsed = (text: string | null | undefined): Record<string, unknown> => {
  if (typeof text !== 'string') return {};
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
};

export const member = (from: unknown, name: string): unknown =>
  (Object(from) as Record<string, unknown>)[name];
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
/** The end of the year 9999; no clock writes a later time. */
export const lastTime = 253_402_300_799_999;
/** A time as whole milliseconds; 0 for a value that is not a time. */
const time = (value: unknown): number => {
  const number = Math.trunc(Number(value ?? 0));
  return number > 0 && number <= lastTime ? number : 0;
};
const count = (value: unknown, least: number): number => {
  const number = Number(value ?? least);
  return Number.isSafeInteger(number) && number >= least ? number : least;
};

/** The profile at the end of a URI of any authority: `http://mid.vendor.ch/MID/v1/AuthProfile1`. */
export const profileIn = (uri: string): ProfileName | undefined =>
  profileNames.find((name) => uri.endsWith(`/${name}`));

const toDigits = (msisdn: string): string => (msisdn.startsWith('+') ? msisdn.slice(1) : msisdn);

/** The beginning of an attempt, from the history in the record; 0 when it is unknown. */
const begunAt = (record: unknown, attempt: number): number => {
  const history = member(record, 'history');
  if (!Array.isArray(history)) return 0;
  const begun = history.find(
    (entry) => member(entry, 'state') === 'submitted' && member(entry, 'attempt') === attempt,
  );
  return time(member(begun, 'at'));
};

const tookOf = (begun: number, ended: number): { tookMs?: number } =>
  begun > 0 && ended >= begun ? { tookMs: ended - begun } : {};

/** @returns Undefined when there is no such job. */
export const rowOf = (msspTransId: string, fields: StoredFields): TransactionRow | undefined => {
  const [data, timestamp, finishedOn, endedRuns, failedReason, returnValue, progress] = fields;
  if (typeof data !== 'string') return undefined;
  const written = parsed(data);
  const request = written.MSS_SignatureReq;
  const caller = member(request, 'AP_Info');
  const record = recordIn(parsed(progress));
  const attempt = count(member(record, 'attempt'), 1);
  const submittedAt = time(timestamp);
  const about = {
    msspTransId,
    apId: text(member(caller, 'AP_ID')),
    apTransId: text(member(caller, 'AP_TransID')),
    msisdn: toDigits(text(member(member(request, 'MobileUser'), 'MSISDN'))),
    profile: profileIn(text(member(request, 'SignatureProfile'))),
    submittedAt,
  };
  const endedAt = time(finishedOn);
  if (endedAt === 0) {
    // The recorded attempt has ended, and the transaction waits for the next one.
    const again = count(endedRuns, 0) >= attempt;
    const pending = !again && member(record, 'state') === 'pending';
    return {
      ...about,
      state: pending ? 'pending' : 'submitted',
      attempt: again ? attempt + 1 : attempt,
    };
  }
  if (typeof failedReason === 'string') {
    const { code, detail } = parseFaultLine(failedReason) ?? fault(900);
    const begun = begunAt(record, attempt) || (attempt === 1 ? submittedAt : 0);
    return {
      ...about,
      state: 'failed',
      fault: { code, reason: faultTable[code].reason, detail },
      attempt,
      endedAt,
      ...tookOf(begun, endedAt),
    };
  }
  const end = parsed(returnValue);
  const lastAttempt = count(end.attempt, attempt);
  return {
    ...about,
    state: end.state === 'receipted' ? 'receipted' : 'signed',
    attempt: lastAttempt,
    endedAt,
    ...tookOf(begunAt(end, lastAttempt) || submittedAt, endedAt),
  };
};
