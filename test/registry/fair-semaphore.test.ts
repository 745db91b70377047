import { describe, expect, it } from 'vitest';
import { createFairSemaphore } from '../../src/registry/fair-semaphore.ts';

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

describe('a semaphore', () => {
  it('lets so many through at a time and gives each its result', async () => {
    const { begun, work, end } = stage();
    const semaphore = createFairSemaphore({
      maxConcurrent: 2,
      maxWaitingPerLane: 5,
      maxWaiting: 9,
    });
    const results = ['a', 'b', 'c'].map((lane) => semaphore.run(lane, 'origin', work(lane)));
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    await end('a');
    await end('c');
    expect(await Promise.all(results)).toEqual(['a', 'b', 'c']);
  });

  it('takes turns between lanes, so that a flood in one delays another by one turn', async () => {
    const { begun, work, end } = stage();
    const semaphore = createFairSemaphore({
      maxConcurrent: 1,
      maxWaitingPerLane: 5,
      maxWaiting: 9,
    });
    for (const name of ['flood1', 'flood2', 'flood3']) semaphore.run('flood', 'origin', work(name));
    semaphore.run('other', 'origin', work('other'));
    await end('flood1');
    expect(begun).toEqual(['flood1', 'other']);
    await end('other');
    await end('flood2');
    expect(begun).toEqual(['flood1', 'other', 'flood2', 'flood3']);
  });

  it('runs one piece of a lane at a time, whatever else is free', async () => {
    const { begun, work, end } = stage();
    const semaphore = createFairSemaphore({
      maxConcurrent: 3,
      maxWaitingPerLane: 5,
      maxWaiting: 9,
    });
    semaphore.run('lane', 'origin', work('first'));
    semaphore.run('lane', 'origin', work('second'));
    expect(begun).toEqual(['first']);
    await end('first');
    expect(begun).toEqual(['first', 'second']);
  });

  it('turns away what its lane has no room for, and has room again later', async () => {
    const { begun, work, end } = stage();
    const semaphore = createFairSemaphore({
      maxConcurrent: 1,
      maxWaitingPerLane: 1,
      maxWaiting: 9,
    });
    semaphore.run('lane', 'origin', work('first'));
    semaphore.run('lane', 'origin', work('second'));
    expect(semaphore.run('lane', 'origin', work('third'))).toBeUndefined();
    await end('first');
    await end('second');
    expect(semaphore.run('lane', 'origin', work('fourth'))).toBeInstanceOf(Promise);
    expect(begun).toEqual(['first', 'second', 'fourth']);
  });

  it('takes turns between the origins of a lane', async () => {
    const { begun, work, end } = stage();
    const semaphore = createFairSemaphore({
      maxConcurrent: 1,
      maxWaitingPerLane: 5,
      maxWaiting: 9,
    });
    for (const name of ['flood1', 'flood2', 'flood3']) semaphore.run('lane', 'flood', work(name));
    semaphore.run('lane', 'owner', work('owner'));
    for (const name of ['flood1', 'flood2', 'owner']) await end(name);
    expect(begun).toEqual(['flood1', 'flood2', 'owner', 'flood3']);
  });

  it('turns away in a full lane whoever has most in it, even when it was there first', async () => {
    const { begun, work, end } = stage();
    const semaphore = createFairSemaphore({
      maxConcurrent: 1,
      maxWaitingPerLane: 2,
      maxWaiting: 9,
    });
    const flood = ['flood1', 'flood2', 'flood3'].map((name) =>
      semaphore.run('lane', 'flood', work(name)),
    );
    const owner = semaphore.run('lane', 'owner', work('owner'));
    expect(await flood[2]).toBeUndefined();
    for (const name of ['flood1', 'flood2', 'owner']) await end(name);
    expect(await owner).toBe('owner');
    expect(begun).toEqual(['flood1', 'flood2', 'owner']);
  });

  it('has a bound for all lanes together, at which the longest of them loses', async () => {
    const { work, end } = stage();
    const semaphore = createFairSemaphore({
      maxConcurrent: 1,
      maxWaitingPerLane: 5,
      maxWaiting: 4,
    });
    semaphore.run('running', 'a', work('running'));
    const flood = ['flood1', 'flood2', 'flood3'].map((name) =>
      semaphore.run('flood', 'b', work(name)),
    );
    const others = ['other1', 'other2'].map((lane) => semaphore.run(lane, 'c', work(lane)));
    expect(others.every((other) => other instanceof Promise)).toBe(true);
    expect(await flood[2]).toBeUndefined();
    for (const name of ['running', 'flood1', 'other1', 'other2', 'flood2']) await end(name);
    expect(await Promise.all([...flood, ...others])).toEqual([
      'flood1',
      'flood2',
      undefined,
      'other1',
      'other2',
    ]);
  });

  it('at that bound turns away a flood of many lanes from one origin, for whoever comes from elsewhere', async () => {
    const { begun, work, end } = stage();
    const semaphore = createFairSemaphore({
      maxConcurrent: 1,
      maxWaitingPerLane: 5,
      maxWaiting: 4,
    });
    const names = Array.from({ length: 20 }, (_, index) => `flood${index}`);
    const flood = names.map((name) => semaphore.run(name, 'flood', work(name)));
    expect(flood.filter((each) => each === undefined)).toHaveLength(15);
    const other = semaphore.run('other', 'elsewhere', work('other'));
    expect(await flood[4]).toBeUndefined();
    for (const name of ['flood0', 'flood1', 'flood2', 'flood3', 'other']) await end(name);
    expect(await other).toBe('other');
    expect(begun).toHaveLength(5);
  });

  it('passes a failure on and goes on with the next', async () => {
    const semaphore = createFairSemaphore({
      maxConcurrent: 1,
      maxWaitingPerLane: 5,
      maxWaiting: 9,
    });
    const failing = semaphore.run('lane', 'origin', () => Promise.reject(new Error('broken')));
    const next = semaphore.run('lane', 'origin', () => Promise.resolve('fine'));
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('fine');
  });
});
