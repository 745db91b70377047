/**
 * Keys of the provider that are in a token: the library asks them to sign. It wants a key for each
 * algorithm, so one of the token stands in the key set once for each, with a `kid` of its own.
 */
import type { KeyObject } from 'node:crypto';
import type { ExternalSigningKey as ExternalKey } from 'oidc-provider';
import type { PrivateKey, SigningAlgorithm } from '../pki/ports.ts';
import { ExternalSigningKey } from './library.ts';

type Named = readonly [name: string, algorithm: SigningAlgorithm];

const algorithmsOf = ({ asymmetricKeyType }: KeyObject): readonly Named[] => {
  if (asymmetricKeyType === 'rsa')
    return [
      ['RS256', 'RS256'],
      ['PS256', 'PS256'],
    ];
  if (asymmetricKeyType === 'ec') return [['ES256', 'ES256']];
  return [
    ['EdDSA', 'EdDSA'],
    ['Ed25519', 'EdDSA'],
  ];
};

class TokenKey extends ExternalSigningKey {
  readonly #privateKey: PrivateKey;
  readonly #algorithm: SigningAlgorithm;

  constructor(privateKey: PrivateKey, kid: string, [name, algorithm]: Named) {
    super();
    this.#privateKey = privateKey;
    this.#algorithm = algorithm;
    // The library has setters, which its types leave out.
    Object.assign(this, { kid, alg: name });
  }

  override keyObject(): KeyObject {
    return this.#privateKey.publicKey;
  }

  override async sign(data: Uint8Array): Promise<Uint8Array> {
    return Buffer.from(await this.#privateKey.sign(data, this.#algorithm));
  }
}

/** @param kid The first has it; the others have the algorithm's name behind it. */
export const createTokenKeys = (privateKey: PrivateKey, kid: string): readonly ExternalKey[] =>
  algorithmsOf(privateKey.publicKey).map(
    (named, index) => new TokenKey(privateKey, index === 0 ? kid : `${kid}.${named[0]}`, named),
  );
