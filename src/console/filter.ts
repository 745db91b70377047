/**
 * Filters of lists, read from forms, addresses and programs; and that of transactions.
 *
 * Programs get an error for a field that cannot be read. A page shows the error beside the field
 * and searches nothing, because a mistyped filter must not look like an empty result, or replay too
 * much.
 */
import { z } from 'zod';
import { faultCodes } from '../../packages/protocol/src/fault.ts';
import { profileNames } from '../../packages/protocol/src/requests.ts';
import type { HistoryFilter } from '../transactions/history/filter.ts';
import { clockOf } from './clock.ts';
import { count, text, time } from './input.ts';
import type { Role } from './operators/operator.ts';
import { seesPeople } from './redaction.ts';

export const states = ['submitted', 'pending', 'signed', 'failed', 'receipted'] as const;
export const openStates = ['submitted', 'pending'] as const;

const list = <T extends z.ZodType>(entry: T) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(/[\s,]+/) : value),
    z.array(entry).min(1).max(50),
  );

/** Accepts the usual ways to write a number. */
const normalizeNumber = (written: string): string =>
  written.replaceAll(/[\s()./-]/g, '').replace(/^00/, '+');

export const transactionFilter = z
  .strictObject({
    state: z.preprocess((value) => (value === 'open' ? openStates : value), list(z.enum(states))),
    fault: list(z.coerce.number().pipe(z.literal(faultCodes))),
    apId: text(256),
    msisdn: z
      .string()
      .transform(normalizeNumber)
      .pipe(z.string().regex(/^\+?\d{3,15}$/, { error: 'must be a number with its country code' })),
    profile: z.enum(profileNames),
    attemptsAtMost: count(999),
    from: time,
    to: time,
    text: text(256),
  })
  .partial();

export type FilterField = keyof typeof transactionFilter.shape;
type Filter = z.output<typeof transactionFilter>;

/** Each field's label on pages, and its error. */
export type FilterLabels<Field extends string> = Readonly<
  Record<Field, readonly [label: string, problem: string]>
>;

export const filterLabels = {
  state: ['State', 'Choose a state of the list'],
  fault: ['Fault', 'Fault codes are three digits, such as 401'],
  apId: ['Application', 'This is too long'],
  msisdn: ['Number', 'A number with its country code, such as +41 79 …'],
  profile: ['Profile', 'Choose a profile of the list'],
  attemptsAtMost: ['Attempts at most', 'A number from 1 to 999'],
  from: ['From', 'A date and a time'],
  to: ['Until', 'A date and a time'],
  text: ['Text', 'This is too long'],
} as const satisfies FilterLabels<FilterField>;
const fieldsOf = <Field extends string>(shape: Readonly<Record<Field, unknown>>) =>
  Object.keys(shape) as Field[];
const maxText = 256;

/** The unparsed texts of the fields, without empty ones. */
export type FilterForm<Field extends string = FilterField> = {
  readonly [name in Field]?: string | undefined;
};

export interface ReadFilter<Field extends string = FilterField, Filter = HistoryFilter> {
  readonly form: FilterForm<Field>;
  readonly filter: Filter;
  /** Errors by field. */
  readonly problems: FilterForm<Field>;
}
/** The part of a read filter that a page shows. */
export type FormFields<Field extends string> = Omit<ReadFilter<Field>, 'filter'>;

/** Fields that the search would ignore. If there are any, this file does not compile. */
type Unsearched = Exclude<FilterField, keyof HistoryFilter | 'state' | 'fault'>;

export const filterOf = ({ state, fault, ...others }: Filter): HistoryFilter =>
  ({ ...others, states: state, faults: fault }) satisfies Record<Unsearched, never>;

export type Fields = FilterForm<string>;

/** @param fields The fields of an address or a form. Its times are in the zone that it names. */
export const readFields = <Field extends string, Filter>(
  { shape }: z.ZodType<Filter> & { readonly shape: Readonly<Record<Field, z.ZodType>> },
  labels: FilterLabels<Field>,
  fields: Fields,
): ReadFilter<Field, Filter> => {
  const form: Partial<Record<Field, string>> = {};
  const problems: Partial<Record<Field, string>> = {};
  const filter: Partial<Record<Field, unknown>> = {};
  // The form of a page names the zone of its times; links and programs write UTC.
  const { zone } = fields;
  const inUtc = (name: Field, text: string): string => {
    const at =
      zone === undefined || (name !== 'from' && name !== 'to')
        ? undefined
        : clockOf(zone).read(text);
    return at === undefined ? text : fieldTime(at);
  };
  for (const name of fieldsOf(shape)) {
    const written = inUtc(name, (fields[name] ?? '').trim());
    if (written === '') continue;
    form[name] = written.slice(0, maxText);
    const found = shape[name].safeParse(written);
    if (written.length > maxText) problems[name] = 'This is too long';
    else if (found.success) filter[name] = found.data;
    else problems[name] = labels[name][1];
  }
  return { form, filter: filter as Filter, problems };
};

/** @param fields The fields of an address or a form. */
export const readFilter = (fields: Fields): ReadFilter => {
  const { filter, ...read } = readFields(transactionFilter, filterLabels, fields);
  return { ...read, filter: filterOf(filter) };
};

/** A role that may not see numbers may not guess them either. */
export const withoutGuesses = <Read extends FormFields<'msisdn'>>(read: Read, role: Role): Read =>
  seesPeople(role) || read.form.msisdn === undefined
    ? read
    : { ...read, problems: { ...read.problems, msisdn: 'Your role does not see numbers' } };

/** A time in UTC without its zone, in the form of a browser's field. */
export const fieldTime = (at: number): string => new Date(at).toISOString().slice(0, -1);

/** Labels and values of a filter, for a plan. @param times The time zone of the person. */
export const filterWords = (
  form: FilterForm,
  times = 'UTC',
): readonly (readonly [name: string, value: string])[] => {
  const clock = clockOf(times);
  return fieldsOf(transactionFilter.shape).flatMap((name) => {
    const value = form[name];
    if (value === undefined) return [];
    const isTime = name === 'from' || name === 'to';
    return [
      [filterLabels[name][0], isTime ? `${clock.write(time.parse(value))} ${clock.zone}` : value],
    ];
  });
};
