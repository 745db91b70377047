/**
 * Keys change while relying parties hold the old ones: jose's remote key set and our own look on,
 * and every token verifies at every moment of it.
 */
import { randomBytes } from 'node:crypto';
import { createRemoteJWKSet, customFetch, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createJwksCache, validateIdToken } from '../../packages/relying-party/src/index.ts';
import { createSigningKeys, type SigningKeys } from '../../src/oauth/signing-keys.ts';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { until } from '../support/soon.ts';
import {
  clientEntry,
  offline,
  type RelyingParty,
  relyingParty,
  robot,
  roomyLimits,
  secret,
} from './interoperability/stage.ts';

const redis = testRedis();
const keepSeconds = 3600;
const publishSeconds = 3600;
let product: TestProduct;
/** Another process of the same service. */
let other: TestProduct;

/** Each test rotates the keys of a tenant of its own. */
const tenantIds = ['at-once', 'announced', 'withdrawn', 'ours', 'under-way', 'loaded'] as const;
type TenantId = (typeof tenantIds)[number];

beforeAll(async () => {
  const clients = [
    clientEntry('shop'),
    clientEntry('curve', { idTokenAlgorithm: 'ES256' }),
    clientEntry('edwards', { idTokenAlgorithm: 'EdDSA' }),
    clientEntry('pss', { idTokenAlgorithm: 'PS256' }),
  ];
  const oidc = {
    limits: roomyLimits,
    idTokenSeconds: keepSeconds,
    keys: { publishSeconds, keepSeconds },
    tenants: [
      { id: 'main', name: 'Main', clients: [] },
      ...tenantIds.map((id) => ({ id, name: id, clients })),
    ],
  };
  const options = { configuration: { oidc }, masterKey: randomBytes(32), listen: true };
  product = await startTestProduct(redis, options);
  other = await startTestProduct(redis, { ...options, workers: false });
});
afterAll(() => Promise.all([product.stop(), other.stop()]));

const clientAt = (tenant: TenantId, id = 'shop', at = product): RelyingParty =>
  relyingParty(at, { id, secret, issuerPath: `/oidc/t/${tenant}` });

/** What `paraph keys rotate` uses, in a process of its own. */
const keysOf = (tenant: TenantId): SigningKeys =>
  createSigningKeys({
    redis: product.core.commands,
    prefix: product.configuration.queue.prefix,
    tenant,
    serviceKey: product.core.serviceKey,
    settings: product.configuration.oidc,
    now: Date.now,
  });

/**
 * Lets time pass for the keys of a tenant. What a rotation has stored is the time from which its
 * keys sign, and everything else follows from that.
 */
const letPass = async (tenant: TenantId, seconds: number): Promise<void> => {
  const hash = `${product.configuration.queue.prefix}:oidc:${tenant}:keys`;
  const fields = await product.core.commands.hgetall(hash);
  for (const [field, text] of Object.entries(fields)) {
    const { signsFrom, ...rest } = JSON.parse(text);
    const earlier = Math.max(0, signsFrom - seconds * 1000);
    await product.core.commands.hset(hash, field, JSON.stringify({ ...rest, signsFrom: earlier }));
  }
};

const kidOf = (token: string): string => decodeProtectedHeader(token).kid ?? '';

const publishedAt = async (issuer: string): Promise<readonly string[]> => {
  const { keys } = (await (await fetch(`${issuer}/jwks.json`)).json()) as Json;
  return keys.map(({ kid }: Json) => kid);
};

