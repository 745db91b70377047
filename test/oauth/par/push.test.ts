/** `/par`, case by case: what is kept, what is refused, and what the client is told. */
import { generateKeyPairSync, hash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { calculateJwkThumbprint, SignJWT, UnsecuredJWT } from 'jose';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { testRedis } from '../../support/redis.ts';
import {
  basic,
  callback,
  challenge,
  encoded,
  type Fields,
  mainIssuer,
  newKey,
  openStage,
  otherIssuer,
  type Pushing,
  type Stage,
  secret,
  testNumber,
  usual,
} from './stage.ts';

const redis = testRedis();
let stage: Stage;
beforeAll(async () => {
  stage = await openStage(redis);
});

const seconds = (): number => Math.floor(Date.now() / 1000);
const unique = (): string => randomUUID();

const hint = (...msisdns: string[]): string =>
  JSON.stringify({ hints: msisdns.map((msisdn) => ({ msisdn })) });

const answerHeaders = {
  'content-type': 'application/json;charset=UTF-8',
  'cache-control': 'no-store',
  pragma: 'no-cache',
};

/** Error, and the code in its description. */
const errorOf = ({ status, body }: Awaited<ReturnType<Stage['push']>>): readonly unknown[] => [
  status,
  body.error,
  /^mid_([a-z]+_\d+)_[\w-]{8} - [\x20\x21\x23-\x5b\x5d-\x7e]+$/.exec(body.error_description)?.[1],
];

const invalid = [400, 'invalid_request', 'req_1900'];

/** What a public client sends. */
const forApp: Fields = {
  ...usual,
  client_id: 'app',
  code_challenge: challenge,
  code_challenge_method: 'S256',
};

describe('a valid request', () => {
  it('is answered with a handle of its own that nobody can guess, and its lifetime', async () => {
    const answers = await Promise.all([stage.push(), stage.push()]);
    for (const { status, headers, body } of answers) {
      expect(status).toBe(200);
      expect(headers).toMatchObject(answerHeaders);
      expect(body).toEqual({
        request_uri: expect.stringMatching(
          /^urn:ietf:params:oauth:request_uri:[\w-]{22}\.[\w-]{22}$/,
        ),
        expires_in: 90,
      });
    }
    expect(answers[0].body.request_uri).not.toBe(answers[1].body.request_uri);
  });

  it('is answered 201 for a client that wants it', async () => {
    expect((await stage.push({}, 'created')).status).toBe(201);
  });

  it('is kept for the library with what was asked for, and nothing else', async () => {
    const answer = await stage.push({
      display: 'page',
      resource: 'https://api.example',
      custom: 'ignored',
    });
    const { claims, trusted, dpopJkt } = await stage.stored(answer);
    const { iat, nbf, exp, ...rest } = claims;
    expect(rest).toEqual({
      ...usual,
      client_id: 'shop',
      display: 'page',
      iss: 'shop',
      aud: mainIssuer,
    });
    expect([nbf - iat, exp - iat, trusted, dpopJkt]).toEqual([0, 90, true, undefined]);
  });

  it('keeps state and nonce of 384 characters unaltered, and much longer ones', async () => {
    for (const length of [384, 20_000]) {
      const state = `${'ä&=+% "\\'.repeat(length / 8)}`;
      const nonce = 'n'.repeat(length);
      const { claims } = await stage.stored(await stage.push({ state, nonce }));
      expect([claims.state === state, claims.nonce === nonce]).toEqual([true, true]);
    }
  });

  it('takes the only registered redirect_uri when none is given', async () => {
    const { claims } = await stage.stored(await stage.push({ redirect_uri: undefined }));
    expect(claims.redirect_uri).toBe(callback);
  });

  it('counts a parameter without a value as omitted', async () => {
    const { claims } = await stage.stored(await stage.push({ prompt: '', max_age: '' }));
    expect(claims).not.toHaveProperty('prompt');
    expect(claims).not.toHaveProperty('max_age');
  });

  it('logs that it was pushed and by whom', async () => {
    await stage.push({}, 'several');
    expect(stage.logged.at(-1)).toEqual({
      event: 'request pushed',
      tenant: 'first',
      clientId: 'several',
    });
  });

  it.each<[string, Fields]>([
    ['response_mode form_post.jwt', { response_mode: 'form_post.jwt' }],
    ['response_mode jwt', { response_mode: 'jwt' }],
    ['prompt login consent', { prompt: 'login consent' }],
    ['prompt none', { prompt: 'none' }],
    ['max_age 0', { max_age: '0' }],
    ['known acr_values', { acr_values: 'mid_al4_any mid_al3_any' }],
    ['languages that nobody speaks here', { ui_locales: 'rm-CH gsw zh-Hant' }],
    [
      'PKCE of a client with a secret',
      { code_challenge: challenge, code_challenge_method: 'S256' },
    ],
    ['an ordinary number in login_hint', { login_hint: '+41 79 000 00 01' }],
    ['a charset', {}],
  ])('may have %s', async (_case, fields) => {
    const pushing: Pushing = { contentType: 'application/x-www-form-urlencoded; charset="UTF-8"' };
    expect((await stage.push(fields, 'shop', pushing)).status).toBe(200);
  });

  it.each([
    ['a user name', 'anna'],
    ['an address', 'anna@example.org'],
    ['no international number', '12'],
    ['broken JSON', '{"hints":'],
    ['JSON without hints', '{"hints":[]}'],
    ['a number twice', hint('+41790000001', '41790000001')],
  ])(
    'may bring a login_hint that it may not use, which is ignored: %s',
    async (_case, login_hint) => {
      for (const id of ['shop', 'lenient']) {
        const { claims } = await stage.stored(await stage.push({ login_hint }, id));
        expect(claims).not.toHaveProperty('login_hint');
      }
    },
  );

  it.each<[string, Fields, Fields]>([
    ['scope has doubled spaces', { scope: ' openid  phone ' }, { scope: 'openid phone' }],
    ['scope has what is no scope', { scope: 'openid "phone" phone' }, { scope: 'openid phone' }],
    [
      'acr_values has doubled spaces',
      { acr_values: 'mid_al4_any  x' },
      { acr_values: 'mid_al4_any' },
    ],
    ['prompt has doubled spaces', { prompt: 'login  consent' }, { prompt: 'login consent' }],
    ['ui_locales is one of POSIX', { ui_locales: 'de_CH' }, { ui_locales: 'de-CH' }],
    ['ui_locales is one of many', { ui_locales: 'C.UTF-8  fr_CH it' }, { ui_locales: 'fr-CH it' }],
    ['ui_locales is nothing', { ui_locales: '"' }, { ui_locales: undefined }],
  ])('of a client that is not strict is understood when %s', async (_case, fields, understood) => {
    const { claims } = await stage.stored(await stage.push(fields, 'lenient'));
    for (const [name, value] of Object.entries(understood)) expect(claims[name]).toBe(value);
  });

  it('asks for a login where an account could be chosen', async () => {
    const answer = await stage.push({ prompt: 'select_account login consent' });
    expect((await stage.stored(answer)).claims.prompt).toBe('login consent');
  });

  it('of an app may name another port of this machine', async () => {
    const native = await openStage(redis, {
      clients: [
        {
          ...clientOf(stage, 'app'),
          id: 'native',
          redirectUris: ['com.example:/cb', 'http://127.0.0.1/cb'],
        },
      ],
    });
    const statusOf = async (redirect_uri: string) =>
      (await native.send(encoded({ ...forApp, client_id: 'native', redirect_uri }))).status;
    expect(await statusOf('http://127.0.0.1:54321/cb')).toBe(200);
    expect(await statusOf('http://127.0.0.1:54321/other')).toBe(400);
    expect(await statusOf('http://127.0.0.1:54321@evil.example/cb')).toBe(400);
    expect(await statusOf('http://localhost:54321/cb')).toBe(400);
  });
});

const clientOf = ({ tenants }: Stage, id: string) => {
  const found = tenants.main.clients.get(id);
  if (found === undefined) throw new Error(`there is no ${id}`);
  return found;
};

describe('a client that is not strict', () => {
  it('gets what is known of the scopes and acr_values it asks for', async () => {
    const answer = await stage.push(
      { scope: 'read openid write', acr_values: 'urn:x mid_al3_any' },
      'lenient',
    );
    expect((await stage.stored(answer)).claims).toMatchObject({
      scope: 'openid',
      acr_values: 'mid_al3_any',
    });
  });

  it.each([undefined, 'read write'])('gets the scope openid when it asks for %s', async (scope) => {
    const answer = await stage.push({ scope, acr_values: 'urn:x' }, 'lenient');
    const { claims } = await stage.stored(answer);
    expect(claims.scope).toBe('openid');
    expect(claims).not.toHaveProperty('acr_values');
  });

  it('may do without openid, but not with what needs an ID token', async () => {
    const scope = 'phone';
    expect((await stage.push({ scope, nonce: undefined }, 'lenient')).status).toBe(200);
    expect(errorOf(await stage.push({ scope }, 'lenient'))).toEqual(invalid);
  });

  it('is told of a scope that it may not ask for', async () => {
    expect(errorOf(await stage.push({ scope: 'openid mid_cms' }, 'lenient'))).toEqual([
      400,
      'invalid_scope',
      'sec_2010',
    ]);
  });
});

describe('a request is refused', () => {
  const expectRefused = async (
    fields: Fields,
    id: string,
    expected: readonly string[],
  ): Promise<void> => {
    const answer = await stage.push(fields, id);
    expect(errorOf(answer)).toEqual([400, ...expected]);
    expect(answer.headers).toMatchObject(answerHeaders);
    expect(answer.headers).not.toHaveProperty('www-authenticate');
  };
  const withChallenge = (code_challenge: string): Fields => ({
    code_challenge,
    code_challenge_method: 'S256',
  });

  it.each<[why: string, fields: Fields, client?: string]>([
    ['request_uri is in the body', { request_uri: 'urn:x' }],
    ['redirect_uri is not registered', { redirect_uri: `${callback}/` }],
    ['redirect_uri has a fragment', { redirect_uri: `${callback}#x` }],
    ['redirect_uri has a query', { redirect_uri: `${callback}?x` }],
    ['redirect_uri is missing and several are registered', { redirect_uri: undefined }, 'several'],
    ['response_type is missing', { response_type: undefined }],
    ['response_mode is unknown', { response_mode: 'web_message' }],
    ['prompt is none and login', { prompt: 'none login' }],
    ['prompt is unknown', { prompt: 'create' }],
    ['max_age is negative', { max_age: '-1' }],
    ['max_age is no integer', { max_age: '1.5' }],
    ['code_challenge has no method', { code_challenge: challenge }],
    [
      'code_challenge_method is plain',
      { code_challenge: challenge, code_challenge_method: 'plain' },
    ],
    ['code_challenge is missing beside its method', { code_challenge_method: 'S256' }],
    ['code_challenge is too long', withChallenge(`${challenge}A`)],
    ['code_challenge is no base64url', withChallenge(`${challenge.slice(1)}=`)],
    ['dtbd is too long in the GSM alphabet', { dtbd: 'a'.repeat(240) }, 'knowing'],
    ['dtbd is too long in UCS-2', { dtbd: 'ж'.repeat(120) }, 'knowing'],
    ['dtbd has a control character', { dtbd: 'Log\u0007 in?' }, 'knowing'],
    ['dtbd turns its writing direction', { dtbd: 'Log \u202e in?' }, 'knowing'],
    ['dpop_jkt is no thumbprint', { dpop_jkt: 'short' }],
    ['id_token_hint is no ID token', { id_token_hint: 'e30.e30.' }],
    ['client_id is another client', { client_id: 'post' }],
    ['it is not signed though the client must sign', {}, 'signing'],
  ])('as invalid when %s', (_why, fields, id = 'shop') =>
    expectRefused(fields, id, ['invalid_request', 'req_1900']),
  );

  const hints = {
    twice: hint('+41790000001', '41790000001'),
    test: hint('+41790000001', testNumber),
  };

  it.each<[why: string, error: string, code: string, fields: Fields, client?: string]>([
    [
      'registration is in the body',
      'registration_not_supported',
      'req_1900',
      { registration: '{}' },
    ],
    ['response_type is token', 'unsupported_response_type', 'req_1900', { response_type: 'token' }],
    [
      'response_type is two',
      'unsupported_response_type',
      'req_1900',
      { response_type: 'code id_token' },
    ],
    ['scope is missing', 'invalid_scope', 'req_1110', { scope: undefined }],
    ['scope has no openid', 'invalid_scope', 'req_1110', { scope: 'phone' }],
    ['scope has an unknown value', 'invalid_scope', 'req_1110', { scope: 'openid read' }],
    ['scope is malformed', 'invalid_scope', 'req_1110', { scope: 'openid  phone' }],
    [
      'scope has one that is not registered',
      'invalid_scope',
      'sec_2010',
      { scope: 'openid mid_cms' },
    ],
    [
      'acr_values has an unknown value',
      'invalid_request',
      'req_1010',
      { acr_values: 'mid_al3_any mid_al9' },
    ],
    ['acr_values is malformed', 'invalid_request', 'req_1020', { acr_values: ' mid_al3_any' }],
    ['prompt is malformed', 'invalid_request', 'req_1900', { prompt: 'login  consent' }],
    ['ui_locales is malformed', 'invalid_request', 'req_1040', { ui_locales: 'de_CH' }],
    [
      'login_hint has no hints',
      'invalid_request',
      'req_1050',
      { login_hint: '{"hints":[]}' },
      'knowing',
    ],
    [
      'login_hint has a bad number',
      'invalid_request',
      'req_1070',
      { login_hint: hint('12') },
      'knowing',
    ],
    [
      'login_hint has a number twice',
      'invalid_request',
      'req_1080',
      { login_hint: hints.twice },
      'knowing',
    ],
    ['login_hint is bad JSON', 'invalid_request', 'req_1100', { login_hint: '{' }, 'knowing'],
    [
      'login_hint names a test number',
      'unauthorized_client',
      'sec_2030',
      { login_hint: `+${testNumber}` },
    ],
    [
      'login_hint names one among others',
      'unauthorized_client',
      'sec_2030',
      { login_hint: hints.test },
    ],
    [
      'dtbd comes from a client that may not bring it',
      'invalid_request',
      'sec_2030',
      { dtbd: 'Log in?' },
    ],
  ])('when %s', (_why, error, code, fields, id = 'shop') =>
    expectRefused(fields, id, [error, code]),
  );

  it.each<[string, string, string]>([
    ['nothing was sent', '', 'req_1130'],
    ['only names were sent', 'scope&state=&', 'req_1130'],
    ['a parameter is given twice', `${encoded(usual)}&client_id=shop&state=x`, 'req_1900'],
    [
      'a parameter is given twice, once without a value',
      `${encoded(usual)}&client_id=shop&prompt=&prompt=none`,
      'req_1900',
    ],
    ['an unknown parameter is given twice', `${encoded(usual)}&client_id=shop&x=1&x=2`, 'req_1900'],
    [
      'a parameter is given twice in two spellings',
      `${encoded(usual)}&client_id=shop&%73tate=x`,
      'req_1900',
    ],
    ['an escape is broken', 'state=%E', 'req_1900'],
    ['it is no UTF-8', 'state=%FF', 'req_1900'],
  ])('when %s', async (_why, body, code) => {
    const answer = await stage.send(body, { headers: { authorization: basic('shop') } });
    expect(errorOf(answer)).toEqual([400, 'invalid_request', code]);
  });

  it('when its bytes are no UTF-8', async () => {
    const answer = await stage.send(Buffer.from([0x73, 0x3d, 0xff]), {
      headers: { authorization: basic('shop') },
    });
    expect(errorOf(answer)).toEqual(invalid);
  });

  it.each([
    undefined,
    'application/json',
    'multipart/form-data',
    'application/x-www-form-urlencoded; charset=latin1',
  ])('when its content type is %s', async (contentType) => {
    expect(errorOf(await stage.push({}, 'shop', { contentType }))).toEqual(invalid);
  });

  it('with an audit entry by which its answer is found', async () => {
    const { body } = await stage.push({ scope: 'openid read' }, 'several');
    const entry = stage.logged.at(-1);
    expect(entry).toMatchObject({
      event: 'request refused',
      tenant: 'first',
      clientId: 'several',
      error: 'invalid_scope',
      code: 'req_1110',
      description: 'scope has an unknown or malformed value',
    });
    expect(body.error_description).toContain(`_${entry?.trace} - `);
  });

  it('although resource is the one parameter that may be given twice', async () => {
    const body = `${encoded({ ...usual, client_id: 'shop' })}&resource=https://a.example&resource=https://b.example`;
    expect((await stage.send(body, { headers: { authorization: basic('shop') } })).status).toBe(
      200,
    );
  });
});

describe('a test number', () => {
  it('may be named by a client that is allowed to', async () => {
    const { claims } = await stage.stored(await stage.push({ login_hint: testNumber }, 'knowing'));
    expect(claims.login_hint).toBe(testNumber);
  });
});

describe('a text for the phone', () => {
  it('may be brought by a client that is allowed to, in full length', async () => {
    for (const dtbd of ['a'.repeat(239), 'ж'.repeat(119)]) {
      expect((await stage.stored(await stage.push({ dtbd }, 'knowing'))).claims.dtbd).toBe(dtbd);
    }
  });
});

describe('a public client', () => {
  it('needs PKCE and no Authorization header', async () => {
    const answer = await stage.send(encoded(forApp));
    expect(answer.status).toBe(200);
    expect((await stage.stored(answer)).trusted).toBe(false);
  });

  it.each<[string, Fields]>([
    ['no code_challenge', { code_challenge: undefined, code_challenge_method: undefined }],
    ['the method plain', { code_challenge_method: 'plain' }],
    ['no method', { code_challenge_method: undefined }],
    ['a malformed challenge', { code_challenge: 'too short' }],
  ])('is refused with %s', async (_case, changed) => {
    const answer = await stage.send(encoded({ ...forApp, ...changed }));
    expect(errorOf(answer)).toEqual(invalid);
  });

  it('is refused with an Authorization header', async () => {
    const answer = await stage.send(encoded(forApp), { headers: { authorization: basic('app') } });
    expect(errorOf(answer)).toEqual([401, 'invalid_client', 'req_1900']);
  });
});

describe('a page of a public client in a browser', () => {
  const fields = encoded({ ...forApp, client_id: 'page', redirect_uri: undefined });
  const allowed = 'access-control-allow-origin';

  it('may read the answer, also a refusal', async () => {
    const headers = { origin: 'https://page.example' };
    for (const [body, status] of [
      [fields, 200],
      [`${fields}&x=1&x=2`, 400],
      [`${fields}&prompt=x`, 400],
    ] as const) {
      const answer = await stage.send(body, { headers });
      expect([answer.status, answer.headers[allowed]]).toEqual([status, 'https://page.example']);
      expect(answer.headers.vary).toBe('Origin');
    }
  });

  it.each([
    'https://evil.example',
    'https://page.example.evil.example',
    'http://page.example',
    'null',
  ])('is not told when it comes from %s', async (origin) => {
    expect((await stage.send(fields, { headers: { origin } })).headers).not.toHaveProperty(allowed);
    expect((await stage.send(encoded(forApp), { headers: { origin } })).headers).not.toHaveProperty(
      allowed,
    );
  });

  it('cannot use the secret of a confidential client', async () => {
    const answer = await stage.push({}, 'shop', { headers: { origin: 'https://shop.example' } });
    expect([answer.status, answer.headers[allowed]]).toEqual([200, undefined]);
  });
});

describe('a signed request', () => {
  const claimsOf = (own: Record<string, unknown> = {}) => ({
    ...usual,
    iss: 'shop',
    aud: mainIssuer,
    client_id: 'shop',
    exp: seconds() + 60,
    ...own,
  });

  it('wins over the form, of which nothing else counts', async () => {
    const request = await stage.sign(claimsOf({ state: 'signed', max_age: 30 }), {
      typ: 'oauth-authz-req+jwt',
    });
    const answer = await stage.push({ request, state: 'unsigned', prompt: 'login' });
    const { claims, trusted } = await stage.stored(answer);
    expect([claims.state, claims.max_age, claims.prompt, trusted]).toEqual([
      'signed',
      '30',
      undefined,
      true,
    ]);
    expect(claims.exp - claims.iat).toBe(90);
  });

  it('is what a client that must sign sends', async () => {
    const request = await stage.sign(claimsOf({ iss: 'signing', client_id: 'signing' }));
    expect((await stage.push({ request }, 'signing')).status).toBe(200);
  });

  it('is checked like a form', async () => {
    const request = await stage.sign(claimsOf({ scope: 'openid read' }));
    expect(errorOf(await stage.push({ request }))).toEqual([400, 'invalid_scope', 'req_1110']);
  });

  it.each<[string, () => Promise<string> | string]>([
    ['signed by nobody', () => new UnsecuredJWT(claimsOf()).encode()],
    ['signed with another key', () => stage.sign(claimsOf(), {}, newKey().privateKey)],
    [
      'signed with a key that nobody has registered',
      () => stage.sign(claimsOf(), { kid: 'k2' }, newKey().privateKey),
    ],
    [
      'signed with a shared secret',
      () =>
        new SignJWT(claimsOf())
          .setProtectedHeader({ alg: 'HS256' })
          .sign(Buffer.from(secret.repeat(2))),
    ],
    ['expired', () => stage.sign(claimsOf({ exp: seconds() - 60 }))],
    ['not valid yet', () => stage.sign(claimsOf({ nbf: seconds() + 600 }))],
    ['meant for another tenant', () => stage.sign(claimsOf({ aud: otherIssuer }))],
    ['meant for nobody', () => stage.sign(claimsOf({ aud: undefined }))],
    ['of another client', () => stage.sign(claimsOf({ client_id: 'post' }))],
    ['of no client', () => stage.sign(claimsOf({ client_id: undefined }))],
    ['of another issuer', () => stage.sign(claimsOf({ iss: 'post' }))],
    ['of no issuer', () => stage.sign(claimsOf({ iss: undefined }))],
    ['of another type', () => stage.sign(claimsOf(), { typ: 'dpop+jwt' })],
    ['with a request_uri in it', () => stage.sign(claimsOf({ request_uri: 'urn:x' }))],
    [
      'with a request in it',
      async () => stage.sign(claimsOf({ request: await stage.sign(claimsOf()) })),
    ],
    ['with a list in it', () => stage.sign(claimsOf({ state: ['a', 'b'] }))],
    ['with an object in it', () => stage.sign(claimsOf({ scope: {} }))],
    ['encrypted', () => 'e30.e30.e30.e30.e30'],
    ['no JWT at all', () => 'request'],
  ])('is refused when it is %s', async (_case, make) => {
    const answer = await stage.push({ request: await make() });
    expect(errorOf(answer)).toEqual([400, 'invalid_request_object', 'req_1900']);
  });

  it('is refused when the client has no keys', async () => {
    const request = await stage.sign(claimsOf({ iss: 'post', client_id: 'post' }));
    const answer = await stage.send(encoded({ client_id: 'post', client_secret: secret, request }));
    expect(errorOf(answer)).toEqual([400, 'invalid_request_object', 'req_1900']);
  });
});

describe('a DPoP proof', () => {
  const holder = newKey();
  const proofOf = (
    own: Record<string, unknown> = {},
    header: Record<string, unknown> = {},
    privateKey = holder.privateKey,
  ) =>
    new SignJWT({ jti: unique(), iat: seconds(), htm: 'POST', htu: `${mainIssuer}/par`, ...own })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: holder.publicJwk, ...header })
      .sign(privateKey);
  const pushWith = (dpop: string, fields: Fields = {}, pushing: Pushing = {}) =>
    stage.push(fields, 'shop', { ...pushing, headers: { dpop, ...pushing.headers } });

  it('binds the request to its key', async () => {
    const thumbprint = await calculateJwkThumbprint(holder.publicJwk);
    expect((await stage.stored(await pushWith(await proofOf()))).dpopJkt).toBe(thumbprint);
    const agreed = await pushWith(await proofOf(), { dpop_jkt: thumbprint });
    expect((await stage.stored(agreed)).dpopJkt).toBe(thumbprint);
  });

  it('may be left out where dpop_jkt names the key', async () => {
    expect((await stage.stored(await stage.push({ dpop_jkt: challenge }))).dpopJkt).toBe(challenge);
  });

  it('names the address that it was sent to, whatever tenant is meant', async () => {
    const headers = { 'tenant-id': 'other' };
    expect(
      (await pushWith(await proofOf({ htu: `${mainIssuer}/par?x#y` }), {}, { headers })).status,
    ).toBe(200);
    const atPath = await pushWith(
      await proofOf({ htu: `${otherIssuer}/par` }),
      {},
      { path: 'other' },
    );
    expect(atPath.status).toBe(200);
  });

  it('is accepted once, of any number at the same time', async () => {
    const dpop = await proofOf();
    const answers = await Promise.all(Array.from({ length: 8 }, () => pushWith(dpop)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.error === 'invalid_dpop_proof')).toHaveLength(7);
  });

  it('is not used up by a request that is refused', async () => {
    const dpop = await proofOf();
    expect((await pushWith(dpop, { prompt: 'x' })).status).toBe(400);
    expect((await pushWith(dpop)).status).toBe(200);
  });

  it.each<[string, () => Promise<string> | string, Fields?]>([
    ['of another key than dpop_jkt', () => proofOf(), { dpop_jkt: challenge }],
    ['for another method', () => proofOf({ htm: 'GET' })],
    ['for another address', () => proofOf({ htu: `${mainIssuer}/token` })],
    ['for another tenant', () => proofOf({ htu: `${otherIssuer}/par` })],
    ['older than five minutes', () => proofOf({ iat: seconds() - 310 })],
    ['more than a minute ahead', () => proofOf({ iat: seconds() + 70 })],
    ['without jti', () => proofOf({ jti: undefined })],
    ['with a nonce that nobody has given out', () => proofOf({ nonce: 'x' })],
    ['of another type', () => proofOf({}, { typ: 'jwt' })],
    ['without its key', () => proofOf({}, { jwk: undefined })],
    ['signed by another key', () => proofOf({}, {}, newKey().privateKey)],
    [
      'with a private key in it',
      () => proofOf({}, { jwk: holder.privateKey.export({ format: 'jwk' }) }),
    ],
    [
      'signed with RS256',
      () => {
        const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
        return proofOf({}, { alg: 'RS256', jwk: publicKey.export({ format: 'jwk' }) }, privateKey);
      },
    ],
    ['twice in one request', async () => `${await proofOf()}, ${await proofOf()}`],
    ['that is no JWT', () => 'proof'],
  ])('is refused %s', async (_case, make, fields = {}) => {
    expect(errorOf(await pushWith(await make(), fields))).toEqual([
      400,
      'invalid_dpop_proof',
      'req_1900',
    ]);
  });
});

