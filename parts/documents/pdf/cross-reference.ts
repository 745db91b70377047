/**
 * Reads where the objects of a file are: tables, streams, and both in one (hybrid files).
 *
 * Nothing is repaired. A reader that repairs a file decides what it shows, and no two decide alike;
 * what is signed must be the same for all of them.
 *
 * The places of all objects lie in typed arrays, nine bytes for each: a file of 50 MB may name a
 * million objects.
 *
 * Source: ISO 32000-2 sections 7.5.4 to 7.5.8.
 */
import { decodeStream } from './filters.ts';
import { type Cursor, readObjectHead, readValue, readWord, skipSpace, standsAt } from './parse.ts';
import {
  isArray,
  isDict,
  nameOf,
  type PdfDict,
  PdfError,
  type PdfStream,
  type PdfValue,
} from './values.ts';

const maxObjects = 1_000_000;
const maxSections = 1000;
const maxTableBytes = 32 << 20;

export const places = { missing: 0, free: 1, inFile: 2, inStream: 3 } as const;

/** One cross-reference section: what one save has written. */
export interface Section {
  readonly at: number;
  readonly kind: 'table' | 'stream';
  readonly trailer: PdfDict;
}

export interface CrossReference {
  /** `places` for each object number. */
  readonly kinds: Uint8Array;
  /** The byte of an object in the file, or the number of the stream that it is in. */
  readonly where: Uint32Array;
  /** The generation of an object in the file, or the index in its stream. */
  readonly extra: Uint32Array;
  /** One more than the highest object number. */
  readonly size: number;
  /** The newest first. */
  readonly sections: readonly [Section, ...Section[]];
}

const broken = (what: string): PdfError => new PdfError(`The file is broken: ${what}.`);

const wholeNumber = (value: PdfValue | undefined): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** Where the newest section begins, as the end of the file says. */
const findStart = (bytes: Uint8Array): number => {
  const tailStart = Math.max(0, bytes.length - 2048);
  const tail = Buffer.from(bytes.buffer, bytes.byteOffset + tailStart, bytes.length - tailStart);
  const found = tail.lastIndexOf('startxref');
  if (found < 0) throw broken('it has no startxref at its end');
  const cursor: Cursor = { bytes, at: tailStart + found + 9 };
  skipSpace(cursor);
  const word = readWord(cursor);
  if (!/^\d{1,10}$/.test(word)) throw broken('its startxref has no number');
  return Number(word);
};

/**
 * Collects places; the first that names an object counts, because the newest comes first.
 *
 * @param note Told the byte of each object in the file, also of those that do not count.
 */
const createPlaces = (note: ((at: number) => void) | undefined) => {
  let kinds = new Uint8Array(1024);
  let where = new Uint32Array(1024);
  let extra = new Uint32Array(1024);
  let size = 0;
  const grow = (number: number): void => {
    if (number >= maxObjects) throw new PdfError('The file has more objects than are allowed.');
    if (number < size) return;
    size = number + 1;
    if (size <= kinds.length) return;
    const length = Math.min(maxObjects, Math.max(size, kinds.length * 2));
    const [oldKinds, oldWhere, oldExtra] = [kinds, where, extra];
    kinds = new Uint8Array(length);
    where = new Uint32Array(length);
    extra = new Uint32Array(length);
    kinds.set(oldKinds);
    where.set(oldWhere);
    extra.set(oldExtra);
  };
  return {
    add: (number: number, kind: number, place: number, more: number): void => {
      grow(number);
      if (kind === places.inFile) note?.(place);
      if (kinds[number] !== places.missing) return;
      kinds[number] = kind;
      where[number] = place;
      extra[number] = more;
    },
    finish: () => ({ kinds, where, extra, size }),
  };
};
type Places = ReturnType<typeof createPlaces>;

