/** What is written for one transaction, and how the counters of a minute are named. */
import { Buffer } from 'node:buffer';
import { packFacts, packNames } from './packed-row.ts';
import type { TransactionRow } from './row.ts';

export const minuteMs = 60_000;
/** The console looks back a day; one more hour, so that the day is whole whatever the clock says. */
export const countedMs = 25 * 3_600_000;

export const minuteOf = (time: number): number => Math.floor(time / minuteMs);

/** Eight to a doubling: a percentile is within five per cent. */
export const bucketsInDoubling = 8;
/** The middle of a bucket, milliseconds. */
export const bucketMs = (bucket: number): number => 2 ** ((bucket + 0.5) / bucketsInDoubling);

/** Two arguments of the writing script (index-store.ts): the id, and facts and names in one; empty when the job is gone. */
export type EntryArguments = readonly [id: string, packed: Buffer | ''];

/** @returns Undefined for a job whose id is too long to be kept. */
export const entryOf = (id: string, row: TransactionRow | undefined): EntryArguments | undefined => {
  if (row === undefined) return [id, ''];
  const names = packNames(row);
  return names && [id, Buffer.concat([packFacts(row), names])];
};
