/**
 * A `fetch` that waits.
 *
 * The built-in one gives up when an answer has not begun after 300 seconds, which cannot be changed without another
 * package, and a synchronous signature begins its answer when a person has acted. Here the caller's signal is the only
 * clock. Each call has a connection of its own: one that was kept open may be closed by the service at the moment of
 * the next call, and a signature request cannot simply be sent again.
 *
 * Redirects are not followed: bodies carry passwords. Of the headers of an answer there is Retry-After and no other.
 */
import { Buffer } from 'node:buffer';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

interface FetchInit {
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
  readonly redirect: 'manual';
}

/** The part of `fetch` that is used here, so that the built-in one fits, too. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

/** A profile with many Apps has some 100 kB; what is larger is no answer of a signature service. */
const maxAnswerBytes = 4 * 1024 * 1024;

const readAll = async (answer: IncomingMessage): Promise<Response> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxAnswerBytes) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  const status = answer.statusCode ?? 500;
  // With these there is no body, and `Response` insists on that.
  const body = [204, 205, 304].includes(status) ? null : Buffer.concat(chunks, length);
  const retryAfter = answer.headers['retry-after'];
  return new Response(body, {
    status,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  });
};

/** @throws (rejects) As `fetch` does: when there is no answer, or the signal aborts. */
export const fetchWithoutTimeout: Fetch = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? requestHttps : requestHttp;
    const request = send(url, { method, headers, signal, agent: false }, (answer) => {
      readAll(answer).then(resolve, reject);
    });
    request.on('error', reject);
    request.end(body);
  });

/** Why nobody answered, in words for a person. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be looked up now',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  ETIMEDOUT: 'the host does not answer',
  ECONNRESET: 'the connection broke off',
  EPIPE: 'the connection broke off',
  EPROTO: 'it does not speak TLS as expected',
  HPE_INVALID_CONSTANT: 'what answers there does not speak HTTP',
};

const codeOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  // The built-in fetch wraps what happened.
  return codeOf(error.cause);
};

/** @returns Words that can follow a colon: by the error's code, else its message. */
export const causeOf = (error: unknown): string => {
  const code = codeOf(error);
  if (code === undefined) return error instanceof Error ? error.message : String(error);
  return (Object.hasOwn(words, code) ? words[code] : undefined) ?? code;
};
