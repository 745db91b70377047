import { Buffer } from 'node:buffer';
import { everyAlgorithm, type Row } from './bad-token.ts';
import { base64url, forge, goodClaims, keys, publicJwk } from './forge.ts';

const good = forge();
const [header = '', payload = '', signature = ''] = good.split('.');

/** The other characters that a lenient decoder reads as the same bytes: the last bits belong to none. */
const otherSpelling = (segment: string): string => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(segment.at(-1) ?? '');
  const other = segment.slice(0, -1) + alphabet[last ^ 1];
  if (!Buffer.from(other, 'base64url').equals(Buffer.from(segment, 'base64url'))) throw new Error('no other');
  return other;
};

/** The form of the token: nothing in it has been understood yet. */
export const form: readonly Row[] = [
  ['no string', undefined, 'malformed'],
  ['a number', 42, 'malformed'],
  ['an object that turns into a token', { toString: () => good }, 'malformed'],
  ['an empty string', '', 'malformed'],
  ['one segment', header, 'malformed'],
  ['two segments', `${header}.${payload}`, 'malformed'],
  ['four segments', `${good}.${signature}`, 'malformed'],
  ['five segments', `${good}.AAAA.AAAA`, 'encrypted'],
  ['six segments', `${good}.AAAA.AAAA.AAAA`, 'malformed'],
  ['an empty header', `.${payload}.${signature}`, 'malformed'],
  ['empty claims', `${header}..${signature}`, 'malformed'],
  ['an empty signature', `${header}.${payload}.`, 'malformed'],
  ['a space in front', ` ${good}`, 'malformed'],
  ['a line break at the end', `${good}\n`, 'malformed'],
  ['padding', `${header}.${payload}.${signature}==`, 'malformed'],
  [
    'the other alphabet',
    `${header}.${payload}.${Buffer.alloc(256, 0xfb).toString('base64').replace(/=+$/, '')}`,
    'malformed',
  ],
  ['bits that belong to no byte', `${header}.${payload}.${otherSpelling(signature)}`, 'malformed'],
  ['a segment of an impossible length', `${header}.${payload}.AAAAA`, 'malformed'],
  ['more characters than any token has', forge({ claims: { picture: 'x'.repeat(20_000) } }), 'too-long'],
  ['a JSON serialisation', JSON.stringify({ payload, protected: header, signature }), 'malformed'],
];

/** The header alone. */
export const headers: readonly Row[] = [
  ['a header that is no JSON', forge({ rawHeader: '{alg:RS256}' }), 'malformed-header'],
  [
    'a header that is no UTF-8',
    forge({ rawHeader: Buffer.from('{"alg":"RS256","kid":"rsa","x":"\xff"}', 'latin1') }),
    'malformed-header',
  ],
  [
    'a header with a byte order mark',
    forge({ rawHeader: '\uFEFF{"alg":"RS256","kid":"rsa"}' }),
    'malformed-header',
  ],
  ['a header that is an array', forge({ rawHeader: '["RS256"]' }), 'malformed-header'],
  ['a header that is null', forge({ rawHeader: 'null' }), 'malformed-header'],
  ['alg twice', forge({ rawHeader: '{"alg":"none","alg":"RS256","kid":"rsa"}' }), 'malformed-header'],
  [
    'alg twice, once in disguise',
    forge({ rawHeader: '{"\\u0061lg":"none","alg":"RS256","kid":"rsa"}' }),
    'malformed-header',
  ],
  ['no alg', forge({ header: { alg: undefined } }), 'malformed-header'],
  ['a list as alg', forge({ header: { alg: ['RS256'] } }), 'malformed-header'],
  ['alg none without a signature', forge({ algorithm: 'none' }), 'malformed'],
  [
    'alg none with the signature of another token',
    forge({ header: { alg: 'none' } }),
    'algorithm-not-allowed',
    everyAlgorithm,
  ],
  [
    'alg NONE',
    forge({ header: { alg: 'NONE' } }),
    'algorithm-not-allowed',
    { algorithms: ['RS256', 'NONE'] },
  ],
  [
    'a signature by HMAC with the public key',
    forge({ algorithm: 'HS256' }),
    'algorithm-not-allowed',
    everyAlgorithm,
  ],
  [
    'a signature by HMAC with the symmetric key of the set',
    forge({ algorithm: 'HS256', header: { kid: 'symmetric' } }),
    'algorithm-not-allowed',
    everyAlgorithm,
  ],
  ['an algorithm that is not expected', forge({ algorithm: 'ES256' }), 'algorithm-not-allowed'],
  ['an algorithm in small letters', forge({ header: { alg: 'rs256' } }), 'algorithm-not-allowed'],
  [
    'an algorithm called constructor',
    forge({ header: { alg: 'constructor' } }),
    'algorithm-not-allowed',
    { algorithms: ['RS256', 'constructor'] },
  ],
  ['an access token', forge({ header: { typ: 'at+jwt' } }), 'wrong-type'],
  ['an access token by its full name', forge({ header: { typ: 'application/at+jwt' } }), 'wrong-type'],
  ['a logout token', forge({ header: { typ: 'logout+jwt' } }), 'wrong-type'],
  ['a DPoP proof', forge({ header: { typ: 'dpop+jwt' } }), 'wrong-type'],
  ['a request object', forge({ header: { typ: 'oauth-authz-req+jwt' } }), 'wrong-type'],
  ['an answer of introspection', forge({ header: { typ: 'token-introspection+jwt' } }), 'wrong-type'],
  ['a number as typ', forge({ header: { typ: 1 } }), 'wrong-type'],
  ['a critical extension', forge({ header: { crit: ['b64'], b64: false } }), 'critical-extension'],
  ['an empty list of critical extensions', forge({ header: { crit: [] } }), 'critical-extension'],
  ['no kid', forge({ header: { kid: undefined } }), 'key-id-missing'],
  ['an empty kid', forge({ header: { kid: '' } }), 'malformed-header'],
  ['a number as kid', forge({ header: { kid: 1 } }), 'malformed-header'],
];

