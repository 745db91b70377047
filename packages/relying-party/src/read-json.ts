/** The JSON of a provider's answer, whose size the provider does not decide. */
import { Buffer } from 'node:buffer';

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

/**
 * Reads JSON. `value` is undefined for a text that is not JSON; `too-large`: not read to its end.
 */
export const readJson = async (
  response: Response,
): Promise<{ readonly value: unknown } | 'too-large'> => {
  const bytes = response.body === null ? new Uint8Array() : await readBounded(response.body);
  if (bytes === undefined) return 'too-large';
  try {
    return { value: JSON.parse(new TextDecoder().decode(bytes)) };
  } catch {
    return { value: undefined };
  }
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

/**
 * Fetches a document once. What it says decides whom we believe, so redirects are not followed.
 *
 * @param timeoutMs The timeout until the last byte.
 * @returns The document; or, as a text for the log, why there is none. Never rejects.
 */
export const fetchJson = async (
  url: string,
  accept: string,
  fetch: Fetch,
  timeoutMs: number,
): Promise<{ readonly value: unknown } | string> => {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { headers: { accept }, redirect: 'manual', signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      return 'the status was not 200';
    }
    const read = await readJson(response);
    return read === 'too-large' ? 'it was too large' : read;
  } catch {
    return signal.aborted ? 'it took too long' : 'there was no answer';
  }
};
