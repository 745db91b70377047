/**
 * Tokens that must be refused, under the reason. All but one thing about each is right, so that no
 * other check can refuse it by chance; where several apply it stands under the one that comes
 * first.
 */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { IdTokenFailure, ValidateIdTokenOptions } from '../src/index.ts';
import {
  accessToken,
  base64url,
  clientId,
  type Forgery,
  forge,
  goodClaims,
  issuer,
  keys,
  nonce,
  nowSeconds,
  publicJwk,
} from './forge.ts';

type Options = Partial<ValidateIdTokenOptions>;
type Group = Readonly<
  Partial<
    Record<IdTokenFailure, readonly (readonly [name: string, token: unknown, options?: Options])[]>
  >
>;

const good = forge();
const [header = '', payload = '', signature = ''] = good.split('.');
const goodText = JSON.stringify(goodClaims);
const ecdsa = forge({ algorithm: 'ES256' }).split('.').slice(0, 2).join('.');
const stranger = keys.stranger.privateKey;
const strangerJwk = (kid: string) => publicJwk(keys.stranger.publicKey, kid);

const any: Options = { algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA', 'none', 'HS256'] };
const alsoAs = (algorithm: string): Options => ({ algorithms: ['RS256', algorithm] });

const headed = (changed: Record<string, unknown>, more: Forgery = {}) =>
  forge({ header: changed, ...more });
const rawHead = (rawHeader: string | Uint8Array) => forge({ rawHeader });
const claims = (changed: Record<string, unknown>) => forge({ claims: changed });
const rawClaims = (raw: string | Uint8Array) => forge({ rawClaims: raw });

/**
 * The other characters that a lenient decoder reads as the same bytes: the last bits belong to
 * none.
 */
const otherSpelling = (segment: string): string => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(segment.at(-1) ?? '');
  const other = segment.slice(0, -1) + alphabet[last ^ 1];
  if (!Buffer.from(other, 'base64url').equals(Buffer.from(segment, 'base64url')))
    throw new Error('no other');
  return other;
};
const otherAlphabet = Buffer.alloc(256, 0xfb).toString('base64').replace(/=+$/, '');

/** The form of the token: nothing in it has been understood yet. */
export const form: Group = {
  malformed: [
    ['no string', undefined],
    ['a number', 42],
    ['an object that turns into a token', { toString: () => good }],
    ['an empty string', ''],
    ['one segment', header],
    ['two segments', `${header}.${payload}`],
    ['four segments', `${good}.${signature}`],
    ['six segments', `${good}.AAAA.AAAA.AAAA`],
    ['an empty header', `.${payload}.${signature}`],
    ['empty claims', `${header}..${signature}`],
    ['an empty signature', `${header}.${payload}.`],
    ['a space in front', ` ${good}`],
    ['a line break at the end', `${good}\n`],
    ['padding', `${header}.${payload}.${signature}==`],
    ['the other alphabet', `${header}.${payload}.${otherAlphabet}`],
    ['bits that belong to no byte', `${header}.${payload}.${otherSpelling(signature)}`],
    ['a segment of an impossible length', `${header}.${payload}.AAAAA`],
    ['a JSON serialisation', JSON.stringify({ payload, protected: header, signature })],
    ['alg none without a signature', forge({ algorithm: 'none' })],
  ],
  encrypted: [['five segments', `${good}.AAAA.AAAA`]],
  'too-long': [['more characters than any token has', claims({ picture: 'x'.repeat(20_000) })]],
};

/** The header alone. */
export const headers: Group = {
  'malformed-header': [
    ['a header that is no JSON', rawHead('{alg:RS256}')],
    [
      'a header that is no UTF-8',
      rawHead(Buffer.from('{"alg":"RS256","kid":"rsa","x":"\xff"}', 'latin1')),
    ],
    ['a header with a byte order mark', rawHead('\uFEFF{"alg":"RS256","kid":"rsa"}')],
    ['a header that is an array', rawHead('["RS256"]')],
    ['a header that is null', rawHead('null')],
    ['alg twice', rawHead('{"alg":"none","alg":"RS256","kid":"rsa"}')],
    ['alg twice, once in disguise', rawHead('{"\\u0061lg":"none","alg":"RS256","kid":"rsa"}')],
    ['no alg', headed({ alg: undefined })],
    ['a list as alg', headed({ alg: ['RS256'] })],
    ['an empty kid', headed({ kid: '' })],
    ['a number as kid', headed({ kid: 1 })],
  ],
  'algorithm-not-allowed': [
    ['alg none with the signature of another token', headed({ alg: 'none' }), any],
    ['alg NONE', headed({ alg: 'NONE' }), alsoAs('NONE')],
    ['a signature by HMAC with the public key', forge({ algorithm: 'HS256' }), any],
    [
      'one with the symmetric key of the set',
      headed({ kid: 'symmetric' }, { algorithm: 'HS256' }),
      any,
    ],
    ['an algorithm that is not expected', forge({ algorithm: 'ES256' })],
    ['an algorithm in small letters', headed({ alg: 'rs256' })],
    ['an algorithm called constructor', headed({ alg: 'constructor' }), alsoAs('constructor')],
  ],
  'wrong-type': [
    ['an access token', headed({ typ: 'at+jwt' })],
    ['an access token by its full name', headed({ typ: 'application/at+jwt' })],
    ['a logout token', headed({ typ: 'logout+jwt' })],
    ['a DPoP proof', headed({ typ: 'dpop+jwt' })],
    ['a request object', headed({ typ: 'oauth-authz-req+jwt' })],
    ['an answer of introspection', headed({ typ: 'token-introspection+jwt' })],
    ['a number as typ', headed({ typ: 1 })],
  ],
  'critical-extension': [
    ['a critical extension', headed({ crit: ['b64'], b64: false })],
    ['an empty list of critical extensions', headed({ crit: [] })],
  ],
  'key-id-missing': [['no kid', headed({ kid: undefined })]],
};

