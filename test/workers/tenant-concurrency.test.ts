import { describe, expect, it } from 'vitest';
import { createTenantConcurrency } from '../../workers/tenant-concurrency.ts';

const start = (max: number, maxTotal = Infinity) => {
  let time = 0;
  const slots = createTenantConcurrency(
    { max, maxWhenSlow: Math.floor(max / 5), maxTotal, minWaitMs: 2000 },
    () => time,
  );
  const take = (apId: string): (() => void) => {
    const free = slots.acquire(apId);
    if (free === undefined) throw new Error('a place was expected');
    return free;
  };
  /** In how many milliseconds the last of so many comes. */
  const line = (apId: string, count: number): number =>
    Array.from({ length: count }, () => slots.waitMs(apId)).at(-1) ?? 0;
  return { ...slots, slots, take, line, pass: (ms: number) => (time += ms) };
};

describe('the places of an application', () => {
  it('are so many, and others have their own', () => {
    const { take, slots } = start(2);
    const free = take('a');
    take('a');
    expect(slots.acquire('a')).toBeUndefined();
    take('b');
    free();
    take('a');
    expect(slots.acquire('a')).toBeUndefined();
  });

  it('are a fifth for one who has hung lately', () => {
    const { take, slots, pass } = start(25);
    const hanging = Array.from({ length: 25 }, () => take('hangs'));
    pass(10_000);
    for (const free of hanging) free();
    for (const free of Array.from({ length: 5 }, () => take('hangs'))) {
      expect(slots.acquire('hangs')).toBeUndefined();
      free();
      take('hangs');
    }
  });

  it('are all there again for one who has been quick for a while', () => {
    const { take, slots, pass } = start(25);
    const free = take('hung');
    pass(10_000);
    free();
    for (let tries = 0; tries < 20; tries += 1) take('hung')();
    for (let more = 0; more < 25; more += 1) take('hung');
    expect(slots.acquire('hung')).toBeUndefined();
  });

  it('are waited for one after the other, as seldom for many as for few, while nobody answers', () => {
    const { take, line, pass } = start(25);
    const free = take('hangs');
    expect(line('hangs', 1)).toBe(2000);
    pass(10_000);
    free();
    take('hangs');
    // A hundred in a second, behind each other also when they were put off later.
    expect(line('hangs', 30_000)).toBe(2000 + 299_990);
    pass(100_000);
    expect(line('hangs', 100)).toBe(2000 + 199_990 + 1000);
    expect(line('another', 1)).toBe(2000);
  });

  it('are no more for all together than there are', () => {
    const { take, slots } = start(2, 3);
    take('a');
    take('a');
    const free = take('b');
    expect(slots.acquire('c')).toBeUndefined();
    free();
    take('c');
  });

  it('that lines share are looked for the more seldom the more lines there are', () => {
    const { line, pass } = start(50, 200);
    for (let other = 0; other < 999; other += 1) line(`${other}`, 1);
    // The thousand of them ask 400 times in a second, as four would.
    expect(line('mine', 1)).toBe(2500);
    expect(line('mine', 2)).toBe(3 * 2500);
    pass(20_000);
    expect(line('mine', 1)).toBe(2000);
  });

  it('are waited for as long as a quick receiver needs for those in front', () => {
    const { take, line, pass } = start(25);
    take('quick');
    const free = take('quick');
    pass(50);
    free();
    expect(line('quick', 501)).toBe(2000 + 500 * 2);
  });
});