describe('the tenant', () => {
  it.each<[string, Pushing, string]>([
    ['no word about it', {}, 'first'],
    ['the address', { path: 'other' }, 'other'],
    ['Tenant-ID', { headers: { 'tenant-id': 'other' } }, 'other'],
    ['Issuer', { headers: { issuer: otherIssuer } }, 'other'],
    [
      'all of them',
      { path: 'other', headers: { issuer: otherIssuer, 'tenant-id': 'other' } },
      'other',
    ],
    ['Tenant-ID of the first one', { headers: { 'tenant-id': 'first' } }, 'first'],
  ])('is chosen by %s, and its handle is unknown to the other', async (_case, pushing, id) => {
    const answer = await stage.push({}, 'shop', pushing);
    const [first, other] = stage.tenants.all;
    const stored = await Promise.all([first, other].map((tenant) => stage.stored(answer, tenant)));
    expect(stored.map((found) => found?.claims.aud)).toEqual(
      id === 'first' ? [mainIssuer, undefined] : [undefined, otherIssuer],
    );
  });

  it.each<[string, Pushing]>([
    ['Tenant-ID is unknown', { headers: { 'tenant-id': 'nobody' } }],
    ['Issuer is unknown', { headers: { issuer: 'https://evil.example' } }],
    ['one of the headers is unknown', { headers: { issuer: otherIssuer, 'tenant-id': 'nobody' } }],
    ['the headers disagree', { headers: { issuer: mainIssuer, 'tenant-id': 'other' } }],
    ['the address and a header disagree', { path: 'other', headers: { 'tenant-id': 'first' } }],
  ])('is refused when %s', async (_case, pushing) => {
    expect(errorOf(await stage.push({}, 'shop', pushing))).toEqual(invalid);
  });

  it('knows its own clients only', async () => {
    expect((await stage.push({}, 'elsewhere')).status).toBe(401);
    expect((await stage.push({}, 'elsewhere', { path: 'other' })).status).toBe(200);
  });
});

