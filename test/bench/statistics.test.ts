import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { interleave } from '../../bench/harness/rounds.ts';
import { isMet, median, ratioOf, roundRatios } from '../../bench/harness/statistics.ts';

describe('the median', () => {
  it('is the value in the middle, or the mean of the two there', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([8, 2, 4, 100])).toBe(6);
    expect(median([])).toBeNaN();
  });

  it('lies between least and most whatever the order, and leaves the values as they were', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
        const before = [...values];
        const middle = median(values);
        expect(middle).toBeGreaterThanOrEqual(Math.min(...values));
        expect(middle).toBeLessThanOrEqual(Math.max(...values));
        expect(median(values.toReversed())).toBe(middle);
        expect(values).toEqual(before);
      }),
    );
  });
});

describe('a ratio', () => {
  it('is that of rounds that belong together, so that a slow moment of the machine changes nothing', () => {
    const floor = [100, 10, 100];
    const product = [90, 9, 80];
    const ratio = ratioOf({ name: 'x', divides: 'a / b' }, roundRatios(product, floor));
    expect(ratio).toEqual({ name: 'x', divides: 'a / b', value: 0.9, least: 0.8, most: 0.9 });
  });

  it('wants rounds in pairs', () => {
    expect(() => roundRatios([1], [1, 2])).toThrow(RangeError);
  });

  it('meets its goal at the goal itself', () => {
    expect(isMet({ value: 0.9, goal: { atLeast: 0.9 } })).toBe(true);
    expect(isMet({ value: 0.89, goal: { atLeast: 0.9 } })).toBe(false);
    expect(isMet({ value: 3, goal: { atMost: 3 } })).toBe(true);
    expect(isMet({ value: 3.1, goal: { atMost: 3 } })).toBe(false);
    expect(isMet({ value: 1 })).toBeUndefined();
  });
});

describe('rounds', () => {
  it('alternate between the sides, and what warmed them up does not count', async () => {
    const order: string[] = [];
    const side = (name: string) => async (): Promise<number> => order.push(name);
    const results = await interleave(2, { a: side('A'), b: side('B') });
    expect(order.join('')).toBe('ABABAB');
    expect(results).toEqual({ a: [3, 5], b: [4, 6] });
  });
});
