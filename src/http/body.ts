/**
 * Reads the body of a request, within limits of size and time.
 *
 * Many clients send their whole body before they read an answer, and see a broken connection when
 * it is not read. So a body that is a little too large is read, thrown away and refused; one that
 * is far too large is refused at once.
 */
import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import { type Checked, ok, refuse } from '../protocol/fault.ts';
import { type BodyLimits, discardedBytes, discardMs, isInUtf8, readCounted } from '../request-body.ts';

const tooLarge = (maxBytes: number): Checked<never> =>
  refuse(103, `The request body is limited to ${maxBytes} bytes`);

const tooSlow = refuse(101, 'The request body did not arrive in time');
const brokenOff = refuse(101, 'The request body is incomplete');

/** @param broken The result when the body does not end. */
const counted = (request: Request, maxBytes: number, broken: Checked<never>): Promise<Checked<Uint8Array>> =>
  readCounted(request, maxBytes).then(
    (bytes) => (bytes === undefined ? tooLarge(maxBytes) : ok(bytes)),
    () => broken,
  );

/**
 * A body with a Content-Length, straight from Node: that saves a copy and several promises. Most
 * bodies arrive with their headers and are complete when the microtask runs; only others need a
 * timer.
 */
const readAnnounced = (incoming: IncomingMessage, timeoutMs: number): Promise<Checked<Uint8Array>> =>
  new Promise((resolve) => {
    if (incoming.destroyed) return resolve(brokenOff);
    const chunks: Uint8Array[] = [];
    let timer: NodeJS.Timeout | undefined;
    const end = (read: Checked<Uint8Array>): void => {
      clearTimeout(timer);
      resolve(read);
    };
    incoming.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    incoming.on('end', () => {
      const [first] = chunks;
      end(ok(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks)));
    });
    // Also when it breaks off; after the end it changes nothing.
    incoming.on('close', () => end(brokenOff));
    queueMicrotask(() => {
      if (incoming.complete || incoming.destroyed) return;
      timer = setTimeout(resolve, timeoutMs, tooSlow);
    });
  });

const inTime = <T>(reading: Promise<T>, ms: number, late: T): Promise<T> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, late);
    void reading.then((read) => {
      clearTimeout(timer);
      resolve(read);
    });
  });

/** One header, from Node: `Request` would first copy all of them into a `Headers` object. */
const header = (c: Context<BodyEnvironment>, name: 'content-type' | 'content-length'): string | undefined =>
  c.env?.incoming?.headers[name] ?? c.req.header(name);

interface BodyEnvironment {
  /** `incoming` is there when the request came over a socket. */
  readonly Bindings: { readonly incoming?: IncomingMessage };
}

/** @returns The bytes, or fault 101 (kind, time) or 103 (size). Does not reject. */
export const readBody = (
  c: Context<BodyEnvironment>,
  { maxBytes, timeoutMs }: BodyLimits,
): Checked<Uint8Array> | Promise<Checked<Uint8Array>> => {
  if (!isInUtf8(header(c, 'content-type'), 'application/json')) {
    return refuse(101, 'Content-Type must be application/json');
  }
  const announced = header(c, 'content-length');
  const length = announced === undefined ? undefined : Number(announced);
  if (length !== undefined && length > Math.max(maxBytes, discardedBytes)) return tooLarge(maxBytes);
  const incoming = c.env?.incoming;
  if (length !== undefined && length > maxBytes) {
    const refused = tooLarge(maxBytes);
    return inTime(counted(c.req.raw, maxBytes, refused), Math.min(discardMs, timeoutMs), refused);
  }
  if (length === undefined || incoming === undefined) {
    return inTime(counted(c.req.raw, maxBytes, brokenOff), timeoutMs, tooSlow);
  }
  return readAnnounced(incoming, timeoutMs);
};
