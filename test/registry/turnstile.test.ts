import { describe, expect, it } from 'vitest';
import { createTurnstile } from '../../src/registry/turnstile.ts';

/** Work that ends when the test says so, and a record of what has begun. */
const stage = () => {
  const begun: string[] = [];
  const endings = new Map<string, () => void>();
  return {
    begun,
    work: (name: string) => () => {
      begun.push(name);
      return new Promise<string>((resolve) => endings.set(name, () => resolve(name)));
    },
    end: async (name: string) => {
      endings.get(name)?.();
      await new Promise(setImmediate);
    },
  };
};

describe('a turnstile', () => {
  it('lets so many through at a time and gives each its result', async () => {
    const { begun, work, end } = stage();
    const turnstile = createTurnstile({ maxConcurrent: 2, maxWaitingPerLane: 5 });
    const results = ['a', 'b', 'c'].map((lane) => turnstile.run(lane, work(lane)));
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    await end('a');
    await end('c');
    expect(await Promise.all(results)).toEqual(['a', 'b', 'c']);
  });

  it('takes turns between lanes, so that a flood in one delays another by one turn', async () => {
    const { begun, work, end } = stage();
    const turnstile = createTurnstile({ maxConcurrent: 1, maxWaitingPerLane: 5 });
    for (const name of ['flood1', 'flood2', 'flood3']) turnstile.run('flood', work(name));
    turnstile.run('other', work('other'));
    await end('flood1');
    expect(begun).toEqual(['flood1', 'other']);
    await end('other');
    await end('flood2');
    expect(begun).toEqual(['flood1', 'other', 'flood2', 'flood3']);
  });

  it('runs one piece of a lane at a time, whatever else is free', async () => {
    const { begun, work, end } = stage();
    const turnstile = createTurnstile({ maxConcurrent: 3, maxWaitingPerLane: 5 });
    turnstile.run('lane', work('first'));
    turnstile.run('lane', work('second'));
    expect(begun).toEqual(['first']);
    await end('first');
    expect(begun).toEqual(['first', 'second']);
  });

  it('turns away what its lane has no room for, and has room again later', async () => {
    const { begun, work, end } = stage();
    const turnstile = createTurnstile({ maxConcurrent: 1, maxWaitingPerLane: 1 });
    turnstile.run('lane', work('first'));
    turnstile.run('lane', work('second'));
    expect(turnstile.run('lane', work('third'))).toBeUndefined();
    await end('first');
    await end('second');
    expect(turnstile.run('lane', work('fourth'))).toBeInstanceOf(Promise);
    expect(begun).toEqual(['first', 'second', 'fourth']);
  });

  it('passes a failure on and goes on with the next', async () => {
    const turnstile = createTurnstile({ maxConcurrent: 1, maxWaitingPerLane: 5 });
    const failing = turnstile.run('lane', () => Promise.reject(new Error('broken')));
    const next = turnstile.run('lane', () => Promise.resolve('fine'));
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('fine');
  });
});
