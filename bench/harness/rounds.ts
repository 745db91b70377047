/**
 * Interleaved rounds: A B A B …, after a warm-up of each side that is thrown away.
 *
 * Two sides that are measured one after the other tell apart two moments of a machine rather than
 * two programs.
 */

export type Sides<Name extends string, T> = { readonly [Key in Name]: () => Promise<T> };

/** @returns What each side gave in each round, in order. */
export const interleave = async <Name extends string, T>(
  rounds: number,
  sides: Sides<Name, T>,
  { warmUps = 1 }: { readonly warmUps?: number } = {},
): Promise<{ readonly [Key in Name]: readonly T[] }> => {
  const names = Object.keys(sides) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Name, T[]>;
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const name of names) {
      const result = await sides[name]();
      if (round >= 0) results[name].push(result);
    }
  }
  return results;
};
