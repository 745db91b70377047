/**
 * Private keys in this process: made by Node, kept as JWK, which the store has only sealed.
 *
 * Where a service keeps its keys in another place, these keys are those that it does not keep: keys
 * of before it was configured, and those of users where the configuration says so.
 */
import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type JsonWebKey,
  type KeyObject,
  sign,
} from 'node:crypto';
import { promisify } from 'node:util';
import type { KeyType, KeyVault, MadeKey, PrivateKey, SigningAlgorithm } from './ports.ts';

const generate = promisify(generateKeyPair);

const generators: Readonly<Record<KeyType, () => Promise<{ readonly privateKey: KeyObject }>>> = {
  RSA: () => generate('rsa', { modulusLength: 2048 }),
  EC: () => generate('ec', { namedCurve: 'P-256' }),
  OKP: () => generate('ed25519'),
};

/** Signs on the thread pool: an RSA-2048 signature holds a core for a third of a millisecond. */
const signInPool = promisify(sign);

const pss = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
};

type Sign = (data: Uint8Array, key: KeyObject) => Uint8Array | Promise<Uint8Array>;

// A signature of a curve takes less time than the way to the pool and back.
const signers: Readonly<Record<SigningAlgorithm, Sign>> = {
  ECDSA: (data, key) => sign('sha256', data, key),
  ES256: (data, key) => sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' }),
  EdDSA: (data, key) => sign(null, data, key),
  RS256: (data, key) => signInPool('sha256', data, key),
  PS256: (data, key) => signInPool('sha256', data, { key, ...pss }),
};

/** A private key of this process. */
export const ownKey = (key: KeyObject): PrivateKey => {
  let publicKey: KeyObject | undefined;
  return {
    // Few of those who sign need it.
    get publicKey() {
      publicKey ??= createPublicKey(key);
      return publicKey;
    },
    sign: async (data, algorithm) => signers[algorithm](data, key),
  };
};

export const ownVault: KeyVault = {
  make: async (_name, type): Promise<MadeKey> => {
    const { privateKey } = await generators[type]();
    return { privateKey: ownKey(privateKey), kept: privateKey.export({ format: 'jwk' }) };
  },
  open: (kept) => {
    if (typeof kept !== 'object' || kept === null || !('kty' in kept))
      throw new Error(
        'the private key is in another place, such as a token, which the configuration does not name',
      );
    return ownKey(createPrivateKey({ key: kept as JsonWebKey, format: 'jwk' }));
  },
  discard: () => undefined,
};