/** The key and the signature. */
export const signatures: Group = {
  'key-unknown': [
    ['a kid that nobody has', headed({ kid: 'unheard-of' })],
    ['one with its own key', headed({ kid: 'mine', jwk: strangerJwk('mine') }, { key: stranger })],
    ['a key of the set that is symmetric', headed({ kid: 'symmetric' })],
    ['a key of the set that is private', headed({ kid: 'private' }, { key: stranger })],
    ['a private one on a curve', headed({ kid: 'private-curve' }, { algorithm: 'ES256' }), any],
    ['a key of a type of the future', headed({ kid: 'type-of-the-future' })],
  ],
  'key-unsuitable': [
    ['a key of another type', headed({ kid: 'p256' })],
    ['a key of another curve', headed({ kid: 'p384' }, { algorithm: 'ES256' }), any],
    ['a key for encryption', headed({ kid: 'for-encryption' })],
    ['a key for another algorithm', headed({ kid: 'other-algorithm' })],
    ['a key without a modulus', headed({ kid: 'incomplete' })],
    ['a key of 1024 bits', headed({ kid: 'short' }, { key: keys.short.privateKey })],
    ['a kid that two keys have', headed({ kid: 'twice' })],
  ],
  'bad-signature': [
    ['the signature of a stranger', forge({ key: stranger })],
    [
      'the signature of a stranger and its key',
      headed({ jwk: strangerJwk('rsa') }, { key: stranger }),
    ],
    [
      'claims of another token',
      `${header}.${base64url(goodText.replace('4711', '4712'))}.${signature}`,
    ],
    [
      'a header of another token',
      `${base64url('{"kid":"rsa","alg":"RS256"}')}.${payload}.${signature}`,
    ],
    [
      'a signature of another algorithm with the same key',
      `${base64url('{"alg":"PS256","kid":"rsa"}')}.${payload}.${signature}`,
      any,
    ],
    [
      'a signature that is cut off',
      `${header}.${payload}.${base64url(Buffer.from(signature, 'base64url').subarray(1))}`,
    ],
    ['an ECDSA signature of zeros', `${ecdsa}.${base64url(Buffer.alloc(64))}`, any],
    [
      'an ECDSA signature in DER',
      `${ecdsa}.${base64url(Buffer.from('3006020101020101', 'hex'))}`,
      any,
    ],
  ],
};

/** Whether the claims are what their types say. */
export const types: Group = {
  'malformed-claims': [
    ['claims that are no JSON', rawClaims('sub=1')],
    ['claims that are no UTF-8', rawClaims(Buffer.from([0x7b, 0xff, 0x7d]))],
    ['claims that are a list', rawClaims('[]')],
    ['claims that are a text', rawClaims('"claims"')],
    ['sub twice', rawClaims(goodText.replace('{', '{"sub":"victim",'))],
    ['a name twice further inside', rawClaims(goodText.replace('{', '{"a":[{"b":1,"b":2}],'))],
  ],
  'claim-missing': [
    ['no iss', claims({ iss: undefined })],
    ['no sub', claims({ sub: undefined })],
    ['no aud', claims({ aud: undefined })],
    ['no exp', claims({ exp: undefined })],
    ['no iat', claims({ iat: undefined })],
    ['an answer of userinfo', claims({ exp: undefined, iat: undefined })],
    ['an answer of authorisation', claims({ sub: undefined, iat: undefined, code: 'c' })],
  ],
  'claim-malformed': [
    ['a list as iss', claims({ iss: [issuer] })],
    ['an empty sub', claims({ sub: '' })],
    ['a number as sub', claims({ sub: 4711 })],
    ['a sub of 256 characters', claims({ sub: 's'.repeat(256) })],
    ['an object as aud', claims({ aud: { [clientId]: true } })],
    ['a list in the list of aud', claims({ aud: [clientId, ['x']] })],
    ['exp as a text', claims({ exp: String(nowSeconds + 300) })],
    ['exp without end', rawClaims(goodText.replace(`"exp":${nowSeconds + 300}`, '"exp":1e999'))],
    ['exp of null', claims({ exp: null })],
    ['a negative iat', claims({ iat: -1 })],
    ['nbf as a text', claims({ nbf: '0' })],
    ['a list as nonce', claims({ nonce: [nonce] })],
    ['a number as azp', claims({ azp: 1 })],
    ['a text as amr', claims({ amr: 'mid_sim' })],
    ['a list as acr', claims({ acr: ['mid_al3_any'] })],
    ['at_hash of null', claims({ at_hash: null })],
    ['auth_time as a text', claims({ auth_time: 'now' })],
  ],
  'wrong-type': [
    [
      'a logout event',
      claims({
        nonce: undefined,
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      }),
      { nonce: undefined },
    ],
  ],
};

