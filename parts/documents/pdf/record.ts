/**
 * A record beside a signature, in the signature dictionary: the signature covers it, and to other
 * programs it is nothing. So it can come after earlier signatures, which an attachment cannot.
 */
import { deflateSync } from 'node:zlib';
import { openPdf } from './document.ts';
import { signatureFieldsOf } from './fields.ts';
import { inflate } from './filters.ts';
import { byteString, isArray, isString, PdfError, type PdfValue } from './values.ts';

/** An entry of our own in a signature dictionary, which other programs pass over (Annex E.2). */
export const recordKey = 'ParaphRecord';
const maxRecordBytes = 16 << 20;

/** Of a string in PDF/A (ISO 19005-2 6.1.13). */
const maxStringBytes = 32_000;

/**
 * A record as it stands in a signature dictionary: deflated, in strings. Were it an object of its
 * own, pyHanko would call the earlier signatures modified.
 */
export const writeRecord = (record: Uint8Array): PdfValue => {
  const packed = deflateSync(record);
  return Array.from({ length: Math.ceil(packed.length / maxStringBytes) }, (_, index) =>
    byteString(packed.subarray(index * maxStringBytes, (index + 1) * maxStringBytes)),
  );
};

/** @throws PdfError When it cannot be unpacked. */
const readRecord = (value: PdfValue): Uint8Array | undefined => {
  if (!isArray(value) || !value.every(isString)) return undefined;
  return inflate(Buffer.concat(value.map(({ bytes }) => bytes)), maxRecordBytes);
};

/**
 * The records that stand beside signatures, each covered by its signature: `verifyPdf` says whether
 * that is valid.
 *
 * @returns By the name of the field; none for what is not a PDF.
 */
export const recordsIn = (bytes: Uint8Array): ReadonlyMap<string, Uint8Array> => {
  try {
    const document = openPdf(bytes);
    const found = signatureFieldsOf(document).flatMap(({ name: field, dict: entries }) => {
      const value = document.resolve(document.dictOf(entries.get('V'))?.get(recordKey));
      const record = readRecord(value);
      return record === undefined ? [] : [[field, record] as const];
    });
    return new Map(found);
  } catch (error) {
    if (error instanceof PdfError) return new Map();
    throw error;
  }
};
