import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type JWK } from 'jose';
import { type KeyFailure, type Refusal, refuse } from './failure.ts';
import { isJsonObject } from './strict-json.ts';

/**
 * The keys of a provider that can verify something. Choosing among them, and importing each once, is jose's.
 *
 * A symmetric key in a public set is known to everyone. A private key there is a mishap, and everyone who saw it can
 * sign: neither is used, not even the public half.
 *
 * Source: RFC 7517 4 and 5, RFC 7518 6.
 */
export type VerificationKey = CryptoKey;

export type KeyLookup = { readonly ok: true; readonly key: VerificationKey } | Refusal<KeyFailure>;

export interface VerificationKeys {
  has(kid: string): boolean;
  find(kid: string, algorithm: string): Promise<KeyLookup>;
}

/** The key types of the algorithms here, and the members that are secret in any of them. */
const publicTypes: ReadonlySet<unknown> = new Set(['RSA', 'EC', 'OKP']);
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

const isUsable = (key: Readonly<Record<string, unknown>>): key is JWK & { readonly kid: string } =>
  publicTypes.has(key.kty) &&
  typeof key.kid === 'string' &&
  secretMembers.every((name) => !Object.hasOwn(key, name));

/** @returns Undefined when this is no key set. Keys of it that cannot be used are passed over. */
export const readKeySet = (value: unknown): VerificationKeys | undefined => {
  if (!isJsonObject(value) || !Array.isArray(value.keys) || !value.keys.every(isJsonObject)) return undefined;
  const keys = value.keys.filter(isUsable);
  const kids = new Set(keys.map(({ kid }) => kid));
  const select = createLocalJWKSet({ keys } satisfies JSONWebKeySet);
  return {
    has: (kid) => kids.has(kid),
    find: async (kid, algorithm) => {
      if (!kids.has(kid)) return refuse('key-unknown', 'no key of the provider has this kid');
      try {
        return { ok: true, key: await select({ kid, alg: algorithm }) };
      } catch (error) {
        return refuse(
          'key-unsuitable',
          error instanceof errors.JWKSMultipleMatchingKeys
            ? 'the provider has several keys with this kid'
            : 'the key with this kid cannot be used for this algorithm',
        );
      }
    },
  };
};