const readDigits = (bytes: Uint8Array, at: number, count: number): number => {
  let value = 0;
  for (let index = at; index < at + count; index += 1) {
    const digit = (bytes[index] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
};

/**
 * Reads the entries of a table. Each has 20 bytes; some programs write one byte less at the end of
 * a line, so the end of a line is looked for.
 */
const readTable = (cursor: Cursor, found: Places): PdfDict => {
  const { bytes, at: start } = cursor;
  for (;;) {
    skipSpace(cursor);
    if (standsAt(bytes, cursor.at, 'trailer')) break;
    const first = readWord(cursor);
    skipSpace(cursor);
    const count = readWord(cursor);
    if (!/^\d{1,10}$/.test(first) || !/^\d{1,10}$/.test(count))
      throw broken('its cross-reference table cannot be read');
    for (let index = 0; index < Number(count); index += 1) {
      skipSpace(cursor);
      const place = readDigits(bytes, cursor.at, 10);
      const generation = readDigits(bytes, cursor.at + 11, 5);
      const kind = bytes[cursor.at + 17];
      const hasSpaces = bytes[cursor.at + 10] === 0x20 && bytes[cursor.at + 16] === 0x20;
      if (place < 0 || generation < 0 || !hasSpaces || (kind !== 0x6e && kind !== 0x66))
        throw broken('its cross-reference table cannot be read');
      cursor.at += 18;
      const isUsed = kind === 0x6e;
      found.add(Number(first) + index, isUsed ? places.inFile : places.free, place, generation);
    }
  }
  // Some readers pass over comments, and others then look for objects by themselves.
  if (bytes.subarray(start, cursor.at).includes(0x25)) throw broken('a comment is in its table');
  cursor.at += 7;
  const trailer = readValue(cursor);
  if (!isDict(trailer)) throw broken('its trailer cannot be read');
  return trailer;
};

/** Structure must be readable before any reference can be followed. */
const direct = (value: PdfValue | undefined): PdfValue => value ?? null;

/** Reads an object whose stream's length stands in it: cross-reference streams. */
const readDirectStream = (cursor: Cursor): PdfStream => {
  if (readObjectHead(cursor) === undefined) throw broken('its startxref leads nowhere');
  const dict = readValue(cursor);
  const length = isDict(dict) ? wholeNumber(dict.get('Length')) : undefined;
  skipSpace(cursor);
  if (!isDict(dict) || length === undefined || !standsAt(cursor.bytes, cursor.at, 'stream'))
    throw broken('its cross-reference stream cannot be read');
  const start = afterStreamWord(cursor.bytes, cursor.at);
  if (start + length > cursor.bytes.length) throw broken('its cross-reference stream is cut off');
  return { kind: 'stream', dict, raw: cursor.bytes.subarray(start, start + length) };
};

/** Where the bytes of a stream begin, after `stream` and one end of line (7.3.8.1). */
export const afterStreamWord = (bytes: Uint8Array, at: number): number => {
  const next = at + 6;
  if (bytes[next] === 13) return bytes[next + 1] === 10 ? next + 2 : next + 1;
  return bytes[next] === 10 ? next + 1 : next;
};

const readStreamSection = (cursor: Cursor, found: Places): PdfDict => {
  const stream = readDirectStream(cursor);
  const { dict } = stream;
  if (nameOf(dict.get('Type')) !== 'XRef') throw broken('its startxref leads to something else');
  const widthValues = dict.get('W');
  const size = wholeNumber(dict.get('Size'));
  const widths = isArray(widthValues) ? widthValues.map((width) => wholeNumber(width) ?? 99) : [];
  const [typeWidth = 99, placeWidth = 99, extraWidth = 99] = widths;
  if (size === undefined || typeWidth > 2 || placeWidth > 8 || extraWidth > 8)
    throw broken('its cross-reference stream cannot be read');
  const data = decodeStream(stream, direct, maxTableBytes);
  const indexValue = dict.get('Index');
  const index = isArray(indexValue) ? indexValue.map((each) => wholeNumber(each) ?? -1) : [0, size];
  const width = typeWidth + placeWidth + extraWidth;
  let at = 0;
  const field = (count: number): number => {
    let value = 0;
    for (let end = at + count; at < end; at += 1) value = value * 256 + (data[at] ?? 0);
    return value;
  };
  for (let range = 0; range + 1 < index.length; range += 2) {
    const [first = -1, count = -1] = [index[range], index[range + 1]];
    if (first < 0 || count < 0 || width === 0)
      throw broken('its cross-reference stream cannot be read');
    for (let number = first; number < first + count && at + width <= data.length; number += 1) {
      const type = typeWidth === 0 ? 1 : field(typeWidth);
      const place = field(placeWidth);
      const extra = field(extraWidth);
      if (type === 2) found.add(number, places.inStream, place, extra);
      else if (type === 1) found.add(number, places.inFile, place, extra);
      else if (type === 0) found.add(number, places.free, 0, 0);
    }
  }
  return dict;
};

const readSection = (bytes: Uint8Array, at: number, found: Places): Section => {
  const cursor: Cursor = { bytes, at };
  skipSpace(cursor);
  if (bytes.subarray(at, cursor.at).includes(0x25))
    throw broken('its startxref leads to a comment');
  if (!standsAt(bytes, cursor.at, 'xref'))
    return { at, kind: 'stream', trailer: readStreamSection(cursor, found) };
  cursor.at += 4;
  const trailer = readTable(cursor, found);
  // Hybrid: the stream adds what the table of older readers does not show (7.5.8.4).
  const more = wholeNumber(trailer.get('XRefStm'));
  if (more !== undefined) readStreamSection({ bytes, at: more }, found);
  return { at, kind: 'table', trailer };
};

/**
 * @param note Told the byte of each object that any section names.
 * @throws PdfError When a section cannot be read, or there are too many of them.
 */
export const readCrossReference = (
  bytes: Uint8Array,
  note?: (at: number) => void,
): CrossReference => {
  const found = createPlaces(note);
  const visited = new Set<number>();
  const sections: Section[] = [];
  let at: number | undefined = findStart(bytes);
  while (at !== undefined) {
    if (visited.has(at)) throw broken('its cross-reference sections go round in a circle');
    if (at >= bytes.length) throw broken('its startxref leads beyond its end');
    if (visited.size === maxSections) throw new PdfError('The file was saved too many times.');
    visited.add(at);
    const section = readSection(bytes, at, found);
    sections.push(section);
    const previous: PdfValue | undefined = section.trailer.get('Prev');
    at = previous === undefined || previous === 0 ? undefined : wholeNumber(previous);
    if (previous !== undefined && previous !== 0 && at === undefined)
      throw broken('its trailer has an unreadable Prev');
  }
  const [newest, ...older] = sections;
  if (newest === undefined) throw broken('it has no cross-reference');
  if (wholeNumber(newest.trailer.get('Size')) === undefined)
    throw broken('its trailer has no Size');
  return { ...found.finish(), sections: [newest, ...older] };
};
