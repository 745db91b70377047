import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { everyAlgorithm, type Row } from './bad-token.ts';
import { accessToken, clientId, forge, goodClaims, issuer, nonce, nowSeconds } from './forge.ts';

const claims = (changed: Record<string, unknown>): string => forge({ claims: changed });

/** Whether the claims are what their types say. */
export const types: readonly Row[] = [
  ['claims that are no JSON', forge({ rawClaims: 'sub=1' }), 'malformed-claims'],
  ['claims that are no UTF-8', forge({ rawClaims: Buffer.from([0x7b, 0xff, 0x7d]) }), 'malformed-claims'],
  ['claims that are a list', forge({ rawClaims: '[]' }), 'malformed-claims'],
  ['claims that are a text', forge({ rawClaims: '"claims"' }), 'malformed-claims'],
  [
    'sub twice',
    forge({ rawClaims: JSON.stringify(goodClaims).replace('{', '{"sub":"victim",') }),
    'malformed-claims',
  ],
  [
    'a name twice further inside',
    forge({ rawClaims: JSON.stringify(goodClaims).replace('{', '{"a":[{"b":1,"b":2}],') }),
    'malformed-claims',
  ],
  ['no iss', claims({ iss: undefined }), 'claim-missing'],
  ['no sub', claims({ sub: undefined }), 'claim-missing'],
  ['no aud', claims({ aud: undefined }), 'claim-missing'],
  ['no exp', claims({ exp: undefined }), 'claim-missing'],
  ['no iat', claims({ iat: undefined }), 'claim-missing'],
  ['an answer of userinfo', claims({ exp: undefined, iat: undefined }), 'claim-missing'],
  ['an answer of authorisation', claims({ sub: undefined, iat: undefined, code: 'c' }), 'claim-missing'],
  ['a list as iss', claims({ iss: [issuer] }), 'claim-malformed'],
  ['an empty sub', claims({ sub: '' }), 'claim-malformed'],
  ['a number as sub', claims({ sub: 4711 }), 'claim-malformed'],
  ['a sub of 256 characters', claims({ sub: 's'.repeat(256) }), 'claim-malformed'],
  ['an object as aud', claims({ aud: { [clientId]: true } }), 'claim-malformed'],
  ['a list in the list of aud', claims({ aud: [clientId, ['x']] }), 'claim-malformed'],
  ['exp as a text', claims({ exp: String(nowSeconds + 300) }), 'claim-malformed'],
  [
    'exp without end',
    forge({ rawClaims: JSON.stringify(goodClaims).replace(`"exp":${nowSeconds + 300}`, '"exp":1e999') }),
    'claim-malformed',
  ],
  ['exp of null', claims({ exp: null }), 'claim-malformed'],
  ['a negative iat', claims({ iat: -1 }), 'claim-malformed'],
  ['nbf as a text', claims({ nbf: '0' }), 'claim-malformed'],
  ['a list as nonce', claims({ nonce: [nonce] }), 'claim-malformed'],
  ['a number as azp', claims({ azp: 1 }), 'claim-malformed'],
  ['a text as amr', claims({ amr: 'mid_sim' }), 'claim-malformed'],
  ['a list as acr', claims({ acr: ['mid_al3_any'] }), 'claim-malformed'],
  ['at_hash of null', claims({ at_hash: null }), 'claim-malformed'],
  ['auth_time as a text', claims({ auth_time: 'now' }), 'claim-malformed'],
  [
    'a logout event',
    claims({ nonce: undefined, events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }),
    'wrong-type',
    { nonce: undefined },
  ],
];

