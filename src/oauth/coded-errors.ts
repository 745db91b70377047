/**
 * Our stable codes in the errors that the library words itself: in JSON, and in an error that goes back to the client in the
 * query or the fragment. What goes back in a form or a signed answer keeps the library's words.
 */
import type { Provider } from 'oidc-provider';
import { type CodedDescription, describeError } from './error-codes.ts';

/** Not a refusal: the answer is yet to come. */
const patience = new Set(['authorization_pending', 'slow_down']);
const isCoded = (description: string): boolean => description.startsWith('mid_');
/** RFC 6749 section 5.2: printable ASCII without these two. */
const forbiddenCharacters = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

interface Answered {
  body: unknown;
  readonly response: { get(name: string): string };
  set(name: string, value: string): void;
}

const traces = new WeakMap<object, string>();

/** The code under which this request's refusal is told and logged; the same however often it is asked for. */
export const codeOfRefusal = (ctx: object, error: string | undefined, words = ''): CodedDescription => {
  const cause = error === 'server_error' ? 'internal' : 'otherRequest';
  const coded = describeError(cause, words.replace(forbiddenCharacters, "'"), traces.get(ctx));
  traces.set(ctx, coded.trace);
  return coded;
};

const codedWords = (ctx: object, error: unknown, words: unknown): string | undefined => {
  if (typeof error !== 'string' || patience.has(error)) return undefined;
  const plain = typeof words === 'string' ? words : error;
  return isCoded(plain) ? undefined : codeOfRefusal(ctx, error, plain).description;
};

const codeBody = (ctx: Answered): void => {
  const { body } = ctx;
  if (typeof body !== 'object' || body === null || !('error' in body)) return;
  const { error, error_description } = body as { error?: unknown; error_description?: unknown };
  const words = codedWords(ctx, error, error_description);
  if (words !== undefined) ctx.body = { ...body, error_description: words };
};

const codeParameters = (ctx: Answered, parameters: URLSearchParams): string | undefined => {
  const words = codedWords(ctx, parameters.get('error') ?? undefined, parameters.get('error_description'));
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

export const codeErrors = (provider: Provider): void => {
  provider.use(async (ctx, next) => {
    await next();
    codeBody(ctx);
    codeRedirect(ctx);
  });
};
