/**
 * A PDF that is open for reading. Objects are read when they are asked for and not kept, except for
 * the few object streams that were used last: the memory that it takes does not grow with the file.
 */
import {
  afterStreamWord,
  type CrossReference,
  places,
  readCrossReference,
} from './cross-reference.ts';
import { decodeStream } from './filters.ts';
import { type Cursor, readObjectHead, readValue, skipSpace, standsAt } from './parse.ts';
import {
  isDict,
  isRef,
  isStream,
  nameOf,
  type PdfDict,
  PdfError,
  type PdfRef,
  type PdfStream,
  type PdfValue,
} from './values.ts';

const maxContainerBytes = 16 << 20;
/** Object streams that were used last are kept, unpacked. */
const maxKeptBytes = 64 << 20;
/** All unpacking of object streams, again and again: a second of work. */
const maxUnpackedBytes = 1 << 30;
const maxContained = 100_000;

/** An object stream, decoded: where each of its objects begins. */
interface Container {
  readonly bytes: Uint8Array;
  readonly numbers: readonly number[];
  readonly starts: readonly number[];
}

/** About what it takes. */
const memoryOf = ({ bytes, numbers }: Container): number =>
  bytes.length + 16 * numbers.length + 500;

export interface PdfDocument {
  readonly bytes: Uint8Array;
  readonly references: CrossReference;
  /** Of the newest section. */
  readonly trailer: PdfDict;
  /** The value of an object; null for one that does not exist (7.3.10). @throws PdfError */
  object(number: number): PdfValue;
  /** Follows references to a value that is none. @throws PdfError */
  resolve(value: PdfValue | undefined): PdfValue;
  /** A dictionary, also that of a stream; undefined for anything else. @throws PdfError */
  dictOf(value: PdfValue | undefined): PdfDict | undefined;
  /** The objects of an object stream, by number. @throws PdfError */
  contained(container: number): readonly { readonly number: number; readonly value: PdfValue }[];
}

const broken = (what: string): PdfError => new PdfError(`The file is broken: ${what}.`);

/** How far a chain of references may go; two is more than programs write. */
const maxHops = 16;

/** Header of the file; readers find it within the first 1 024 bytes, we only at the first. */
const hasHeader = (bytes: Uint8Array): boolean =>
  standsAt(bytes, 0, '%PDF-') &&
  /^%PDF-[12]\.\d/.test(Buffer.from(bytes.subarray(0, 8)).toString('latin1'));

/**
 * Opens a file, or an earlier revision of it: the bytes up to the end of that revision.
 *
 * @throws PdfError When it cannot be read, or is encrypted.
 */
