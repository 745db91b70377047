/**
 * Transactions in bytes (layout.ts): the form in which they are kept and searched.
 *
 * A row has two parts of fixed width. The facts are the numbers that filters compare. The names, a
 * job id and an AP_TransID, are searched for a text. Both only serve to find: what is shown is read
 * from the job, so an AP's hash may collide and a long AP_TransID may be cut.
 *
 * State 0 means: no row. A change of this, also a use of a free byte, needs a new `layout`: an index
 * of another layout is not read, and a new one is built. The release that raises it also removes the
 * earlier one. A script packs the same bytes (index-submitted.ts).
 */
import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import type { SignatureState } from '../../../machines/signature.machine.ts';
import type { ProfileName } from '../../../packages/protocol/src/requests.ts';
import { fact, packRow, type RowLayout } from './layout.ts';
import type { TransactionRow } from './row.ts';

export const layout = 2;
export const factsWidth = 40;
export const namesWidth = 80;
/** Bytes of a job id: 20 of an MSSP_TransID, or 36 of a UUID that another program has used. */
export const idWidth = 36;
/** Bytes (UTF-8) of an AP_TransID that are searched. */
export const apTransIdWidth = namesWidth - idWidth;

export const transactionStates = ['submitted', 'pending', 'signed', 'failed', 'receipted'] as const;
export const stateCodes: Readonly<Record<SignatureState, number>> = {
  submitted: 1,
  pending: 2,
  signed: 3,
  failed: 4,
  receipted: 5,
};

export const profileCodes: Readonly<Record<ProfileName, number>> = {
  'Any-LoA4': 1,
  'MID/v1/AuthProfile1': 2,
  'STK-LoA4': 3,
  'Device-LoA4': 4,
  'MID/v1/AuthProfile1.ECC': 5,
  'MID/v1/AuthProfile1.RSA': 6,
  'Any-Geofencing-LoA4': 7,
  'MID/v1/OtpProfileFlash': 8,
  'MID/v1/OtpProfileText': 9,
};

/** A hash of an AP_ID, 32 bits. It uses SHA-1, because scripts in Redis have it as well. */
const hashApId = (apId: string): number => Number.parseInt(hash('sha1', apId).slice(0, 8), 16);

/**
 * An MSISDN as a number; 0 for any other text. A double holds fifteen digits exactly, the maximum
 * of E.164.
 */
const msisdnNumber = (msisdn: string): number => (/^\d{1,15}$/.test(msisdn) ? Number(msisdn) : 0);

/** Bytes 5 to 7 are free. Times and the MSISDN are doubles. */
export const transactionFacts = {
  state: fact(({ state }: TransactionRow) => state, {
    at: 0,
    kind: 'u8',
    code: (state) => stateCodes[state],
    submitted: String(stateCodes.submitted),
  }),
  attempt: fact(({ attempt }: TransactionRow) => attempt, {
    at: 1,
    kind: 'u8',
    code: (attempt) => attempt,
    submitted: '1',
  }),
  fault: fact((row: TransactionRow) => row.fault?.code, {
    at: 2,
    kind: 'u16',
    code: (code = 0) => code,
    submitted: '0',
  }),
  profile: fact(({ profile }: TransactionRow) => profile, {
    at: 4,
    kind: 'u8',
    code: (profile) => (profile === undefined ? 0 : profileCodes[profile]),
    submitted: 'profileCode(profile)',
  }),
  submittedAt: fact(({ submittedAt }: TransactionRow) => submittedAt, {
    at: 8,
    kind: 'f64',
    code: (time) => time,
    submitted: 'time',
  }),
  /** 0 while it is open. */
  endedAt: fact(({ endedAt }: TransactionRow) => endedAt, {
    at: 16,
    kind: 'f64',
    code: (time = 0) => time,
    submitted: '0',
  }),
  msisdn: fact(({ msisdn }: TransactionRow) => msisdn, {
    at: 24,
    kind: 'f64',
    code: msisdnNumber,
    submitted: 'tonumber(digits)',
  }),
  apId: fact(({ apId }: TransactionRow) => apId, {
    at: 32,
    kind: 'u32',
    code: hashApId,
    submitted: 'tonumber(string.sub(redis.sha1hex(apId), 1, 8), 16)',
  }),
  /** At least 1; 0 when it is unknown. */
  tookMs: fact(({ tookMs }: TransactionRow) => tookMs, {
    at: 36,
    kind: 'u32',
    code: (ms) => (ms === undefined ? 0 : Math.max(ms, 1)),
    submitted: '0',
  }),
};

/** Whether an id fits into the names of a row: not too long, and without a zero byte. */
export const isKeptId = (id: string): boolean =>
  Buffer.byteLength(id) <= idWidth && !id.includes('\0');

/**
 * @param id See {@link isKeptId}.
 * @param bytes The target, which has zeros from `from` on.
 */
export const packNames = (id: string, apTransId: string, bytes: Buffer, from: number): void => {
  bytes.write(id, from);
  // `write` would leave out a character that does not fit, and a search for its bytes would fail.
  Buffer.from(apTransId).copy(bytes, from + idWidth, 0, apTransIdWidth);
};

/** The content of the index for a transaction. `row` is undefined when the job is gone. */
export interface Entry {
  readonly id: string;
  readonly row: TransactionRow | undefined;
}

/** Facts and names of each entry in turn. The facts of a job that is gone are zeros. */
export const packEntries = (entries: readonly Entry[]): Buffer => {
  const width = factsWidth + namesWidth;
  const bytes = Buffer.alloc(entries.length * width);
  for (const [index, { id, row }] of entries.entries()) {
    if (row !== undefined) packRow(transactionFacts, row, bytes, index * width);
    packNames(id, row?.apTransId ?? '', bytes, index * width + factsWidth);
  }
  return bytes;
};

export const transactionLayout: RowLayout = {
  factsWidth,
  namesWidth,
  idWidth,
  state: transactionFacts.state,
  begunAt: transactionFacts.submittedAt,
  endedAt: transactionFacts.endedAt,
};
