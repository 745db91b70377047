/**
 * What every kind of load gets. It goes on whatever happens, and its checker is in its own file.
 */
import type { Journal } from '../journal.ts';
import type { Random } from '../random.ts';

export interface Scene {
  /** Of the APIs. */
  readonly urls: readonly string[];
  readonly journal: Journal;
  readonly random: Random;
  /** Begins nothing new after it. Milliseconds since the epoch. */
  readonly until: number;
}

/** Begins something again and again, and resolves when all of it is over. */
export const beginOften = async <T>(
  { random, until }: Scene,
  everyMs: number,
  begin: (index: number, random: Random) => Promise<T>,
): Promise<readonly T[]> => {
  const begun: Promise<T>[] = [];
  while (Date.now() < until) {
    begun.push(begin(begun.length, random.branch(String(begun.length))));
    await new Promise((resolve) => setTimeout(resolve, random.between(0, 2 * everyMs)));
  }
  return Promise.all(begun);
};
