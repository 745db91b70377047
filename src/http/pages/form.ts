/** Reads forms of HTTP requests. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import { type BodyLimits, isInUtf8, readBody } from './request-body.ts';

export type Parameters = ReadonlyMap<string, string>;

type ParsedForm =
  | { readonly ok: true; readonly form: Parameters }
  | { readonly ok: false; readonly reason: 'formMalformed' }
  /** `name` is the caller's text. */
  | { readonly ok: false; readonly reason: 'parameterRepeated'; readonly name: string };

/** May be sent more than once (RFC 8707); it is not used here. */
const repeatable = 'resource';

/** @throws URIError when it is not UTF-8. */
const decoded = (text: string): string => {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return spaced.includes('%') ? decodeURIComponent(spaced) : spaced;
};

const textOf = (body: Uint8Array): string | undefined =>
  isUtf8(body) ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString() : undefined;

/**
 * Parses a form strictly, and by hand: a repeated parameter must be noticed, and most values need
 * no decoding.
 *
 * Source: RFC 6749 3.1 (no repeated parameters; one without a value counts as omitted).
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
      if (form.has(name) && name !== repeatable)
        return { ok: false, reason: 'parameterRepeated', name };
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

export const isForm = (contentType: string | undefined): boolean =>
  isInUtf8(contentType, 'application/x-www-form-urlencoded');

/**
 * Whether a form comes from a page of this service. `Referrer-Policy: no-referrer` makes browsers
 * send `Origin: null` even with our forms, so `null` is accepted; a form has a token besides.
 */
const isFromOurPage = ({ req }: Context, origin: string): boolean => {
  const sent = req.header('origin') ?? origin;
  const site = req.header('sec-fetch-site') ?? 'none';
  return (sent === 'null' || sent === origin) && (site === 'same-origin' || site === 'none');
};

const bodyStatuses = { bodyTooLarge: 413, bodyTooSlow: 408, bodyIncomplete: 400 } as const;

/**
 * Reads a form that one of our pages has sent. Its token is for the caller to check.
 *
 * @returns Its fields, or the status of the refusal.
 */
export const readPageForm = async <Bindings extends { readonly incoming?: IncomingMessage }>(
  c: Context<{ Bindings: Bindings }>,
  origin: string,
  limits: BodyLimits,
): Promise<Parameters | number> => {
  if (!isForm(c.req.header('content-type'))) return 415;
  const read = await readBody(c.req.raw, c.env?.incoming, limits);
  if (!read.ok) return bodyStatuses[read.reason];
  const parsed = parseForm(read.bytes);
  if (!parsed.ok) return 400;
  return isFromOurPage(c, origin) ? parsed.form : 403;
};

/**
 * Whether one of our pages made the request, by the browser's headers: `Sec-Fetch-Site` comes with
 * every request over https or to this machine, `Origin` with every unsafe one. A page cannot set
 * either.
 *
 * Source: Fetch Metadata Request Headers, section 2.3; Fetch Standard, section 3.2.
 */
export const readOrigin = ({ req }: Context, publicUrl: string): 'ours' | 'other' | 'unsaid' => {
  const site = req.header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' ? 'ours' : 'other';
  const origin = req.header('origin');
  if (origin === undefined) return 'unsaid';
  if (!URL.canParse(origin)) return 'other';
  const { host, origin: named } = new URL(origin);
  return host === req.header('host') || named === new URL(publicUrl).origin ? 'ours' : 'other';
};
