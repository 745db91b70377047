import type { Context } from 'hono';
import { describeError } from './error-codes.ts';
import type { FrontChannelVerdict } from './front-channel.ts';
import type { OauthLog } from './log.ts';
import { pageHeaders } from './page-headers.ts';
import { chooseLanguage } from './pages/language.ts';
import { noticePage } from './pages/notice-page.ts';
import type { Tenant } from './tenant.ts';

/** A refusal that goes nowhere: a page for people, JSON for programs. */
export const refuseAtFront = (
  c: Context,
  tenant: Tenant,
  { error, text }: Extract<FrontChannelVerdict, { kind: 'refused' }>,
  log: OauthLog,
): Response => {
  const { description, code, trace } = describeError('otherRequest', text);
  log.audit({ event: 'request refused', tenant: tenant.id, error, code, trace });
  if (!(c.req.header('accept') ?? '').includes('text/html')) {
    return new Response(JSON.stringify({ error, error_description: description, iss: tenant.issuer }), {
      status: 400,
      headers: { 'content-type': 'application/json;charset=UTF-8', 'cache-control': 'no-store' },
    });
  }
  const page = noticePage(
    {
      language: chooseLanguage(c.req.query('ui_locales'), c.req.header('accept-language')),
      tenantName: tenant.settings.name,
      branding: tenant.settings.branding,
      path: tenant.path,
    },
    { kind: 'error', cause: 'request-unusable', reference: `${code}_${trace}` },
  );
  return new Response(page, {
    status: 400,
    headers: { 'content-type': 'text/html;charset=UTF-8', ...pageHeaders },
  });
};
