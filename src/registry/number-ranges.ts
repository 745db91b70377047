/**
 * Ranges of mobile numbers, so that one entry can register a million users. Numbers are compared as
 * integers: an E.164 number has at most 15 digits and no leading zero, so a double is exact.
 */
export interface NumberRange {
  /** Digits without the plus sign. `first` and `last` are equal for a single number. */
  readonly first: string;
  readonly last: string;
}

/** Indexes into a list of ranges, the lower one first. */
type Overlap = readonly [number, number];

/**
 * Finds pairs of ranges that share a number, at least one pair for each range that overlaps an
 * earlier one.
 */
export const findOverlaps = (ranges: readonly NumberRange[]): readonly Overlap[] => {
  const sorted = ranges
    .map(({ first, last }, index) => ({ first: Number(first), last: Number(last), index }))
    .toSorted((a, b) => a.first - b.first || a.index - b.index);
  const overlaps: Overlap[] = [];
  let reach = { last: -1, index: -1 };
  for (const { first, last, index } of sorted) {
    if (first <= reach.last) {
      overlaps.push([Math.min(index, reach.index), Math.max(index, reach.index)]);
    }
    if (last > reach.last) reach = { last, index };
  }
  return overlaps;
};

/** Finds the range of a number by a binary search. @param ranges Must not overlap. */
export const createRangeIndex = <T extends NumberRange>(
  ranges: readonly T[],
): ((number: string) => T | undefined) => {
  const sorted = ranges
    .map((range) => ({ first: Number(range.first), last: Number(range.last), range }))
    .toSorted((a, b) => a.first - b.first);

  return (number) => {
    // Number() would also read '', '0x…' and a leading zero.
    if (!/^[1-9]\d{0,14}$/.test(number)) return undefined;
    const wanted = Number(number);
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const candidate = sorted[middle];
      if (candidate === undefined) return undefined;
      if (wanted < candidate.first) high = middle;
      else if (wanted > candidate.last) low = middle + 1;
      else return candidate.range;
    }
    return undefined;
  };
};
