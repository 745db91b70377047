import type { Context } from 'hono';
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { isRedisAway } from '../../packages/engine/src/redis/to-error.ts';
import type { PageFrame } from '../http/pages/assets.ts';
import { answerPage, pageHeaders, policyWith } from '../http/pages/headers.ts';
import { chooseLanguage } from '../http/pages/language.ts';
import { describeError, findErrorCode } from './error-codes.ts';
import { readText } from './library.ts';
import type { OauthLog } from './log.ts';
import { frameFor, noticePage } from './pages/page.ts';
import type { Notice, NoticeCause } from './pages/views.ts';
import { storeAway } from './store-away.ts';
import type { Tenant } from './tenant.ts';

/** An app's address has no origin; its scheme names it. */
const sourceOf = ({ origin, protocol }: URL): string => (origin === 'null' ? protocol : origin);

/** The headers of a page whose form may lead to this registered address. */
const pageHeadersLeadingTo = (address: string): Readonly<Record<string, string>> => ({
  ...pageHeaders,
  'content-security-policy': policyWith(URL.canParse(address) ? [sourceOf(new URL(address))] : []),
});

export interface FrontRefusal {
  readonly status: 400 | 413 | 429 | 500 | 503;
  readonly error:
    | 'invalid_request'
    | 'invalid_request_uri'
    | 'temporarily_unavailable'
    | 'server_error';
  readonly text: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

export const jsonError = (
  body: object,
  status: number,
  headers: Readonly<Record<string, string>>,
) =>
  new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/json;charset=UTF-8',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      ...headers,
    },
  });

const causeOf = (error: string, isLogout: boolean): NoticeCause => {
  if (isLogout) return 'logout-failed';
  switch (error) {
    case 'server_error':
      return 'internal';
    case 'temporarily_unavailable':
      return 'limited';
    case 'invalid_request_uri':
      return 'login-expired';
    default:
      return 'request-unusable';
  }
};

/** Answers an error that must not be redirected: a page for people, JSON for programs. */
export const refuseAtFront = (
  c: Context,
  tenant: Tenant,
  { status, error, text, retryAfter }: FrontRefusal,
  log: OauthLog,
): Response => {
  const internal = status >= 500;
  const { description, code, trace } = describeError(internal ? 'internal' : 'otherRequest', text);
  log.audit({ event: 'request refused', tenant: tenant.id, error, code, trace });
  const later = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  if (!(c.req.header('accept') ?? '').includes('text/html')) {
    return jsonError({ error, error_description: description, iss: tenant.issuer }, status, later);
  }
  const language = chooseLanguage(c.req.query('ui_locales'), c.req.header('accept-language'));
  const page = noticePage(frameFor(tenant.settings, tenant.path, language), {
    kind: 'error',
    cause: causeOf(
      internal ? 'server_error' : error,
      c.req.path.startsWith(`${tenant.path}/session/end`),
    ),
    reference: `${code}_${trace}`,
    detail: `${error}: ${text}`,
  });
  return answerPage(page, status, later);
};

/**
 * The pages that the library asks for. An error page names what is wrong, in fixed words and with
 * nothing that the caller sent; its reference leads to the log.
 */
export const createProviderPages = (
  { settings, path, clients }: Tenant,
  onError: (code: string, trace: string) => void,
) => {
  const frameOf = (ctx: KoaContextWithOIDC): PageFrame => {
    const language = chooseLanguage(
      readText(ctx.query.ui_locales),
      readText(ctx.headers['accept-language']),
    );
    return frameFor(settings, path, language, clients.get(ctx.oidc?.client?.clientId ?? ''));
  };
  const render = (ctx: KoaContextWithOIDC, notice: Notice, headers = pageHeaders): void => {
    ctx.set({ ...headers });
    ctx.type = 'html';
    ctx.body = noticePage(frameOf(ctx), notice);
  };
  return {
    error: (ctx: KoaContextWithOIDC, out: ErrorOut, thrown: unknown): void => {
      const { error, error_description: words = '' } = out;
      const { code, trace } = findErrorCode(ctx, error);
      onError(code, trace);
      const isOver = ctx.oidc?.route === 'resume' && error === 'invalid_request';
      const detail = isRedisAway(thrown)
        ? `${storeAway.error}: ${storeAway.text}`
        : `${error}: ${words.replace(/^mid_.{1,30} - /, '')}`;
      const isLogout = ctx.oidc?.route.startsWith('end_session') === true;
      const cause = isOver ? 'login-expired' : causeOf(error, isLogout);
      render(ctx, { kind: 'error', cause, reference: `${code}_${trace}`, detail });
    },
    logOut: (ctx: KoaContextWithOIDC, form: string): void => {
      // The library has compared the address with the registered ones.
      const address = readText(ctx.oidc.params?.post_logout_redirect_uri) ?? '';
      render(ctx, { kind: 'log-out', form }, pageHeadersLeadingTo(address));
    },
    /** The library leads here after either answer, so the session says which it was. */
    loggedOut: async (ctx: KoaContextWithOIDC): Promise<void> => {
      const { accountId } = await ctx.oidc.provider.Session.get(ctx);
      render(ctx, { kind: accountId === undefined ? 'logged-out' : 'still-logged-in' });
    },
  };
};
