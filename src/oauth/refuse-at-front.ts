import type { Context } from 'hono';
import { describeError } from './error-codes.ts';
import { retryAfterSeconds } from './limits.ts';
import type { OauthLog } from './log.ts';
import { pageHeaders } from './page-headers.ts';
import { chooseLanguage } from './pages/language.ts';
import { noticePage } from './pages/notice-page.ts';
import { frameFor } from './pages/page.ts';
import type { Tenant } from './tenant.ts';

export interface FrontRefusal {
  readonly status: 400 | 413 | 429 | 500;
  readonly error: 'invalid_request' | 'invalid_request_uri' | 'temporarily_unavailable' | 'server_error';
  readonly text: string;
}

export const jsonError = (body: object, status: number, headers: Readonly<Record<string, string>>) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json;charset=UTF-8', 'cache-control': 'no-store', ...headers },
  });

/** A refusal that goes nowhere: a page for people, JSON for programs. */
export const refuseAtFront = (
  c: Context,
  tenant: Tenant,
  { status, error, text }: FrontRefusal,
  log: OauthLog,
): Response => {
  const internal = error === 'server_error';
  const { description, code, trace } = describeError(internal ? 'internal' : 'otherRequest', text);
  log.audit({ event: 'request refused', tenant: tenant.id, error, code, trace });
  const later = status === 429 ? { 'retry-after': String(retryAfterSeconds) } : {};
  if (!(c.req.header('accept') ?? '').includes('text/html')) {
    return jsonError({ error, error_description: description, iss: tenant.issuer }, status, later);
  }
  const language = chooseLanguage(c.req.query('ui_locales'), c.req.header('accept-language'));
  const cause = internal ? 'internal' : 'request-unusable';
  const page = noticePage(frameFor(tenant.settings, tenant.path, language), {
    kind: 'error',
    cause,
    reference: `${code}_${trace}`,
  });
  return new Response(page, {
    status,
    headers: { 'content-type': 'text/html;charset=UTF-8', ...pageHeaders, ...later },
  });
};
