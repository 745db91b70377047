/**
 * The filter of the list, as a form has it and as the search wants it. What cannot be read is said beside its field, and nothing is
 * searched, so that nobody takes a mistyped filter for an empty result, or replays what they did not mean.
 */
import type { HistoryFilter } from '../../history/filter.ts';
import { faultCodes } from '../../protocol/fault.ts';
import { profileNames } from '../../protocol/requests.ts';
import { states } from '../api/input.ts';

export const filterFields = [
  'state',
  'fault',
  'apId',
  'msisdn',
  'profile',
  'attemptsAtMost',
  'from',
  'to',
  'text',
] as const;
export type FilterField = (typeof filterFields)[number];
/** As it was written, without empty ones. */
export type FilterForm = Readonly<Partial<Record<FilterField, string>>>;

export interface ReadFilter {
  readonly form: FilterForm;
  readonly filter: HistoryFilter;
  /** What is wrong with which field. */
  readonly problems: Readonly<Partial<Record<FilterField, string>>>;
}

const mostText = 256;

/** `2026-11-21T14:03`, as browsers write it, with seconds and fractions or without; UTC. */
const timeOf = (text: string): number | undefined => {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z?$/.test(text)) return undefined;
  const time = Date.parse(text.endsWith('Z') ? text : `${text}Z`);
  return Number.isNaN(time) ? undefined : time;
};

/** For a field of the form. */
export const fieldTime = (at: number): string => new Date(at).toISOString().slice(0, -1);

type Read = Partial<HistoryFilter> | string;

const read: Readonly<Record<FilterField, (text: string) => Read>> = {
  state: (text) => {
    if (text === 'open') return { states: ['submitted', 'pending'] };
    const state = states.find((known) => known === text);
    return state === undefined ? 'Choose a state of the list' : { states: [state] };
  },
  fault: (text) => {
    const codes = text.split(/[\s,]+/).map(Number);
    const known = codes.every((code) => faultCodes.some((each) => each === code));
    return known ? { faults: codes } : 'Fault codes are three digits, such as 401';
  },
  apId: (text) => ({ apId: text }),
  msisdn: (text) => {
    const digits = text.replaceAll(/[\s()./-]/g, '').replace(/^00/, '+');
    return /^\+?\d{3,15}$/.test(digits)
      ? { msisdn: digits }
      : 'A number with its country code, such as +41 79 …';
  },
  profile: (text) => {
    const profile = profileNames.find((name) => name === text);
    return profile === undefined ? 'Choose a profile of the list' : { profile };
  },
  attemptsAtMost: (text) =>
    /^[1-9]\d{0,2}$/.test(text) ? { attemptsAtMost: Number(text) } : 'A number from 1 to 999',
  from: (text) => {
    const from = timeOf(text);
    return from === undefined ? 'A date and a time, UTC' : { from };
  },
  to: (text) => {
    const to = timeOf(text);
    return to === undefined ? 'A date and a time, UTC' : { to };
  },
  text: (text) => ({ text }),
};

/** @param fieldOf Of a query or a form. */
export const readFilter = (fieldOf: (name: FilterField) => string | undefined): ReadFilter => {
  const form: Partial<Record<FilterField, string>> = {};
  const problems: Partial<Record<FilterField, string>> = {};
  let filter: HistoryFilter = {};
  for (const name of filterFields) {
    const text = (fieldOf(name) ?? '').trim();
    if (text === '') continue;
    form[name] = text.slice(0, mostText);
    const found: Read = text.length > mostText ? 'This is too long' : read[name](text);
    if (typeof found === 'string') problems[name] = found;
    else filter = { ...filter, ...found };
  }
  return { form, filter, problems };
};

/** `?state=failed&…`, or nothing. */
export const queryOf = (
  form: FilterForm,
  more: Readonly<Record<string, string | undefined>> = {},
): string => {
  const query = new URLSearchParams();
  for (const name of filterFields) {
    const value = form[name];
    if (value !== undefined) query.set(name, value);
  }
  for (const [name, value] of Object.entries(more)) if (value !== undefined) query.set(name, value);
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
};

/** In words, for a plan. */
export const filterWords = (form: FilterForm): readonly (readonly [name: string, value: string])[] => {
  const labels: Readonly<Record<FilterField, string>> = {
    state: 'State',
    fault: 'Fault',
    apId: 'Application',
    msisdn: 'Number',
    profile: 'Profile',
    attemptsAtMost: 'Attempts at most',
    from: 'From',
    to: 'Until',
    text: 'Text',
  };
  return filterFields.flatMap((name) => {
    const value = form[name];
    return value === undefined ? [] : [[labels[name], value.replace('T', ' ')] as const];
  });
};
