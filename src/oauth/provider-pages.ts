/**
 * The pages that the library asks for, in our looks and the person's language. An error page says nothing that the caller
 * brought; a reference on it leads to the log.
 */
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { codeOfRefusal } from './coded-errors.ts';
import { textIn } from './library.ts';
import { pageHeaders, pageHeadersLeadingTo } from './page-headers.ts';
import { chooseLanguage } from './pages/language.ts';
import { noticePage } from './pages/notice-page.ts';
import { frameFor } from './pages/page.ts';
import type { Notice, PageFrame } from './pages/views.ts';
import type { Tenant } from './tenant.ts';

export const createProviderPages = (
  { settings, path, clients }: Tenant,
  onError: (code: string, trace: string) => void,
) => {
  const frameOf = (ctx: KoaContextWithOIDC): PageFrame => {
    const language = chooseLanguage(textIn(ctx.query.ui_locales), textIn(ctx.headers['accept-language']));
    return frameFor(settings, path, language, clients.get(ctx.oidc?.client?.clientId ?? ''));
  };
  const render = (ctx: KoaContextWithOIDC, notice: Notice, headers = pageHeaders): void => {
    ctx.set({ ...headers });
    ctx.type = 'html';
    ctx.body = noticePage(frameOf(ctx), notice);
  };
  return {
    error: (ctx: KoaContextWithOIDC, { error }: ErrorOut): void => {
      const { code, trace } = codeOfRefusal(ctx, error);
      onError(code, trace);
      const cause = error === 'server_error' ? 'internal' : 'request-unusable';
      render(ctx, { kind: 'error', cause, reference: `${code}_${trace}` });
    },
    logOut: (ctx: KoaContextWithOIDC, form: string): void => {
      // The library has compared the address with the registered ones by now. The form may lead there.
      const address = textIn(ctx.oidc.params?.post_logout_redirect_uri) ?? '';
      render(ctx, { kind: 'log-out', form }, pageHeadersLeadingTo(address));
    },
    loggedOut: (ctx: KoaContextWithOIDC): void => render(ctx, { kind: 'logged-out' }),
  };
};
