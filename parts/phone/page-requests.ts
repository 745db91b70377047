/**
 * Requests of our page in a browser: from where they may come, who sends them, what they hold.
 *
 * The phone's credential is a cookie that scripts cannot read. Errors are JSON: a code for programs
 * and a sentence for people, which names members and never values.
 */

import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import type { z } from 'zod';
import { sayIssues } from '../../packages/engine/src/issues.ts';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { isEqual } from '../../packages/pki/src/is-equal.ts';
import { readOrigin } from '../../src/http/pages/form.ts';
import { answerJson } from '../../src/http/pages/headers.ts';
import { type BodyLimits, isInUtf8, readBody } from '../../src/http/pages/request-body.ts';
import {
  limitsFrom,
  type RateLimiter,
  type Source,
  takeAll,
} from '../../src/registry/rate-limiter.ts';
import type { Phone, Phones } from './phones.ts';
import { hashOf, type PhoneCookies } from './secrets.ts';

export interface PageRequestsOptions {
  readonly phones: Pick<Phones, 'read'>;
  readonly cookies: PhoneCookies;
  readonly publicUrl: () => string;
  readonly limiter: RateLimiter;
  readonly addressOf: (incoming: IncomingMessage | undefined) => Source;
  readonly body: BodyLimits;
  readonly onError: (error: Error) => void;
}

export interface PageEnvironment {
  Bindings: { readonly incoming?: IncomingMessage };
}
export type PageContext = Context<PageEnvironment>;
export type Handle = (c: PageContext) => Promise<Response>;
export type PhoneHandle = (c: PageContext, phone: Phone) => Promise<Response>;

const cookieName = 'paraph-phone';

/** Another host of the domain can set one of the same name; nothing says which one is ours. */
const hasSeveral = ({ req }: PageContext): boolean => {
  const names = (req.header('cookie') ?? '').split(';').map((each) => each.split('=')[0]?.trim());
  return names.filter((name) => name === cookieName).length > 1;
};

/** The longest that browsers allow. It begins anew each time that the phone asks for its state. */
const cookieSeconds = 400 * 86_400;

/**
 * Wrong codes and requests for new ones, from one address. Enrolments that succeed do not count.
 */
const maxTries = { requests: 30, perSeconds: 60 };

export const refuse = (
  status: number,
  error: string,
  message: string,
  more: object = {},
): Response => answerJson({ error, message, ...more }, status);

export const createPageRequests = (options: PageRequestsOptions) => {
  const { phones, cookies, publicUrl, limiter, onError } = options;

  /** @param value Undefined ends the cookie. */
  const cookieHeader = (value: string | undefined): { readonly 'set-cookie': string } => {
    const secure = publicUrl().startsWith('https:') ? '; Secure' : '';
    const seconds = value === undefined ? 0 : cookieSeconds;
    const attributes = `Path=/phone; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
    return { 'set-cookie': `${cookieName}=${value ?? ''}; ${attributes}` };
  };

  /** @returns The answer to a caller that has tried too often; undefined when it may go on. */
  const limited = async ({ env }: PageContext): Promise<Response | undefined> => {
    const keyOf = (bucket: string): string => `phone:${cookies.nameOf(bucket)}`;
    const limits = limitsFrom(options.addressOf(env?.incoming), maxTries, undefined, keyOf);
    const empty = await takeAll(limiter, limits);
    if (empty === undefined) return undefined;
    const headers = { 'retry-after': String(empty.seconds) };
    return answerJson(
      { error: 'too-often', message: 'Too many tries; wait a minute' },
      429,
      headers,
    );
  };

  /** @returns The checked body, or the refusal. */
  const read = async <Schema extends z.ZodType>(
    { req, env }: PageContext,
    schema: Schema,
  ): Promise<z.output<Schema> | Response> => {
    if (!isInUtf8(req.header('content-type'), 'application/json'))
      return refuse(415, 'bad-request', 'Content-Type must be application/json');
    const body = await readBody(req.raw, env?.incoming, options.body);
    if (!body.ok) {
      const status = { bodyTooLarge: 413, bodyTooSlow: 408, bodyIncomplete: 400 }[body.reason];
      return refuse(status, 'bad-request', 'The body is not readable');
    }
    let value: unknown;
    try {
      value = JSON.parse(Buffer.from(body.bytes).toString('utf8') || '{}');
    } catch {
      return refuse(400, 'bad-request', 'The body is not JSON');
    }
    const checked = schema.safeParse(value);
    if (checked.success) return checked.data;
    const about = { whole: 'The body', values: [value] };
    return refuse(400, 'bad-request', sayIssues(checked.error.issues, about));
  };

  const isOurs = (c: PageContext): boolean => readOrigin(c, publicUrl()) !== 'other';

  const phoneOf = async (c: PageContext): Promise<Phone | undefined> => {
    const cookie = cookies.read(getCookie(c, cookieName));
    const number = cookie && (await phones.read(cookie.msisdn));
    const phone = number?.phones.find(({ id }) => id === cookie?.phone);
    return phone !== undefined && isEqual(phone.secretHash, hashOf(cookie?.secret ?? ''))
      ? phone
      : undefined;
  };

  const guarded =
    (handle: Handle): Handle =>
    async (c) => {
      try {
        const isSafe = c.req.method === 'GET' || c.req.method === 'HEAD';
        if (!isSafe && !isOurs(c))
          return refuse(403, 'forbidden', 'The request must come from our page');
        if (hasSeveral(c)) return refuse(400, 'cookies', `There must be one cookie ${cookieName}`);
        return await handle(c);
      } catch (error) {
        onError(toError(error));
        return refuse(500, 'trouble', 'Something went wrong');
      }
    };

  return {
    cookieHeader,
    limited,
    read,
    guarded,
    withPhone:
      (handle: PhoneHandle): Handle =>
      async (c) => {
        const phone = await phoneOf(c);
        return phone === undefined
          ? refuse(401, 'unknown-phone', 'This is no enrolled phone')
          : handle(c, phone);
      },
    /** The header that renews the cookie of the request for the longest time. */
    renewedCookie: (c: PageContext) => cookieHeader(getCookie(c, cookieName)),
  };
};
