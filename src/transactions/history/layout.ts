/**
 * Rows in bytes, from a table of their facts. A fact is a number at a fixed place of a row; filters
 * compare it before a job is read. Little-endian.
 */
import type { Buffer } from 'node:buffer';

/** How a number is stored; `lua` is its letter for `struct.pack`. */
const numberKinds = {
  u8: { width: 1, lua: 'B', max: 0xff },
  u16: { width: 2, lua: 'H', max: 0xff_ff },
  u32: { width: 4, lua: 'I4', max: 0xff_ff_ff_ff },
  f64: { width: 8, lua: 'd', max: Number.MAX_VALUE },
} as const;
type NumberKind = keyof typeof numberKinds;

const readNumber = (kind: NumberKind, bytes: Buffer, from: number): number => {
  switch (kind) {
    case 'u8':
      return bytes[from] ?? 0;
    case 'u16':
      return bytes.readUInt16LE(from);
    case 'u32':
      return bytes.readUInt32LE(from);
    case 'f64':
      return bytes.readDoubleLE(from);
  }
};

const writeNumber = (kind: NumberKind, number: number, bytes: Buffer, from: number): number => {
  switch (kind) {
    case 'u8':
      return bytes.writeUInt8(number, from);
    case 'u16':
      return bytes.writeUInt16LE(number, from);
    case 'u32':
      return bytes.writeUInt32LE(number, from);
    case 'f64':
      return bytes.writeDoubleLE(number, from);
  }
};

/** What a filter compares: a value of a row. */
export interface Source<Row, Value> {
  readonly of: (row: Row) => Value;
  /** Where its number is in a packed row; absent for a value that is in the job alone. */
  readonly packed?: Packed<Value>;
}

/** The place of a number in a row, and how it is made. */
export interface Packed<Value> {
  readonly at: number;
  readonly kind: NumberKind;
  /** The number of a value. Different values may have one number: the job decides. */
  code(value: Value): number;
  /** Lua: the number of a job that was just submitted (index-submitted.ts). */
  readonly submitted?: string;
}

export interface Fact<Row, Value> extends Source<Row, Value> {
  readonly packed: Packed<Value>;
}

export const fact = <Row, Value>(
  of: (row: Row) => Value,
  packed: Packed<Value>,
): Fact<Row, Value> => ({ of, packed });

/** The number of a value as it is stored: at most the maximum of its kind. */
export const codeOf = <Value>(packed: Packed<Value>, value: Value): number =>
  Math.min(packed.code(value), numberKinds[packed.kind].max);

/** @param from Where the row begins. */
const readFact = (
  { packed: { kind, at } }: Fact<never, unknown>,
  bytes: Buffer,
  from: number,
): number => readNumber(kind, bytes, from + at);

/** The numbers that a filter wants of a fact: a range, some, or those with certain bits. */
export interface WantedNumbers {
  readonly least?: number;
  readonly most?: number;
  readonly among?: ReadonlySet<number>;
  /** Bits of a u32. */
  readonly bits?: number;
}

export interface Test {
  readonly packed: Pick<Packed<unknown>, 'at' | 'kind'>;
  readonly numbers: WantedNumbers;
}

/**
 * Whether the facts of a row have the numbers that are wanted.
 *
 * The tests are data and this is one loop, because a search goes through hundreds of thousands of
 * rows: with a function for each test it took twice as long.
 */
export const createTest = (wanted: readonly Test[]): ((bytes: Buffer, from: number) => boolean) => {
  const tests = wanted.map(({ packed: { at, kind }, numbers }) => ({
    at,
    kind,
    least: numbers.least ?? Number.NEGATIVE_INFINITY,
    most: numbers.most ?? Number.POSITIVE_INFINITY,
    among: numbers.among,
    bits: numbers.bits ?? 0,
  }));
  return (bytes, from) => {
    for (let index = 0; index < tests.length; index += 1) {
      const test = tests[index];
      if (test === undefined) break;
      const number = readNumber(test.kind, bytes, from + test.at);
      if (number < test.least || number > test.most) return false;
      if (test.among !== undefined && !test.among.has(number)) return false;
      if (test.bits !== 0 && (number & test.bits) >>> 0 !== test.bits) return false;
    }
    return true;
  };
};

/** Writes the facts of a row at `from`. */
export const packRow = <Row>(
  facts: Readonly<Record<string, Fact<Row, unknown>>>,
  row: Row,
  bytes: Buffer,
  from: number,
): void => {
  for (const { of, packed } of Object.values(facts))
    writeNumber(packed.kind, codeOf(packed, of(row)), bytes, from + packed.at);
};

/**
 * Lua: packs the facts of a job that was just submitted.
 *
 * @param width Of all facts; bytes that no fact has are zeros.
 */
export const packSubmitted = (
  facts: Readonly<Record<string, Fact<never, unknown>>>,
  width: number,
): string => {
  const inOrder = Object.values(facts).toSorted((a, b) => a.packed.at - b.packed.at);
  let format = '<';
  let end = 0;
  for (const { packed } of inOrder) {
    const { lua, width: own } = numberKinds[packed.kind];
    format += 'x'.repeat(packed.at - end) + lua;
    end = packed.at + own;
  }
  const numbers = inOrder.map(({ packed }) => packed.submitted ?? '0').join(', ');
  return `struct.pack('${format}${'x'.repeat(width - end)}', ${numbers})`;
};

export const rowsInChunk = 1000;

/** How the rows of a list are kept: their facts and their names, each of a fixed width. */
export interface RowLayout {
  readonly factsWidth: number;
  readonly namesWidth: number;
  /** Bytes of an id, with which the names begin. */
  readonly idWidth: number;
  /** 0 where there is no row. */
  readonly state: Fact<never, unknown>;
  /** The time by which rows are in order. */
  readonly begunAt: Fact<never, unknown>;
  /** 0 while it is open. */
  readonly endedAt: Fact<never, unknown>;
}

/** Reads the facts of many rows in place. */
export const readFacts = ({ factsWidth }: Pick<RowLayout, 'factsWidth'>, bytes: Buffer) => ({
  bytes,
  count: Math.floor(bytes.length / factsWidth),
  read: (one: Fact<never, unknown>, row: number): number => readFact(one, bytes, row * factsWidth),
  row: (row: number): Buffer => bytes.subarray(row * factsWidth, (row + 1) * factsWidth),
});

export type Facts = ReturnType<typeof readFacts>;

/** @returns The id in the names of a row; empty where there is no row. */
export const readId = (
  { namesWidth, idWidth }: Pick<RowLayout, 'namesWidth' | 'idWidth'>,
  names: Buffer,
  row: number,
): string => {
  const id = names.subarray(row * namesWidth, row * namesWidth + idWidth);
  const end = id.indexOf(0);
  return id.toString('utf8', 0, end === -1 ? idWidth : end);
};
