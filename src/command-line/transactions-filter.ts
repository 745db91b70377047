/** Options that filter lists, and the parsers of options. */
import type { Command } from 'commander';
import { isFaultCode } from '../../packages/protocol/src/fault.ts';
import { type ProfileName, profileNames } from '../../packages/protocol/src/requests.ts';
import { type FilterField, openStates, states } from '../console/filter.ts';
import { time } from '../console/input.ts';
import type { Query } from './admin.ts';
import { type CliContext, UsageError } from './context.ts';

export interface FilterFlags {
  readonly state?: readonly State[];
  readonly fault?: readonly number[];
  readonly ap?: string;
  readonly msisdn?: string;
  readonly profile?: ProfileName;
  /** Milliseconds since the epoch. */
  readonly since?: number;
  readonly until?: number;
  readonly text?: string;
}

export const parseOneOf =
  <T extends string>(option: string, known: readonly T[]) =>
  (text: string): T => {
    const found = known.find((each) => each === text);
    if (found !== undefined) return found;
    const names = known.length === 2 ? known.join(' or ') : `one of ${known.join(', ')}`;
    throw new UsageError(`${option} must be ${names}.`);
  };

/** Parses a list such as `signed,receipted`. The option may be repeated. */
const parseList =
  <T>(parse: (text: string) => T) =>
  (text: string, before: readonly T[] = []): readonly T[] => [
    ...before,
    ...text.split(',').map((part) => parse(part.trim())),
  ];

const parseFault = (text: string): number => {
  const code = /^_?\d{3}$/.test(text) ? Number(text.replace('_', '')) : 0;
  if (!isFaultCode(code))
    throw new UsageError('--fault must be a code of the interface, such as 401.');
  return code;
};

const parseMsisdn = (text: string): string => {
  if (/^\+?\d{7,15}$/.test(text)) return text;
  throw new UsageError('--msisdn must be in E.164, such as +41700092501.');
};

/** Parses a profile: its name, or a URI that ends in it. */
const parseProfile = (text: string): ProfileName =>
  profileNames.find((name) => text.endsWith(`/${name}`)) ??
  parseOneOf('--profile', profileNames)(text);

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

type Clock = Pick<CliContext, 'now'>;

export const addFilterOptions = (command: Command, context: Clock): Command =>
  addCommonOptions(
    command
      .option('--fault <codes>', 'failed with one of these: 208,209', parseList(parseFault))
      .option('--profile <name>', 'that asked for this profile', parseProfile),
    context,
    { number: 'of this mobile number', text: 'a part of the AP_TransID or MSSP_TransID' },
  );

/** Adds the options that lists of transactions and of workflows share. */
export const addCommonOptions = (
  command: Command,
  { now }: Clock,
  words: { readonly number: string; readonly text: string },
): Command =>
  command
    .option('--ap <id>', 'of this AP_ID')
    .option('--msisdn <number>', words.number, parseMsisdn)
    .option(
      '--since <time>',
      'submitted then or later; ISO 8601, or 2h ago',
      parseTime('--since', now),
    )
    .option('--until <time>', 'submitted before', parseTime('--until', now))
    .option('--text <text>', words.text);

export const addPageOptions = (command: Command, usual: number): Command =>
  command
    .option('--limit <n>', 'how many at most', parseCount('--limit', 1, 100_000), usual)
    .option('--cursor <cursor>', 'go on where a list ended, from its JSON');

type State = (typeof states)[number];

/** Parses states. `open` stands for all states before an end. */
const parseStates = (text: string, before: readonly State[] = []): readonly State[] =>
  parseList(parseOneOf('--state', ['open', ...states] as const))(text, before).flatMap((each) =>
    each === 'open' ? openStates : each,
  );

export const addStateOption = (command: Command): Command =>
  command.option(
    '--state <states>',
    'in one of these: pending,failed; open for any not ended',
    parseStates,
  );

/** The filter in the names of the admin API. An option without a member here would be ignored. */
export const filterQuery = ({ ap, since, until, ...flags }: FilterFlags) => {
  const { state, fault, msisdn, profile, text } = flags;
  const query = { state, fault, apId: ap, msisdn, profile, from: since, to: until, text };
  return query satisfies Record<Exclude<FilterField, 'attemptsAtMost'>, unknown> & Query;
};
