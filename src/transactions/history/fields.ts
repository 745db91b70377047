/**
 * The filter of a list as one table of fields (filter.ts has that of transactions). From the table
 * come the search, the form of the page, the schema of the admin API with its document, the options
 * of the command line, and the table in docs/operations/console.md. So a filter cannot be in one of
 * them and missing in another, and a name means the same in all.
 *
 * A field compares a value of the row (layout.ts). Where the row has its number packed, rows are
 * first tried by the number, and the row from the job decides: numbers may be hashes or cut.
 */
import { z } from 'zod';
import {
  codeOf,
  createTest,
  type Packed,
  type Source,
  type Test,
  type WantedNumbers,
} from './layout.ts';

/** A value, or a value with the words of its choice. */
export type Choice = string | readonly [value: string, words: string];

/** What people and programs read about a field. */
export interface FieldWords {
  /** On pages, above the field. */
  readonly label: string;
  /** What the documents say of it. Backticks mean code. */
  readonly about: string;
  /** The option of the command line, and its help; without one the command line lacks the field. */
  readonly option?: readonly [flags: string, help: string];
  /** A field that is rarely used stands behind a line of these words. */
  readonly more?: string;
  /** Roles that do not see people may not filter by it, because they could guess. */
  readonly ofPeople?: true;
}

/**
 * How a field is written: `choices` a list of them with commas, `time` a date, `count` a number,
 * `number` a phone number, and `part` a text that is searched for.
 */
type FieldKind = 'choices' | 'choice' | 'text' | 'part' | 'number' | 'count' | 'time';

export interface Field<Row, Value> extends FieldWords {
  readonly kind: FieldKind;
  /** Reads the value from a text, or from JSON. */
  readonly schema: z.ZodType<Value>;
  /** The sentence about a value that cannot be read: `must be …`. */
  readonly must: string;
  /** The choices of a list from which one is taken. */
  readonly choices?: readonly Choice[];
  /** What the packed numbers of a row must be, so that it may match. */
  tests?(value: Value): readonly Test[];
  /** Whether the index finds many rows that do not match, so that unread rows cannot be counted. */
  readonly isRough?: boolean;
  matches(row: Row, value: Value): boolean;
}

export type Fields<Row> = Readonly<Record<string, Field<Row, unknown>>>;
/** The fields of any list. */
export type AnyFields = Fields<never>;

/** What is needed to read a filter, without searching rows by it. */
export type ReadableFields = Readonly<
  Record<string, Pick<Field<never, unknown>, 'kind' | 'schema' | 'must'>>
>;

/** The filter that a table of fields describes. All members must match. */
export type FilterOf<F extends ReadableFields> = {
  readonly [Name in keyof F]?: z.output<F[Name]['schema']> | undefined;
};

/** A time: milliseconds since the epoch, or ISO 8601; without a zone it is UTC. */
export const time = z.preprocess(
  (value) => {
    if (typeof value !== 'string') return value;
    if (/^\d{1,15}$/.test(value)) return Number(value);
    const found = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?$/.exec(value);
    if (found === null) return Number.NaN;
    const [, hours, zone] = found;
    return Date.parse(hours !== undefined && zone === undefined ? `${value}Z` : value);
  },
  z.int({ error: 'must be milliseconds since the epoch or an ISO 8601 date' }).min(0),
);
export const count = (max: number) => z.coerce.number().pipe(z.int().min(1).max(max));
export const text = (max: number) => {
  const error = `must have 1 to ${max} characters`;
  return z.string({ error }).min(1, { error }).max(max, { error });
};

const maxText = 256;
const maxChoices = 50;

/** @param numbers The wanted numbers of a value. */
const byNumber = <Value, Wanted>(
  packed: Packed<Value> | undefined,
  numbers: (wanted: Wanted, code: (value: Value) => number) => WantedNumbers,
) =>
  packed && {
    tests: (wanted: Wanted): readonly Test[] => [
      { packed, numbers: numbers(wanted, (value) => codeOf(packed, value)) },
    ],
  };

const equal = (number: number): WantedNumbers => ({ least: number, most: number });

/**
 * One of several values.
 *
 * @param written How the values are written, where that is not the value itself.
 * @param groups Names that stand for several values.
 */
export const oneOf = <Row, Value extends string | number>(
  { of, packed }: Source<Row, Value | undefined>,
  values: readonly Value[],
  {
    must,
    written = (each) => each,
    groups = {},
    ...words
  }: FieldWords & {
    readonly must: string;
    readonly choices: readonly Choice[];
    readonly written?: (each: unknown) => unknown;
    readonly groups?: Readonly<Record<string, readonly Value[]>>;
  },
): Field<Row, readonly Value[]> => ({
  ...words,
  kind: 'choices',
  must,
  schema: z.preprocess(
    (value) => {
      const list = typeof value === 'string' ? value.split(/[\s,]+/) : value;
      if (!Array.isArray(list)) return list;
      return list.flatMap((each: unknown): readonly unknown[] => {
        const isGroup = typeof each === 'string' && Object.hasOwn(groups, each);
        return (isGroup ? groups[each] : undefined) ?? [written(each)];
      });
    },
    z
      .array(z.literal(values, { error: must }))
      .min(1)
      .max(maxChoices),
  ),
  matches: (row, wanted) => wanted.some((each) => each === of(row)),
  ...byNumber(packed, (wanted: readonly Value[], code) => ({ among: new Set(wanted.map(code)) })),
});

