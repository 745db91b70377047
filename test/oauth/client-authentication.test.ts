/**
 * Who calls is found out by the one method that a client is registered with, and nothing is told to
 * those who guess.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { SignJWT, UnsecuredJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createClientAuthentication,
  createSecretCheck,
  parseBasic,
  type ShownCredentials,
} from '../../src/oauth/client-authentication.ts';
import {
  createPasswordVerifier,
  type PasswordVerifier,
} from '../../src/registry/password-verifier.ts';
import { testRedis } from '../support/redis.ts';
import { noLimits } from './doubles.ts';
import {
  basic,
  client,
  type KeyPair,
  mainIssuer,
  newKey,
  openStage,
  otherIssuer,
  type Stage,
  secret,
} from './par/stage.ts';

const redis = testRedis();
const second = newKey('k2');
const unnamed = newKey();
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

let stage: Stage;
beforeAll(async () => {
  const keys = [
    second.publicJwk,
    { ...rsa.publicKey.export({ format: 'jwk' }), kty: 'RSA', kid: 'r1' },
  ];
  stage = await openStage(redis, {
    clients: [
      client('many', { authentication: 'private_key_jwt', keys }),
      client('two', {
        authentication: 'private_key_jwt',
        keys: [second.publicJwk, { ...unnamed.publicJwk, kid: 'k3' }],
      }),
      client('unnamed', { authentication: 'private_key_jwt', keys: [unnamed.publicJwk] }),
    ],
  });
});

const nothing: ShownCredentials = {
  authorization: undefined,
  clientId: undefined,
  clientSecret: undefined,
  clientAssertion: undefined,
  clientAssertionType: undefined,
  address: { caller: '192.0.2.1' },
};

const authenticate = (
  shown: Partial<ShownCredentials>,
  passwords: PasswordVerifier = createPasswordVerifier(),
) =>
  createClientAuthentication(createSecretCheck(passwords, noLimits), Date.now)(stage.tenants.main, {
    ...nothing,
    ...shown,
  });

/** The client's id when it is let in, else the reason. */
const outcome = async (shown: Partial<ShownCredentials>): Promise<string> => {
  const verdict = await authenticate(shown);
  return verdict.ok ? verdict.client.id : `- ${verdict.reason}`;
};

const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const asserted = (clientAssertion: string): Partial<ShownCredentials> => ({
  clientAssertion,
  clientAssertionType: jwtBearer,
});
const seconds = (): number => Math.floor(Date.now() / 1000);
const claimsOf = (id: string, own: Record<string, unknown> = {}) => ({
  iss: id,
  sub: id,
  aud: mainIssuer,
  jti: randomUUID(),
  exp: seconds() + 60,
  ...own,
});

describe('a secret', () => {
  it('proves a client by the method that it is registered with', async () => {
    expect(await authenticate({ authorization: basic('shop') })).toMatchObject({
      ok: true,
      client: { id: 'shop' },
      proven: true,
    });
    expect(await outcome({ clientId: 'post', clientSecret: secret })).toBe('post');
  });

  it.each<[string, Partial<ShownCredentials>]>([
    ['wrong', { authorization: basic('shop', 'wrong') }],
    ['empty', { authorization: basic('shop', '') }],
    ['of an unknown client', { authorization: basic('nobody') }],
    ['of a client of another tenant', { authorization: basic('elsewhere') }],
    ['of a client without one', { authorization: basic('app') }],
    [
      'in the header, though the client is registered for the body',
      { authorization: basic('post') },
    ],
    [
      'in the body, though the client is registered for the header',
      { clientId: 'shop', clientSecret: secret },
    ],
    ['wrong in the body', { clientId: 'post', clientSecret: 'wrong' }],
    ['in another scheme', { authorization: 'Bearer shop' }],
    ['not in Base64', { authorization: 'Basic ???' }],
    ['without a colon', { authorization: `Basic ${Buffer.from('shop').toString('base64')}` }],
    ['badly encoded', { authorization: `Basic ${Buffer.from('shop:%').toString('base64')}` }],
    ['missing', { clientId: 'shop' }],
    ['missing for a client that does not exist', { clientId: 'nobody' }],
  ])('that is %s is refused, with one and the same reason', async (_case, shown) => {
    expect(await outcome(shown)).toBe('- clientRefused');
  });

  it('is compared once, whoever is claimed, with a stored form of the same cost', async () => {
    const compared: string[] = [];
    const passwords: PasswordVerifier = {
      verify: (stored) => {
        compared.push(stored.replace(/\$[^$]*\$[^$]*$/, ''));
        return 'wrong';
      },
    };
    for (const id of ['shop', 'nobody', 'app', 'post', 'keyed']) {
      await authenticate({ authorization: basic(id, 'wrong') }, passwords);
    }
    expect(compared).toEqual(Array(5).fill('$scrypt$ln=10,r=8,p=1'));
  });

  it('is not compared while too many are', async () => {
    expect(
      await authenticate({ authorization: basic('shop') }, { verify: () => 'busy' }),
    ).toMatchObject({
      reason: 'tooMany',
    });
  });

  it('is read from the header as RFC 6749 writes it there, whatever its characters are', () => {
    const visible = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    });
    fc.assert(
      fc.property(visible, visible, (id, password) => {
        fc.pre(id !== '');
        expect(parseBasic(basic(id, password))).toEqual({ id, secret: password });
      }),
    );
  });
});