/** The key and the signature. */
export const signatures: readonly Row[] = [
  ['a kid that nobody has', forge({ header: { kid: 'unheard-of' } }), 'key-unknown'],
  [
    'a kid that nobody has, with its own key',
    forge({
      header: { kid: 'mine', jwk: publicJwk(keys.stranger.publicKey, 'mine') },
      key: keys.stranger.privateKey,
    }),
    'key-unknown',
  ],
  ['a key of the set that is symmetric', forge({ header: { kid: 'symmetric' } }), 'key-unknown'],
  [
    'a key of the set that is private',
    forge({ header: { kid: 'private' }, key: keys.stranger.privateKey }),
    'key-unknown',
  ],
  [
    'a key of the set that is private, on a curve',
    forge({ algorithm: 'ES256', header: { kid: 'private-curve' } }),
    'key-unknown',
    everyAlgorithm,
  ],
  ['a key of a type of the future', forge({ header: { kid: 'type-of-the-future' } }), 'key-unknown'],
  ['a key of another type', forge({ header: { kid: 'p256' } }), 'key-unsuitable'],
  [
    'a key of another curve',
    forge({ algorithm: 'ES256', header: { kid: 'p384' } }),
    'key-unsuitable',
    everyAlgorithm,
  ],
  ['a key for encryption', forge({ header: { kid: 'for-encryption' } }), 'key-unsuitable'],
  ['a key for another algorithm', forge({ header: { kid: 'other-algorithm' } }), 'key-unsuitable'],
  ['a key without a modulus', forge({ header: { kid: 'incomplete' } }), 'key-unsuitable'],
  ['a key of 1024 bits', forge({ header: { kid: 'short' }, key: keys.short.privateKey }), 'key-unsuitable'],
  ['a kid that two keys have', forge({ header: { kid: 'twice' } }), 'key-unsuitable'],
  ['the signature of a stranger', forge({ key: keys.stranger.privateKey }), 'bad-signature'],
  [
    'the signature of a stranger and its key',
    forge({ header: { jwk: publicJwk(keys.stranger.publicKey, 'rsa') }, key: keys.stranger.privateKey }),
    'bad-signature',
  ],
  [
    'claims of another token',
    `${header}.${base64url(JSON.stringify({ ...goodClaims, sub: 'somebody-else' }))}.${signature}`,
    'bad-signature',
  ],
  [
    'a header of another token',
    `${base64url('{"kid":"rsa","alg":"RS256"}')}.${payload}.${signature}`,
    'bad-signature',
  ],
  [
    'a signature of another algorithm with the same key',
    `${base64url('{"alg":"PS256","kid":"rsa"}')}.${payload}.${signature}`,
    'bad-signature',
    everyAlgorithm,
  ],
  [
    'a signature that is cut off',
    `${header}.${payload}.${base64url(Buffer.from(signature, 'base64url').subarray(1))}`,
    'bad-signature',
  ],
  [
    'an ECDSA signature of zeros',
    `${forge({ algorithm: 'ES256' }).split('.').slice(0, 2).join('.')}.${base64url(Buffer.alloc(64))}`,
    'bad-signature',
    everyAlgorithm,
  ],
  [
    'an ECDSA signature in DER',
    `${forge({ algorithm: 'ES256' }).split('.').slice(0, 2).join('.')}.${base64url(Buffer.from('3006020101020101', 'hex'))}`,
    'bad-signature',
    everyAlgorithm,
  ],
];
