/**
 * Reads the values of PDF syntax from bytes of unknown origin (ISO 32000-2 section 7.2 and 7.3).
 *
 * Work is bounded by the number of bytes and by the depth. What breaks the syntax throws PdfError:
 * a file that readers would repair, each in its own way, is not one that can be signed.
 */
import {
  type PdfDict,
  PdfError,
  type PdfRef,
  type PdfString,
  type PdfValue,
  ref,
} from './values.ts';

/** Longer than any number of a real program. */
const maxNumberLength = 256;
/** Deeper than any file of a real program. */
const maxDepth = 100;

const whitespace: ReadonlySet<number> = new Set([0, 9, 10, 12, 13, 32]);
const delimiters: ReadonlySet<number> = new Set(Buffer.from('()<>[]{}/%'));
const isRegular = (byte: number | undefined): byte is number =>
  byte !== undefined && !whitespace.has(byte) && !delimiters.has(byte);
const isDigit = (byte: number | undefined): byte is number =>
  byte !== undefined && byte >= 0x30 && byte <= 0x39;

const broken = (what: string, at: number): PdfError =>
  new PdfError(`The file is broken: ${what} at byte ${at}.`);

/** A place in bytes, from which values are read one after another. */
export interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
}

export const skipSpace = (cursor: Cursor): void => {
  const { bytes } = cursor;
  for (;;) {
    const byte = bytes[cursor.at];
    if (byte === undefined) return;
    if (byte === 0x25) {
      while (cursor.at < bytes.length && bytes[cursor.at] !== 10 && bytes[cursor.at] !== 13)
        cursor.at += 1;
    } else if (whitespace.has(byte)) cursor.at += 1;
    else return;
  }
};

/** A part of the bytes as text, one character for each; less where the bytes end before. */
const latin1 = (bytes: Uint8Array, start: number, end: number): string => {
  const part = bytes.subarray(start, end);
  return Buffer.from(part.buffer, part.byteOffset, part.length).toString('latin1');
};

/** The run of regular characters that begins here; empty before a delimiter. */
export const readWord = (cursor: Cursor): string => {
  const start = cursor.at;
  while (isRegular(cursor.bytes[cursor.at])) cursor.at += 1;
  return latin1(cursor.bytes, start, cursor.at);
};