describe('too many requests', () => {
  it('with wrong secrets are turned away by address, before a secret is looked at', async () => {
    const few = { requests: 2, perSeconds: 3600 };
    const busy = await openStage(redis, { limits: { refusedTokensPerAddress: few } });
    let turn = 0;
    const pushWrong = async (): Promise<number> => {
      const headers = { authorization: basic('shop', `wrong-${turn++}`) };
      return (await busy.push({}, 'shop', { headers, address: '192.0.2.7' })).status;
    };
    expect([await pushWrong(), await pushWrong(), await pushWrong()]).toEqual([401, 401, 401]);
    // Failures are counted beside the answers.
    await vi.waitFor(async () => expect(await pushWrong()).toBe(429), 20_000);
    expect((await busy.push({}, 'shop', { address: '192.0.2.8' })).status).toBe(200);
  });

  it('of a client that proves nothing are turned away by address', async () => {
    const few = { requests: 1, perSeconds: 3600 };
    const busy = await openStage(redis, { limits: { pushedPerAddress: few } });
    const push = async (address: string): Promise<number> =>
      (await busy.send(encoded(forApp), { address })).status;
    expect([await push('192.0.2.9'), await push('192.0.2.9'), await push('192.0.2.10')]).toEqual([
      200, 429, 200,
    ]);
    expect((await busy.push({}, 'shop', { address: '192.0.2.9' })).status).toBe(200);
  });

  it('of a client are turned away, with a time to come back', async () => {
    const busy = await openStage(redis, {
      limits: { pushedPerClient: { requests: 1, perSeconds: 3600 } },
    });
    const wrong = { headers: { authorization: basic('several', 'wrong') } };
    expect((await busy.push({}, 'several', wrong)).status).toBe(401);
    expect((await busy.push({}, 'several')).status).toBe(200);
    const refused = await busy.push({}, 'several');
    expect(errorOf(refused)).toEqual([429, 'temporarily_unavailable', 'req_1900']);
    expect(Number(refused.headers['retry-after'])).toBeOneOf([3599, 3600]);
  });

  it('of secrets at once are turned away', async () => {
    const busy = await openStage(redis, { passwords: { verify: () => 'busy' } });
    expect(errorOf(await busy.push())).toEqual([429, 'temporarily_unavailable', 'req_1900']);
  });
});

