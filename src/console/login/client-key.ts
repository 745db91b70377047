/**
 * The key with which the console proves its identity to the provider (private_key_jwt). It is
 * computed from the service key, so it is the same in all processes, is never stored and never
 * leaves the process.
 *
 * Sources: RFC 7523 3, OpenID Connect Core 9, RFC 8410 7 (the form of the key).
 */
import { createPrivateKey, createPublicKey, hkdfSync, randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { consoleClientId } from '../../registry/console-client.ts';
import type { PublicJwk } from '../../registry/oauth-client.ts';

/** DER of a PKCS #8 Ed25519 key, up to its 32 bytes. */
const pkcs8Ed25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

const lifeSeconds = 60;

export const createClientKey = (serviceKey: Uint8Array, now: () => number) => {
  const seed = Buffer.from(hkdfSync('sha256', serviceKey, '', 'paraph console client', 32));
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8Ed25519, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const { kty = 'OKP', crv, x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return {
    publicKey: { kty, crv, x, alg: 'EdDSA', use: 'sig' } as PublicJwk,
    /** A proof of identity, valid once and for a minute. @param audience The issuer. */
    assertion: (audience: string): Promise<string> => {
      const issuedAt = Math.floor(now() / 1000);
      return new SignJWT({ jti: randomBytes(16).toString('base64url') })
        .setProtectedHeader({ alg: 'EdDSA' })
        .setIssuer(consoleClientId)
        .setSubject(consoleClientId)
        .setAudience(audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + lifeSeconds)
        .sign(privateKey);
    },
  };
};

export type ClientKey = ReturnType<typeof createClientKey>;