/** Who made the token, and for whom. */
export const parties: readonly Row[] = [
  ['another issuer', claims({ iss: 'https://login.example.org/oidc' }), 'issuer-mismatch'],
  ['an issuer with a slash at the end', claims({ iss: `${issuer}/` }), 'issuer-mismatch'],
  ['an issuer in capitals', claims({ iss: issuer.toUpperCase() }), 'issuer-mismatch'],
  ['another audience', claims({ aud: 'other' }), 'audience-mismatch'],
  ['an audience that contains the client', claims({ aud: `${clientId}-2` }), 'audience-mismatch'],
  ['audiences in one text', claims({ aud: `${clientId} other` }), 'audience-mismatch'],
  ['no audience in the list', claims({ aud: [] }), 'audience-mismatch'],
  ['a second audience and no azp', claims({ aud: [clientId, 'other'] }), 'authorized-party-missing'],
  [
    'a second audience that is not trusted',
    claims({ aud: [clientId, 'other'], azp: clientId }),
    'audience-untrusted',
    { trustedAudiences: [] },
  ],
  [
    'a second audience that it was made for',
    claims({ aud: [clientId, 'other'], azp: 'other' }),
    'authorized-party-mismatch',
  ],
  ['one audience and another party', claims({ azp: 'other' }), 'authorized-party-mismatch'],
  [
    'a party that is not among the authorised',
    claims({ azp: 'other' }),
    'authorized-party-mismatch',
    { authorizedParties: ['app'] },
  ],
];

/** When it is valid. */
export const times: readonly Row[] = [
  ['the end of its time', claims({ exp: nowSeconds }), 'expired', { clockToleranceSeconds: 0 }],
  ['the end of its time and of the tolerance', claims({ exp: nowSeconds - 5 }), 'expired'],
  ['an exp of zero', claims({ exp: 0 }), 'expired'],
  ['an iat in the future', claims({ iat: nowSeconds + 6 }), 'issued-in-future'],
  ['an nbf in the future', claims({ nbf: nowSeconds + 6 }), 'not-yet-valid'],
];

/** Whether a genuine token belongs to this login. */
export const bindings: readonly Row[] = [
  [
    'no auth_time where an age is asked for',
    claims({ auth_time: undefined }),
    'authentication-time-missing',
    { maxAgeSeconds: 60 },
  ],
  [
    'an authentication that is too old',
    claims({ auth_time: nowSeconds - 66 }),
    'authentication-too-old',
    { maxAgeSeconds: 60 },
  ],
  [
    'any authentication before now, where it must be fresh',
    claims({}),
    'authentication-too-old',
    { maxAgeSeconds: 0, clockToleranceSeconds: 0 },
  ],
  ['no nonce', claims({ nonce: undefined }), 'nonce-missing'],
  ['another nonce', claims({ nonce: 'another' }), 'nonce-mismatch'],
  ['a nonce that begins like the right one', claims({ nonce: `${nonce}x` }), 'nonce-mismatch'],
  [
    'another nonce, though it might be absent',
    claims({ nonce: 'another' }),
    'nonce-mismatch',
    { nonceOptional: true },
  ],
  ['a nonce that nobody sent', claims({}), 'nonce-unexpected', { nonce: undefined }],
  ['another subject', claims({}), 'subject-mismatch', { subject: 'somebody-else' }],
  ['no at_hash beside an access token', claims({}), 'access-token-hash-missing', { accessToken }],
  [
    'the at_hash of another access token',
    claims({ at_hash: '77QmUPtjPfzWtF2AnpK9RQ' }),
    'access-token-hash-mismatch',
    { accessToken: 'another' },
  ],
  [
    'a wrong at_hash, though it might be absent',
    claims({ at_hash: 'AAAA' }),
    'access-token-hash-mismatch',
    { accessToken, accessTokenHashOptional: true },
  ],
  [
    'an at_hash of the whole hash',
    claims({ at_hash: createHash('sha256').update(accessToken).digest('base64url') }),
    'access-token-hash-mismatch',
    { accessToken },
  ],
  [
    'an at_hash by the wrong hash',
    forge({ algorithm: 'EdDSA', claims: { at_hash: '77QmUPtjPfzWtF2AnpK9RQ' } }),
    'access-token-hash-mismatch',
    { accessToken, ...everyAlgorithm },
  ],
  [
    'no acr where one is asked for',
    claims({ acr: undefined }),
    'acr-missing',
    { acrValues: ['mid_al3_any'] },
  ],
  [
    'a weaker acr',
    claims({ acr: 'mid_al2_any' }),
    'acr-not-accepted',
    { acrValues: ['mid_al3_any', 'mid_al4_any'] },
  ],
];
