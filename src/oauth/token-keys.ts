/**
 * Keys of the provider that are in a token: the library asks them to sign. It wants a key for each
 * algorithm, so one of the token stands in the key set once for each, with a `kid` of its own.
 */
import type { KeyObject } from 'node:crypto';
import type { ExternalSigningKey as ExternalKey } from 'oidc-provider';
import type { PrivateKey, SigningAlgorithm } from '../../packages/pki/src/ports.ts';
import { ExternalSigningKey } from './library.ts';

/** `Ed25519` is another name of `EdDSA`. */
type Name = SigningAlgorithm | 'Ed25519';

const namesOf = ({ asymmetricKeyType }: KeyObject): readonly Name[] => {
  if (asymmetricKeyType === 'rsa') return ['RS256', 'PS256'];
  return asymmetricKeyType === 'ec' ? ['ES256'] : ['EdDSA', 'Ed25519'];
};

class TokenKey extends ExternalSigningKey {
  readonly #privateKey: PrivateKey;
  readonly #algorithm: SigningAlgorithm;

  constructor(privateKey: PrivateKey, kid: string, name: Name) {
    super();
    this.#privateKey = privateKey;
    this.#algorithm = name === 'Ed25519' ? 'EdDSA' : name;
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
  namesOf(privateKey.publicKey).map(
    (name, index) => new TokenKey(privateKey, index === 0 ? kid : `${kid}.${name}`, name),
  );
