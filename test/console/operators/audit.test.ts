/** The audit log as it is read. */
import { beforeEach, describe, expect, it } from 'vitest';
import { type Audit, createAudit } from '../../../src/console/operators/audit.ts';
import { testRedis } from '../../support/redis.ts';

const test = testRedis();
const redis = test.client();
let audit: Audit;
let count = 0;
let key = '';

beforeEach(() => {
  const prefix = `${test.prefix}-${++count}`;
  key = `{${prefix}}:audit`;
  audit = createAudit({ redis, prefix, log: { audit: () => undefined } });
});

const note = (target: string, who = 'olga') =>
  audit.record({
    who,
    via: 'password',
    action: 'replay',
    target,
    reason: 'it was away',
    details: { fault: 209 },
  });

describe('the audit log', () => {
  it('gives back what was written, newest first, with the time of Redis', async () => {
    const before = Number((await redis.time())[0]) * 1000 - 1;
    const id = await note('H1');
    await note('H2');
    const page = await audit.read();
    expect(page?.entries.map(({ target }) => target)).toEqual(['H2', 'H1']);
    expect(page?.entries[1]).toEqual({
      id,
      at: Number(id.split('-')[0]),
      who: 'olga',
      via: 'password',
      action: 'replay',
      target: 'H1',
      reason: 'it was away',
      details: { fault: 209 },
    });
    expect(page?.entries[1]?.at).toBeGreaterThanOrEqual(before);
  });

  it('finds all about one target behind any number of others, page by page', async () => {
    for (let entry = 0; entry < 5; entry += 1) await note('H1', `olga${entry}`);
    const others = redis.pipeline();
    for (let entry = 0; entry < 21_000; entry += 1)
      others.xadd(key, '*', 'entry', 'of no interest');
    await others.exec();
    const first = await audit.read({ target: 'H1', limit: 3 });
    expect(first?.entries.map(({ who }) => who)).toEqual(['olga4', 'olga3', 'olga2']);
    const second = await audit.read({ target: 'H1', limit: 3, cursor: first?.cursor });
    expect(second?.entries.map(({ who }) => who)).toEqual(['olga1', 'olga0']);
    expect(second?.cursor).toBeUndefined();
  });

  it('finds what was done to a target when the list of its entries is over, before and after it is acted on again', async () => {
    const entry = (at: number, target: string): unknown[] => [
      `${at}-0`,
      'entry',
      JSON.stringify({ who: 'olga', via: 'password', action: 'replay', target, details: { at } }),
    ];
    for (const [at, target] of [
      [1000, 'H1'],
      [2000, 'H2'],
      [3000, 'H1'],
    ] as const) {
      await redis.xadd(key, ...(entry(at, target) as [string]));
    }
    const found = async (filter: object = {}) => {
      const page = await audit.read({ target: 'H1', ...filter });
      return page?.entries.map(({ details, who }) => details?.at ?? who);
    };
    expect(await found()).toEqual([3000, 1000]);
    const cursor = await note('H1', 'otto');
    expect(await found()).toEqual(['otto', 3000, 1000]);
    expect(await found({ cursor })).toEqual([3000, 1000]);
    expect(await found({ cursor: '3000-0' })).toEqual([1000]);
    const days = (await redis.ttl(`${key}:of:H1`)) / 86_400;
    expect(days).toBeGreaterThan(399);
    expect(days).toBeLessThanOrEqual(400);
  });

  it('is read page by page, each entry once, also while it grows', async () => {
    for (let entry = 0; entry < 25; entry += 1) await note(`H${entry}`);
    const found: (string | undefined)[] = [];
    let cursor: string | undefined;
    do {
      const page = await audit.read({ limit: 10, cursor });
      found.push(...(page?.entries ?? []).map(({ target }) => target));
      cursor = page?.cursor;
      await note('later');
    } while (cursor !== undefined);
    expect(found).toEqual(Array.from({ length: 25 }, (_, index) => `H${24 - index}`));
  });

  it('is narrowed by who, what, which and when', async () => {
    const first = await note('H1');
    await note('H2', 'oleg');
    await audit.record({ who: 'olga', via: 'link', action: 'login' });
    const targets = async (filter: Parameters<Audit['read']>[0]) =>
      (await audit.read(filter))?.entries.map(({ target }) => target);
    expect(await targets({ who: 'oleg' })).toEqual(['H2']);
    expect(await targets({ action: 'login' })).toEqual([undefined]);
    expect(await targets({ target: 'H1' })).toEqual(['H1']);
    const at = Number(first.split('-')[0]);
    expect(await targets({ to: at })).toEqual([]);
    expect(await targets({ from: at, target: 'H1' })).toEqual(['H1']);
    expect(await targets({ from: at + 60_000 })).toEqual([]);
  });

  it('has an action that is begun again once', async () => {
    const entry = { who: 'olga', via: 'service', action: 'replay', target: 'H1' } as const;
    const ids = await Promise.all([1, 2, 3].map(() => audit.record(entry, 'bulk:H1')));
    expect(new Set(ids).size).toBe(1);
    expect((await audit.read())?.entries).toHaveLength(1);
  });

  it('refuses a cursor that is none, and passes over what nobody can read', async () => {
    expect(await audit.read({ cursor: 'x' })).toBeUndefined();
    await redis.xadd(key, '*', 'entry', '{');
    await note('H1');
    expect((await audit.read())?.entries).toHaveLength(1);
  });
});
