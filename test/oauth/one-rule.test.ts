/**
 * A client proves itself in the same way wherever it does: what one endpoint takes all take, and
 * what one refuses none takes.
 */
import { createHook } from 'node:async_hooks';
import { generateKeyPairSync, hash, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import {
  basicOf,
  callback,
  clientEntry,
  encoded,
  type Fields,
  keyOfClient,
  offline,
  relyingParty,
  robot,
  secret,
  startProvider,
} from './interoperability/stage.ts';

type Claims = Readonly<Record<string, unknown>>;

const redis = testRedis();
const key = keyOfClient('one');
let product: TestProduct;
let issuer: string;

beforeAll(async () => {
  product = await startProvider(redis, [
    clientEntry('shop'),
    clientEntry('keyed', {
      authentication: 'private_key_jwt',
      keys: [key.publicJwk],
      backchannel: { kind: 'poll' },
    }),
  ]);
  issuer = `${product.url}/oidc`;
});
afterAll(() => product.stop());

const push = { response_type: 'code', scope: 'openid', redirect_uri: callback };

/** A request to each endpoint that harms nothing. */
const endpoints: Readonly<Record<string, Fields>> = {
  '/par': push,
  '/token': { grant_type: 'refresh_token', refresh_token: 'none' },
  '/token/introspection': { token: 'none' },
  '/token/revocation': { token: 'none' },
  '/backchannel': { scope: 'openid' },
};
const paths = Object.keys(endpoints);

const send = async (
  path: string,
  fields: Fields,
  headers: Readonly<Record<string, string>> = {},
) => {
  const response = await fetch(`${issuer}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: encoded({ ...endpoints[path], ...fields }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? {} : JSON.parse(text),
  };
};

const seconds = (): number => Math.floor(Date.now() / 1000);

const assertion = (own: Claims = {}, header: object = {}): Promise<string> =>
  new SignJWT({
    iss: 'keyed',
    sub: 'keyed',
    aud: issuer,
    jti: randomUUID(),
    iat: seconds(),
    exp: seconds() + 60,
    ...own,
  })
    .setProtectedHeader({ alg: 'ES256', kid: 'one', ...header })
    .sign(key.privateKey);

const asserted = (clientAssertion: string): Fields => ({
  client_id: 'keyed',
  client_assertion: clientAssertion,
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
});

/**
 * `in`, or the status and error of the refusal; the same word for all endpoints when they agree.
 */
const atEach = async (
  make: () => Promise<{ fields?: Fields; headers?: Readonly<Record<string, string>> }>,
): Promise<readonly string[]> =>
  Promise.all(
    paths.map(async (path) => {
      const { fields = {}, headers = {} } = await make();
      const { status, body } = await send(path, fields, headers);
      const isRefused =
        status === 401 || /way of client auth|mechanism|client_id/.test(body.error_description);
      return isRefused ? `${status} ${body.error}` : 'in';
    }),
  );
const all = (outcome: string): readonly string[] => paths.map(() => outcome);

describe('an assertion of a client', () => {
  it.each<[string, () => Claims]>([
    [
      'as libraries make it that let it live for an hour, by a clock that is a second ahead',
      () => ({
        iat: seconds() + 1,
        exp: seconds() + 3601,
      }),
    ],
    [
      'by a clock that is 50 s ahead',
      () => ({ iat: seconds() + 50, nbf: seconds() + 50, exp: seconds() + 350 }),
    ],
    ['by a clock that is 50 s behind', () => ({ iat: seconds() - 110, exp: seconds() - 50 })],
    ['without iat', () => ({ iat: undefined })],
    ['for the endpoint for pushed requests', () => ({ aud: `${issuer}/par` })],
    ['for the token endpoint', () => ({ aud: `${issuer}/token` })],
    ['for introspection', () => ({ aud: `${issuer}/token/introspection` })],
    ['for revocation', () => ({ aud: `${issuer}/token/revocation` })],
    ['for backchannel logins', () => ({ aud: `${issuer}/backchannel` })],
    ['for several, this issuer among them', () => ({ aud: ['https://elsewhere.example', issuer] })],
  ])('is taken everywhere: %s', async (_case, own) => {
    expect(await atEach(async () => ({ fields: asserted(await assertion(own())) }))).toEqual(
      all('in'),
    );
  });

  const request = (): Claims => ({ ...push, client_id: 'keyed' });
  it.each<[string, () => Claims, object?]>([
    ['by a clock that is 70 s ahead, by iat alone', () => ({ iat: seconds() + 70 })],
    ['by a clock that is 70 s ahead, by nbf alone', () => ({ nbf: seconds() + 70 })],
    [
      'that has ended more than a minute ago',
      () => ({ iat: seconds() - 130, exp: seconds() - 70 }),
    ],
    ['that is valid for a day', () => ({ exp: seconds() + 86_400 })],
    ['without an end', () => ({ exp: undefined })],
    ['for nobody', () => ({ aud: undefined })],
    ['for somebody else', () => ({ aud: 'https://elsewhere.example' })],
    ['without a name', () => ({ jti: undefined })],
    ['named by a number', () => ({ jti: 7 })],
    ['that is a request object, by its type', request, { typ: 'oauth-authz-req+jwt' }],
    ['that is a request object of no type', request],
    ['that is a request object of the general type', request, { typ: 'JWT' }],
    ['that is a signed backchannel request', () => ({ scope: 'openid', login_hint: robot })],
    ['of another type', () => ({}), { typ: 'dpop+jwt' }],
  ])('is refused everywhere: %s', async (_case, own, header = {}) => {
    const outcomes = await atEach(async () => ({
      fields: asserted(await assertion(own(), header)),
    }));
    expect(outcomes).toEqual(all('401 invalid_client'));
  });

  it('counts once, across all of them', async () => {
    for (const first of paths) {
      const fields = asserted(await assertion());
      expect((await send(first, fields)).status).not.toBe(401);
      expect(await atEach(async () => ({ fields }))).toEqual(all('401 invalid_client'));
    }
  });
});

describe('a client', () => {
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
  it.each<[string, Fields, Readonly<Record<string, string>>, string]>([
    ['a right secret', {}, { authorization: basicOf('shop', secret) }, 'in'],
    ['a wrong secret', {}, { authorization: basicOf('shop', 'wrong') }, '401 invalid_client'],
    [
      'the secret of nobody',
      {},
      { authorization: basicOf('nobody', 'wrong') },
      '401 invalid_client',
    ],
    ['no secret', { client_id: 'shop' }, {}, '401 invalid_client'],
    ['no id', {}, {}, '400 invalid_request'],
    ['another scheme', { client_id: 'shop' }, { authorization: 'Bearer x' }, '401 invalid_client'],
    ['a header without a colon', {}, { authorization: basic('shop') }, '401 invalid_client'],
    [
      'a header that is badly encoded',
      {},
      { authorization: basic('shop:%') },
      '401 invalid_client',
    ],
    ['an empty secret', {}, { authorization: basic('shop:') }, '401 invalid_client'],
    [
      'two ways',
      { client_id: 'shop', client_secret: secret },
      { authorization: basicOf('shop', secret) },
      '400 invalid_request',
    ],
    [
      'two ids',
      { client_id: 'keyed' },
      { authorization: basicOf('shop', secret) },
      '400 invalid_request',
    ],
  ])('gets the same answer everywhere for %s', async (_case, fields, headers, outcome) => {
    expect(await atEach(async () => ({ fields, headers }))).toEqual(all(outcome));
  });

  it('that tried a secret in the header is told everywhere how it is sent', async () => {
    for (const path of paths) {
      const { headers } = await send(path, {}, { authorization: basicOf('shop', 'wrong') });
      expect(headers.get('www-authenticate'), path).toBe(`Basic realm="${issuer}"`);
    }
  });
});

/** What the thread pool was asked to compute meanwhile. */
const workOf = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
  const kinds: string[] = [];
  const hook = createHook({
    init: (_id, type) => {
      if (type === 'SCRYPTREQUEST' || type === 'SIGNREQUEST' || type === 'VERIFYREQUEST')
        kinds.push(type);
    },
  }).enable();
  try {
    await work();
  } finally {
    hook.disable();
  }
  return kinds;
};

describe('who guesses ids of clients', () => {
  it('cannot tell by the time: nobody’s secret costs what a wrong one costs', async () => {
    for (const path of paths) {
      const tries = ['shop', 'nobody', 'keyed'].map(
        (id) => () =>
          workOf(() => send(path, {}, { authorization: basicOf(id, `wrong at ${path}`) })),
      );
      const costs: (readonly string[])[] = [];
      for (const attempt of tries) costs.push(await attempt());
      expect(costs, path).toEqual(tries.map(() => ['SCRYPTREQUEST']));
    }
  });

  it('cannot tell by the time: nobody’s assertion costs what a wrong one costs', async () => {
    const stranger = keyOfClient('one');
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const claims = (id: string) => ({
      iss: id,
      sub: id,
      aud: issuer,
      jti: randomUUID(),
      exp: seconds() + 60,
    });
    const signed = (alg: string, kid: string) => (id: string) =>
      new SignJWT(claims(id))
        .setProtectedHeader({ alg, kid })
        .sign(alg === 'RS256' ? privateKey : stranger.privateKey);
    for (const path of paths) {
      for (const make of [signed('ES256', 'one'), signed('ES256', 'two'), signed('RS256', 'one')]) {
        const costs: number[] = [];
        for (const id of ['keyed', 'nobody', 'shop']) {
          const fields = { ...asserted(await make(id)), client_id: undefined };
          costs.push((await workOf(() => send(path, fields))).length);
        }
        expect(costs, path).toEqual([1, 1, 1]);
      }
    }
  });
});

describe('a DPoP proof', () => {
  const holder = keyOfClient('proof');
  const { kty, crv, x, y } = holder.publicJwk;
  const proofFor = (path: string, own: Claims = {}): Promise<string> =>
    new SignJWT({
      jti: randomUUID(),
      iat: seconds(),
      htm: 'POST',
      htu: `${issuer}${path}`,
      ...own,
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: { kty, crv, x, y } as never })
      .sign(holder.privateKey);
  const authorization = basicOf('shop', secret);
  const shop = () => relyingParty(product, { id: 'shop', secret });

  /** Where proofs are read: each with a request that is fine but for its proof. */
  const readers: Readonly<Record<string, (dpop: string) => Promise<string>>> = {
    '/par': async (dpop) => (await send('/par', {}, { authorization, dpop })).body.error ?? 'in',
    '/token': async (dpop) => {
      const { error } = (await send('/token', {}, { authorization, dpop })).body;
      return error === 'invalid_grant' ? 'in' : error;
    },
    '/userinfo': async (dpop) => {
      const answer = await send('/userinfo', {}, { authorization: 'DPoP none', dpop });
      return answer.body.error === 'invalid_token' ? 'in' : answer.body.error;
    },
  };
  /** SHA-256 of `none`. */
  const athOfNone = hash('sha256', 'none', 'base64url');
  const atReaders = (own: () => Claims) =>
    Promise.all(
      Object.entries(readers).map(async ([path, read]) => {
        const ath = path === '/userinfo' ? { ath: athOfNone } : {};
        return read(await proofFor(path, { ...ath, ...own() }));
      }),
    );

  it.each<[string, () => Claims, string]>([
    ['of now', () => ({}), 'in'],
    ['50 s ahead', () => ({ iat: seconds() + 50 }), 'in'],
    ['90 s ahead', () => ({ iat: seconds() + 90 }), 'invalid_dpop_proof'],
    ['four minutes old', () => ({ iat: seconds() - 240 }), 'in'],
    ['more than five minutes old', () => ({ iat: seconds() - 310 }), 'invalid_dpop_proof'],
    ['with a nonce', () => ({ nonce: 'x' }), 'invalid_dpop_proof'],
    ['without a name', () => ({ jti: undefined }), 'invalid_dpop_proof'],
    ['for another method', () => ({ htm: 'PUT' }), 'invalid_dpop_proof'],
    ['for another address', () => ({ htu: `${issuer}/elsewhere` }), 'invalid_dpop_proof'],
  ])('gets the same answer everywhere: one %s', async (_case, own, outcome) => {
    expect(await atReaders(own)).toEqual(Object.keys(readers).map(() => outcome));
  });

  it('counts once', async () => {
    for (const [path, read] of Object.entries(readers)) {
      const dpop = await proofFor(path, { ath: athOfNone });
      expect([await read(dpop), await read(dpop)], path).toEqual(['in', 'invalid_dpop_proof']);
    }
  });

  it('is remembered for as long as it is valid, also when it is dated ahead', async () => {
    const { commands } = product.core;
    const prefix = `${product.configuration.queue.prefix}:oidc:main`;
    const keysOf = async () => new Set(await commands.keys(`${prefix}:*`));
    for (const [path, read] of Object.entries(readers)) {
      const before = await keysOf();
      await read(await proofFor(path, { iat: seconds() + 50, ath: athOfNone }));
      const marks = [...(await keysOf())].filter(
        (name) => !before.has(name) && /dpop|Replay/.test(name),
      );
      expect(marks, path).toHaveLength(1);
      // Valid until five minutes after its date; a few seconds may have passed.
      expect(await commands.ttl(marks[0] ?? ''), path).toBeGreaterThan(340);
    }
  });

  it('binds tokens to its key, which userinfo then asks for', async () => {
    const login = await shop().logIn(robot, offline);
    const { body } = await send(
      '/token',
      {
        grant_type: 'authorization_code',
        refresh_token: undefined,
        code: login.code,
        redirect_uri: callback,
        code_verifier: login.verifier,
      },
      { authorization, dpop: await proofFor('/token') },
    );
    expect(body.token_type).toBe('DPoP');
    expect((await shop().userinfo(body.access_token)).status).toBe(401);
  });
});
