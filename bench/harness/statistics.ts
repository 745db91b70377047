/** Medians and ratios of rounds. */
import type { Ratio } from './scenario.ts';

/** The middle one; of an even number the mean of the two in the middle. NaN of none. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
};

/** Rounds are divided in pairs, so that a drift of the machine cancels out. */
export const roundRatios = (
  numerators: readonly number[],
  denominators: readonly number[],
): number[] => {
  if (numerators.length !== denominators.length) throw new RangeError('Rounds must come in pairs');
  return numerators.map((value, round) => value / (denominators[round] ?? Number.NaN));
};

/**
 * @param described  Name, words and goal of the ratio.
 * @param ratios     One for each round.
 */
export const ratioOf = (
  described: Pick<Ratio, 'name' | 'divides' | 'goal'>,
  ratios: readonly number[],
): Ratio => ({
  ...described,
  value: median(ratios),
  least: Math.min(...ratios),
  most: Math.max(...ratios),
});

type Rounds<Key extends string> = readonly Readonly<Record<Key, number>>[];

/** One side divided by the other in what `key` names. */
export const compare = <Key extends string>(
  described: Pick<Ratio, 'name' | 'divides' | 'goal'>,
  numerators: Rounds<Key>,
  denominators: Rounds<Key>,
  key: Key,
): Ratio =>
  ratioOf(
    described,
    roundRatios(
      numerators.map((round) => round[key]),
      denominators.map((round) => round[key]),
    ),
  );

/** Medians of the rounds, for a row of a table. */
export const medians = <Key extends string>(
  rounds: Rounds<Key>,
  ...keys: readonly Key[]
): number[] => keys.map((key) => median(rounds.map((round) => round[key])));

/** @returns Undefined when there is no goal. */
export const isMet = ({ value, goal }: Pick<Ratio, 'value' | 'goal'>): boolean | undefined => {
  if (goal === undefined) return undefined;
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost;
};
