/**
 * Rows in bytes: the form in which they are kept and gone through.
 *
 * A row has two parts of fixed width. The facts are what filters compare, numbers only; a page goes through those of
 * thousands of transactions in a millisecond. The names are what a text is looked for in. Both only help to find: what is
 * shown is read from the job, so an AP's hash may collide and a long AP_TransID may be cut.
 *
 *     facts   0 state   1 attempt   2 fault (16 bits)   4 profile   5 nothing   8 submittedAt   16 endedAt   24 MSISDN
 *             32 hash of the AP_ID (32 bits)   36 tookMs (32 bits; at least 1, 0 is none)
 *     names   0 job id   36 AP_TransID
 *
 * Little-endian; times and the MSISDN are doubles. A row of state 0 is none. Whoever changes this changes `layout`: an
 * index of another layout is not read, and is built anew.
 */
import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import type { SignatureState } from '../../machines/signature.machine.ts';
import type { ProfileName } from '../protocol/requests.ts';
import type { TransactionRow } from './row.ts';

export const layout = 2;
export const rowsInChunk = 1000;
export const factsWidth = 40;
export const namesWidth = 80;
/** MSSP_TransIDs have 20; a job that was added under a UUID has failed, and is found too. */
export const idWidth = 36;
/** So much of an AP_TransID is searched, in bytes of UTF-8. */
export const apTransIdWidth = namesWidth - idWidth;

const stateCodes: Record<SignatureState, number> = {
  submitted: 1,
  pending: 2,
  signed: 3,
  failed: 4,
  receipted: 5,
};
export const stateCodeOf = (state: SignatureState): number => stateCodes[state];
export const isOpenCode = (code: number): boolean =>
  code === stateCodes.submitted || code === stateCodes.pending;
export const isFailedCode = (code: number): boolean => code === stateCodes.failed;

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
export const profileCodeOf = (profile: ProfileName | undefined): number =>
  profile === undefined ? 0 : profileCodes[profile];

/** APs are few, and each is hashed at every one of its transactions. By SHA-1, which scripts in Redis have as well. */
const hashes = new Map<string, number>();
const mostHashes = 10_000;
export const apHashOf = (apId: string): number => {
  const known = hashes.get(apId);
  if (known !== undefined) return known;
  const made = Number.parseInt(hash('sha1', apId).slice(0, 8), 16);
  if (hashes.size >= mostHashes) hashes.clear();
  hashes.set(apId, made);
  return made;
};

/** Fifteen digits at most (E.164), which a double holds exactly. Anything else counts as none, 0. */
export const msisdnNumberOf = (msisdn: string): number => (/^\d{1,15}$/.test(msisdn) ? Number(msisdn) : 0);

const at = {
  state: 0,
  attempt: 1,
  fault: 2,
  profile: 4,
  submittedAt: 8,
  endedAt: 16,
  msisdn: 24,
  ap: 32,
  tookMs: 36,
} as const;
/** What a byte holds: more are counted as so many. */
export const mostAttempts = 255;
const most32 = 0xff_ff_ff_ff;

/** @param bytes Zeros, from `from` on. */
export const packFacts = (row: TransactionRow, bytes: Buffer, from: number): void => {
  bytes[from + at.state] = stateCodeOf(row.state);
  bytes[from + at.attempt] = Math.min(row.attempt, mostAttempts);
  bytes.writeUInt16LE(row.fault?.code ?? 0, from + at.fault);
  bytes[from + at.profile] = profileCodeOf(row.profile);
  bytes.writeDoubleLE(row.submittedAt, from + at.submittedAt);
  bytes.writeDoubleLE(row.endedAt ?? 0, from + at.endedAt);
  bytes.writeDoubleLE(msisdnNumberOf(row.msisdn), from + at.msisdn);
  bytes.writeUInt32LE(apHashOf(row.apId), from + at.ap);
  const { tookMs } = row;
  if (tookMs !== undefined) bytes.writeUInt32LE(Math.min(Math.max(tookMs, 1), most32), from + at.tookMs);
};

/** Other ids are not kept: they are too long, or hold the byte that ends a shorter one. */
export const isKeptId = (id: string): boolean =>
  id.length <= idWidth && Buffer.byteLength(id) <= idWidth && !id.includes('\0');

/**
 * @param id See {@link isKeptId}.
 * @param bytes Zeros, from `from` on.
 */
export const packNames = (id: string, apTransId: string, bytes: Buffer, from: number): void => {
  bytes.write(id, from);
  // Not `write`, which leaves out a character that does not fit: a search for these very bytes would miss it.
  Buffer.from(apTransId).copy(bytes, from + idWidth, 0, apTransIdWidth);
};

/** The facts of many rows, one behind the other, read where they lie. */
export interface Facts {
  readonly count: number;
  stateCode(row: number): number;
  /** At most 255; more are written as so many. */
  attempt(row: number): number;
  fault(row: number): number;
  profileCode(row: number): number;
  submittedAt(row: number): number;
  /** 0 while it is open. */
  endedAt(row: number): number;
  msisdn(row: number): number;
  ap(row: number): number;
  /** The row's own bytes. */
  bytes(row: number): Buffer;
}

export const factsIn = (bytes: Buffer): Facts => ({
  count: Math.floor(bytes.length / factsWidth),
  stateCode: (row) => bytes[row * factsWidth + at.state] ?? 0,
  attempt: (row) => bytes[row * factsWidth + at.attempt] ?? 0,
  fault: (row) => bytes.readUInt16LE(row * factsWidth + at.fault),
  profileCode: (row) => bytes[row * factsWidth + at.profile] ?? 0,
  submittedAt: (row) => bytes.readDoubleLE(row * factsWidth + at.submittedAt),
  endedAt: (row) => bytes.readDoubleLE(row * factsWidth + at.endedAt),
  msisdn: (row) => bytes.readDoubleLE(row * factsWidth + at.msisdn),
  ap: (row) => bytes.readUInt32LE(row * factsWidth + at.ap),
  bytes: (row) => bytes.subarray(row * factsWidth, (row + 1) * factsWidth),
});

/** @returns The job id in a row of names; empty for a row that is none. */
export const idIn = (names: Buffer): string => {
  const end = names.indexOf(0);
  return names.toString('utf8', 0, end === -1 ? idWidth : Math.min(end, idWidth));
};
