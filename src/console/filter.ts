/**
 * Reads the filters of lists from forms, addresses and programs, by the table of their fields
 * (src/transactions/history/fields.ts).
 *
 * Programs get an error for a field that cannot be read. A page shows the error beside the field
 * and searches nothing, because a mistyped filter must not look like an empty result, or replay too
 * much.
 */
import {
  type AnyFields,
  type FilterOf,
  filterSchema,
  namesOf,
  type ReadableFields,
  time,
} from '../transactions/history/fields.ts';
import { type HistoryFilter, transactionFields } from '../transactions/history/filter.ts';
import { clockOf } from './clock.ts';
import type { Role } from './operators/operator.ts';
import { seesPeople } from './redaction.ts';

/** The filter in queries and bodies of the admin API. */
export const transactionFilter = filterSchema(transactionFields);

const maxText = 256;

/** The unparsed texts of the fields, without empty ones. */
export type FilterForm<Field extends string = keyof typeof transactionFields> = {
  readonly [name in Field]?: string | undefined;
};

export interface ReadFilter<
  Field extends string = keyof typeof transactionFields,
  Filter = HistoryFilter,
> {
  readonly form: FilterForm<Field>;
  readonly filter: Filter;
  /** Errors by field. */
  readonly problems: FilterForm<Field>;
}
/** The part of a read filter that a page shows. */
export type FormFields<Field extends string> = Omit<ReadFilter<Field>, 'filter'>;

/** The fields of an address or a form. */
export type Written = FilterForm<string>;

/** `must be a number` beside a field: without its name, which stands above. */
const sentence = (must: string): string => `${must.charAt(0).toUpperCase()}${must.slice(1)}`;

/** @param written Its times are in the zone that it names. */
export const readFields = <F extends ReadableFields>(
  fields: F,
  written: Written,
): ReadFilter<keyof F & string, FilterOf<F>> => {
  const form: Partial<Record<keyof F, string>> = {};
  const problems: Partial<Record<keyof F, string>> = {};
  const filter: Partial<Record<keyof F, unknown>> = {};
  // The form of a page names the zone of its times; links and programs write UTC.
  const { zone } = written;
  const inUtc = (text: string): string => {
    const at = zone === undefined ? undefined : clockOf(zone).read(text);
    return at === undefined ? text : fieldTime(at);
  };
  for (const name of namesOf(fields)) {
    const { kind, schema, must } = fields[name] as F[string];
    const given = (written[name] ?? '').trim();
    const value = kind === 'time' ? inUtc(given) : given;
    if (value === '') continue;
    form[name] = value.slice(0, maxText);
    const found = schema.safeParse(value);
    if (value.length > maxText) problems[name] = 'This is too long';
    else if (found.success) filter[name] = found.data;
    else problems[name] = sentence(must);
  }
  return { form, filter: filter as FilterOf<F>, problems };
};

/** @param written The fields of an address or a form. */
export const readFilter = (written: Written): ReadFilter => readFields(transactionFields, written);

/** The fields of a filter that this role may not use: who may not see people may not guess them. */
const guessesIn = <F extends AnyFields>(
  fields: F,
  filter: Readonly<Partial<Record<keyof F & string, unknown>>>,
  role: Role,
): readonly (keyof F & string)[] =>
  seesPeople(role)
    ? []
    : namesOf(fields).filter((name) => fields[name]?.ofPeople && filter[name] !== undefined);

/** Refuses what a filter guessed, in the form that a page shows beside the field. */
export const withoutGuesses = <F extends AnyFields, Filter>(
  fields: F,
  read: ReadFilter<keyof F & string, Filter>,
  role: Role,
): ReadFilter<keyof F & string, Filter> => {
  const guesses = guessesIn(fields, read.form, role);
  const told = guesses.map((name) => [name, 'Your role may not search for people or their texts']);
  return { ...read, problems: { ...read.problems, ...Object.fromEntries(told) } };
};

/** The sentence that tells a program about a guess; undefined when there is none. */
export const refuseGuess = <F extends AnyFields>(
  fields: F,
  filter: FilterOf<F>,
  role: Role,
): string | undefined => {
  const [guess] = guessesIn(fields, filter, role);
  return guess && `${guess} needs the role operator`;
};

/** A time in UTC without its zone, in the form of a browser's field. */
export const fieldTime = (at: number): string => new Date(at).toISOString().slice(0, -1);

/** Labels and values of a filter, for a plan. @param times The time zone of the person. */
export const filterWords = (
  fields: AnyFields,
  form: Written,
  times = 'UTC',
): readonly (readonly [name: string, value: string])[] => {
  const clock = clockOf(times);
  return Object.entries(fields).flatMap(([name, { kind, label }]) => {
    const value = form[name];
    if (value === undefined) return [];
    return [[label, kind === 'time' ? `${clock.write(time.parse(value))} ${clock.zone}` : value]];
  });
};
