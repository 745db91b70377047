import { Buffer } from 'node:buffer';
import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type JWK } from 'jose';
import { type KeyFailure, type Refusal, refuse } from './failure.ts';
import { isJsonObject } from './token.ts';

/**
 * The keys of a provider that can verify something. Choosing among them, and importing each once, is jose's.
 *
 * A symmetric key in a public set is known to everyone. A private key there is a mishap, and everyone who saw it can
 * sign: neither is used, not even the public half.
 *
 * Source: RFC 7517 4 and 5, RFC 7518 6.
 */
export type KeyLookup = { readonly ok: true; readonly key: CryptoKey } | Refusal<KeyFailure>;

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
const readKeySet = (value: unknown): VerificationKeys | undefined => {
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

/** The part of `fetch` that is used. It must end when the signal aborts. */
export type Fetch = (
  url: string,
  init: {
    readonly headers: Record<string, string>;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

/** Bytes, after decompression. An RSA key with its certificate chain has some 5 kB. */
const maxBytes = 256 * 1024;

const readBounded = async (body: ReadableStream<Uint8Array>): Promise<Uint8Array | undefined> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop cancels the stream, and with it the connection.
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
};

const parse = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
};

/**
 * One fetch of a key set.
 *
 * Whoever answers here decides what is a valid signature, so the answer has to be what it claims: no redirect is
 * followed, and nothing is read beyond a size that no key set has.
 *
 * @param timeoutMs Until the last byte is there.
 * @returns The keys, or why there are none in words for a log. Never rejects.
 */
export const fetchKeySet = async (
  url: string,
  fetch: Fetch,
  timeoutMs: number,
): Promise<VerificationKeys | string> => {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const headers = { accept: 'application/jwk-set+json, application/json' };
    const response = await fetch(url, { headers, redirect: 'manual', signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      return 'the status was not 200';
    }
    const bytes = response.body === null ? new Uint8Array() : await readBounded(response.body);
    if (bytes === undefined) return 'it was too large';
    return readKeySet(parse(bytes)) ?? 'what came is no key set';
  } catch {
    return signal.aborted ? 'it took too long' : 'there was no answer';
  }
};
