/**
 * A `fetch` without a timeout of its own.
 *
 * The built-in one gives up after 300 seconds without an answer, which only another package can
 * change; a synchronous signature may take longer. Each call has its own connection: the service
 * might close a kept one just then, and a signature request must not simply be repeated.
 *
 * Redirects are not followed, because bodies carry passwords. The only header that is kept is
 * Retry-After.
 */
import { Buffer } from 'node:buffer';
import { Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as TlsAgent } from 'node:https';

interface FetchInit {
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
  readonly redirect: 'manual';
}

/** The used part of `fetch`, so that the built-in one fits. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

/** The largest answer. A profile with many Apps has some 100 kB. */
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
  // `Response` throws if an answer with such a status has a body.
  const body = [204, 205, 304].includes(status) ? null : Buffer.concat(chunks, length);
  const retryAfter = answer.headers['retry-after'];
  return new Response(body, {
    status,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  });
};

/** The contents of certificate files, PEM. */
export interface TlsFiles {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly ca?: string | undefined;
}

type Send = (url: string, init: FetchInit, kept: Agent | false) => Promise<Response>;

const sendOver =
  ({ cert, key, ca }: TlsFiles): Send =>
  (url, { method, headers, body, signal }, agent) =>
    new Promise((resolve, reject) => {
      const read = (answer: IncomingMessage): void => void readAll(answer).then(resolve, reject);
      const request = url.startsWith('https:')
        ? requestHttps(url, { method, headers, signal, agent, cert, key, ca }, read)
        : requestHttp(url, { method, headers, signal, agent }, read);
      request.on('error', (error) =>
        reject(Object.assign(error, { reusedSocket: request.reusedSocket })),
      );
      request.end(body);
    });

const sendPlainly = sendOver({});

/** Rejects like `fetch`: without an answer, or when the signal aborts. */
export const fetchWithoutTimeout: Fetch = (url, init) => sendPlainly(url, init, false);

/** Whether the service had closed a kept connection, perhaps before it got the request. */
const wasClosed = (error: unknown): boolean =>
  error instanceof Error && 'reusedSocket' in error && error.reusedSocket === true;

/**
 * The same with certificates.
 *
 * @returns `once` opens a connection for each call. `repeatable` keeps connections, and repeats a
 *   call when a kept one was closed: use it for calls that change nothing.
 */
export const createFetches = (url: string, tls: TlsFiles) => {
  const send = sendOver(tls);
  const kept = url.startsWith('https:')
    ? new TlsAgent({ keepAlive: true })
    : new Agent({ keepAlive: true });
  const once: Fetch = (to, init) => send(to, init, false);
  const repeatable: Fetch = (to, init) =>
    send(to, init, kept).catch((error: unknown) => {
      if (wasClosed(error) && !init.signal.aborted) return once(to, init);
      throw error;
    });
  return { once, repeatable, close: (): void => kept.destroy() };
};

/** Causes in words. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no service listens there',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be looked up now',
  EHOSTUNREACH: 'there is no route to that host',
  ENETUNREACH: 'there is no route to that network',
  ETIMEDOUT: 'the host does not answer',
  ECONNRESET: 'the connection broke off',
  EPIPE: 'the connection broke off',
  EPROTO: 'it does not speak TLS as expected',
  HPE_INVALID_CONSTANT: 'what answers there does not speak HTTP',
};

const codeOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  // The built-in fetch wraps the cause.
  return codeOf(error.cause);
};

/** The codes of errors without a connection, so that nothing was sent. */
const unsent: ReadonlySet<string | undefined> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** Whether an error proves that the service has not got the request. */
export const isUnsent = (error: unknown): boolean => unsent.has(codeOf(error));

/** The message of the innermost cause: the built-in fetch says no more than `fetch failed`. */
const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? messageOf(error.cause) : error.message;
};

/**
 * @returns Words that can follow a colon: those for the code of the error, else the message of its
 *   innermost cause.
 */
export const causeOf = (error: unknown): string => {
  const code = codeOf(error);
  if (code === undefined) return messageOf(error);
  return (Object.hasOwn(words, code) ? words[code] : undefined) ?? code;
};
