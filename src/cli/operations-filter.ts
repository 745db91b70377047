/** Options that narrow a list of transactions, the same for `ls` and `replay`. */
import type { Command } from 'commander';
import type { SignatureState } from '../../machines/signature.machine.ts';
import type { HistoryFilter } from '../history/filter.ts';
import { isFaultCode } from '../protocol/fault.ts';
import { type ProfileName, profileNames } from '../protocol/requests.ts';
import { type CliContext, UsageProblem } from './context.ts';

export interface FilterFlags {
  readonly state?: readonly SignatureState[];
  readonly fault?: readonly number[];
  readonly ap?: string;
  readonly msisdn?: string;
  readonly profile?: ProfileName;
  /** Milliseconds since the epoch. */
  readonly since?: number;
  readonly until?: number;
  readonly text?: string;
}

const states = ['submitted', 'pending', 'signed', 'failed', 'receipted'] as const;

const partsOf = (text: string): readonly string[] => text.split(',').map((part) => part.trim());

/** `signed,receipted`; an option that is repeated adds to what it has. */
const parseStates = (text: string, before: readonly SignatureState[] = []): readonly SignatureState[] => [
  ...before,
  ...partsOf(text).map((part) => {
    const state = states.find((known) => known === part);
    if (state === undefined) throw new UsageProblem(`--state must be one of ${states.join(', ')}.`);
    return state;
  }),
];

const parseFaults = (text: string, before: readonly number[] = []): readonly number[] => [
  ...before,
  ...partsOf(text).map((part) => {
    const code = /^_?\d{3}$/.test(part) ? Number(part.replace('_', '')) : 0;
    if (!isFaultCode(code)) throw new UsageProblem('--fault must be a code of the interface, such as 401.');
    return code;
  }),
];

const parseMsisdn = (text: string): string => {
  const number = /^\+?(\d{7,15})$/.exec(text)?.[1];
  if (number === undefined) throw new UsageProblem('--msisdn must be in E.164, such as +41700092501.');
  return number;
};

/** The name, or a URI that ends in it. */
const parseProfile = (text: string): ProfileName => {
  const profile = profileNames.find((name) => text === name || text.endsWith(`/${name}`));
  if (profile === undefined) throw new UsageProblem(`--profile must be one of ${profileNames.join(', ')}.`);
  return profile;
};

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A point in time (ISO 8601), or how long ago: `90s`, `30m`, `2h`, `7d`. */
export const parseTime =
  (option: string, now: () => number) =>
  (text: string): number => {
    const ago = /^(\d{1,6})([smhd])$/.exec(text);
    if (ago !== null) return now() - Number(ago[1]) * unitsMs[ago[2] as keyof typeof unitsMs];
    const time = /^\d{4}-\d{2}-\d{2}(T|$)/.test(text) ? Date.parse(text) : Number.NaN;
    if (Number.isNaN(time)) {
      throw new UsageProblem(
        `${option} must be a time such as 2030-01-31T08:00:00Z, or how long ago: 2h, 7d.`,
      );
    }
    return time;
  };

export const parseCount =
  (option: string, least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) {
      throw new UsageProblem(`${option} must be a number from ${least} to ${most}.`);
    }
    return value;
  };

export const addFilterOptions = (command: Command, { now }: Pick<CliContext, 'now'>): Command =>
  command
    .option('--fault <codes>', 'failed with one of these: 208,209', parseFaults)
    .option('--ap <id>', 'of this AP_ID')
    .option('--msisdn <number>', 'of this mobile number', parseMsisdn)
    .option('--profile <name>', 'that asked for this profile', parseProfile)
    .option('--since <time>', 'submitted then or later; ISO 8601, or 2h ago', parseTime('--since', now))
    .option('--until <time>', 'submitted before', parseTime('--until', now))
    .option('--text <text>', 'a part of the AP_TransID or MSSP_TransID');

export const addStateOption = (command: Command): Command =>
  command.option('--state <states>', 'in one of these: pending,failed', parseStates);

export const filterOf = ({
  state,
  fault,
  ap,
  msisdn,
  profile,
  since,
  until,
  text,
}: FilterFlags): HistoryFilter => ({
  ...(state !== undefined && { states: state }),
  ...(fault !== undefined && { faults: fault }),
  ...(ap !== undefined && { apId: ap }),
  ...(msisdn !== undefined && { msisdn }),
  ...(profile !== undefined && { profile }),
  ...(since !== undefined && { from: since }),
  ...(until !== undefined && { to: until }),
  ...(text !== undefined && { text }),
});