const readName = (cursor: Cursor): string => {
  const start = cursor.at;
  cursor.at += 1;
  const word = readWord(cursor);
  if (!word.includes('#')) return word;
  if (/#(?![0-9a-fA-F]{2})/.test(word)) throw broken('a name has an escape that is none', start);
  return word.replace(/#(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
};

const escapes: ReadonlyMap<number, number> = new Map([
  [0x6e, 10],
  [0x72, 13],
  [0x74, 9],
  [0x62, 8],
  [0x66, 12],
]);

const readLiteral = (cursor: Cursor): PdfString => {
  const { bytes } = cursor;
  const start = cursor.at;
  const out: number[] = [];
  let open = 0;
  for (;;) {
    const byte = bytes[cursor.at];
    cursor.at += 1;
    if (byte === undefined) throw broken('a string has no end', start);
    if (byte === 0x28) {
      open += 1;
      if (open > 1) out.push(byte);
    } else if (byte === 0x29) {
      open -= 1;
      if (open === 0) return { kind: 'string', bytes: Uint8Array.from(out), start, end: cursor.at };
      out.push(byte);
    } else if (byte === 0x5c) {
      const next = bytes[cursor.at] ?? 0;
      if (next >= 0x30 && next <= 0x37) {
        let value = 0;
        for (let digits = 0; digits < 3; digits += 1) {
          const digit = bytes[cursor.at] ?? 0;
          if (digit < 0x30 || digit > 0x37) break;
          value = value * 8 + digit - 0x30;
          cursor.at += 1;
        }
        out.push(value & 0xff);
      } else {
        cursor.at += 1;
        if (next === 13) {
          if (bytes[cursor.at] === 10) cursor.at += 1;
        } else if (next !== 10) out.push(escapes.get(next) ?? next);
      }
    } else if (byte === 13) {
      if (bytes[cursor.at] === 10) cursor.at += 1;
      out.push(10);
    } else out.push(byte);
  }
};

const readHex = (cursor: Cursor): PdfString => {
  const { bytes } = cursor;
  const start = cursor.at;
  const end = bytes.indexOf(0x3e, start);
  if (end < 0) throw broken('a string has no end', start);
  const text = latin1(bytes, start + 1, end).replace(/[\0\t\n\f\r ]+/g, '');
  if (/[^0-9a-fA-F]/.test(text)) throw broken('a string has a digit that is none', start);
  cursor.at = end + 1;
  return {
    kind: 'string',
    bytes: Buffer.from(text.length % 2 === 0 ? text : `${text}0`, 'hex'),
    start,
    end: cursor.at,
  };
};

/** A number, or a reference when two whole numbers and `R` follow each other. */
const readNumber = (cursor: Cursor): number | PdfRef => {
  const start = cursor.at;
  const word = readWord(cursor);
  // The pattern below takes quadratic time for a long word.
  if (
    word.length > maxNumberLength ||
    !/^[+-]*\d*\.?\d*(?:-\d*)?$/.test(word) ||
    !/\d|^[.+-]+$/.test(word)
  )
    throw broken('something is no value', start);
  const value = Number.parseFloat(word.replace(/^[+-]*(?=[+-])/, '')) || 0;
  if (!/^\d+$/.test(word)) return value;
  const after = cursor.at;
  skipSpace(cursor);
  if (isDigit(cursor.bytes[cursor.at])) {
    const generation = readWord(cursor);
    if (/^\d{1,5}$/.test(generation)) {
      skipSpace(cursor);
      if (cursor.bytes[cursor.at] === 0x52 && !isRegular(cursor.bytes[cursor.at + 1])) {
        cursor.at += 1;
        return ref(value, Number(generation));
      }
    }
  }
  cursor.at = after;
  return value;
};

const readDict = (cursor: Cursor, depth: number): PdfDict => {
  const start = cursor.at;
  const entries = new Map<string, PdfValue>();
  cursor.at += 2;
  for (;;) {
    skipSpace(cursor);
    const byte = cursor.bytes[cursor.at];
    if (byte === 0x3e && cursor.bytes[cursor.at + 1] === 0x3e) {
      cursor.at += 2;
      return entries;
    }
    if (byte !== 0x2f) throw broken('a dictionary has a key that is no name', start);
    const key = readName(cursor);
    const value = readValue(cursor, depth + 1);
    // Readers differ in which of two they take, so an attacker could show each its own.
    if (entries.has(key)) throw broken(`a dictionary has two values for one key`, start);
    entries.set(key, value);
  }
};

const readArray = (cursor: Cursor, depth: number): PdfValue[] => {
  const items: PdfValue[] = [];
  cursor.at += 1;
  for (;;) {
    skipSpace(cursor);
    if (cursor.bytes[cursor.at] === 0x5d) {
      cursor.at += 1;
      return items;
    }
    items.push(readValue(cursor, depth + 1));
  }
};

const words: ReadonlyMap<string, null | boolean> = new Map([
  ['null', null],
  ['true', true],
  ['false', false],
]);

/** @throws PdfError */
export const readValue = (cursor: Cursor, depth = 0): PdfValue => {
  if (depth > maxDepth) throw broken('values stand too deep in each other', cursor.at);
  skipSpace(cursor);
  const byte = cursor.bytes[cursor.at];
  if (byte === 0x2f) return { kind: 'name', name: readName(cursor) };
  if (byte === 0x28) return readLiteral(cursor);
  if (byte === 0x5b) return readArray(cursor, depth);
  if (byte === 0x3c)
    return cursor.bytes[cursor.at + 1] === 0x3c ? readDict(cursor, depth) : readHex(cursor);
  if (isDigit(byte) || byte === 0x2b || byte === 0x2d || byte === 0x2e) return readNumber(cursor);
  const start = cursor.at;
  const value = words.get(readWord(cursor));
  if (value === undefined) throw broken('something is no value', start);
  return value;
};

/** Whether these ASCII bytes stand at that place. */
export const standsAt = (bytes: Uint8Array, at: number, text: string): boolean => {
  for (let index = 0; index < text.length; index += 1)
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  return true;
};

/**
 * Reads `12 0 obj` at a place.
 *
 * @returns Undefined when no object begins there.
 */
export const readObjectHead = (
  cursor: Cursor,
): { readonly number: number; readonly generation: number } | undefined => {
  skipSpace(cursor);
  const number = readWord(cursor);
  skipSpace(cursor);
  const generation = readWord(cursor);
  skipSpace(cursor);
  if (!/^\d{1,10}$/.test(number) || !/^\d{1,5}$/.test(generation)) return undefined;
  if (!standsAt(cursor.bytes, cursor.at, 'obj')) return undefined;
  cursor.at += 3;
  return { number: Number(number), generation: Number(generation) };
};
