/**
 * When the library sends a browser to our pages. It asks twice: when a request arrives, and when
 * the browser returns from our page; both answers must agree. The library's own check of
 * `id_token_hint` is replaced, because it runs only the first time.
 */
import { decodeJwt } from 'jose';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { OauthClient } from '../registry/oauth-client.ts';
import { findEarlierAcr, isBegunByPhone, parseAcrValues } from './evidence.ts';
import { interactionPolicy, readText } from './library.ts';
import { parseLoginHint } from './login-hint.ts';
import { readSessionLogin } from './session-grants.ts';
import type { Tenant } from './tenant.ts';

/**
 * Whether `sub` is that of the `id_token_hint` (OpenID Connect Core 3.1.2.1); true without a hint.
 * The hint was validated before.
 */
export const isHinted = (idTokenHint: unknown, subject: string): boolean => {
  const hint = readText(idTokenHint);
  return hint === undefined || decodeJwt(hint).sub === subject;
};

/**
 * Whether a session can answer a request with this `login_hint`: not when the hint names only other
 * numbers.
 */
const isAmongHinted = (
  loginHint: unknown,
  account: string,
  { loginHintAllowed }: OauthClient,
): boolean => {
  const text = readText(loginHint);
  const hint = text === undefined || !loginHintAllowed ? undefined : parseLoginHint(text);
  return !hint?.ok || hint.enableManualInput || hint.hints.some(({ msisdn }) => msisdn === account);
};

/**
 * Every login asks the phone, unless the last login of this browser is recent enough
 * (`singleSignOnSeconds`), has satisfied what the client asks now, and is of an expected person. A
 * login that operators have ended (`endedBefore`) counts for nothing, also one that has just come
 * back.
 */
export const policyWith = (
  { store, subjectOf }: Pick<Tenant, 'store' | 'subjectOf'>,
  singleSignOnSeconds: number,
  clientOf: (id: string) => OauthClient,
  endedBefore: (clientId: string, account?: string) => number,
) => {
  const { base, Check, Prompt } = interactionPolicy;
  const policy = base();
  policy.remove('consent');
  policy.add(new Prompt({ name: 'consent', requestable: true }));
  const checks = policy.get('login')?.checks;
  checks?.remove('id_token_hint');
  const askIf = (
    name: string,
    why: string,
    isNeeded: (ctx: KoaContextWithOIDC) => boolean | Promise<boolean>,
  ): void => {
    checks?.add(new Check(name, why, 'login_required', isNeeded));
  };
  const isNew = (ctx: KoaContextWithOIDC): boolean => Boolean(ctx.oidc.result?.login);
  const clientIn = (ctx: KoaContextWithOIDC): OauthClient =>
    clientOf(ctx.oidc.client?.clientId ?? '');
  askIf('phone', 'End-User authentication is required', (ctx) => {
    const { session } = ctx.oidc;
    return (
      !isNew(ctx) && (singleSignOnSeconds === 0 || session?.past(singleSignOnSeconds) !== false)
    );
  });
  askIf('ended', 'End-User authentication is required', ({ oidc: { session, client } }) => {
    return (session?.loginTs ?? 0) * 1000 < endedBefore(client?.clientId ?? '', session?.accountId);
  });
  askIf('acr', 'none of the requested ACRs could be obtained', (ctx) => {
    const wanted = parseAcrValues(ctx.oidc.params?.acr_values);
    return (
      !isNew(ctx) && findEarlierAcr(wanted, ctx.oidc.session?.amr, clientIn(ctx)) === undefined
    );
  });
  askIf('phone_start', 'the phone must begin the login', (ctx) => {
    const amr = ctx.oidc.session?.amr ?? [];
    return !isNew(ctx) && clientIn(ctx).phoneStart === 'required' && !isBegunByPhone(amr);
  });
  askIf('place', 'the place of the login is not known', async (ctx) => {
    const { session } = ctx.oidc;
    const isAsked = ctx.oidc.requestParamOIDCScopes.has('mid_location');
    if (isNew(ctx) || !isAsked || session === undefined) return false;
    return (await readSessionLogin(store, session.uid))?.evidence?.location === undefined;
  });
  askIf('id_token_hint', 'id_token_hint and authenticated subject do not match', (ctx) => {
    const account = ctx.oidc.session?.accountId;
    if (account === undefined) return false;
    return !isHinted(ctx.oidc.params?.id_token_hint, subjectOf(account, clientIn(ctx)));
  });
  askIf('login_hint', 'login_hint names somebody else', (ctx) => {
    const account = ctx.oidc.session?.accountId;
    if (account === undefined || isNew(ctx)) return false;
    return !isAmongHinted(ctx.oidc.params?.login_hint, account, clientIn(ctx));
  });
  return policy;
};
