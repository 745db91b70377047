/**
 * Looks for the least that still fails: drops halves, then quarters, and so on (delta debugging),
 * until the budget is spent. Time is not in our hand, so a subset that passes once may be at fault
 * all the same; what is returned has failed.
 */
export const shrink = async <T>(
  failing: readonly T[],
  fails: (subset: readonly T[]) => Promise<boolean>,
  budget: number,
): Promise<{ readonly smallest: readonly T[]; readonly tried: number }> => {
  let smallest = failing;
  let parts = 2;
  let tried = 0;
  while (smallest.length > 1 && parts <= smallest.length) {
    const size = Math.ceil(smallest.length / parts);
    let smaller: readonly T[] | undefined;
    for (let from = 0; from < smallest.length && smaller === undefined; from += size) {
      if (tried >= budget) return { smallest, tried };
      const without = [...smallest.slice(0, from), ...smallest.slice(from + size)];
      tried += 1;
      if (await fails(without)) smaller = without;
    }
    if (smaller === undefined) parts *= 2;
    else {
      smallest = smaller;
      parts = Math.max(2, parts - 1);
    }
  }
  return { smallest, tried };
};
