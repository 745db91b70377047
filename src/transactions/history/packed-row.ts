/**
 * Rows in bytes: the form in which they are kept and searched.
 *
 * A row has two parts of fixed width. The facts are the numbers that filters compare. The names are
 * searched for a text. Both only serve to find: what is shown is read from the job, so an AP's hash
 * may collide and a long AP_TransID may be cut.
 *
 *     facts   0 state   1 attempt   2 fault (16 bits)   4 profile   5 nothing   8 submittedAt
 *             16 endedAt   24 MSISDN   32 hash of the AP_ID (32 bits)
 *             36 tookMs (32 bits; at least 1, 0 is none)
 *     names   0 job id   36 AP_TransID
 *
 * Little-endian; times and the MSISDN are doubles. State 0 means: no row. A change of this, also a
 * use of the free byte, needs a new `layout`: an index of another layout is not read, and a new one
 * is built. The release that raises it also removes the earlier one. A script packs the same bytes
 * (index-submitted.ts).
 */
import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import type { SignatureState } from '../../../machines/signature.machine.ts';
import type { ProfileName } from '../../../packages/protocol/src/requests.ts';
import type { TransactionRow } from './row.ts';

export const layout = 2;
export const rowsInChunk = 1000;
export const factsWidth = 40;
export const namesWidth = 80;
/** Bytes of a job id: 20 of an MSSP_TransID, or 36 of a UUID that another program has used. */
export const idWidth = 36;
/** Bytes (UTF-8) of an AP_TransID that are searched. */
export const apTransIdWidth = namesWidth - idWidth;

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
export const hashApId = (apId: string): number =>
  Number.parseInt(hash('sha1', apId).slice(0, 8), 16);

/**
 * An MSISDN as a number; 0 for any other text. A double holds fifteen digits exactly, the maximum
 * of E.164.
 */
export const msisdnNumber = (msisdn: string): number =>
  /^\d{1,15}$/.test(msisdn) ? Number(msisdn) : 0;

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
const maxAttempt = 255;
const max32 = 0xff_ff_ff_ff;

/** @param bytes The target, which has zeros from `from` on. */
export const packFacts = (row: TransactionRow, bytes: Buffer, from = 0): void => {
  const { tookMs } = row;
  bytes[from + at.state] = stateCodes[row.state];
  bytes[from + at.attempt] = Math.min(row.attempt, maxAttempt);
  bytes.writeUInt16LE(row.fault?.code ?? 0, from + at.fault);
  bytes[from + at.profile] = row.profile === undefined ? 0 : profileCodes[row.profile];
  bytes.writeDoubleLE(row.submittedAt, from + at.submittedAt);
  bytes.writeDoubleLE(row.endedAt ?? 0, from + at.endedAt);
  bytes.writeDoubleLE(msisdnNumber(row.msisdn), from + at.msisdn);
  bytes.writeUInt32LE(hashApId(row.apId), from + at.ap);
  if (tookMs !== undefined)
    bytes.writeUInt32LE(Math.min(Math.max(tookMs, 1), max32), from + at.tookMs);
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
    if (row !== undefined) packFacts(row, bytes, index * width);
    packNames(id, row?.apTransId ?? '', bytes, index * width + factsWidth);
  }
  return bytes;
};

/** Reads the facts of many rows in place. `attempt` is at most 255; `endedAt` is 0 while open. */
export const readFacts = (bytes: Buffer) => ({
  count: Math.floor(bytes.length / factsWidth),
  stateCode: (row: number): number => bytes[row * factsWidth + at.state] ?? 0,
  attempt: (row: number): number => bytes[row * factsWidth + at.attempt] ?? 0,
  fault: (row: number): number => bytes.readUInt16LE(row * factsWidth + at.fault),
  profileCode: (row: number): number => bytes[row * factsWidth + at.profile] ?? 0,
  submittedAt: (row: number): number => bytes.readDoubleLE(row * factsWidth + at.submittedAt),
  endedAt: (row: number): number => bytes.readDoubleLE(row * factsWidth + at.endedAt),
  msisdn: (row: number): number => bytes.readDoubleLE(row * factsWidth + at.msisdn),
  ap: (row: number): number => bytes.readUInt32LE(row * factsWidth + at.ap),
  bytes: (row: number): Buffer => bytes.subarray(row * factsWidth, (row + 1) * factsWidth),
});

export type Facts = ReturnType<typeof readFacts>;

/** @returns The job id in the names of a row; empty where there is no row. */
export const readId = (names: Buffer, row: number): string => {
  const id = names.subarray(row * namesWidth, row * namesWidth + idWidth);
  const end = id.indexOf(0);
  return id.toString('utf8', 0, end === -1 ? idWidth : end);
};
