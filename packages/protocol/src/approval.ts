/**
 * A transaction approval: a title and pairs of key and value, which an App shows as rows.
 *
 * Only the array of pairs is signed, as JSON text. So a pair with a third member is refused,
 * although unknown members are ignored elsewhere: it would be signed without being shown.
 */
import { Buffer } from 'node:buffer';
import { z } from 'zod';
import { readJsonObject } from './json.ts';
import type { SchemaError } from './schema-errors.ts';
import { hasTags, tagWords } from './tags.ts';

export const approvalMimeType = 'application/vnd.mobileid.txn-approval';

/** Rows that an App shows under a title; the rows are signed, the title is not. */
export interface Approval {
  readonly title: string;
  readonly rows: readonly { readonly key: string; readonly value: string }[];
}

const pairsOf = ({ rows }: Approval) => rows.map(({ key, value }) => ({ key, value }));

/** The signed text of an approval: its pairs as JSON. */
export const writeDtbd = (approval: Approval): string => JSON.stringify(pairsOf(approval));

/** The member `Data` of an approval. */
export const writeApproval = (approval: Approval): string =>
  JSON.stringify({ format_version: 1, type: approval.title, dtbd: pairsOf(approval) });

const maxTitleBytes = 100;
const maxPairs = 20;
const maxKeyBytes = 100;
const maxValuesBytes = 2000;

const approvalSchema = z.object({
  type: z.string().min(1),
  dtbd: z.array(z.strictObject({ key: z.string().min(1), value: z.string() })).min(1),
});

const tooLong = (words: string): SchemaError => ({ code: 103, words });

const findSizeError = ({ type, dtbd }: z.infer<typeof approvalSchema>): SchemaError | undefined => {
  if (Buffer.byteLength(type) > maxTitleBytes) {
    return tooLong(`may have a type of ${maxTitleBytes} bytes at most`);
  }
  if (dtbd.length > maxPairs) return tooLong(`may have ${maxPairs} pairs at most`);
  if (dtbd.some(({ key }) => Buffer.byteLength(key) > maxKeyBytes)) {
    return tooLong(`may have keys of ${maxKeyBytes} bytes at most`);
  }
  return dtbd.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0) > maxValuesBytes
    ? tooLong(`may have values of ${maxValuesBytes} bytes in sum at most`)
    : undefined;
};

/**
 * Reads the member `Data` of an approval: fault 101 for a text that is not an approval, 103 for one
 * that is too large, 107 for one with Unicode tags.
 *
 * @returns `dtbd` is the array of pairs as compact JSON, members in the order in which they came.
 */
export const readApproval = (
  data: string,
): { readonly title: string; readonly dtbd: string } | { readonly error: SchemaError } => {
  const read = readJsonObject(data);
  if ('error' in read) return { error: { code: 101, words: read.error } };
  const { success, data: content } = approvalSchema.safeParse(read.object);
  if (!success) {
    return {
      error: {
        code: 101,
        words: 'must be JSON text with type and dtbd, an array of key and value',
      },
    };
  }
  const error = findSizeError(content);
  if (error !== undefined) return { error };
  const texts = [content.type, ...content.dtbd.flatMap(({ key, value }) => [key, value])];
  if (texts.some(hasTags)) return { error: { code: 107, words: tagWords } };
  // The schema reorders members, so the signed text is made from the text that was read.
  const { dtbd } = read.object as { readonly dtbd: unknown };
  return { title: content.type, dtbd: JSON.stringify(dtbd) };
};
