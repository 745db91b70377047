/**
 * Decodes streams that say how the file is built, each within a bound, and measures the others.
 *
 * Sources: ISO 32000-2 section 7.4.
 */
import { constants, createInflate, inflateSync } from 'node:zlib';
import {
  isArray,
  isDict,
  nameOf,
  type PdfDict,
  PdfError,
  type PdfStream,
  type PdfValue,
} from './values.ts';

type Resolve = (value: PdfValue | undefined) => PdfValue;

/** The names of the filters of a stream, the first one to undo first; full names. */
export const filtersOf = (stream: PdfDict, resolve: Resolve): readonly string[] => {
  const value = resolve(stream.get('Filter') ?? stream.get('F'));
  const all = isArray(value) ? value.map(resolve) : value === null ? [] : [value];
  const full: Readonly<Record<string, string>> = {
    Fl: 'FlateDecode',
    AHx: 'ASCIIHexDecode',
    A85: 'ASCII85Decode',
    LZW: 'LZWDecode',
  };
  return all.map((each) => {
    const filter = nameOf(each) ?? '';
    return full[filter] ?? filter;
  });
};

const parametersOf = (stream: PdfDict, index: number, resolve: Resolve): PdfDict => {
  const value = resolve(stream.get('DecodeParms') ?? stream.get('DP'));
  const own = isArray(value) ? resolve(value[index]) : index === 0 ? value : null;
  return isDict(own) ? own : new Map();
};

const wholeOf = (value: PdfValue, otherwise: number): number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 1 << 20
    ? value
    : otherwise;

const paeth = (left: number, up: number, corner: number): number => {
  const estimate = left + up - corner;
  const [a, b, c] = [
    Math.abs(estimate - left),
    Math.abs(estimate - up),
    Math.abs(estimate - corner),
  ];
  return a <= b && a <= c ? left : b <= c ? up : corner;
};

/** Undoes the predictors of PNG (7.4.4.4). */
const undoPredictor = (bytes: Uint8Array, parameters: PdfDict, resolve: Resolve): Uint8Array => {
  const numberOf = (key: string, otherwise: number): number =>
    wholeOf(resolve(parameters.get(key)), otherwise);
  const predictor = numberOf('Predictor', 1);
  if (predictor === 1) return bytes;
  if (predictor < 10)
    throw new PdfError('The structure of the file uses a predictor that is not supported (TIFF).');
  const pixel = Math.max(1, (numberOf('Colors', 1) * numberOf('BitsPerComponent', 8)) >> 3);
  const width = Math.ceil(
    (numberOf('Columns', 1) * numberOf('Colors', 1) * numberOf('BitsPerComponent', 8)) / 8,
  );
  const rows = Math.floor(bytes.length / (width + 1));
  const out = new Uint8Array(rows * width);
  for (let row = 0; row < rows; row += 1) {
    const type = bytes[row * (width + 1)] ?? 0;
    const from = row * (width + 1) + 1;
    const to = row * width;
    for (let index = 0; index < width; index += 1) {
      const left = index >= pixel ? (out[to + index - pixel] ?? 0) : 0;
      const up = row > 0 ? (out[to + index - width] ?? 0) : 0;
      const corner = row > 0 && index >= pixel ? (out[to + index - width - pixel] ?? 0) : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][type] ?? 0;
      out[to + index] = (bytes[from + index] ?? 0) + guess;
    }
  }
  return out;
};

const bomb = (): PdfError =>
  new PdfError('The file unpacks to more than is allowed (a decompression bomb).');