describe('a public client', () => {
  it('is believed and not proven', async () => {
    expect(await authenticate({ clientId: 'app' })).toMatchObject({
      ok: true,
      client: { id: 'app' },
      proven: false,
    });
  });
});

describe('two methods at once', () => {
  it.each<[string, Partial<ShownCredentials>]>([
    ['header and body', { authorization: basic('shop'), clientId: 'shop', clientSecret: secret }],
    ['header and assertion', { authorization: basic('keyed'), ...asserted('x') }],
    ['secret and assertion', { clientId: 'keyed', clientSecret: secret, ...asserted('x') }],
  ])('(%s) are a mistake', async (_case, shown) => {
    expect(await outcome(shown)).toBe('- severalMethods');
  });
});

describe('a request from nobody', () => {
  it('is told so', async () => {
    expect(await outcome({})).toBe('- clientUnnamed');
    expect(await outcome({ clientSecret: secret })).toBe('- clientUnnamed');
  });
});

describe('an assertion', () => {
  it.each([
    ['the issuer', mainIssuer],
    ['the endpoint for pushed requests', `${mainIssuer}/par`],
    ['the token endpoint', `${mainIssuer}/token`],
    ['several, one of them ours', ['https://elsewhere.example', mainIssuer]],
  ])('may be meant for %s', async (_case, aud) => {
    expect(await outcome(asserted(await stage.sign(claimsOf('keyed', { aud }))))).toBe('keyed');
  });

  it('may be of any of the registered keys, and of the only one whatever it is called', async () => {
    const named = await stage.sign(claimsOf('many'), { kid: 'k2' }, second.privateKey);
    const other = await stage.sign(claimsOf('many'), { alg: 'PS256', kid: 'r1' }, rsa.privateKey);
    const only = await stage.sign(claimsOf('unnamed'), { kid: 'whatever' }, unnamed.privateKey);
    expect(await Promise.all([named, other, only].map((jwt) => outcome(asserted(jwt))))).toEqual([
      'many',
      'many',
      'unnamed',
    ]);
  });

  it('may leave out which of several keys has signed', async () => {
    const unsaid = (key: KeyPair) =>
      new SignJWT(claimsOf('two')).setProtectedHeader({ alg: 'ES256' }).sign(key.privateKey);
    expect(await outcome(asserted(await unsaid(unnamed)))).toBe('two');
    expect(await outcome(asserted(await unsaid(second)))).toBe('two');
    expect(await outcome(asserted(await unsaid(newKey())))).toBe('- clientRefused');
  });

  it('is accepted once, of any number at the same time', async () => {
    const shown = asserted(await stage.sign(claimsOf('keyed')));
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => outcome(shown)));
    expect(outcomes.filter((each) => each === 'keyed')).toHaveLength(1);
    expect(outcomes.filter((each) => each === '- clientRefused')).toHaveLength(7);
  });

  it.each<[string, () => Promise<string> | string]>([
    ['signed by nobody', () => new UnsecuredJWT(claimsOf('keyed')).encode()],
    ['signed with another key', () => stage.sign(claimsOf('keyed'), {}, newKey().privateKey)],
    ['signed with a key of another name', () => stage.sign(claimsOf('keyed'), { kid: 'k2' })],
    [
      'signed with a shared secret',
      () =>
        new SignJWT(claimsOf('keyed'))
          .setProtectedHeader({ alg: 'HS256' })
          .sign(Buffer.from(secret.repeat(2))),
    ],
    ['meant for another tenant', () => stage.sign(claimsOf('keyed', { aud: otherIssuer }))],
    ['meant for nobody', () => stage.sign(claimsOf('keyed', { aud: undefined }))],
    ['of another issuer', () => stage.sign(claimsOf('keyed', { iss: 'shop' }))],
    ['about another client', () => stage.sign(claimsOf('keyed', { sub: 'many' }))],
    ['about nobody', () => stage.sign(claimsOf('keyed', { sub: undefined }))],
    ['expired', () => stage.sign(claimsOf('keyed', { exp: seconds() - 60 }))],
    ['valid for ever', () => stage.sign(claimsOf('keyed', { exp: undefined }))],
    ['valid for a day', () => stage.sign(claimsOf('keyed', { exp: seconds() + 86_400 }))],
    ['without a name of its own', () => stage.sign(claimsOf('keyed', { jti: undefined }))],
    ['named by a number', () => stage.sign(claimsOf('keyed', { jti: 1 }))],
    ['a request object', () => stage.sign(claimsOf('keyed'), { typ: 'oauth-authz-req+jwt' })],
    ['of a client that has a secret', () => stage.sign(claimsOf('shop'))],
    ['of nobody', () => stage.sign(claimsOf('nobody'))],
    ['no JWT', () => 'assertion'],
  ])('that is %s is refused', async (_case, make) => {
    expect(await outcome(asserted(await make()))).toBe('- clientRefused');
  });

  it('needs its type', async () => {
    const clientAssertion = await stage.sign(claimsOf('keyed'));
    const types = [undefined, 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer'];
    for (const clientAssertionType of types) {
      expect(await outcome({ clientAssertion, clientAssertionType })).toBe('- assertionType');
    }
    expect(await outcome({ clientId: 'keyed', clientAssertionType: jwtBearer })).toBe(
      '- assertionType',
    );
  });
});