describe('an ID token', () => {
  it('of this client may come along as id_token_hint, and of another one may not', async () => {
    const provider = await stage.tenants.main.provider();
    const issue = async (id: string): Promise<string> => {
      const registered = await provider.Client.find(id);
      if (registered === undefined) throw new Error('there is no such client');
      const token = new provider.IdToken({ sub: 'somebody' }, { client: registered } as never);
      Object.assign(token, { scope: 'openid' });
      return token.issue({ use: 'idtoken' });
    };
    expect((await stage.push({ id_token_hint: await issue('shop') })).status).toBe(200);
    expect(errorOf(await stage.push({ id_token_hint: await issue('several') }))).toEqual(invalid);
  });
});

describe('whatever is sent', () => {
  const names = fc.constantFrom(
    ...[
      'client_id',
      'client_secret',
      'client_assertion',
      'client_assertion_type',
      'request',
      'request_uri',
    ],
    ...[
      'scope',
      'state',
      'nonce',
      'acr_values',
      'prompt',
      'max_age',
      'login_hint',
      'ui_locales',
      'dtbd',
    ],
    ...[
      'redirect_uri',
      'response_type',
      'response_mode',
      'code_challenge',
      'code_challenge_method',
    ],
    ...[
      'dpop_jkt',
      'id_token_hint',
      'registration',
      'claims',
      'resource',
      '__proto__',
      'constructor',
    ],
  );
  const values = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.constantFrom(
      'code',
      'openid',
      'none',
      'S256',
      callback,
      challenge,
      'shop',
      'app',
      'e30.e30.',
      'a.b.c',
    ),
  );

  it('is answered with 2xx or 4xx, in JSON that nobody keeps', async () => {
    const forms = fc.oneof(
      fc.array(fc.tuple(names, values), { maxLength: 8 }).map((pairs) => ({
        text: pairs
          .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
          .join('&'),
      })),
      fc.dictionary(names, values).map((own) => ({
        text: encoded({ ...usual, client_id: 'shop', ...own }),
      })),
      fc.string({ unit: 'binary' }).map((text) => ({ text })),
    );
    const authorizations = fc.oneof(
      fc.constant(basic('knowing')),
      fc.constant(basic('shop')),
      fc.string().map((text) => `Basic ${Buffer.from(text).toString('base64')}`),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(
        forms,
        authorizations,
        fc.option(fc.string()),
        async ({ text }, authorization, dpop) => {
          const headers = { authorization, ...(dpop !== null && { dpop }) };
          const answer = await stage.send(text, { headers });
          expect([200, 400, 401]).toContain(answer.status);
          expect(answer.headers).toMatchObject(answerHeaders);
          if (answer.status !== 200) expect(errorOf(answer)[2]).toBeDefined();
        },
      ),
      { numRuns: 300 },
    );
  });

  it('does not come back in an answer or in the log', async () => {
    const marker = hash('sha256', 'marker', 'hex').slice(0, 20);
    await fc.assert(
      fc.asyncProperty(names, fc.constantFrom('shop', 'knowing', 'lenient'), async (name, id) => {
        const before = stage.logged.length;
        const answer = await stage.push({ [name]: marker, [marker]: marker }, id);
        const twice = await stage.send(`${marker}=1&${marker}=2`, {
          headers: { authorization: basic(marker, marker) },
        });
        const unknown = await stage.send(
          encoded({ ...usual, client_id: marker, client_secret: marker }),
        );
        const said = JSON.stringify([answer, twice, unknown, stage.logged.slice(before)]);
        expect(said).not.toContain(marker);
      }),
      { numRuns: 60 },
    );
  });
});
