/**
 * Filters of lists. A filter is applied twice: to the facts in the index, to find candidates
 * quickly, and to the row from the job, which decides. The index may be a moment behind, and it
 * keeps hashes and shortened names.
 */
import type { SignatureState } from '../../../machines/signature.machine.ts';
import type { ProfileName } from '../../../packages/protocol/src/requests.ts';
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

/** All members must match; of a list, one entry must match. */
export interface HistoryFilter {
  readonly states?: readonly SignatureState[] | undefined;
  /** Fault codes, such as 401. Only failed transactions have one. */
  readonly faults?: readonly number[] | undefined;
  readonly apId?: string | undefined;
  /** A phone number, with or without the plus sign. */
  readonly msisdn?: string | undefined;
  readonly profile?: ProfileName | undefined;
  readonly attemptsAtMost?: number | undefined;
  /** Submitted at or after, milliseconds since the epoch. */
  readonly from?: number | undefined;
  /** Submitted before, milliseconds since the epoch. */
  readonly to?: number | undefined;
  /**
   * A part of the MSSP_TransID, or of the first 44 bytes of the AP_TransID; case-sensitive. An
   * empty text does not filter.
   */
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
 * @returns `mayMatch`: whether a row of a chunk may match, apart from the text; `matches`: whether
 *   a transaction matches.
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
  // If a member were not compared here, too much would be found, and replayed.
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

  /** Compares the facts, and the members themselves where facts are shortened or hashed. */
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

/** The bytes to look for in the names: the text, cut to the length that names have. */
export const toNeedle = ({ text }: HistoryFilter): Buffer | undefined =>
  text ? Buffer.from(text).subarray(0, apTransIdWidth) : undefined;

/** @returns The rows of a chunk that may match, in order. Some may not match. */
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
