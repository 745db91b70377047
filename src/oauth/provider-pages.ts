/**
 * The pages that the library asks for, in our looks and the person's language. An error page says nothing that the caller
 * brought; a reference on it leads to the log.
 */
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { OauthClient, OauthTenant } from '../registry/oauth-client.ts';
import { codeOfRefusal } from './coded-errors.ts';
import { pageHeaders, pageHeadersLeadingTo } from './page-headers.ts';
import type { PageFrame } from './pages/frame.ts';
import { chooseLanguage } from './pages/language.ts';
import { noticePage } from './pages/notice-page.ts';
import type { ProviderPages } from './provider.ts';
import { textIn } from './text-in.ts';

export const createProviderPages = (
  tenant: OauthTenant,
  path: string,
  clients: ReadonlyMap<string, OauthClient>,
  onError: (code: string, trace: string) => void,
): ProviderPages => {
  const frameOf = (ctx: KoaContextWithOIDC): PageFrame => {
    const client = clients.get(ctx.oidc?.client?.clientId ?? '');
    return {
      language: chooseLanguage(textIn(ctx.query.ui_locales), textIn(ctx.headers['accept-language'])),
      tenantName: tenant.name,
      branding: tenant.branding,
      path,
      ...(client !== undefined && { clientName: client.name }),
    };
  };
  return {
    headers: pageHeaders,
    error: (ctx, { error }) => {
      const { code, trace } = codeOfRefusal(ctx, error);
      onError(code, trace);
      const cause = error === 'server_error' ? 'internal' : 'request-unusable';
      return noticePage(frameOf(ctx), { kind: 'error', cause, reference: `${code}_${trace}` });
    },
    // The library has compared the address with the registered ones by now.
    logOutHeaders: (ctx) => pageHeadersLeadingTo(textIn(ctx.oidc.params?.post_logout_redirect_uri) ?? ''),
    logOut: (ctx, form) => noticePage(frameOf(ctx), { kind: 'log-out', form }),
    loggedOut: (ctx) => noticePage(frameOf(ctx), { kind: 'logged-out' }),
  };
};
