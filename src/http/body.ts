/**
 * Reads a request's body, within limits of size and time.
 *
 * A length that is announced is refused before a byte is read; one that is not is counted as it comes in. What is left
 * unread is drained by the server, within limits of its own, so that the caller can read the answer.
 */
import type { Context } from 'hono';
import { type Checked, ok, refuse } from '../protocol/fault.ts';

export interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

const tooLarge = (maxBytes: number): Checked<never> =>
  refuse(103, `The request body is limited to ${maxBytes} bytes`);

const tooSlow = refuse(101, 'The request body did not arrive in time');
const brokenOff = refuse(101, 'The request body is incomplete');

/** `application/json`, in no other character set than UTF-8. */
const isJson = (contentType = ''): boolean => {
  const [type, ...parameters] = contentType.toLowerCase().split(';');
  return (
    type?.trim() === 'application/json' &&
    parameters.every((text) => {
      const [name, value = ''] = text.split('=');
      return name?.trim() !== 'charset' || value.trim().replaceAll('"', '') === 'utf-8';
    })
  );
};

const readCounted = async (request: Request, maxBytes: number): Promise<Checked<Uint8Array>> => {
  const reader = request.body?.getReader();
  if (reader === undefined) return ok(new Uint8Array());
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > maxBytes) {
      void reader.cancel();
      return tooLarge(maxBytes);
    }
    chunks.push(value);
  }
  return ok(Buffer.concat(chunks, length));
};

const readAnnounced = async (request: Request): Promise<Checked<Uint8Array>> =>
  ok(new Uint8Array(await request.arrayBuffer()));

/** @returns The bytes, or fault 101 (kind, time) or 103 (size). Never rejects for something the caller did. */
export const readBody = async (
  c: Context,
  { maxBytes, timeoutMs }: BodyLimits,
): Promise<Checked<Uint8Array>> => {
  if (!isJson(c.req.header('content-type'))) return refuse(101, 'Content-Type must be application/json');
  const announced = c.req.header('content-length');
  if (announced !== undefined && Number(announced) > maxBytes) return tooLarge(maxBytes);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Checked<never>>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, tooSlow);
  });
  const reading = announced === undefined ? readCounted(c.req.raw, maxBytes) : readAnnounced(c.req.raw);
  try {
    return await Promise.race([reading.catch(() => brokenOff), timeout]);
  } finally {
    clearTimeout(timer);
  }
};
