import { describe, expect, it } from 'vitest';
import { randomBytesOf } from '../src/random.ts';

describe('Random bytes', () => {
  it('come in the length that was asked for, also across a refill of the pool', () => {
    for (let length = 0; length < 700; length += 1)
      expect(randomBytesOf(length)).toHaveLength(length);
  });

  it('are handed out once', () => {
    const seen = new Set(Array.from({ length: 2000 }, () => randomBytesOf(16).toString('hex')));
    expect(seen.size).toBe(2000);
  });

  it('are not changed by a later taker', () => {
    const taken = randomBytesOf(32);
    const before = Buffer.from(taken);
    for (let turn = 0; turn < 300; turn += 1) randomBytesOf(32);
    expect(taken).toEqual(before);
  });

  it('come in 4096 at most', () => {
    expect(() => randomBytesOf(4097)).toThrow(RangeError);
  });
});
