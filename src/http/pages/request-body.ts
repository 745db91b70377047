/**
 * Reads request bodies, within limits of size and time, for everything that takes them.
 *
 * Many clients send their whole body before they read an answer, and see a broken connection when
 * it is not read. So a body that is a little too large is read, thrown away and refused; one that
 * is far too large is refused at once.
 */
import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

export interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

export type BodyError = 'bodyTooLarge' | 'bodyTooSlow' | 'bodyIncomplete';

export type Body =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly reason: BodyError };

/** The most bytes, and the longest time, that a refused body is still read for. */
const discardedBytes = 8 * 1024 * 1024;
const discardMs = 1000;

const failed = (reason: BodyError): Body => ({ ok: false, reason });

/** A body of unknown length, or one that is too large. */
const readCounted = async (request: Request, maxBytes: number): Promise<Body> => {
  const reader = request.body?.getReader();
  if (reader === undefined) return { ok: true, bytes: new Uint8Array() };
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
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
  } catch {
    return failed('bodyIncomplete');
  }
  return length > maxBytes
    ? failed('bodyTooLarge')
    : { ok: true, bytes: Buffer.concat(chunks, length) };
};

/**
 * A body with a Content-Length, straight from Node: that saves a copy, several promises, and a
 * whole `Request` with its streams and signals. Most bodies arrive with their headers and are
 * complete when the microtask runs; only others need a timer.
 */
const readAnnounced = (incoming: IncomingMessage, timeoutMs: number): Promise<Body> =>
  new Promise((resolve) => {
    if (incoming.destroyed) return resolve(failed('bodyIncomplete'));
    const chunks: Uint8Array[] = [];
    let timer: NodeJS.Timeout | undefined;
    const end = (read: Body): void => {
      clearTimeout(timer);
      resolve(read);
    };
    incoming.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    incoming.on('end', () => {
      const [first] = chunks;
      end({
        ok: true,
        bytes: chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks),
      });
    });
    // Also when it breaks off; after the end it changes nothing.
    incoming.on('close', () => end(failed('bodyIncomplete')));
    // Not `queueMicrotask`, which makes an AsyncResource each time.
    void Promise.resolve().then(() => {
      if (incoming.complete || incoming.destroyed) return;
      timer = setTimeout(resolve, timeoutMs, failed('bodyTooSlow'));
    });
  });

const inTime = (reading: Promise<Body>, ms: number, late: Body): Promise<Body> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, late);
    void reading.then((read) => {
      clearTimeout(timer);
      resolve(read);
    });
  });

/**
 * Does not reject.
 *
 * @param incoming There when the request came over a socket.
 */
export const readBody = (
  request: Request,
  incoming: IncomingMessage | undefined,
  { maxBytes, timeoutMs }: BodyLimits,
): Body | Promise<Body> => {
  // From Node: `Request` would first copy all headers into a `Headers` object.
  const announced = incoming?.headers['content-length'] ?? request.headers.get('content-length');
  const length = announced === null ? undefined : Number(announced);
  if (length !== undefined && length > Math.max(maxBytes, discardedBytes))
    return failed('bodyTooLarge');
  if (length !== undefined && length > maxBytes) {
    const refused = failed('bodyTooLarge');
    const reading = readCounted(request, maxBytes).then(() => refused);
    return inTime(reading, Math.min(discardMs, timeoutMs), refused);
  }
  if (length === undefined || incoming === undefined) {
    return inTime(readCounted(request, maxBytes), timeoutMs, failed('bodyTooSlow'));
  }
  return readAnnounced(incoming, timeoutMs);
};

/** The names that clients use for UTF-8. ASCII is among them, because it is a subset. */
const utf8Names: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']);

const compressions: ReadonlySet<string> = new Set([
  'gzip',
  'x-gzip',
  'deflate',
  'compress',
  'x-compress',
  'br',
  'zstd',
]);

/**
 * Whether a body that cannot be read may be a compressed one, by its Content-Encoding or the first
 * bytes of gzip. The header alone says nothing: some clients fill it with anything.
 */
export const mayBeCompressed = (
  contentEncoding: string | undefined,
  [first, second]: Uint8Array,
): boolean =>
  (first === 0x1f && second === 0x8b) ||
  (contentEncoding ?? '')
    .split(',')
    .some((coding) => compressions.has(coding.trim().toLowerCase()));

/** Whether a Content-Type is the wanted one, in UTF-8. */
export const isInUtf8 = (contentType: string | undefined, wanted: string): boolean => {
  if (contentType === wanted) return true;
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  return (
    type.trim() === wanted &&
    parameters.every((text) => {
      const [name = '', value = ''] = text.split('=');
      return name.trim() !== 'charset' || utf8Names.has(value.trim().replaceAll('"', ''));
    })
  );
};
