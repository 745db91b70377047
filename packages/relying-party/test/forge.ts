/**
 * A provider that signs whatever it is told to: with node:crypto and by hand, because a library
 * refuses to make most of the tokens that have to be refused.
 */
import { Buffer } from 'node:buffer';
import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createJwksCache, type JwksCache } from '../src/index.ts';

export const issuer = 'https://login.example.com/oidc';
export const clientId = 'shop';
export const nonce = 'n-0S6_WzA2Mj';
export const accessToken = 'jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y';
/** Seconds since the epoch. */
export const nowSeconds = 1_800_000_000;
export const now = (): number => nowSeconds * 1000;

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const keys = {
  rsa,
  p256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  p384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  p521: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  ed25519: generateKeyPairSync('ed25519'),
  stranger: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  short: generateKeyPairSync('rsa', { modulusLength: 1024 }),
};

export type Jwk = Record<string, unknown>;
export const publicJwk = (key: KeyObject, kid: string): Jwk => ({
  ...key.export({ format: 'jwk' }),
  kid,
  use: 'sig',
});

/** One key for each type, and some that must not be used. */
export const keySet: { readonly keys: readonly Jwk[] } = {
  keys: [
    publicJwk(keys.rsa.publicKey, 'rsa'),
    publicJwk(keys.p256.publicKey, 'p256'),
    publicJwk(keys.p384.publicKey, 'p384'),
    publicJwk(keys.p521.publicKey, 'p521'),
    publicJwk(keys.ed25519.publicKey, 'ed25519'),
    publicJwk(keys.short.publicKey, 'short'),
    { ...publicJwk(keys.rsa.publicKey, 'for-encryption'), use: 'enc' },
    { ...publicJwk(keys.rsa.publicKey, 'other-algorithm'), alg: 'RS512' },
    publicJwk(keys.rsa.publicKey, 'twice'),
    publicJwk(keys.stranger.publicKey, 'twice'),
    { ...keys.stranger.privateKey.export({ format: 'jwk' }), kid: 'private' },
    { ...keys.p256.privateKey.export({ format: 'jwk' }), kid: 'private-curve' },
    { kty: 'oct', k: Buffer.from('secret'.repeat(8)).toString('base64url'), kid: 'symmetric' },
    { kty: 'RSA', kid: 'incomplete' },
    { kty: 'XYZ', kid: 'type-of-the-future' },
  ],
};

export const cacheOf = (set: unknown): JwksCache =>
  createJwksCache({ jwksUri: `${issuer}/jwks.json`, fetch: async () => Response.json(set), now });

export const base64url = (value: string | Uint8Array): string =>
  Buffer.from(value).toString('base64url');

const signers: Record<
  string,
  { readonly kid: string; sign(data: Buffer, key?: KeyObject): Buffer }
> = {
  RS256: { kid: 'rsa', sign: (data, key = keys.rsa.privateKey) => sign('sha256', data, key) },
  RS512: { kid: 'rsa', sign: (data, key = keys.rsa.privateKey) => sign('sha512', data, key) },
  PS256: {
    kid: 'rsa',
    sign: (data, key = keys.rsa.privateKey) =>
      sign('sha256', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }),
  },
  PS384: {
    kid: 'rsa',
    sign: (data, key = keys.rsa.privateKey) =>
      sign('sha384', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 }),
  },
  ES256: {
    kid: 'p256',
    sign: (data, key = keys.p256.privateKey) =>
      sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' }),
  },
  ES384: {
    kid: 'p384',
    sign: (data, key = keys.p384.privateKey) =>
      sign('sha384', data, { key, dsaEncoding: 'ieee-p1363' }),
  },
  ES512: {
    kid: 'p521',
    sign: (data, key = keys.p521.privateKey) =>
      sign('sha512', data, { key, dsaEncoding: 'ieee-p1363' }),
  },
  EdDSA: { kid: 'ed25519', sign: (data, key = keys.ed25519.privateKey) => sign(null, data, key) },
  Ed25519: { kid: 'ed25519', sign: (data, key = keys.ed25519.privateKey) => sign(null, data, key) },
  /** The classic: the public key, as everyone has it, taken as the secret. */
  HS256: {
    kid: 'rsa',
    sign: (data) =>
      createHmac('sha256', keys.rsa.publicKey.export({ type: 'spki', format: 'pem' }))
        .update(data)
        .digest(),
  },
  none: { kid: 'rsa', sign: () => Buffer.alloc(0) },
};

export const goodClaims = {
  iss: issuer,
  sub: 'pairwise-4711',
  aud: clientId,
  exp: nowSeconds + 300,
  iat: nowSeconds - 2,
  auth_time: nowSeconds - 5,
  nonce,
  acr: 'mid_al3_any',
  amr: ['mid_sim'],
};

export interface Forgery {
  readonly algorithm?: string;
  /** Members that are undefined are left out. */
  readonly header?: Record<string, unknown>;
  readonly claims?: Record<string, unknown>;
  /** Instead of the header or the claims: these very bytes. */
  readonly rawHeader?: string | Uint8Array;
  readonly rawClaims?: string | Uint8Array;
  readonly key?: KeyObject;
}

/** A good token for RS256, unless told otherwise. */
export const forge = ({
  algorithm = 'RS256',
  header,
  claims,
  rawHeader,
  rawClaims,
  key,
}: Forgery = {}) => {
  const signer = signers[algorithm];
  if (signer === undefined) throw new Error(`no signer for ${algorithm}`);
  const headerText =
    rawHeader ?? JSON.stringify({ alg: algorithm, kid: signer.kid, typ: 'JWT', ...header });
  const claimsText = rawClaims ?? JSON.stringify({ ...goodClaims, ...claims });
  const input = `${base64url(headerText)}.${base64url(claimsText)}`;
  return `${input}.${base64url(signer.sign(Buffer.from(input), key))}`;
};
