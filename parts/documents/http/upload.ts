/**
 * Reads the body of an upload as a stream, within limits of size and time. It is never held in
 * memory: what reads it sets the pace.
 *
 * A client must keep sending: a pause has a limit, and so has the time of all, by the bytes that
 * came. Both are longer than for other requests, because a file over a slow line is usual.
 */
import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import type { HttpEnvironment } from '../../../src/http/body.ts';
import { allowLongRequest } from '../../../src/http/long-requests.ts';

/**
 * too-large   More bytes than allowed, announced or sent.
 * too-slow    It paused for too long, or was too slow as a whole.
 * incomplete  The client broke off, or sent less than announced.
 */
export type UploadTrouble = 'too-large' | 'too-slow' | 'incomplete';

export class UploadError extends Error {
  readonly trouble: UploadTrouble;

  constructor(trouble: UploadTrouble) {
    super(`The upload is ${trouble}`);
    this.trouble = trouble;
  }
}

export interface UploadLimits {
  readonly maxBytes: number;
  /** The longest pause. The whole may take as long on top of what the slowest pace allows. */
  readonly pauseMs: number;
}

/** 32 kB/s: 50 MB in 26 minutes. */
const minBytesPerMs = 32;

type Pull = () => Promise<IteratorResult<Uint8Array, unknown>>;

const inTime = async <T>(work: Promise<T>, ms: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new UploadError('too-slow')), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** @returns How the next bytes are read, without destroying the request when the reader stops. */
const pullFrom = (incoming: IncomingMessage | undefined, request: Request): Pull => {
  if (incoming !== undefined) {
    const parts = incoming.iterator({ destroyOnReturn: false });
    return () => parts.next() as ReturnType<Pull>;
  }
  const reader = request.body?.getReader();
  return async () => (await reader?.read()) ?? { done: true, value: undefined };
};

const readBounded = async function* (
  pull: Pull,
  { maxBytes, pauseMs }: UploadLimits,
): AsyncGenerator<Uint8Array> {
  const begun = performance.now();
  let length = 0;
  for (;;) {
    const next = pull().catch(() => {
      throw new UploadError('incomplete');
    });
    next.catch(() => undefined);
    const left = pauseMs + length / minBytesPerMs - (performance.now() - begun);
    const { done, value } = await inTime(next, Math.max(0, Math.min(pauseMs, left)));
    if (done === true) return;
    length += value.length;
    if (length > maxBytes) throw new UploadError('too-large');
    yield value;
  }
};

/**
 * @returns The bytes; the reader gets an UploadError in the middle where the body is not usable.
 *   Call `end` when it was read, or is given up.
 * @throws UploadError `too-large` for an announced length, before anything is read.
 */
export const openUpload = (
  c: Context<HttpEnvironment>,
  limits: UploadLimits,
): { readonly source: AsyncIterable<Uint8Array>; end(): void } => {
  const incoming = c.env?.incoming;
  if (Number(c.req.header('content-length') ?? 0) > limits.maxBytes)
    throw new UploadError('too-large');
  return {
    source: readBounded(pullFrom(incoming, c.req.raw), limits),
    end: allowLongRequest(incoming),
  };
};

/** Beyond what is allowed: a client that sends so much more is cut off. */
const discardedBytes = 10_000_000;

/**
 * Reads what is left of a body that is refused, because many clients send all of it before they
 * read an answer, and see a broken connection when it is not read.
 */
export const discardUpload = (
  incoming: IncomingMessage | undefined,
  { maxBytes, pauseMs }: UploadLimits,
): Promise<void> =>
  new Promise((resolve) => {
    const left = maxBytes + discardedBytes;
    const announced = Number(incoming?.headers['content-length'] ?? 0);
    if (incoming === undefined || incoming.complete || incoming.destroyed || announced > left)
      return resolve();
    let length = 0;
    const timer = setTimeout(() => end(), pauseMs);
    const look = (part: Uint8Array): void => {
      length += part.length;
      if (length > left) end();
    };
    const end = (): void => {
      clearTimeout(timer);
      incoming.off('data', look);
      resolve();
    };
    for (const event of ['end', 'close', 'error']) incoming.once(event, end);
    incoming.on('data', look);
    incoming.resume();
  });
