/**
 * What a list is narrowed by. A filter is asked twice: of the facts in the index, to find
 * candidates quickly, and of the row from the job, which decides. The index may be a moment behind,
 * and it keeps hashes and shortened names.
 */
import type { SignatureState } from '../../machines/signature.machine.ts';
import type { ProfileName } from '../protocol/requests.ts';
import {
  apTransIdWidth,
  type Facts,
  factsWidth,
  hashApId,
  msisdnNumber,
  namesWidth,
  packFacts,
  profileCodes,
  readFacts,
  stateCodes,
} from './packed-row.ts';
import type { TransactionRow } from './row.ts';

/** Each member narrows; of a list, one entry has to match. */
export interface HistoryFilter {
  readonly states?: readonly SignatureState[] | undefined;
  /** Codes: 401. Only failed transactions have one. */
  readonly faults?: readonly number[] | undefined;
  readonly apId?: string | undefined;
  /** With or without the plus sign. */
  readonly msisdn?: string | undefined;
  readonly profile?: ProfileName | undefined;
  readonly attemptsAtMost?: number | undefined;
  /** Submitted at or after, milliseconds since the epoch. */
  readonly from?: number | undefined;
  /** Submitted before. */
  readonly to?: number | undefined;
  /** Part of the MSSP_TransID or AP_TransID (its first 44 bytes); case counts. Empty is none. */
  readonly text?: string | undefined;
}

export interface Retention {
  readonly signedMs: number;
  readonly failedMs: number;
}

/** Whether the retention of a row is over: its status cannot be asked for, so it is not listed. */
export const isOver = (
  facts: Facts,
  row: number,
  { signedMs, failedMs }: Retention,
  now: number,
): boolean => {
  const endedAt = facts.endedAt(row);
  const keptMs = facts.stateCode(row) === stateCodes.failed ? failedMs : signedMs;
  return endedAt > 0 && now - endedAt >= keptMs;
};

/**
 * @returns `mayMatch`: whether a row of a chunk may match, looking at everything but the text;
 *   `matches`: whether a transaction does.
 */
export const createMatcher = (filter: HistoryFilter, retention: Retention, now: number) => {
  const {
    states: ofStates,
    faults: ofFaults,
    apId,
    msisdn: number,
    profile: ofProfile,
    attemptsAtMost = Number.POSITIVE_INFINITY,
    from = 0,
    to = Number.POSITIVE_INFINITY,
    text = '',
    ...ignored
  } = filter;
  // A member that is not compared here would find too much, and replay it.
  ignored satisfies Record<string, never>;
  const states = ofStates && new Set(ofStates.map((state) => stateCodes[state]));
  const faults = ofFaults && new Set(ofFaults);
  const ap = apId === undefined ? undefined : hashApId(apId);
  const digits = number?.replace(/^\+/, '');
  const msisdn = digits === undefined ? undefined : msisdnNumber(digits);
  const profile = ofProfile && profileCodes[ofProfile];

  const mayMatch = (facts: Facts, row: number): boolean => {
    const state = facts.stateCode(row);
    if (state === 0) return false;
    if (states !== undefined && !states.has(state)) return false;
    if (faults !== undefined && !faults.has(facts.fault(row))) return false;
    if (ap !== undefined && facts.ap(row) !== ap) return false;
    if (msisdn !== undefined && facts.msisdn(row) !== msisdn) return false;
    if (profile !== undefined && facts.profileCode(row) !== profile) return false;
    if (facts.attempt(row) > attemptsAtMost) return false;
    const submittedAt = facts.submittedAt(row);
    return submittedAt >= from && submittedAt < to && !isOver(facts, row, retention, now);
  };

  /** Facts decide, except for what they shorten or hash. */
  const matches = (row: TransactionRow): boolean => {
    const facts = Buffer.alloc(factsWidth);
    packFacts(row, facts);
    if (!mayMatch(readFacts(facts), 0) || row.attempt > attemptsAtMost) return false;
    if (apId !== undefined && row.apId !== apId) return false;
    if (digits !== undefined && row.msisdn !== digits) return false;
    return row.apTransId.includes(text) || row.msspTransId.includes(text);
  };

  return { mayMatch, matches };
};

/** What to look for in the names: of a text longer than they are, as much as they hold. */
export const toNeedle = ({ text }: HistoryFilter): Buffer | undefined =>
  text ? Buffer.from(text).subarray(0, apTransIdWidth) : undefined;

/** @returns The rows of a chunk that may match, in order; perhaps some too many. */
export const findRows = (
  facts: Facts,
  names: Buffer,
  needle: Buffer | undefined,
  mayMatch: (facts: Facts, row: number) => boolean,
): readonly number[] => {
  const rows: number[] = [];
  for (let row = 0; row < facts.count; row += 1) {
    if (needle !== undefined) {
      const found = names.indexOf(needle, row * namesWidth);
      if (found === -1) break;
      row = Math.floor(found / namesWidth);
    }
    if (row < facts.count && mayMatch(facts, row)) rows.push(row);
  }
  return rows;
};
