/**
 * Stable codes in `error_description`: `mid_<group>_<code>_<trace> - <text>`. Clients and support
 * tell causes apart by them; the OAuth error is coarser.
 */
import type { Provider } from 'oidc-provider';
import { isRedisAway } from '../../packages/engine/src/redis/to-error.ts';
import { randomBytesOf } from '../../packages/pki/src/random.ts';
import { storeAway } from './store-away.ts';

export const errorCodes = {
  acrUnknown: ['req', 1010],
  acrMalformed: ['req', 1020],
  localesUnknown: ['req', 1030],
  localesMalformed: ['req', 1040],
  noHints: ['req', 1050],
  badMsisdn: ['req', 1070],
  duplicateMsisdn: ['req', 1080],
  badLoginHint: ['req', 1100],
  badScope: ['req', 1110],
  nothingSent: ['req', 1130],
  otherRequest: ['req', 1900],
  scopeNotAllowed: ['sec', 2010],
  acrNotAllowed: ['sec', 2020],
  parameterNotAllowed: ['sec', 2030],
  rejectedByUser: ['auth', 3010],
  needsActivation: ['auth', 3060],
  noMethod: ['auth', 3080],
  noResponse: ['auth', 3300],
  busyPhone: ['auth', 3310],
  otherAuthentication: ['auth', 3900],
  internal: ['sys', 9900],
} as const satisfies Record<string, readonly ['req' | 'sec' | 'auth' | 'sys', number]>;

export type ErrorCause = keyof typeof errorCodes;

export interface CodedDescription {
  readonly description: string;
  /** The code as the log has it: `req_1010`. */
  readonly code: string;
  readonly trace: string;
}

/** Eight characters that lead from an answer to the log. */
export const newTrace = (): string => randomBytesOf(6).toString('base64url');

/**
 * @param text Printable ASCII without `"` and `\` (RFC 6749 5.2); names a parameter, never a value.
 */
export const describeError = (
  cause: ErrorCause,
  text: string,
  trace = newTrace(),
): CodedDescription => {
  const [group, number] = errorCodes[cause];
  return {
    description: `mid_${group}_${number}_${trace} - ${text}`,
    code: `${group}_${number}`,
    trace,
  };
};

/**
 * Adds our codes to errors that the library words: in JSON, and in the query or fragment of a
 * redirect. Errors in a form post or a signed answer keep the library's text.
 */

/** Values of `error` that are not errors: the client is to ask again for the result. */
const pendingErrors = new Set(['authorization_pending', 'slow_down']);
const isCoded = (description: string): boolean => description.startsWith('mid_');
/** RFC 6749 5.2 allows printable ASCII without `"` and `\`. */
const forbiddenCharacters = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

interface Answered {
  body: unknown;
  readonly response: { get(name: string): string };
  set(name: string, value: string): void;
}

const traces = new WeakMap<object, string>();

/** The code of this request's error, for the answer and the log; the same at each call. */
export const findErrorCode = (
  ctx: object,
  error: string | undefined,
  words = '',
): CodedDescription => {
  const cause = error === 'server_error' ? 'internal' : 'otherRequest';
  const coded = describeError(cause, words.replace(forbiddenCharacters, "'"), traces.get(ctx));
  traces.set(ctx, coded.trace);
  return coded;
};

const codedWords = (ctx: object, error: unknown, words: unknown): string | undefined => {
  if (typeof error !== 'string' || pendingErrors.has(error)) return undefined;
  const plain = typeof words === 'string' ? words : error;
  return isCoded(plain) ? undefined : findErrorCode(ctx, error, plain).description;
};

const codeBody = (ctx: Answered): void => {
  const { body } = ctx;
  if (typeof body !== 'object' || body === null || !('error' in body)) return;
  const { error, error_description } = body as { error?: unknown; error_description?: unknown };
  const words = codedWords(ctx, error, error_description);
  if (words !== undefined) ctx.body = { ...body, error_description: words };
};

const codeParameters = (ctx: Answered, parameters: URLSearchParams): string | undefined => {
  const words = codedWords(
    ctx,
    parameters.get('error') ?? undefined,
    parameters.get('error_description'),
  );
  if (words === undefined) return undefined;
  parameters.set('error_description', words);
  return parameters.toString();
};

const codeRedirect = (ctx: Answered): void => {
  const location = ctx.response.get('location');
  if (!URL.canParse(location)) return;
  const to = new URL(location);
  const search = codeParameters(ctx, to.searchParams);
  const hash = codeParameters(ctx, new URLSearchParams(to.hash.slice(1)));
  if (search === undefined && hash === undefined) return;
  if (hash !== undefined) to.hash = hash;
  ctx.set('location', to.href);
};

/**
 * The library answers what it does not know by 500. A page has its words by `createProviderPages`.
 */
const tellAway = (ctx: Answered & { status: number }): void => {
  const { body } = ctx;
  if (typeof body === 'object' && body !== null && 'error' in body) {
    const { description } = findErrorCode(ctx, 'server_error', storeAway.text);
    ctx.body = { ...body, error: storeAway.error, error_description: description };
  }
  ctx.status = storeAway.status;
  ctx.set('retry-after', String(storeAway.retryAfter));
};

export const codeErrors = (provider: Provider): void => {
  const withoutStore = new WeakSet<object>();
  provider.on('server_error', (ctx, error) => {
    if (isRedisAway(error)) withoutStore.add(ctx);
  });
  provider.use(async (ctx, next) => {
    await next();
    if (withoutStore.has(ctx)) tellAway(ctx);
    // The library's text: this tenant does not have the endpoint.
    if (ctx.status === 404 && ctx.body === undefined) {
      ctx.body = { error: 'not_found', error_description: 'there is no such endpoint' };
      ctx.status = 404;
    }
    codeBody(ctx);
    codeRedirect(ctx);
  });
};
