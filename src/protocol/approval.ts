/**
 * A transaction approval: a title and pairs of key and value, which an App shows as rows.
 *
 * What is signed is the array of pairs alone, as JSON text. So a pair may hold nothing that is not shown: a third
 * member would be signed without having been seen, and is refused, although elsewhere unknown members are ignored.
 */
import { Buffer } from 'node:buffer';
import { z } from 'zod';
import { readJsonObject } from './json.ts';
import type { Objection } from './objections.ts';

export const approvalMimeType = 'application/vnd.mobileid.txn-approval';

/** Rows that an App shows under a title; the rows are signed, the title is not. */
export interface Approval {
  readonly title: string;
  readonly rows: readonly { readonly key: string; readonly value: string }[];
}

const pairsOf = ({ rows }: Approval) => rows.map(({ key, value }) => ({ key, value }));

/** What is signed of an approval. */
export const writeDtbd = (approval: Approval): string => JSON.stringify(pairsOf(approval));

/** The Data of an approval. */
export const writeApproval = (approval: Approval): string =>
  JSON.stringify({ format_version: 1, type: approval.title, dtbd: pairsOf(approval) });

const greatestTitleBytes = 100;
const greatestPairs = 20;
const greatestKeyBytes = 100;
const greatestValuesBytes = 2000;

const approvalSchema = z.object({
  type: z.string().min(1),
  dtbd: z.array(z.strictObject({ key: z.string().min(1), value: z.string() })).min(1),
});

const tooLong = (words: string): Objection => ({ code: 103, words });

const objectionToSize = ({ type, dtbd }: z.infer<typeof approvalSchema>): Objection | undefined => {
  if (Buffer.byteLength(type) > greatestTitleBytes) {
    return tooLong(`may have a type of ${greatestTitleBytes} bytes at most`);
  }
  if (dtbd.length > greatestPairs) return tooLong(`may have ${greatestPairs} pairs at most`);
  if (dtbd.some(({ key }) => Buffer.byteLength(key) > greatestKeyBytes)) {
    return tooLong(`may have keys of ${greatestKeyBytes} bytes at most`);
  }
  return dtbd.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0) > greatestValuesBytes
    ? tooLong(`may have values of ${greatestValuesBytes} bytes in sum at most`)
    : undefined;
};

/**
 * Reads the Data of an approval: fault 101 for what is no approval, 103 for one that is too large.
 *
 * @returns `dtbd` is the array of pairs as compact JSON, members in the order in which they came.
 */
export const readApproval = (
  data: string,
): { readonly title: string; readonly dtbd: string } | { readonly objection: Objection } => {
  const read = readJsonObject(data);
  if ('problem' in read) return { objection: { code: 101, words: read.problem } };
  const { success, data: content } = approvalSchema.safeParse(read.object);
  if (!success) {
    return {
      objection: { code: 101, words: 'must be JSON text with type and dtbd, an array of key and value' },
    };
  }
  const objection = objectionToSize(content);
  if (objection !== undefined) return { objection };
  // The schema writes members in its own order, so what is signed comes from what was read.
  const { dtbd } = read.object as { readonly dtbd: unknown };
  return { title: content.type, dtbd: JSON.stringify(dtbd) };
};
