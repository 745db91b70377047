/** Reads request bodies for the signature interface and the OpenID provider. */
import { Buffer } from 'node:buffer';

export interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** How much of a refused body is still read, and for how long. */
export const discardedBytes = 8 * 1024 * 1024;
export const discardMs = 1000;

/**
 * Reads a body of unknown length. One that is a little too large is read and discarded.
 *
 * @returns Undefined when it is too large. Rejects when it breaks off.
 */
export const readCounted = async (request: Request, maxBytes: number): Promise<Uint8Array | undefined> => {
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > Math.max(maxBytes, discardedBytes)) {
      void reader.cancel();
      break;
    }
    if (length > maxBytes) chunks.length = 0;
    else chunks.push(value);
  }
  return length > maxBytes ? undefined : Buffer.concat(chunks, length);
};

/** Whether a Content-Type is the wanted one, in UTF-8. */
export const isInUtf8 = (contentType: string | undefined, wanted: string): boolean => {
  if (contentType === wanted) return true;
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  return (
    type.trim() === wanted &&
    parameters.every((text) => {
      const [name = '', value = ''] = text.split('=');
      return name.trim() !== 'charset' || value.trim().replaceAll('"', '') === 'utf-8';
    })
  );
};
