/**
 * What a PDF file is made of (ISO 32000-2 section 7.3), as plain data.
 *
 * Names are kept as text with one character for each byte. Strings are kept as bytes, because their
 * encoding depends on where they stand.
 */
export interface PdfName {
  readonly kind: 'name';
  readonly name: string;
}

export interface PdfString {
  readonly kind: 'string';
  readonly bytes: Uint8Array;
  /** Where it stands in what was read, its delimiters included. */
  readonly start: number;
  readonly end: number;
}

export interface PdfRef {
  readonly kind: 'ref';
  readonly number: number;
  readonly generation: number;
}

export interface PdfStream {
  readonly kind: 'stream';
  readonly dict: PdfDict;
  /** As it lies in the file: encoded by its filters. */
  readonly raw: Uint8Array;
}

export type PdfDict = ReadonlyMap<string, PdfValue>;
export type PdfArray = readonly PdfValue[];
export type PdfValue =
  | null
  | boolean
  | number
  | PdfName
  | PdfString
  | PdfRef
  | PdfStream
  | PdfArray
  | PdfDict;

/** Says in a sentence, for people, why a file is refused. Functions of `index.ts` never throw it. */
export class PdfError extends Error {}

export const isDict = (value: PdfValue | undefined): value is PdfDict => value instanceof Map;
export const isArray = (value: PdfValue | undefined): value is PdfArray => Array.isArray(value);

type Tagged = PdfName | PdfString | PdfRef | PdfStream;
const isTagged = (value: PdfValue | undefined): value is Tagged =>
  typeof value === 'object' && value !== null && !isDict(value) && !isArray(value);

export const isRef = (value: PdfValue | undefined): value is PdfRef =>
  isTagged(value) && value.kind === 'ref';
export const isStream = (value: PdfValue | undefined): value is PdfStream =>
  isTagged(value) && value.kind === 'stream';
export const isString = (value: PdfValue | undefined): value is PdfString =>
  isTagged(value) && value.kind === 'string';
const isName = (value: PdfValue | undefined): value is PdfName =>
  isTagged(value) && value.kind === 'name';
/** The text of a name; undefined for anything else. */
export const nameOf = (value: PdfValue | undefined): string | undefined =>
  isName(value) ? value.name : undefined;

export const name = (text: string): PdfName => ({ kind: 'name', name: text });
export const ref = (number: number, generation = 0): PdfRef => ({
  kind: 'ref',
  number,
  generation,
});
export const dict = (entries: Readonly<Record<string, PdfValue | undefined>>): PdfDict =>
  new Map(
    Object.entries(entries).filter((entry): entry is [string, PdfValue] => entry[1] !== undefined),
  );
export const byteString = (bytes: Uint8Array): PdfString => ({
  kind: 'string',
  bytes,
  start: 0,
  end: 0,
});

/** A text string: ASCII as it is, everything else as UTF-16 with its mark (7.9.2.2). */
export const textString = (text: string): PdfString => {
  if (/^[\x20-\x7e]*$/.test(text)) return byteString(Buffer.from(text, 'latin1'));
  return byteString(Buffer.concat([Buffer.of(0xfe, 0xff), Buffer.from(text, 'utf16le').swap16()]));
};

/** Reads a text string: UTF-16, UTF-8 (PDF 2.0), or PDFDocEncoding, of which Latin-1 is read. */
export const textOf = (value: PdfValue | undefined): string | undefined => {
  if (!isString(value)) return undefined;
  const bytes = Buffer.from(value.bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return Buffer.from(bytes.subarray(2, bytes.length - (bytes.length % 2)))
      .swap16()
      .toString('utf16le');
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return bytes.subarray(3).toString('utf8');
  return bytes.toString('latin1');
};

/** A date string (7.9.4), in UTC and to the second. */
export const dateString = (at: Date): PdfString =>
  textString(`D:${at.toISOString().replace(/\.\d+Z$|[-:T]/g, '')}Z`);

/** Reads a date string; a part that is missing counts as its least value (7.9.4). */
export const dateOf = (value: PdfValue | undefined): Date | undefined => {
  const found = /^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?)?/.exec(
    textOf(value) ?? '',
  );
  if (found === null) return undefined;
  const [, year = '', month = '01', day = '01', hour = '00', minute = '00', second = '00'] = found;
  const [sign = '+', hours = '00', minutes = '00'] = found.slice(7);
  const date = new Date(
    `${year}-${month}-${day}T${hour}:${minute}:${second}${sign}${hours}:${minutes}`,
  );
  return Number.isNaN(date.getTime()) ? undefined : date;
};
