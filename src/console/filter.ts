/**
 * The filter of transactions: reads it from forms, addresses and programs, for the search.
 *
 * Programs get an error for a field that cannot be read. A page shows the error beside the field
 * and searches nothing, because a mistyped filter must not look like an empty result, or replay too
 * much.
 */
import { z } from 'zod';
import type { HistoryFilter } from '../history/filter.ts';
import { faultCodes } from '../protocol/fault.ts';
import { profileNames } from '../protocol/requests.ts';
import { count, text, time } from './input.ts';

export const states = ['submitted', 'pending', 'signed', 'failed', 'receipted'] as const;
export const openStates = ['submitted', 'pending'] as const;

const list = <T extends z.ZodType>(entry: T) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(/[\s,]+/) : value),
    z.array(entry).min(1).max(50),
  );

/** Accepts the usual ways to write a number. */
const normalizeNumber = (written: string): string => written.replaceAll(/[\s()./-]/g, '').replace(/^00/, '+');

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
export const filterLabels: Readonly<Record<FilterField, readonly [label: string, problem: string]>> = {
  state: ['State', 'Choose a state of the list'],
  fault: ['Fault', 'Fault codes are three digits, such as 401'],
  apId: ['Application', 'This is too long'],
  msisdn: ['Number', 'A number with its country code, such as +41 79 …'],
  profile: ['Profile', 'Choose a profile of the list'],
  attemptsAtMost: ['Attempts at most', 'A number from 1 to 999'],
  from: ['From', 'A date and a time, UTC'],
  to: ['Until', 'A date and a time, UTC'],
  text: ['Text', 'This is too long'],
};
const filterFields = Object.keys(filterLabels) as FilterField[];
const maxText = 256;

/** The fields as written, without empty ones. */
export type FilterForm = Readonly<Partial<Record<FilterField, string>>>;

export interface ReadFilter {
  readonly form: FilterForm;
  readonly filter: HistoryFilter;
  /** Errors by field. */
  readonly problems: Readonly<Partial<Record<FilterField, string>>>;
}

/** Fields that the search would ignore: none, or this file does not compile. */
type Unsearched = Exclude<FilterField, keyof HistoryFilter | 'state' | 'fault'>;

type Defined<T> = { [Name in keyof T]: Exclude<T[Name], undefined> };

export const filterOf = ({ state, fault, ...others }: Filter): HistoryFilter => {
  const all = { ...others, states: state, faults: fault } satisfies Record<Unsearched, never>;
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Defined<
    typeof all
  >;
};

/** @param fields Of an address or a form. */
export const readFilter = (fields: Readonly<Partial<Record<string, string>>>): ReadFilter => {
  const form: Partial<Record<FilterField, string>> = {};
  const problems: Partial<Record<FilterField, string>> = {};
  const read: Partial<Record<FilterField, unknown>> = {};
  for (const name of filterFields) {
    const written = (fields[name] ?? '').trim();
    if (written === '') continue;
    form[name] = written.slice(0, maxText);
    const found = transactionFilter.shape[name].safeParse(written);
    if (written.length > maxText) problems[name] = 'This is too long';
    else if (found.success) read[name] = found.data;
    else problems[name] = filterLabels[name][1];
  }
  return { form, filter: filterOf(read as Filter), problems };
};

/** The time without its zone, as browsers write it into a field. */
export const fieldTime = (at: number): string => new Date(at).toISOString().slice(0, -1);

/** Labels and values, for a plan. */
export const filterWords = (form: FilterForm): readonly (readonly [name: string, value: string])[] =>
  filterFields.flatMap((name) => {
    const value = form[name];
    if (value === undefined) return [];
    const isTime = name === 'from' || name === 'to';
    return [
      [filterLabels[name][0], isTime ? `${fieldTime(time.parse(value)).replace('T', ' ')} UTC` : value],
    ];
  });
