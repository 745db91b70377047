/**
 * Reads a body within limits of size and time.
 *
 * Many clients send all of a body before they look for an answer, so one that is somewhat too large is read and thrown away.
 */
export interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

export type Body =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly reason: 'bodyTooLarge' | 'bodyTooSlow' | 'bodyIncomplete' };

type BodyProblem = Extract<Body, { ok: false }>['reason'];

const discardedBytes = 8 * 1024 * 1024;
const discardMs = 1000;

const failed = (reason: BodyProblem): Body => ({ ok: false, reason });

const readCounted = async (request: Request, maxBytes: number): Promise<Body> => {
  const reader = request.body?.getReader();
  if (reader === undefined) return { ok: true, bytes: new Uint8Array() };
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
  return length > maxBytes ? failed('bodyTooLarge') : { ok: true, bytes: Buffer.concat(chunks, length) };
};

/** @param announced The Content-Length header. Never rejects for something that the caller did. */
export const readBody = async (
  request: Request,
  announced: string | undefined,
  { maxBytes, timeoutMs }: BodyLimits,
): Promise<Body> => {
  const length = announced === undefined ? undefined : Number(announced);
  if (length !== undefined && length > Math.max(maxBytes, discardedBytes)) return failed('bodyTooLarge');
  const isTooLarge = length !== undefined && length > maxBytes;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Body>((resolve) => {
    timer = isTooLarge
      ? setTimeout(resolve, Math.min(discardMs, timeoutMs), failed('bodyTooLarge'))
      : setTimeout(resolve, timeoutMs, failed('bodyTooSlow'));
  });
  const reading =
    length === undefined || isTooLarge
      ? readCounted(request, maxBytes)
      : request.arrayBuffer().then((bytes): Body => ({ ok: true, bytes: new Uint8Array(bytes) }));
  try {
    return await Promise.race([
      reading.catch(() => failed(isTooLarge ? 'bodyTooLarge' : 'bodyIncomplete')),
      timeout,
    ]);
  } finally {
    clearTimeout(timer);
  }
};
