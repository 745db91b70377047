import { describe, expect, it } from 'vitest';
import { createBoundedCache } from '../src/bounded-cache.ts';

describe('the bounded cache', () => {
  it('looks a thing up once for all who ask at the same time', async () => {
    const cache = createBoundedCache<Promise<number>>(10);
    let lookups = 0;
    const load = async (): Promise<number> => {
      lookups += 1;
      return lookups;
    };
    expect(
      await Promise.all([cache.get('a', load), cache.get('a', load), cache.get('b', load)]),
    ).toEqual([1, 1, 2]);
    expect(await cache.get('a', load)).toBe(1);
  });

  it('lets the least recently used go first', async () => {
    const cache = createBoundedCache<Promise<string>>(2);
    const loaded: string[] = [];
    const get = (key: string): Promise<string> =>
      cache.get(key, async () => {
        loaded.push(key);
        return key;
      });
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await get(key);
    expect(loaded).toEqual(['a', 'b', 'c', 'b']);
  });

  it('remembers neither failures nor absences', async () => {
    const cache = createBoundedCache<Promise<string | undefined>>(2);
    await expect(cache.get('a', () => Promise.reject(new Error('store is away')))).rejects.toThrow(
      'store is away',
    );
    expect(await cache.get('a', async () => undefined)).toBeUndefined();
    expect(await cache.get('a', async () => 'found')).toBe('found');
  });
});
