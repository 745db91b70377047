/** Keys of ID tokens through their lives: published first, signing later, withdrawn last. */
import { randomBytes } from 'node:crypto';
import type { JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { createSigningKeys, type SigningKey } from '../../src/oauth/signing-keys.ts';
import { testRedis } from '../support/redis.ts';

const { client, prefix } = testRedis();
const serviceKey = randomBytes(32);
const published = { publishSeconds: 100, keepSeconds: 1000 };
const settings = {
  keys: published,
  singleSignOnSeconds: 0,
  accessTokenSeconds: 10,
  interactionSeconds: 10,
  refreshTokenSeconds: 5000,
};
const start = 1_700_000_000_000;

const keysAt = (tenant: string, clock: { time: number }, key: Uint8Array = serviceKey) =>
  createSigningKeys({
    redis: client(),
    prefix,
    tenant,
    serviceKey: key,
    settings,
    now: () => clock.time,
  });

const statesOf = (keys: readonly SigningKey[], kty: string): readonly string[] =>
  keys.filter((key) => key.kty === kty).map(({ state }) => state);

describe('signing keys', () => {
  it('are made at first use, one of each type, and are the same for processes that start at once', async () => {
    const clock = { time: start };
    const [one, other] = await Promise.all([
      keysAt('first', clock).current(),
      keysAt('first', clock).current(),
    ]);
    expect(one.jwks.map(({ kty }) => kty).sort()).toEqual(['EC', 'OKP', 'RSA']);
    expect(other).toEqual(one);
    expect((await keysAt('first', clock).list()).map(({ state }) => state)).toEqual([
      'signing',
      'signing',
      'signing',
    ]);
  });

  it('go from published to signing to withdrawn by the clock alone', async () => {
    const clock = { time: start };
    const keys = keysAt('rotation', clock);
    const first = await keys.current();
    const firstKids = first.jwks.map(({ kid }) => kid);
    await keys.rotate();

    const announced = await keys.current();
    expect(announced.jwks).toHaveLength(6);
    expect(announced.jwks.slice(0, 3).map(({ kid }) => kid)).toEqual(firstKids);
    expect(statesOf(await keys.list(), 'RSA')).toEqual(['signing', 'published']);

    clock.time += published.publishSeconds * 1000;
    const signing = await keys.current();
    expect(signing.version).not.toBe(announced.version);
    expect(signing.jwks).toHaveLength(6);
    for (const { kid } of signing.jwks.slice(0, 3)) expect(firstKids).not.toContain(kid);
    expect(statesOf(await keys.list(), 'EC')).toEqual(['signing', 'retiring']);

    clock.time += published.keepSeconds * 1000;
    const last = await keys.current();
    expect(last.jwks.map(({ kid }) => kid)).toEqual(signing.jwks.slice(0, 3).map(({ kid }) => kid));
  });

  it('are one per type that signs, also when an emergency overtakes a planned rotation', async () => {
    const clock = { time: start };
    const keys = keysAt('emergency', clock);
    await keys.current();
    await keys.rotate();
    clock.time += 1000;
    await keys.rotate(0);
    for (const wait of [0, published.publishSeconds * 1000]) {
      clock.time += wait;
      const list = await keys.list();
      expect(statesOf(list, 'RSA').filter((state) => state === 'signing')).toHaveLength(1);
      expect(
        list
          .filter(({ state }) => state === 'signing')
          .every(({ signsFrom }) => signsFrom === start + 1000),
      ).toBe(true);
    }
  });

  it('are rotated once by two who rotate at the same time', async () => {
    const clock = { time: start };
    await keysAt('twice', clock).current();
    await Promise.all([keysAt('twice', clock).rotate(), keysAt('twice', clock).rotate()]);
    expect(await keysAt('twice', clock).list()).toHaveLength(6);
  });

  it('leave their public half, for hints, at the rotation after they were withdrawn, and nothing later', async () => {
    const clock = { time: start };
    const keys = keysAt('deleted', clock);
    const { jwks } = await keys.current();
    const kids = jwks.map(({ kid }) => kid);
    const fieldsOf = async () =>
      (await client().hkeys(`${prefix}:oidc:deleted:keys`))
        .filter((field) => field.startsWith('RSA'))
        .sort();
    expect((await keys.current()).hintKeys).toEqual([]);
    await keys.rotate(0);
    clock.time += published.keepSeconds * 1000 + 1;
    const before = await keys.current();
    await keys.rotate(0);
    const elsewhere = await keysAt('deleted', clock).current();
    for (const { hintKeys } of [before, await keys.current(), elsewhere]) {
      expect(hintKeys.map(({ kid }) => kid)).toEqual(kids);
      for (const key of hintKeys) expect(key).not.toHaveProperty('d');
    }
    expect(elsewhere.jwks.map(({ kid }) => kid)).not.toContain(kids[0]);
    expect(await fieldsOf()).toEqual(['RSA:0', 'RSA:1', 'RSA:2']);
    clock.time += (settings.refreshTokenSeconds - published.keepSeconds) * 1000;
    expect((await keys.current()).hintKeys.map(({ kid }) => kid)).not.toContain(kids[0]);
    await keys.rotate(0);
    expect(await fieldsOf()).toEqual(['RSA:1', 'RSA:2', 'RSA:3']);
  });

  it('cannot be read from Redis, nor with another master key', async () => {
    const clock = { time: start };
    const { jwks } = await keysAt('sealed', clock).current();
    const stored = Object.values(await client().hgetall(`${prefix}:oidc:sealed:keys`)).join();
    for (const { d } of jwks as readonly JWK[]) expect(stored).not.toContain(d);
    await expect(keysAt('sealed', clock, randomBytes(32)).current()).rejects.toThrow(/master key/);
  });
});
