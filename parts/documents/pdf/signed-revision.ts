/**
 * Reads a signature of a document, and which bytes it is over.
 *
 * A signature that leaves out more than its own CMS, that begins late, or that is found by another
 * way than its revision shows, is how signature wrapping works. So the byte range must be exactly
 * what is around the CMS, and the revision that it covers must open by itself and have this very
 * signature in the same field.
 *
 * Source: ISO 32000-2 section 12.8.1; Mladenov and others, "1 Trillion Dollar Refund" (CCS 2019).
 */
import { readHeader } from '../../../packages/pki/src/ber.ts';
import { openPdf, type PdfDocument } from './document.ts';
import { type Field, signatureFieldsOf } from './fields.ts';
import { isArray, isString, nameOf, type PdfDict, PdfError, type PdfString } from './values.ts';

export interface SignedRevision {
  /** The document as it was signed. */
  readonly document: PdfDocument;
  readonly dict: PdfDict;
  readonly subFilter: string;
  /** Without the zeros behind it. */
  readonly cms: Uint8Array;
  /** What was signed: before and after the CMS. */
  readonly parts: readonly [Uint8Array, Uint8Array];
  /** Where the revision ends. */
  readonly end: number;
}

const contentsOf = (document: PdfDocument, { dict: field }: Field): PdfString | undefined => {
  const contents = document.dictOf(field.get('V'))?.get('Contents');
  return isString(contents) ? contents : undefined;
};

/** @throws PdfError */
const readRange = (document: PdfDocument, dict: PdfDict, contents: PdfString) => {
  const range = document.resolve(dict.get('ByteRange'));
  const numbers = isArray(range) ? range.filter((each) => Number.isSafeInteger(each)) : [];
  const [from, length, second, rest] = numbers.map(Number);
  if (numbers.length !== 4 || length === undefined || second === undefined || rest === undefined)
    throw new PdfError('Its byte range is not two ranges.');
  if (from !== 0) throw new PdfError('Its byte range does not begin with the file.');
  const end = second + rest;
  if (rest < 0 || end > document.bytes.length)
    throw new PdfError('Its byte range goes beyond the file.');
  // Positions of a string in an object stream are none in the file: the brackets show it.
  const isThere = document.bytes[length] === 0x3c && document.bytes[second - 1] === 0x3e;
  if (length !== contents.start || second !== contents.end || !isThere)
    throw new PdfError(
      'Its byte range leaves out more, or other bytes, than the signature itself.',
    );
  return { gapStart: length, gapEnd: second, end };
};

const readCms = ({ bytes }: PdfString): Uint8Array => {
  const end = readHeader(bytes, 0)?.contentEnd;
  if (end === undefined) throw new PdfError('It has no CMS that can be read.');
  if (bytes.subarray(end).some((byte) => byte !== 0))
    throw new PdfError('Something stands in the room behind its CMS.');
  return bytes.subarray(0, end);
};

const endsWithSave = (bytes: Uint8Array): boolean =>
  /%%EOF\s*$/.test(Buffer.from(bytes.subarray(-32)).toString('latin1'));

/**
 * @param field A signed field of the newest revision.
 * @throws PdfError With the reason why its signature proves nothing.
 */
export const readSignedRevision = (document: PdfDocument, field: Field): SignedRevision => {
  const dict = document.dictOf(field.dict.get('V'));
  const contents = contentsOf(document, field);
  if (dict === undefined || contents === undefined) throw new PdfError('It has no CMS.');
  const { gapStart, gapEnd, end } = readRange(document, dict, contents);
  const covered = document.bytes.subarray(0, end);
  if (!endsWithSave(covered)) throw new PdfError('Its byte range ends within a save of the file.');
  const revision = openPdf(covered);
  const same = signatureFieldsOf(revision).filter(
    (each) => each.name === field.name && contentsOf(revision, each)?.start === contents.start,
  );
  if (same.length !== 1)
    throw new PdfError('The revision that it covers does not have this signature in this field.');
  return {
    document: revision,
    dict,
    subFilter: nameOf(document.resolve(dict.get('SubFilter'))) ?? '',
    cms: readCms(contents),
    parts: [covered.subarray(0, gapStart), covered.subarray(gapEnd)],
    end,
  };
};