/** One value of a list. @param written How it may be written beside the value itself. */
export const choiceOf = <Row, Value extends string>(
  { of, packed }: Source<Row, Value | undefined>,
  values: readonly Value[],
  {
    written = (each) => each,
    ...words
  }: FieldWords & {
    readonly written?: (text: unknown) => unknown;
  },
): Field<Row, Value> => {
  const must = `must be one of ${values.join(', ')}`;
  return {
    ...words,
    kind: 'choice',
    must,
    choices: values,
    schema: z.preprocess(written, z.literal(values, { error: must })),
    matches: (row, wanted) => of(row) === wanted,
    ...byNumber(packed, (wanted: Value, code) => equal(code(wanted))),
  };
};

/** A text that must be the same. @param as What of the text the row has. */
export const textOf = <Row>(
  { of, packed }: Source<Row, string>,
  words: FieldWords,
  as: (text: string) => string = (text) => text,
): Field<Row, string> => ({
  ...words,
  kind: 'text',
  must: `must have 1 to ${maxText} characters`,
  schema: text(maxText),
  matches: (row, wanted) => of(row) === as(wanted),
  ...byNumber(packed, (wanted: string, code) => equal(code(as(wanted)))),
});

/** Accepts the usual ways to write a number. */
const normalizeNumber = (written: string): string =>
  written.replaceAll(/[\s()./-]/g, '').replace(/^00/, '+');

const digitsOf = (msisdn: string): string => msisdn.replace(/^\+/, '');

/** A phone number, with or without the plus sign. The row has digits. */
export const numberOf = <Row>(
  source: Source<Row, string>,
  words: FieldWords,
): Field<Row, string> => {
  const must = 'must be a number with its country code';
  return {
    ...textOf(source, { ...words, ofPeople: true }, digitsOf),
    kind: 'number',
    must: `${must}, such as +41700092501`,
    schema: z
      .string()
      .transform(normalizeNumber)
      .pipe(z.string().regex(/^\+?\d{3,15}$/, { error: must })),
  };
};

/** The same of rows with several numbers. @param tests Of packed numbers, for the digits. */
export const numberAmong = <Row>(
  of: (row: Row) => readonly string[],
  tests: (digits: string) => readonly Test[],
  words: FieldWords,
): Field<Row, string> => ({
  ...numberOf<Row>({ of: () => '' }, words),
  tests: (wanted) => tests(digitsOf(wanted)),
  isRough: true,
  matches: (row, wanted) => of(row).includes(digitsOf(wanted)),
});

export const atMost = <Row>(
  { of, packed }: Source<Row, number>,
  max: number,
  words: FieldWords,
): Field<Row, number> => ({
  ...words,
  kind: 'count',
  must: `must be a number from 1 to ${max}`,
  schema: count(max),
  matches: (row, wanted) => of(row) <= wanted,
  ...byNumber(packed, (wanted: number, code) => ({ most: code(wanted) })),
});

/** The two fields of a time: `from` it or later, and before `to`. */
export const between = <Row>(
  { of, packed }: Source<Row, number>,
  {
    label,
    about,
    options,
    more,
  }: {
    readonly label: string;
    readonly about: string;
    readonly more: string;
    readonly options: readonly [since: string, until: string];
  },
): Readonly<Record<'from' | 'to', Field<Row, number>>> => {
  const one = (
    words: FieldWords,
    isIn: (at: number, wanted: number) => boolean,
    numbers: (wanted: number) => WantedNumbers,
  ): Field<Row, number> => ({
    ...words,
    kind: 'time',
    must: 'must be a date and a time',
    schema: time,
    matches: (row, wanted) => isIn(of(row), wanted),
    ...byNumber(packed, numbers),
  });
  const [since, until] = options;
  return {
    from: one(
      {
        label: `${label} from`,
        about: `${about} then or later. ${timeWords}`,
        more,
        option: ['--since <time>', since],
      },
      (at, wanted) => at >= wanted,
      (wanted) => ({ least: wanted }),
    ),
    to: one(
      {
        label: `${label} until`,
        about: `${about} before. ${timeWords}`,
        more,
        option: ['--until <time>', until],
      },
      (at, wanted) => at < wanted,
      (wanted) => ({ most: wanted }),
    ),
  };
};
const timeWords = 'Milliseconds since the epoch, or ISO 8601; in UTC where no zone is named.';

/** A part of one of several texts; upper and lower case differ. */
export const partOf = <Row>(
  of: (row: Row) => readonly string[],
  words: FieldWords,
): Field<Row, string> => ({
  ...words,
  kind: 'part',
  must: `must have 1 to ${maxText} characters`,
  schema: text(maxText),
  matches: (row, wanted) => of(row).some((each) => each.includes(wanted)),
});

export const namesOf = <F extends ReadableFields>(fields: F): readonly (keyof F & string)[] =>
  Object.keys(fields);

/** The schema of a filter, for queries and JSON. Every field is optional, others are refused. */
export const filterSchema = <F extends AnyFields>(fields: F) => {
  const shape = Object.fromEntries(
    Object.entries(fields).map(([name, { schema, about }]) => [name, schema.describe(about)]),
  ) as { readonly [Name in keyof F]: F[Name]['schema'] };
  return z.strictObject(shape).partial();
};

/** How one filter is compared: `mayMatch` a packed row that begins at `from`, `matches` a row. */
export const readWanted = <Row>(fields: Fields<Row>, filter: Readonly<Record<string, unknown>>) => {
  const wanted = Object.entries(filter).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    // If a member were not compared, too much would be found, and replayed.
    if (field === undefined) throw new TypeError(`filter.${name}: there is no such field`);
    return [{ field, value }];
  });
  return {
    /** Whether the index decides: rows that may match can be counted unread. */
    isPacked: wanted.every(({ field }) => !field.isRough),
    mayMatch: createTest(wanted.flatMap(({ field, value }) => field.tests?.(value) ?? [])),
    matches: (row: Row): boolean => wanted.every(({ field, value }) => field.matches(row, value)),
  };
};
