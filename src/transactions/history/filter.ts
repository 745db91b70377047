/**
 * The filter of transactions: a table of fields (fields.ts), applied twice. The facts in the index
 * find candidates quickly, and the row from the job decides. The index may be a moment behind, and
 * it keeps hashes and shortened names.
 */
import { Buffer } from 'node:buffer';
import { faultCodes, faultTable } from '../../../packages/protocol/src/fault.ts';
import { profileNames } from '../../../packages/protocol/src/requests.ts';
import {
  atMost,
  between,
  choiceOf,
  type FilterOf,
  numberOf,
  oneOf,
  partOf,
  readWanted,
  textOf,
} from './fields.ts';
import type { Facts } from './layout.ts';
import {
  apTransIdWidth,
  factsWidth,
  stateCodes,
  transactionFacts,
  transactionStates,
} from './packed-row.ts';
import { profileIn, type TransactionRow } from './row.ts';

const openStates = ['submitted', 'pending'] as const;

/** In the order of the page. */
export const transactionFields = {
  state: oneOf(transactionFacts.state, transactionStates, {
    label: 'State',
    about: `The state of the transaction; \`open\` stands for ${openStates.join(' and ')}.`,
    option: ['--state <states>', 'in one of these: pending,failed; open for any not ended'],
    must: `must be one of open, ${transactionStates.join(', ')}`,
    choices: [['open', 'open (submitted or pending)'], ...transactionStates],
    groups: { open: openStates },
  }),
  fault: oneOf(transactionFacts.fault, faultCodes, {
    label: 'Fault',
    about: 'The fault of a failed transaction, by its code, such as `401`.',
    option: ['--fault <codes>', 'failed with one of these: 208,209'],
    must: 'must be a code of the interface, such as 401',
    choices: faultCodes.map((code) => [String(code), `${code} ${faultTable[code].reason}`]),
    written: (code) => (typeof code === 'string' ? Number(code.replace(/^_/, '') || 'x') : code),
  }),
  apId: textOf(transactionFacts.apId, {
    label: 'Application',
    about: 'The AP_ID of the application.',
    option: ['--ap <id>', 'of this AP_ID'],
  }),
  msisdn: numberOf(transactionFacts.msisdn, {
    label: 'Number',
    about: 'The phone number of the person.',
    option: ['--msisdn <number>', 'of this mobile number'],
  }),
  text: partOf(({ apTransId, msspTransId }: TransactionRow) => [apTransId, msspTransId], {
    label: 'Part of an id',
    about: 'A part of the MSSP_TransID, or of the first 44 bytes of the AP_TransID.',
    option: ['--text <text>', 'a part of the AP_TransID or MSSP_TransID'],
  }),
  profile: choiceOf(transactionFacts.profile, profileNames, {
    label: 'Profile',
    about: 'The profile that the request asked for: its name, or a URI that ends in it.',
    option: ['--profile <name>', 'that asked for this profile'],
    more: 'profile',
    written: (profile) => (typeof profile === 'string' ? (profileIn(profile) ?? profile) : profile),
  }),
  attemptsAtMost: atMost(transactionFacts.attempt, 999, {
    label: 'Attempts at most',
    about: 'How often it was attempted, at most.',
    more: 'attempts',
  }),
  ...between(transactionFacts.submittedAt, {
    label: 'Submitted',
    about: 'Submitted',
    options: ['submitted then or later; ISO 8601, or 2h ago', 'submitted before'],
    more: 'time',
  }),
};

/** All members must match; of a list, one entry must match. An empty `text` does not filter. */
export type HistoryFilter = FilterOf<typeof transactionFields>;

export interface Retention {
  readonly signedMs: number;
  readonly failedMs: number;
}

const isEndOver = (
  endedAt: number,
  failed: boolean,
  { signedMs, failedMs }: Retention,
  now: number,
): boolean => endedAt > 0 && now - endedAt >= (failed ? failedMs : signedMs);

/** Whether the retention of a row is over: its status cannot be asked for, so it is not listed. */
export const isOver = (facts: Facts, row: number, retention: Retention, now: number): boolean => {
  const failed = facts.read(transactionFacts.state, row) === stateCodes.failed;
  return isEndOver(facts.read(transactionFacts.endedAt, row), failed, retention, now);
};

/**
 * @returns `mayMatch`: whether a row of a chunk may match, apart from the text; `isPacked`: whether
 *   such a row does; `matches`: whether a transaction matches.
 */
export const createMatcher = (filter: HistoryFilter, retention: Retention, now: number) => {
  const { mayMatch, matches, isPacked } = readWanted(transactionFields, filter);
  return {
    isPacked,
    mayMatch: (facts: Facts, row: number): boolean => {
      if (facts.read(transactionFacts.state, row) === 0) return false;
      return mayMatch(facts.bytes, row * factsWidth) && !isOver(facts, row, retention, now);
    },
    matches: (row: TransactionRow): boolean =>
      matches(row) && !isEndOver(row.endedAt ?? 0, row.state === 'failed', retention, now),
  };
};

/** The bytes to look for in the names: the text, cut to the length that names have. */
export const toNeedle = ({ text }: HistoryFilter): Buffer | undefined =>
  text ? Buffer.from(text).subarray(0, apTransIdWidth) : undefined;
