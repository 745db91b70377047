/** Forms as they come over HTTP: their bodies, within limits of size and time, and what is in them. */
import { isUtf8 } from 'node:buffer';

export interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

type BodyProblem = 'bodyTooLarge' | 'bodyTooSlow' | 'bodyIncomplete';

type Body =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly reason: BodyProblem };

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

/**
 * Many clients send all of a body before they look for an answer, so one that is somewhat too large is read and thrown away.
 *
 * @param announced The Content-Length header. Never rejects for something that the caller did.
 */
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

/** Parameters by name. */
export type Parameters = ReadonlyMap<string, string>;

type ParsedForm =
  | { readonly ok: true; readonly form: Parameters }
  | { readonly ok: false; readonly reason: 'formMalformed' }
  /** `name` is the caller's own text. */
  | { readonly ok: false; readonly reason: 'parameterRepeated'; readonly name: string };

/** May be sent more than once (RFC 8707); there is no use for it here. */
const repeatable = 'resource';

/** @throws URIError when it is not UTF-8. */
const decoded = (text: string): string => {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return spaced.includes('%') ? decodeURIComponent(spaced) : spaced;
};

const textOf = (body: Uint8Array): string | undefined =>
  isUtf8(body) ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString() : undefined;

/**
 * Parses a form strictly: what two parsers would read differently is refused.
 *
 * By hand, because a value that is given twice has to be noticed and most values need no decoding.
 *
 * Source: RFC 6749 section 3.1 (a parameter must not be sent more than once, one without a value counts as omitted).
 */
export const parseForm = (body: Uint8Array): ParsedForm => {
  const text = textOf(body);
  if (text === undefined) return { ok: false, reason: 'formMalformed' };
  const form = new Map<string, string>();
  const valueless: string[] = [];
  try {
    for (const pair of text.split('&')) {
      const equals = pair.indexOf('=');
      const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
      if (name === '') continue;
      if (form.has(name) && name !== repeatable) return { ok: false, reason: 'parameterRepeated', name };
      const value = equals < 0 ? '' : decoded(pair.slice(equals + 1));
      form.set(name, value);
      if (value === '') valueless.push(name);
    }
  } catch {
    return { ok: false, reason: 'formMalformed' };
  }
  for (const name of valueless) form.delete(name);
  return { ok: true, form };
};

/** `application/x-www-form-urlencoded`, in no other character set than UTF-8. */
export const isForm = (contentType: string | undefined): boolean => {
  if (contentType === 'application/x-www-form-urlencoded') return true;
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  return (
    type.trim() === 'application/x-www-form-urlencoded' &&
    parameters.every((text) => {
      const [name = '', value = ''] = text.split('=');
      return name.trim() !== 'charset' || value.trim().replaceAll('"', '') === 'utf-8';
    })
  );
};
