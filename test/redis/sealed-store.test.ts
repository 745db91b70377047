/**
 * What is kept under a handle is of no use to whoever reads Redis, and is used once where it
 * must be.
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSealing } from '../../packages/pki/src/sealed-json.ts';
import { createSealedStore } from '../../src/redis/sealed-store.ts';
import { testRedis } from '../support/redis.ts';

const { client, prefix } = testRedis();
const serviceKey = randomBytes(32);
const storeOf = (tenant = 'default', key: Uint8Array = serviceKey) =>
  createSealedStore({
    redis: client(),
    base: `${prefix}:oidc:${tenant}`,
    sealing: createSealing(key, `oidc ${tenant}`),
  });

const allOf = async (redis: ReturnType<typeof client>): Promise<string> => {
  const keys = await redis.keys(`*${prefix}*`);
  const values = await Promise.all(
    keys.map(async (key) =>
      (await redis.type(key)) === 'string' ? (await redis.getBuffer(key))?.toString('latin1') : '',
    ),
  );
  return [...keys, ...values].join('\n');
};

describe('the sealed store', () => {
  it('gives back what was put, and nothing after it was removed', async () => {
    const store = storeOf();
    await store.put('Thing', 'handle-1', { some: ['thing', 1] }, 60);
    expect(await store.get('Thing', 'handle-1')).toEqual({ some: ['thing', 1] });
    expect(await store.get('Other', 'handle-1')).toBeUndefined();
    await store.remove('Thing', 'handle-1');
    expect(await store.get('Thing', 'handle-1')).toBeUndefined();
  });

  it('shows neither handle nor content to whoever reads Redis', async () => {
    const redis = client();
    await storeOf().put(
      'Thing',
      'handle-in-clear',
      { jti: 'handle-in-clear', text: 'content-in-clear' },
      60,
    );
    expect(await allOf(redis)).not.toMatch(/in-clear/);
  });

  it('does not open a record of another tenant, or under another master key', async () => {
    await storeOf('one').put('Thing', 'shared', 'secret', 60);
    expect(await storeOf('two').get('Thing', 'shared')).toBeUndefined();
    expect(await storeOf('one', randomBytes(32)).get('Thing', 'shared')).toBeUndefined();
  });

  it('does not open a record that was put in the place of another, or altered', async () => {
    const redis = client();
    const store = storeOf('moved');
    await store.put('Thing', 'mine', 'mine', 60);
    await store.put('Thing', 'theirs', 'theirs', 60);
    const key = (handle: string) => store.keyOf('Thing', handle);
    const theirs = await redis.getBuffer(key('theirs'));
    if (theirs === null) throw new Error('there is no such key');
    await redis.set(key('mine'), theirs);
    expect(await store.get('Thing', 'mine')).toBeUndefined();
    for (const index of [0, 12, theirs.length - 1]) {
      const altered = Buffer.from(theirs);
      altered[index] = (altered[index] ?? 0) ^ 1;
      await redis.set(key('theirs'), altered);
      expect(await store.get('Thing', 'theirs')).toBeUndefined();
    }
    await redis.set(key('theirs'), 'short');
    expect(await store.get('Thing', 'theirs')).toBeUndefined();
  });

  it('lets one of many use a record, in each of 50 rounds', async () => {
    const store = storeOf();
    for (let round = 0; round < 50; round += 1) {
      const handle = `once-${round}`;
      await store.put('Thing', handle, round, 60);
      const used = await Promise.all(
        Array.from({ length: 8 }, () => store.use('Thing', handle, 1_700_000_000, 60)),
      );
      expect(used.filter(Boolean)).toHaveLength(1);
      expect(await store.getWithUse('Thing', handle)).toEqual({
        value: round,
        usedAt: 1_700_000_000,
      });
    }
  });

  it('does not let a record be used again because it was removed meanwhile', async () => {
    const store = storeOf();
    await store.put('Thing', 'removed', 1, 60);
    expect(await store.use('Thing', 'removed', 1_700_000_000, 60)).toBe(true);
    await store.remove('Thing', 'removed');
    expect(await store.use('Thing', 'removed', 1_700_000_000, 60)).toBe(false);
  });

  it('lets one of many use a record that is there, for as long as the record lives', async () => {
    const store = storeOf();
    await store.put('Thing', 'code', 'value', 60);
    const used = await Promise.all(
      Array.from({ length: 8 }, () => store.useOnce('Thing', 'code', 4711)),
    );
    expect(used.filter(Boolean)).toHaveLength(1);
    expect(await store.getWithUse('Thing', 'code')).toEqual({ value: 'value', usedAt: 4711 });
    const key = store.keyOf('Thing', 'code');
    const [recordMs = 0, markMs = 0] = await Promise.all([
      client().pttl(key),
      client().pttl(`${key}:used`),
    ]);
    expect(markMs).toBeGreaterThan(0);
    expect(Math.abs(recordMs - markMs)).toBeLessThan(1000);
    expect(await store.useOnce('Thing', 'unknown', 4711)).toBe(false);
  });

  it('removes a record once, and not the one that takes its place', async () => {
    const store = storeOf();
    await store.put('Thing', 'once', 1, 60);
    expect(await store.removeOnce('Thing', 'once', 4711, 60)).toBe(true);
    expect(await store.get('Thing', 'once')).toBeUndefined();
    await store.put('Thing', 'once', 2, 60);
    expect(await store.removeOnce('Thing', 'once', 4711, 60)).toBe(false);
    expect(await store.get('Thing', 'once')).toBe(2);
  });

  it('writes once where it is asked to', async () => {
    const store = storeOf();
    const wrote = await Promise.all(
      ['a', 'b', 'c'].map((value) => store.putOnce('Once', 'handle', value, 60)),
    );
    expect(wrote.filter(Boolean)).toHaveLength(1);
    expect(await store.get('Once', 'handle')).toBe(['a', 'b', 'c'][wrote.indexOf(true)]);
  });

  it('removes all records of a group together, and no others', async () => {
    const store = storeOf();
    for (const handle of ['t1', 't2', 't3']) await store.put('Token', handle, handle, 60);
    await store.join('grant-1', 'Token', 't1', 60);
    await store.join('grant-1', 'Token', 't2', 30);
    await store.removeGroup('grant-1');
    expect(
      await Promise.all(['t1', 't2', 't3'].map((handle) => store.get('Token', handle))),
    ).toEqual([undefined, undefined, 't3']);
  });

  it('keeps nothing for ever', async () => {
    const redis = client();
    const store = storeOf('lives');
    await store.put('Thing', 'a', 1, 0.2);
    await store.putOnce('Thing', 'b', 1, 30);
    await store.use('Thing', 'b', 1, 30);
    await store.join('group', 'Thing', 'a', 30);
    const keys = await redis.keys(`${prefix}:oidc:lives:*`);
    expect(keys).toHaveLength(4);
    for (const key of keys) expect(await redis.ttl(key)).toBeGreaterThan(0);
  });
});
