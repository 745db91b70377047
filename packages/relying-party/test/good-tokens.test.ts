import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type ValidateIdTokenOptions, validateIdToken } from '../src/index.ts';
import {
  accessToken,
  cacheOf,
  clientId,
  type Forgery,
  forge,
  issuer,
  keySet,
  nonce,
  now,
  nowSeconds,
} from './forge.ts';

const jwks = cacheOf(keySet);
const validate = (token: string, options: Partial<ValidateIdTokenOptions> = {}) =>
  validateIdToken(token, { issuer, clientId, jwks, nonce, now, ...options });

const leftHalf = (hash: string): string => {
  const digest = createHash(hash).update(accessToken).digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
};

describe('a good ID token', () => {
  it.each([
    ['RS256', 'sha256'],
    ['RS512', 'sha512'],
    ['PS256', 'sha256'],
    ['PS384', 'sha384'],
    ['ES256', 'sha256'],
    ['ES384', 'sha384'],
    ['ES512', 'sha512'],
    ['EdDSA', 'sha512'],
    ['Ed25519', 'sha512'],
  ])('is accepted with %s and an at_hash of %s', async (algorithm, hash) => {
    const token = forge({ algorithm, claims: { at_hash: leftHalf(hash) } });
    const result = await validate(token, { algorithms: [algorithm], accessToken });
    expect(result).toMatchObject({ ok: true, claims: { sub: 'pairwise-4711', nonce } });
  });

  it('has the at_hash of the example in the specification', async () => {
    // OpenID Connect Core, appendix A.3: RS256.
    const token = forge({ claims: { at_hash: '77QmUPtjPfzWtF2AnpK9RQ' } });
    expect(await validate(token, { accessToken })).toMatchObject({ ok: true });
  });

  const tolerated: readonly (readonly [string, Forgery, Partial<ValidateIdTokenOptions>])[] = [
    ['has no typ', { header: { typ: undefined } }, {}],
    ['has application/jwt as typ', { header: { typ: 'application/jwt' } }, {}],
    [
      'brings header parameters that nobody looks at',
      { header: { jku: 'https://evil.example/', x: 1 } },
      {},
    ],
    ['has its client in a list', { claims: { aud: [clientId] } }, {}],
    ['names its client twice', { claims: { aud: [clientId, clientId] } }, {}],
    [
      'has a second audience and says that it is for the client',
      { claims: { aud: ['api', clientId], azp: clientId } },
      {},
    ],
    [
      'has a second audience that is trusted',
      { claims: { aud: ['api', clientId], azp: clientId } },
      { trustedAudiences: ['api'] },
    ],
    [
      'was made for another party that is authorised',
      { claims: { azp: 'app' } },
      { authorizedParties: ['app'] },
    ],
    [
      'expires within the next second',
      { claims: { exp: nowSeconds + 0.5 } },
      { clockToleranceSeconds: 0 },
    ],
    ['expired within the tolerance', { claims: { exp: nowSeconds - 4 } }, {}],
    [
      'is from a clock that is a little ahead',
      { claims: { iat: nowSeconds + 5, nbf: nowSeconds + 5 } },
      {},
    ],
    [
      'was refreshed and omits the nonce',
      { claims: { nonce: undefined } },
      { nonceOptional: true },
    ],
    ['has no nonce when none was sent', { claims: { nonce: undefined } }, { nonce: undefined }],
    ['omits at_hash where that is allowed', {}, { accessToken, accessTokenHashOptional: true }],
    ['has an at_hash that nobody asks about', { claims: { at_hash: 'AAAA' } }, {}],
    ['is of an authentication that is fresh enough', {}, { maxAgeSeconds: 5 }],
    ['has one of the accepted acr values', {}, { acrValues: ['mid_al4_any', 'mid_al3_any'] }],
    ['is about the expected subject', {}, { subject: 'pairwise-4711' }],
    ['has long claims', { claims: { picture: `"\\${'x'.repeat(8000)}` } }, {}],
    [
      'repeats a name in different objects',
      {
        rawClaims: JSON.stringify({
          iss: issuer,
          sub: 's',
          aud: clientId,
          exp: nowSeconds + 9,
          iat: nowSeconds,
          nonce,
          a: { sub: 1 },
          b: [{ sub: 1 }, { sub: 2 }],
          c: 'iss',
        }),
      },
      {},
    ],
  ];
  it.each(tolerated)('is accepted when it %s', async (_, forgery, options) => {
    expect(await validate(forge(forgery), options)).toMatchObject({ ok: true });
  });
});

describe('parameters that cannot be meant', () => {
  const misuse: readonly (readonly [string, object])[] = [
    ['an empty issuer', { issuer: '' }],
    ['no client', { clientId: undefined }],
    ['an empty nonce', { nonce: '' }],
    ['an empty access token', { accessToken: '' }],
    ['only algorithms that are never acceptable', { algorithms: ['HS256', 'none'] }],
    ['algorithms that are no list', { algorithms: 'RS256' }],
    ['an empty list of acr values', { acrValues: [] }],
    ['a tolerance in milliseconds', { clockToleranceSeconds: 5000 }],
    ['a negative tolerance', { clockToleranceSeconds: -1 }],
    ['an age that is no number', { maxAgeSeconds: Number.NaN }],
    ['no key cache', { jwks: { keys: [] } }],
    ['a clock that does not tell the time', { now: () => Number.NaN }],
  ];
  it.each(misuse)('reject with a TypeError: %s', async (_, wrong) => {
    await expect(validate(forge(), wrong as Partial<ValidateIdTokenOptions>)).rejects.toThrow(
      TypeError,
    );
  });
});