/** @throws PdfError When the result has more than `maxBytes`, or the bytes are no zlib stream. */
export const inflate = (raw: Uint8Array, maxBytes: number): Uint8Array => {
  try {
    return inflateSync(raw, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE')
      throw bomb();
    throw new PdfError('The file is broken: a compressed stream cannot be read.');
  }
};

const fromHex = (raw: Uint8Array): Uint8Array => {
  const [digits = ''] = Buffer.from(raw).toString('latin1').split('>');
  const text = digits.replace(/\s+/g, '');
  return Buffer.from(text.length % 2 === 0 ? text : `${text}0`, 'hex');
};

const from85 = (raw: Uint8Array): Uint8Array => {
  const out: number[] = [];
  let group: number[] = [];
  const flush = (): void => {
    if (group.length < 2) return;
    const full = [...group, 84, 84, 84, 84].slice(0, 5);
    const value = full.reduce((sum, digit) => sum * 85 + digit, 0);
    for (let index = 0; index < group.length - 1; index += 1)
      out.push(Math.floor(value / 256 ** (3 - index)) & 0xff);
    group = [];
  };
  for (const byte of raw) {
    if (byte === 0x7e) break;
    if (byte === 0x7a && group.length === 0) out.push(0, 0, 0, 0);
    else if (byte >= 0x21 && byte <= 0x75) group.push(byte - 0x21);
    if (group.length === 5) flush();
  }
  flush();
  return Uint8Array.from(out);
};

/** Undoes LZW (7.4.4.2), codes of 9 to 12 bits. */
const fromLzw = (raw: Uint8Array, early: number, maxBytes: number): Uint8Array => {
  const out: number[] = [];
  let table: number[][] = [];
  let width = 9;
  let buffer = 0;
  let bits = 0;
  let previous: number[] | undefined;
  const entry = (code: number): number[] | undefined =>
    code < 256 ? [code] : code > 257 ? table[code - 258] : undefined;
  for (const byte of raw) {
    buffer = ((buffer << 8) | byte) & 0xff_ffff;
    bits += 8;
    if (bits < width) continue;
    bits -= width;
    const code = (buffer >> bits) & ((1 << width) - 1);
    if (code === 257) break;
    if (code === 256) {
      table = [];
      width = 9;
      previous = undefined;
      continue;
    }
    const known = entry(code);
    const sequence: number[] | undefined = known ?? (previous && [...previous, previous[0] ?? 0]);
    if (sequence === undefined)
      throw new PdfError('The file is broken: a compressed stream cannot be read.');
    for (const each of sequence) out.push(each);
    if (out.length > maxBytes) throw bomb();
    if (previous !== undefined && table.length < 4096 - 258)
      table.push([...previous, sequence[0] ?? 0]);
    previous = sequence;
    const next = table.length + 258 + early;
    width = next >= 2048 ? 12 : next >= 1024 ? 11 : next >= 512 ? 10 : 9;
  }
  return Uint8Array.from(out);
};

/**
 * Decodes a whole stream.
 *
 * @throws PdfError When the result has more than `maxBytes`, a filter is for images alone, or the
 *   bytes do not fit it.
 */
export const decodeStream = (stream: PdfStream, resolve: Resolve, maxBytes: number): Uint8Array =>
  filtersOf(stream.dict, resolve).reduce((bytes: Uint8Array, filter, index) => {
    const parameters = parametersOf(stream.dict, index, resolve);
    if (filter === 'FlateDecode')
      return undoPredictor(inflate(bytes, maxBytes), parameters, resolve);
    if (filter === 'LZWDecode') {
      const early = resolve(parameters.get('EarlyChange')) === 0 ? 0 : 1;
      return undoPredictor(fromLzw(bytes, early, maxBytes), parameters, resolve);
    }
    if (filter === 'ASCIIHexDecode') return fromHex(bytes);
    if (filter === 'ASCII85Decode') return from85(bytes);
    throw new PdfError('The structure of the file uses a filter that is not supported.');
  }, stream.raw);

/** What is small enough to inflate at once; more would hold up the event loop. */
const maxAtOnce = 1 << 18;

/**
 * How many bytes a deflated stream unpacks to. Keeps none of them.
 *
 * @returns More than `maxBytes` as soon as that is certain; broken data counts up to its fault.
 */
export const measureInflated = async (raw: Uint8Array, maxBytes: number): Promise<number> => {
  if (raw.length < maxAtOnce >> 3)
    try {
      return inflateSync(raw, {
        maxOutputLength: Math.max(1, Math.min(maxAtOnce, maxBytes)),
        finishFlush: constants.Z_SYNC_FLUSH,
      }).length;
    } catch (error) {
      const isLarge =
        error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
      if (!isLarge) return 0;
    }
  return new Promise((resolve) => {
    const inflater = createInflate({ chunkSize: 1 << 16, finishFlush: constants.Z_SYNC_FLUSH });
    let total = 0;
    const end = (): void => {
      inflater.destroy();
      resolve(total);
    };
    inflater.on('data', (chunk: Uint8Array) => {
      total += chunk.length;
      if (total > maxBytes) end();
    });
    inflater.on('end', end);
    inflater.on('error', end);
    inflater.end(raw);
  });
};
