/**
 * What a list is narrowed by. A filter is asked twice: of the facts, to find candidates quickly, and of the row that was
 * read from the job, which decides, since the index may be a moment behind and keeps hashes and shortened names.
 */
import type { SignatureState } from '../../machines/signature.machine.ts';
import type { ProfileName } from '../protocol/requests.ts';
import {
  apHashOf,
  apTransIdWidth,
  type Facts,
  isFailedCode,
  mostAttempts,
  msisdnNumberOf,
  namesWidth,
  profileCodeOf,
  stateCodeOf,
} from './packed-row.ts';
import type { TransactionRow } from './row.ts';

/** Each member narrows; of a list, any entry will do. */
export interface HistoryFilter {
  readonly states?: readonly SignatureState[];
  /** Codes: 401. Only failed transactions have one. */
  readonly faults?: readonly number[];
  readonly apId?: string;
  /** With or without the plus sign. */
  readonly msisdn?: string;
  readonly profile?: ProfileName;
  /** Replays add one each. */
  readonly attemptsAtLeast?: number;
  readonly attemptsAtMost?: number;
  /** Submitted at or after, milliseconds since the epoch. */
  readonly from?: number;
  /** Submitted before. */
  readonly to?: number;
  /** A part of the AP_TransID (of its first 44 bytes) or of the MSSP_TransID; case counts. Empty is none. */
  readonly text?: string;
}

export interface Retention {
  readonly signedMs: number;
  readonly failedMs: number;
}

const digits = (msisdn: string): string => (msisdn.startsWith('+') ? msisdn.slice(1) : msisdn);

/** Which rows of a chunk may match. */
export type FactsTest = (facts: Facts, row: number) => boolean;

/** Whether a transaction's status can no longer be asked for, so that it is not listed either. */
export const isOver = (endedAt: number, failed: boolean, retention: Retention, now: number): boolean =>
  endedAt > 0 && now - endedAt >= (failed ? retention.failedMs : retention.signedMs);

/** Everything but the text. */
export const factsTest = (filter: HistoryFilter, retention: Retention, now: number): FactsTest => {
  const { from, to, attemptsAtLeast, attemptsAtMost } = filter;
  const states = filter.states === undefined ? undefined : new Set(filter.states.map(stateCodeOf));
  const faults = filter.faults === undefined ? undefined : new Set(filter.faults);
  const ap = filter.apId === undefined ? undefined : apHashOf(filter.apId);
  const msisdn = filter.msisdn === undefined ? undefined : msisdnNumberOf(digits(filter.msisdn));
  const profile = filter.profile === undefined ? undefined : profileCodeOf(filter.profile);
  return (facts, row) => {
    const state = facts.stateCode(row);
    if (state === 0) return false;
    if (states !== undefined && !states.has(state)) return false;
    if (faults !== undefined && !faults.has(facts.fault(row))) return false;
    if (ap !== undefined && facts.ap(row) !== ap) return false;
    if (msisdn !== undefined && facts.msisdn(row) !== msisdn) return false;
    if (profile !== undefined && facts.profileCode(row) !== profile) return false;
    if (attemptsAtLeast !== undefined && facts.attempt(row) < Math.min(attemptsAtLeast, mostAttempts))
      return false;
    if (attemptsAtMost !== undefined && facts.attempt(row) > attemptsAtMost) return false;
    if (from !== undefined && facts.submittedAt(row) < from) return false;
    if (to !== undefined && facts.submittedAt(row) >= to) return false;
    return !isOver(facts.endedAt(row), isFailedCode(state), retention, now);
  };
};

export const matches = (
  filter: HistoryFilter,
  row: TransactionRow,
  retention: Retention,
  now: number,
): boolean => {
  const { states, faults, apId, msisdn, profile, attemptsAtLeast, attemptsAtMost, from, to, text } = filter;
  if (states !== undefined && !states.includes(row.state)) return false;
  if (faults !== undefined && (row.fault === undefined || !faults.includes(row.fault.code))) return false;
  if (apId !== undefined && row.apId !== apId) return false;
  if (msisdn !== undefined && row.msisdn !== digits(msisdn)) return false;
  if (profile !== undefined && row.profile !== profile) return false;
  if (attemptsAtLeast !== undefined && row.attempt < attemptsAtLeast) return false;
  if (attemptsAtMost !== undefined && row.attempt > attemptsAtMost) return false;
  if (from !== undefined && row.submittedAt < from) return false;
  if (to !== undefined && row.submittedAt >= to) return false;
  if (text && !row.apTransId.includes(text) && !row.msspTransId.includes(text)) return false;
  return !isOver(row.endedAt ?? 0, row.state === 'failed', retention, now);
};

/** What to look for in the names: of a text longer than they are, as much as they hold. */
export const needleOf = ({ text }: HistoryFilter): Buffer | undefined =>
  text ? Buffer.from(text).subarray(0, apTransIdWidth) : undefined;

/** @returns The rows whose names hold these bytes, and perhaps some more, in order. */
export const rowsWith = (names: Buffer, needle: Buffer): readonly number[] => {
  const rows: number[] = [];
  for (let found = names.indexOf(needle); found !== -1; ) {
    const row = Math.floor(found / namesWidth);
    rows.push(row);
    found = names.indexOf(needle, (row + 1) * namesWidth);
  }
  return rows;
};

/** @returns The rows of a chunk that may match, in order. */
export const rowsLike = (facts: Facts, test: FactsTest, among: readonly number[] | undefined): number[] => {
  if (among !== undefined) return among.filter((row) => row < facts.count && test(facts, row));
  const rows: number[] = [];
  for (let row = 0; row < facts.count; row += 1) if (test(facts, row)) rows.push(row);
  return rows;
};
