/** What is written for one transaction, and how the counters of a minute are named. */
import { Buffer } from 'node:buffer';
import { factsWidth, namesWidth, packFacts, packNames } from './packed-row.ts';
import type { TransactionRow } from './row.ts';

export const minuteMs = 60_000;
/** The console looks back a day; one more hour, so that the day is whole whatever the clock says. */
export const countedMs = 25 * 3_600_000;

export const minuteOf = (time: number): number => Math.floor(time / minuteMs);

/** Eight to a doubling: a percentile is within five per cent. */
export const bucketsInDoubling = 8;
/** The middle of a bucket, milliseconds. */
export const bucketMs = (bucket: number): number => 2 ** ((bucket + 0.5) / bucketsInDoubling);

/** What the index is to hold of a transaction; without facts and names when the job is gone. */
export interface Entry {
  readonly id: string;
  readonly row: TransactionRow | undefined;
}

const entryWidth = factsWidth + namesWidth;

/**
 * Entries as the writing script reads them (index-store.ts): facts and names of each, one behind the other. Of a job that is
 * gone there is its id, and the facts are empty.
 */
export const packEntries = (entries: readonly Entry[]): Buffer => {
  const bytes = Buffer.alloc(entries.length * entryWidth);
  entries.forEach(({ id, row }, index) => {
    const at = index * entryWidth;
    if (row !== undefined) packFacts(row, bytes, at);
    packNames(id, row?.apTransId ?? '', bytes, at + factsWidth);
  });
  return bytes;
};
