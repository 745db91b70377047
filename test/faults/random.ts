/**
 * Chance that can be repeated: every choice of a run comes from its seed. Each client and the
 * nemesis have a stream of their own, so that what one of them does with its numbers changes
 * nothing for the others.
 *
 * What cannot be repeated is time. Two runs of one seed send the same requests and inject the same
 * faults at the same moments, and the scheduler of the machine still decides what meets what.
 */
import { createHash } from 'node:crypto';

export interface Random {
  /** 0 inclusive to 1 exclusive. */
  next(): number;
  /** An integer, 0 inclusive to `limit` exclusive. */
  below(limit: number): number;
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  shuffle<T>(list: readonly T[]): readonly T[];
  /** Another stream, always the same for the same name. */
  branch(name: string): Random;
}

/** mulberry32: small, and good enough for choosing what to break. */
export const createRandom = (seed: string): Random => {
  let state = createHash('sha256').update(seed).digest().readUInt32BE(0);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    between: (least, most) => least + below(most - least + 1),
    chance: (probability) => next() < probability,
    pick: <T>(list: readonly T[]): T => {
      const chosen = list[below(list.length)];
      if (chosen === undefined) throw new Error('Nothing to pick from');
      return chosen;
    },
    shuffle: (list) =>
      list
        .map((item) => ({ item, key: next() }))
        .sort((one, other) => one.key - other.key)
        .map(({ item }) => item),
    branch: (name) => createRandom(`${seed}/${name}`),
  };
};
