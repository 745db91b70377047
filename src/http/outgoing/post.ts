/**
 * One POST to a receiver, from inside the operator's network to outside.
 *
 * Addresses are checked in the look-up of the connection itself, so a name that changes afterwards
 * gains nothing. Each request has its own connection, and redirects are not followed. Only the
 * status and Retry-After of an answer are used, unless its body is asked for, and only the code of
 * an error: readers of jobs and logs may not see what an internal host answers.
 */
import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isLoopbackAddress, isLoopbackHost } from '../../../packages/protocol/src/loopback.ts';
import { kindOfAddress } from './addresses.ts';

/** Finds the addresses of a host name. Its form is that of `dns.lookup` with `all: true`. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface PostOptions {
  /** Host names, as URLs spell them, whose internal addresses are allowed. */
  readonly allowedHosts: readonly string[];
  /** Whether this machine is allowed, too, even without TLS. */
  readonly sandbox: boolean;
  readonly now: () => number;
  readonly timeoutMs?: number;
  readonly resolve?: Resolve;
  /** PEM; default: the certificate authorities of Node.js. */
  readonly ca?: string | undefined;
  /** Whether results have what receivers answer. Default: only status and Retry-After. */
  readonly readsAnswers?: boolean;
}

/** What was read of the body of an answer. `rest`: why that is not all. */
export interface AnswerBody {
  /** Content-Type. */
  readonly type: string;
  readonly text: string;
  readonly rest?: 'too-long' | 'cut-off';
}

/**
 * answered     The receiver's HTTP status and its Retry-After. `body`: where it was asked for.
 * refused      Nothing was sent, and nothing will be until the configuration changes.
 * not-sent     Nothing was sent: the name has a forbidden address now, or this process has none.
 * unreachable  `cause` is a code, such as ECONNREFUSED.
 */
export type PostResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfterMs?: number | undefined;
      readonly body?: AnswerBody;
    }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'not-sent'; readonly why: string }
  | { readonly kind: 'unreachable'; readonly cause: string };

export type Post = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
  stop?: AbortSignal,
) => Promise<PostResult>;

export const problemOf = (result: PostResult): string => {
  switch (result.kind) {
    case 'answered':
      return `HTTP ${result.status}`;
    case 'refused':
    case 'not-sent':
      return result.why;
    case 'unreachable':
      return `unreachable: ${result.cause}`;
  }
};

const usualTimeoutMs = 10_000;
const maxAnswerBytes = 65_536;

const notAllowed = 'the address of the receiver is not allowed';

class AddressNotAllowed extends Error {}

/** RFC 9110 section 10.2.3: seconds, or a date. */
export const retryAfterMs = (value: string | undefined, now: number): number | undefined => {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = /^[A-Za-z]{3}, /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
};

const causeOf = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : 'connection failed';
};

const bodyOf = (
  { headers, complete }: IncomingMessage,
  chunks: readonly Buffer[],
  isTooLong: boolean,
): AnswerBody => ({
  type: headers['content-type'] ?? '',
  text: Buffer.concat(chunks).toString('utf8'),
  ...(isTooLong ? { rest: 'too-long' } : !complete && { rest: 'cut-off' }),
});

/** The host name without the brackets of an IPv6 address and the dot of an absolute name. */
const plainHost = (hostname: string): string =>
  hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

export const createPost = (options: PostOptions): Post => {
  const {
    sandbox,
    now,
    timeoutMs = usualTimeoutMs,
    resolve = systemLookup as Resolve,
    ca,
  } = options;
  const { readsAnswers = false } = options;
  const allowedHosts = new Set(options.allowedHosts.map((host) => plainHost(host.toLowerCase())));

  const isAllowed = (host: string, address: string): boolean => {
    switch (kindOfAddress(address)) {
      case 'public':
        return true;
      case 'internal':
        return allowedHosts.has(host) || (sandbox && isLoopbackAddress(address));
      case 'never':
        return false;
    }
  };

  /** One forbidden address is enough to refuse the name. */
  const guardedLookup =
    (host: string): LookupFunction =>
    (hostname, asked, callback) => {
      resolve(hostname, { ...asked, all: true }, (error, addresses) => {
        if (error) return callback(error, '', 0);
        const [first] = addresses;
        if (first === undefined || !addresses.every(({ address }) => isAllowed(host, address))) {
          return callback(new AddressNotAllowed(notAllowed), '', 0);
        }
        if (asked.all === true) return callback(null, addresses);
        return callback(null, first.address, first.family);
      });
    };

  const send = (
    { url, host }: { readonly url: URL; readonly host: string },
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array,
    stop: AbortSignal | undefined,
  ): Promise<PostResult> =>
    new Promise((resolveResult) => {
      const begin = url.protocol === 'https:' ? httpsRequest : httpRequest;
      const late = AbortSignal.timeout(timeoutMs);
      let answered: (() => PostResult) | undefined;
      const request = begin(url, {
        method: 'POST',
        agent: false,
        signal: stop === undefined ? late : AbortSignal.any([stop, late]),
        lookup: guardedLookup(host),
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
        ...(ca !== undefined && { ca }),
      });
      const finish = (result: PostResult): void => {
        // After the status, nothing changes the result.
        resolveResult(answered?.() ?? result);
        request.destroy();
      };
      request.on('response', (response) => {
        const { statusCode: status = 0, headers } = response;
        const after = retryAfterMs(headers['retry-after'], now());
        const chunks: Buffer[] = [];
        let bytes = 0;
        const result = (): PostResult => ({
          kind: 'answered',
          status,
          retryAfterMs: after,
          ...(readsAnswers && { body: bodyOf(response, chunks, bytes > maxAnswerBytes) }),
        });
        answered = result;
        // Also read where it is thrown away: to some receivers an early close is a failure.
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (readsAnswers) chunks.push(chunk);
          if (bytes > maxAnswerBytes) finish(result());
        });
        response.on('close', () => finish(result()));
        response.on('error', () => finish(result()));
      });
      request.on('error', (error) =>
        finish(
          error instanceof AddressNotAllowed
            ? { kind: 'not-sent', why: notAllowed }
            : {
                kind: 'unreachable',
                cause: stop?.aborted ? 'stopped' : late.aborted ? 'timeout' : causeOf(error),
              },
        ),
      );
      request.on('close', () => finish({ kind: 'unreachable', cause: 'connection closed' }));
      request.end(body);
    });

  return async (text, headers, body, stop) => {
    if (!URL.canParse(text))
      return { kind: 'refused', why: 'the address of the receiver is no URL' };
    const url = new URL(text);
    if (url.username !== '' || url.password !== '') {
      return { kind: 'refused', why: 'the address of the receiver holds a user name or password' };
    }
    const host = plainHost(url.hostname);
    const isAllowedPlain = url.protocol === 'http:' && sandbox && isLoopbackHost(host);
    if (url.protocol !== 'https:' && !isAllowedPlain) {
      return { kind: 'refused', why: 'the address of the receiver must be https' };
    }
    // A literal address is connected to without a look-up.
    if (isIP(host) !== 0 && !isAllowed(host, host)) return { kind: 'refused', why: notAllowed };
    return send({ url, host }, headers, body, stop);
  };
};

/** Makes a {@link Post} to addresses of the configuration, and one to those of applications. */
export const createPosts = (
  options: PostOptions,
): { readonly post: Post; readonly postOutside: Post } => ({
  post: createPost(options),
  postOutside: createPost({ ...options, allowedHosts: [] }),
});
