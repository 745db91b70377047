import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type JWK } from 'jose';
import { type IdTokenRefusal, type KeyFailure, refuse } from './failure.ts';
import { type Fetch, fetchJson } from './read-json.ts';
import { isJsonObject } from './token.ts';

/**
 * The usable keys of a provider. jose selects and imports them. Symmetric and private keys in a
 * public set are known to everyone, so not even their public half is used.
 *
 * Source: RFC 7517 4 and 5, RFC 7518 6.
 */
export type KeyLookup = { readonly ok: true; readonly key: CryptoKey } | IdTokenRefusal<KeyFailure>;

export interface VerificationKeys {
  has(kid: string): boolean;
  find(kid: string, algorithm: string): Promise<KeyLookup>;
}

/** Members that are secret in any of these key types. */
const publicTypes: ReadonlySet<unknown> = new Set(['RSA', 'EC', 'OKP']);
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

const isUsable = (key: Readonly<Record<string, unknown>>): key is JWK & { readonly kid: string } =>
  publicTypes.has(key.kty) &&
  typeof key.kid === 'string' &&
  secretMembers.every((name) => !Object.hasOwn(key, name));

/** @returns Undefined when it is not a key set. Unusable keys are left out. */
const readKeySet = (value: unknown): VerificationKeys | undefined => {
  if (!isJsonObject(value) || !Array.isArray(value.keys) || !value.keys.every(isJsonObject))
    return undefined;
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

/**
 * Fetches a key set once.
 *
 * @param timeoutMs The timeout until the last byte.
 * @returns The keys; or, as a text for the log, why there are none. Never rejects.
 */
export const fetchKeySet = async (
  url: string,
  fetch: Fetch,
  timeoutMs: number,
): Promise<VerificationKeys | string> => {
  const fetched = await fetchJson(
    url,
    'application/jwk-set+json, application/json',
    fetch,
    timeoutMs,
  );
  if (typeof fetched === 'string') return fetched;
  return readKeySet(fetched.value) ?? 'what came is no key set';
};
