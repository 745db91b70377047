import { Buffer } from 'node:buffer';
import { readKeySet, type VerificationKeys } from './verification-keys.ts';

/**
 * One fetch of a key set.
 *
 * Whoever answers here decides what is a valid signature, so the answer has to be what it claims: no redirect is
 * followed, and nothing is read beyond a size that no key set has.
 */
export type KeySetFailure = 'timed-out' | 'unreachable' | 'not-200' | 'too-large' | 'not-a-key-set';

export type FetchedKeySet =
  | { readonly ok: true; readonly keys: VerificationKeys }
  | { readonly ok: false; readonly failure: KeySetFailure };

/** The part of `fetch` that is used. It must end when the signal aborts. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

interface FetchInit {
  readonly headers: Record<string, string>;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

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

const failed = (failure: KeySetFailure): FetchedKeySet => ({ ok: false, failure });

/** Never rejects. The time, in milliseconds, counts until the last byte is there. */
export const fetchKeySet = async (url: string, fetch: Fetch, timeoutMs: number): Promise<FetchedKeySet> => {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const headers = { accept: 'application/jwk-set+json, application/json' };
    const response = await fetch(url, { headers, redirect: 'manual', signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      return failed('not-200');
    }
    const bytes = response.body === null ? new Uint8Array() : await readBounded(response.body);
    if (bytes === undefined) return failed('too-large');
    const keys = readKeySet(parse(bytes));
    return keys === undefined ? failed('not-a-key-set') : { ok: true, keys };
  } catch {
    return failed(signal.aborted ? 'timed-out' : 'unreachable');
  }
};