export const openPdf = (bytes: Uint8Array): PdfDocument => {
  if (!hasHeader(bytes)) throw new PdfError('The file is not a PDF: it does not begin as one.');
  const references = readCrossReference(bytes);
  const { kinds, where, extra } = references;
  const { trailer } = references.sections[0];
  if (references.sections.some((section) => section.trailer.has('Encrypt')))
    throw new PdfError('The file is encrypted. Remove its password, and try again.');
  const info = trailer.get('Info');
  if (info !== undefined && !isRef(info))
    throw broken('its document information is no object of its own');
  const containers = new Map<number, Container>();
  let keptBytes = 0;
  let unpackedBytes = 0;

  const lengthOf = (stream: PdfDict, number: number): number | undefined => {
    const value = stream.get('Length');
    // A length that is its own stream, or in an object stream that has this length, has no end.
    if (isRef(value) && value.number === number) return undefined;
    const length =
      isRef(value) && kinds[value.number] === places.inFile ? object(value.number) : value;
    return typeof length === 'number' ? length : undefined;
  };

  const readStream = (cursor: Cursor, streamDict: PdfDict, number: number): PdfStream => {
    const start = afterStreamWord(bytes, cursor.at);
    const length = lengthOf(streamDict, number);
    if (length !== undefined && length >= 0 && start + length <= bytes.length) {
      const after: Cursor = { bytes, at: start + length };
      skipSpace(after);
      if (standsAt(bytes, after.at, 'endstream'))
        return { kind: 'stream', dict: streamDict, raw: bytes.subarray(start, start + length) };
    }
    throw broken(`the stream of object ${number} has another length than it says`);
  };

  const readInFile = (number: number): PdfValue => {
    const cursor: Cursor = { bytes, at: where[number] ?? 0 };
    const head = readObjectHead(cursor);
    if (head?.number !== number || head.generation !== extra[number])
      throw broken(`object ${number} is not where it should be`);
    const value = readValue(cursor);
    if (!isDict(value)) return value;
    skipSpace(cursor);
    return standsAt(bytes, cursor.at, 'stream') ? readStream(cursor, value, number) : value;
  };

  const containerOf = (number: number): Container => {
    const kept = containers.get(number);
    if (kept !== undefined) return kept;
    if (kinds[number] !== places.inFile) throw broken(`object stream ${number} is missing`);
    const stream = readInFile(number);
    if (!isStream(stream) || nameOf(stream.dict.get('Type')) !== 'ObjStm')
      throw broken(`object ${number} is no object stream`);
    const decoded = decodeStream(stream, resolve, maxContainerBytes);
    unpackedBytes += decoded.length;
    if (unpackedBytes > maxUnpackedBytes)
      throw new PdfError('The file takes too much time to read: its objects are too far apart.');
    const [count, first] = [resolve(stream.dict.get('N')), resolve(stream.dict.get('First'))];
    if (typeof count !== 'number' || typeof first !== 'number' || count > maxContained)
      throw broken(`object stream ${number} cannot be read`);
    const cursor: Cursor = { bytes: decoded, at: 0 };
    const numbers: number[] = [];
    const starts: number[] = [];
    for (let index = 0; index < count; index += 1) {
      // Two numbers and no reference, so that `1 0 R…` cannot be made of them.
      const [contained, offset] = [readWhole(cursor), readWhole(cursor)];
      numbers.push(contained);
      starts.push(first + offset);
    }
    const container = { bytes: decoded, numbers, starts };
    keptBytes += memoryOf(container);
    for (const [oldest, old] of containers) {
      if (keptBytes <= maxKeptBytes) break;
      containers.delete(oldest);
      keptBytes -= memoryOf(old);
    }
    containers.set(number, container);
    return container;
  };

  const readContained = (container: Container, index: number): PdfValue =>
    readValue({ bytes: container.bytes, at: container.starts[index] ?? container.bytes.length });

  const object = (number: number): PdfValue => {
    const kind = kinds[number];
    if (kind === places.inFile) return readInFile(number);
    if (kind !== places.inStream) return null;
    const container = containerOf(where[number] ?? 0);
    const index = extra[number] ?? 0;
    if (container.numbers[index] !== number)
      throw broken(`object ${number} is not in its object stream`);
    return readContained(container, index);
  };

  const isCurrent = ({ number, generation }: PdfRef): boolean =>
    kinds[number] === places.inStream ? generation === 0 : extra[number] === generation;

  const resolve = (value: PdfValue | undefined): PdfValue => {
    let current = value ?? null;
    for (let hops = 0; isRef(current); hops += 1) {
      if (hops === maxHops) throw broken('references go round in a circle');
      current = isCurrent(current) ? object(current.number) : null;
    }
    return current;
  };

  return {
    bytes,
    references,
    trailer,
    object,
    resolve,
    dictOf: (value) => {
      const resolved = resolve(value);
      if (isStream(resolved)) return resolved.dict;
      return isDict(resolved) ? resolved : undefined;
    },
    contained: (number) => {
      const container = containerOf(number);
      return container.numbers.map((each, index) => ({
        number: each,
        value: readContained(container, index),
      }));
    },
  };
};

const readWhole = (cursor: Cursor): number => {
  skipSpace(cursor);
  let value = 0;
  let digits = 0;
  for (;;) {
    const digit = (cursor.bytes[cursor.at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
    digits += 1;
    cursor.at += 1;
  }
  if (digits === 0 || digits > 10) throw broken('an object stream cannot be read');
  return value;
};

/** The catalog. @throws PdfError When there is none. */
export const catalogOf = (document: PdfDocument): PdfDict => {
  const catalog = document.dictOf(document.trailer.get('Root'));
  if (catalog === undefined) throw broken('it has no catalog');
  return catalog;
};