/** A remote key set, as relying parties have it, and how often it has fetched. */
const remoteKeys = (issuer: string) => {
  let fetches = 0;
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks.json`), {
    cooldownDuration: 0,
    cacheMaxAge: Number.POSITIVE_INFINITY,
    [customFetch]: (url, options) => {
      fetches += 1;
      return fetch(url, options);
    },
  });
  const verify = (token: string) => jwtVerify(token, keys, { issuer, audience: 'shop' });
  return { verify, fetches: () => fetches };
};

/** Between two looks at an ID token: each is a whole login. */
const loginPauseMs = 400;

const idToken = async (shop: RelyingParty): Promise<string> => (await shop.tokens()).id_token;

describe('a rotation', () => {
  it('at once is found by a key set that sees an unknown kid, and old tokens go on', async () => {
    const shop = clientAt('at-once');
    const remote = remoteKeys(shop.issuer);
    const before = await idToken(shop);
    await remote.verify(before);
    expect(remote.fetches()).toBe(1);
    await keysOf('at-once').rotate(0);
    let after = before;
    await until(
      async () => {
        after = await idToken(shop);
        return kidOf(after) !== kidOf(before);
      },
      { everyMs: loginPauseMs },
    );
    await expect(remote.verify(after)).resolves.toBeDefined();
    await expect(remote.verify(before)).resolves.toBeDefined();
    expect(remote.fetches()).toBe(2);
    expect(await publishedAt(shop.issuer)).toEqual(
      expect.arrayContaining([kidOf(before), kidOf(after)]),
    );
  });

  it('publishes before it signs: who has fetched meanwhile never fetches again', async () => {
    const shop = clientAt('announced');
    const before = await idToken(shop);
    const known = await publishedAt(shop.issuer);
    await keysOf('announced').rotate(publishSeconds);
    await until(async () => (await publishedAt(shop.issuer)).length > known.length);
    // The new key is there for all to see, and nothing is signed with it.
    expect(kidOf(await idToken(shop))).toBe(kidOf(before));
    const remote = remoteKeys(shop.issuer);
    await remote.verify(await idToken(shop));
    await letPass('announced', publishSeconds);
    let after = before;
    await until(
      async () => {
        after = await idToken(shop);
        return kidOf(after) !== kidOf(before);
      },
      { everyMs: loginPauseMs },
    );
    expect(known).not.toContain(kidOf(after));
    await expect(remote.verify(after)).resolves.toBeDefined();
    expect(remote.fetches()).toBe(1);
  });

  it('withdraws the old keys last, when none of their tokens is valid any more', async () => {
    const shop = clientAt('withdrawn');
    const before = await idToken(shop);
    const old = await publishedAt(shop.issuer);
    await keysOf('withdrawn').rotate(0);
    await until(async () => kidOf(await idToken(shop)) !== kidOf(before), {
      everyMs: loginPauseMs,
    });
    expect(await publishedAt(shop.issuer)).toEqual(expect.arrayContaining([...old]));
    await expect(remoteKeys(shop.issuer).verify(before)).resolves.toBeDefined();
    await letPass('withdrawn', keepSeconds);
    await until(async () => {
      const now = await publishedAt(shop.issuer);
      return old.every((kid) => !now.includes(kid));
    });
    await expect(remoteKeys(shop.issuer).verify(before)).rejects.toThrow();
    await expect(remoteKeys(shop.issuer).verify(await idToken(shop))).resolves.toBeDefined();
  });

  it('breaks no login that is under way, no refresh token and no access token', async () => {
    const shop = clientAt('under-way');
    const tokens = await shop.tokens(robot, offline);
    const visit = await shop.visit();
    await keysOf('under-way').rotate(0);
    await until(async () => kidOf(await idToken(shop)) !== kidOf(tokens.id_token), {
      everyMs: loginPauseMs,
    });
    const end = await shop.confirm(visit);
    const code = end.left?.searchParams.get('code') ?? '';
    const { status, body } = await shop.redeem({ ...visit, code });
    expect(status).toBe(200);
    expect(kidOf(body.id_token)).not.toBe(kidOf(tokens.id_token));
    expect((await shop.userinfo(tokens.access_token)).status).toBe(200);
    const renewed = await shop.refresh(tokens.refresh_token);
    expect(renewed.status).toBe(200);
    await expect(remoteKeys(shop.issuer).verify(renewed.body.id_token)).resolves.toBeDefined();
  });

  it('under load, in two processes, leaves no moment at which a token fails with the key set of either', async () => {
    const parties = [product, other].map((each) => clientAt('loaded', 'shop', each));
    const jwks = parties.map(({ issuer }) => {
      const uri = new URL(`${issuer}/jwks.json`);
      const lasting = createRemoteJWKSet(uri, {
        cooldownDuration: 0,
        cacheMaxAge: Number.POSITIVE_INFINITY,
      });
      return { lasting, fresh: () => createRemoteJWKSet(uri, { cooldownDuration: 0 }) };
    });
    const [old = ''] = await Promise.all(parties.map(async (party) => kidOf(await idToken(party))));
    const kids = new Set<string>();
    /** Of the latest token of each lane. */
    const latest: string[] = [];
    const invalid: unknown[] = [];
    let verified = 0;
    let isOver = false;
    const lane = async (party: RelyingParty, index: number): Promise<void> => {
      while (!isOver) {
        const token = await idToken(party);
        kids.add(kidOf(token));
        latest[index] = kidOf(token);
        // Processes look for new keys every two seconds: more logins would see no more.
        await new Promise((resolve) => setTimeout(resolve, loginPauseMs));
        // Each has its key set from one of the processes, and has had it from the start or just
        // fetched it.
        for (const { lasting, fresh } of jwks) {
          for (const keys of [lasting, fresh()]) {
            await jwtVerify(token, keys, { issuer: party.issuer, audience: 'shop' }).then(
              () => (verified += 1),
              (error: unknown) => invalid.push(error),
            );
          }
        }
      }
    };
    const lanes = Promise.all([...parties, ...parties].map(lane));
    await until(async () => verified > 20);
    const published = () => Promise.all(parties.map(({ issuer }) => publishedAt(issuer)));
    const known = await publishedAt(parties[0]?.issuer ?? '');
    await keysOf('loaded').rotate(publishSeconds);
    await until(async () => (await published()).every((each) => each.length > known.length));
    await letPass('loaded', publishSeconds);
    // No lane holds a token of the old key any more.
    await until(async () => latest.every((kid) => kid !== old));
    const verifiedBefore = verified;
    await letPass('loaded', keepSeconds);
    await until(async () => (await published()).every((each) => !each.includes(old)));
    await until(async () => verified > Math.max(50, verifiedBefore + 8));
    isOver = true;
    await lanes;
    expect(invalid).toEqual([]);
    expect(kids.size).toBe(2);
  }, 60_000);

  it('changes the keys of its tenant only', async () => {
    const [first = clientAt('at-once'), ...others] = tenantIds.map((tenant) => clientAt(tenant));
    const known = await publishedAt(first.issuer);
    const before = await Promise.all(others.map(({ issuer }) => publishedAt(issuer)));
    await keysOf('at-once').rotate(3600);
    await until(async () => (await publishedAt(first.issuer)).some((kid) => !known.includes(kid)));
    const after = await Promise.all(others.map(({ issuer }) => publishedAt(issuer)));
    for (const [index, kids] of after.entries()) {
      for (const kid of kids) expect(before[index]).toContain(kid);
    }
  });
});

describe('our own validation of ID tokens', () => {
  it.each([
    ['shop', 'RS256'],
    ['pss', 'PS256'],
    ['curve', 'ES256'],
    ['edwards', 'EdDSA'],
  ])(
    'accepts those of %s (%s), with nonce and access token, before and after a rotation',
    async (id, algorithm) => {
      const party = clientAt('ours', id);
      const jwks = createJwksCache({ jwksUri: `${party.issuer}/jwks.json`, cooldownMs: 100 });
      const check = async () => {
        const login = await party.logIn();
        const { body } = await party.redeem(login);
        const expected = {
          issuer: party.issuer,
          clientId: id,
          jwks,
          nonce: login.nonce,
          accessToken: body.access_token,
          algorithms: [algorithm],
          maxAgeSeconds: 60,
          acrValues: ['mid_al3_any'],
        };
        const result = await validateIdToken(body.id_token, expected);
        expect(result).toMatchObject({ ok: true });
        const wrong = { ...expected, accessToken: `${body.access_token}x` };
        expect(await validateIdToken(body.id_token, wrong)).toMatchObject({
          ok: false,
          reason: 'access-token-hash-mismatch',
        });
        return kidOf(body.id_token);
      };
      const before = await check();
      await keysOf('ours').rotate(0);
      await until(async () => kidOf(await idToken(party)) !== before, { everyMs: loginPauseMs });
      expect(await check()).not.toBe(before);
    },
  );
});