const twoAudiences = { aud: [clientId, 'other'] };

/** Who made the token, and for whom. */
export const parties: Group = {
  'issuer-mismatch': [
    ['another issuer', claims({ iss: 'https://login.example.org/oidc' })],
    ['an issuer with a slash at the end', claims({ iss: `${issuer}/` })],
    ['an issuer in capitals', claims({ iss: issuer.toUpperCase() })],
  ],
  'audience-mismatch': [
    ['another audience', claims({ aud: 'other' })],
    ['an audience that contains the client', claims({ aud: `${clientId}-2` })],
    ['audiences in one text', claims({ aud: `${clientId} other` })],
    ['no audience in the list', claims({ aud: [] })],
  ],
  'authorized-party-missing': [['a second audience and no azp', claims(twoAudiences)]],
  'audience-untrusted': [
    [
      'an audience that is not trusted',
      claims({ ...twoAudiences, azp: clientId }),
      { trustedAudiences: [] },
    ],
  ],
  'authorized-party-mismatch': [
    ['a second audience that it was made for', claims({ ...twoAudiences, azp: 'other' })],
    ['one audience and another party', claims({ azp: 'other' })],
    ['a party that is not authorised', claims({ azp: 'other' }), { authorizedParties: ['app'] }],
  ],
};

/** When it is valid. */
export const times: Group = {
  expired: [
    ['the end of its time', claims({ exp: nowSeconds }), { clockToleranceSeconds: 0 }],
    ['the end of its time and of the tolerance', claims({ exp: nowSeconds - 5 })],
    ['an exp of zero', claims({ exp: 0 })],
  ],
  'issued-in-future': [['an iat in the future', claims({ iat: nowSeconds + 6 })]],
  'not-yet-valid': [['an nbf in the future', claims({ nbf: nowSeconds + 6 })]],
};

const wholeHash = createHash('sha256').update(accessToken).digest('base64url');
const foreignHash = { at_hash: '77QmUPtjPfzWtF2AnpK9RQ' };
const atOnce = { maxAgeSeconds: 0, clockToleranceSeconds: 0 };

/** Whether a genuine token belongs to this login. */
export const bindings: Group = {
  'authentication-time-missing': [
    [
      'no auth_time where an age is asked for',
      claims({ auth_time: undefined }),
      { maxAgeSeconds: 60 },
    ],
  ],
  'authentication-too-old': [
    [
      'an authentication that is too old',
      claims({ auth_time: nowSeconds - 66 }),
      { maxAgeSeconds: 60 },
    ],
    ['any authentication before now, where it must be fresh', good, atOnce],
  ],
  'nonce-missing': [['no nonce', claims({ nonce: undefined })]],
  'nonce-mismatch': [
    ['another nonce', claims({ nonce: 'another' })],
    ['a nonce that begins like the right one', claims({ nonce: `${nonce}x` })],
    [
      'another nonce, though it might be absent',
      claims({ nonce: 'another' }),
      { nonceOptional: true },
    ],
  ],
  'nonce-unexpected': [['a nonce that nobody sent', good, { nonce: undefined }]],
  'subject-mismatch': [['another subject', good, { subject: 'somebody-else' }]],
  'access-token-hash-missing': [['no at_hash beside an access token', good, { accessToken }]],
  'access-token-hash-mismatch': [
    ['the at_hash of another access token', claims(foreignHash), { accessToken: 'another' }],
    [
      'a wrong at_hash, though it might be absent',
      claims({ at_hash: 'AAAA' }),
      { accessToken, accessTokenHashOptional: true },
    ],
    ['an at_hash of the whole hash', claims({ at_hash: wholeHash }), { accessToken }],
    [
      'an at_hash by the wrong hash',
      forge({ algorithm: 'EdDSA', claims: foreignHash }),
      { accessToken, ...any },
    ],
  ],
  'acr-missing': [
    ['no acr where one is asked for', claims({ acr: undefined }), { acrValues: ['mid_al3_any'] }],
  ],
  'acr-not-accepted': [
    ['a weaker acr', claims({ acr: 'mid_al2_any' }), { acrValues: ['mid_al3_any', 'mid_al4_any'] }],
  ],
};
