/** Options that filter lists, and the parsers of options. */
import { type Command, Option } from 'commander';
import { type AnyFields, type Field, time } from '../transactions/history/fields.ts';
import type { Query } from './admin.ts';
import { type CliContext, UsageError } from './context.ts';
import { accepting } from './values.ts';

export const parseOneOf = <T extends string>(option: string, known: readonly T[]) =>
  accepting(known, (text: string): T => {
    const found = known.find((each) => each === text);
    if (found !== undefined) return found;
    const names = known.length === 2 ? known.join(' or ') : `one of ${known.join(', ')}`;
    throw new UsageError(`${option} must be ${names}.`);
  });

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a time (ISO 8601; UTC without a zone), or a duration ago: `90s`, `30m`, `2h`, `7d`. */
export const parseTime =
  (option: string, now: () => number) =>
  (text: string): number => {
    const ago = /^(\d{1,6})([smhd])$/.exec(text);
    if (ago !== null) return now() - Number(ago[1]) * unitsMs[ago[2] as keyof typeof unitsMs];
    const found = time.safeParse(text);
    if (found.success) return found.data;
    throw new UsageError(
      `${option} must be a time such as 2030-01-31T08:00:00Z, or how long ago: 2h, 7d.`,
    );
  };

/** @param unit The unit in the error: `of seconds `. */
export const parseCount =
  (option: string, min: number, max: number, unit = '') =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) {
      throw new UsageError(`${option} must be a number ${unit}from ${min} to ${max}.`);
    }
    return value;
  };

/** The options of a table of fields. */
const optionsOf = (fields: AnyFields) =>
  Object.entries(fields).flatMap(([name, field]) =>
    field.option === undefined ? [] : [{ name, field, option: new Option(...field.option) }],
  );

/** Reads the value of a field; a list may be written in several options. */
const parserOf = (
  flag: string,
  { kind, schema, must, choices = [] }: Field<never, unknown>,
  now: () => number,
): ((text: string, before: unknown) => unknown) => {
  if (kind === 'time') return parseTime(flag, now);
  return accepting(choices, (text: string, before: unknown) => {
    const { success, data } = schema.safeParse(text);
    if (!success) throw new UsageError(`${flag} ${must}.`);
    return kind === 'choices' ? [...(Array.isArray(before) ? before : []), data].flat() : data;
  });
};

/** Adds the options of a list's filter, from the table of its fields. */
export const addFilterOptions = (
  command: Command,
  fields: AnyFields,
  { now }: Pick<CliContext, 'now'>,
): Command => {
  for (const { field, option } of optionsOf(fields))
    command.addOption(option.argParser(parserOf(option.long ?? '', field, now)));
  return command;
};

/** The filter in the names of the admin API, from the options that {@link addFilterOptions} adds. */
export const filterQuery = (fields: AnyFields, flags: object): Query =>
  Object.fromEntries(
    optionsOf(fields).map(({ name, option }) => [name, (flags as Query)[option.attributeName()]]),
  );

export const addPageOptions = (command: Command, usual: number): Command =>
  command
    .option('--limit <n>', 'how many at most', parseCount('--limit', 1, 100_000), usual)
    .option('--cursor <cursor>', 'go on where a list ended, from its JSON');
