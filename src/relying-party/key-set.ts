import { Buffer } from 'node:buffer';
import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type JWK } from 'jose';
import { type KeyFailure, type Refusal, refuse } from './failure.ts';
import { isJsonObject } from './token.ts';

/**
 * The usable keys of a provider. jose selects and imports them. Symmetric and private keys in a
 * public set are known to everyone, so not even their public half is used.
 *
 * Source: RFC 7517 4 and 5, RFC 7518 6.
 */
export type KeyLookup = { readonly ok: true; readonly key: CryptoKey } | Refusal<KeyFailure>;

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

/** @returns Undefined when it is no key set. Unusable keys are left out. */
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

/** Bytes, after decompression. An RSA key with its certificates has some 5 kB. */
const maxBytes = 256 * 1024;

const readBounded = async (body: ReadableStream<Uint8Array>): Promise<Uint8Array | undefined> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop cancels the stream and its connection.
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
 * Fetches a key set once. The answer decides which signatures are valid, so redirects are not
 * followed and its size is bounded.
 *
 * @param timeoutMs Until the last byte.
 * @returns The keys, or for a log why there are none. Never rejects.
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
