/**
 * The relying party of the sandbox: a complete login, step by step, at `/demo`.
 *
 * It uses the provider like any application, over HTTP. Between its two pages a sealed cookie holds
 * the login. Redirects go only to addresses below the public address of this server.
 */
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import {
  checkGrantedScope,
  createJwksCache,
  readAuthorizationResponse,
  validateIdToken,
} from '../../packages/relying-party/src/index.ts';
import { askedIn } from '../../src/http/pages/assets.ts';
import { readOrigin } from '../../src/http/pages/form.ts';
import { demoCallbackPath } from './clients.ts';
import {
  authorisationRequest,
  createLoginStates,
  type Fields,
  type LoginState,
  loginStateSeconds,
  newSecrets,
  readChoices,
} from './login.ts';
import { demoHeaders, type Html } from './markup.ts';
import {
  type Answered,
  createProviderCalls,
  presentable,
  shortened,
  textOf,
} from './provider-calls.ts';
import { pushedPage, refusedPage } from './pushed-page.ts';
import {
  type Begun,
  disbelievedPage,
  errorPage,
  loggedInPage,
  type ReadIdToken,
  unreachablePage,
} from './result-page.ts';
import { startPage } from './start-page.ts';
import { serve } from './stylesheet.ts';

export interface DemoOptions {
  /** The origin at which browsers reach this server. It is part of the issuer. */
  readonly publicUrl: () => string;
  /** The address at which this server listens, for its own calls to the provider. */
  readonly selfUrl: () => string;
  readonly now: () => number;
  /** The key that seals the cookie: 32 bytes, the same in all processes of a service. */
  readonly stateKey: Uint8Array;
  readonly fetch: typeof globalThis.fetch;
  readonly log: { trouble(error: Error): void };
}

const cookieName = 'paraph_demo_login';
const maxFormBytes = 8192;

/** Reads a token without checks, to show it beside the result of the checks. */
const readUnchecked = (token: string): Pick<ReadIdToken, 'header' | 'claims'> => {
  try {
    return {
      header: presentable(decodeProtectedHeader(token)),
      claims: presentable(decodeJwt(token)),
    };
  } catch {
    return { header: {}, claims: {} };
  }
};

export const createDemoRoutes = ({
  publicUrl,
  selfUrl,
  now,
  stateKey,
  fetch,
  log,
}: DemoOptions): Hono => {
  const issuer = (): string => `${publicUrl()}/oidc`;
  const redirectUri = (): string => `${publicUrl()}${demoCallbackPath}`;
  const states = createLoginStates(stateKey, now);
  const provider = createProviderCalls({ issuer, selfUrl, fetch });
  const jwks = createJwksCache({
    // Only https and loopback addresses are accepted here; `fetch` below uses the real one.
    jwksUri: 'http://127.0.0.1/oidc/jwks.json',
    fetch: (_uri, init) => fetch(`${selfUrl()}/oidc/jwks.json`, init),
    now,
  });

  const answer = async (c: Context, page: Html, status: 200 | 400 | 403 | 413 | 502 = 200) => {
    for (const [name, value] of Object.entries(demoHeaders(publicUrl()))) c.header(name, value);
    return c.html(await page, status);
  };

  const cookieOptions = () =>
    ({
      path: '/demo',
      httpOnly: true,
      sameSite: 'Lax',
      secure: publicUrl().startsWith('https:'),
    }) as const;

  const authorisationUrl = (clientId: string, requestUri: string): string =>
    `${issuer()}/auth?${new URLSearchParams({ client_id: clientId, request_uri: requestUri })}`;

  const logOutUrl = (clientId: string): string => {
    const query = new URLSearchParams({
      client_id: clientId,
      post_logout_redirect_uri: `${publicUrl()}/demo`,
    });
    return `${issuer()}/session/end?${query}`;
  };

  const begunBy = (login: LoginState): Begun => ({
    parUrl: `${issuer()}/par`,
    fields: authorisationRequest(login.choices, login, redirectUri()),
    authorisationUrl: authorisationUrl(login.choices.clientId, login.requestUri),
  });

  const checkIdToken = async (
    login: LoginState,
    { body }: Answered,
  ): Promise<ReadIdToken | undefined> => {
    const token = textOf(body.id_token);
    if (token === '') return undefined;
    const accessToken = textOf(body.access_token);
    const result = await validateIdToken(token, {
      issuer: issuer(),
      clientId: login.choices.clientId,
      jwks,
      nonce: login.nonce,
      ...(accessToken !== '' && { accessToken }),
      ...(login.choices.acrValue !== undefined && { acrValues: [login.choices.acrValue] }),
      now,
    });
    return { ...readUnchecked(token), result };
  };

  const finish = async (c: Context, login: LoginState, code: string, shown: Fields) => {
    const { clientId } = login.choices;
    const redeemed = await provider.redeem(clientId, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri(),
      code_verifier: login.codeVerifier,
    });
    const idToken = await checkIdToken(login, redeemed);
    const accessToken = textOf(redeemed.body.access_token);
    const subject = idToken?.result.ok === true ? idToken.result.claims.sub : undefined;
    const asked =
      subject === undefined || accessToken === ''
        ? undefined
        : await provider.userInfo(accessToken);
    const userInfo = asked && { exchange: asked.exchange, sameSubject: asked.body.sub === subject };
    const scope = checkGrantedScope(redeemed.body, login.choices.scopes.join(' '));
    const loggedIn = { token: redeemed.exchange, scope, idToken, userInfo };
    return answer(c, loggedInPage(begunBy(login), shown, loggedIn, logOutUrl(clientId)));
  };

  const app = new Hono();

  app.get('/demo', (c) => answer(c, startPage(publicUrl())));
  app.get('/demo/', (c) => c.redirect('/demo'));

  app.get('/demo/start', (c) => c.redirect('/demo', 303));

  app.post(
    '/demo/start',
    bodyLimit({ maxSize: maxFormBytes, onError: (c) => answer(c, startPage(publicUrl()), 413) }),
    async (c) => {
      const choices = readChoices(new URLSearchParams(await c.req.text()));
      // Every browser names the origin of a form. Without it the page asks to send the form again.
      if (readOrigin(c, publicUrl()) !== 'ours') {
        return answer(c, startPage(publicUrl(), choices, true), 403);
      }
      const secrets = newSecrets();
      const fields = authorisationRequest(choices, secrets, redirectUri());
      const pushed = await provider.push(choices.clientId, fields);
      const requestUri = textOf(pushed.body.request_uri);
      if (requestUri === '') return answer(c, refusedPage(pushed), 400);
      setCookie(c, cookieName, await states.seal({ ...secrets, choices, requestUri }), {
        ...cookieOptions(),
        maxAge: loginStateSeconds,
      });
      const next = authorisationUrl(choices.clientId, requestUri);
      if (choices.straight) return c.redirect(next, 303);
      return answer(c, pushedPage(pushed, next, Number(pushed.body.expires_in)));
    },
  );

  app.get(demoCallbackPath, async (c) => {
    const login = await states.open(getCookie(c, cookieName) ?? '');
    if (login === undefined) return answer(c, disbelievedPage('no-login'), 400);
    const query = new URL(c.req.url).searchParams;
    const returned = readAuthorizationResponse(query, { state: login.state, issuer: issuer() });
    // An answer that belongs to another login does not end this login.
    if (returned.kind === 'refused') return answer(c, disbelievedPage(returned.why), 400);
    deleteCookie(c, cookieName, cookieOptions());
    const shown = Object.fromEntries(
      [...query].map(([name, value]) => [name, name === 'code' ? shortened(value) : value]),
    );
    return returned.kind === 'error'
      ? answer(c, errorPage(begunBy(login), shown, returned))
      : finish(c, login, returned.code, shown);
  });

  app.get('/demo/:name', async (c, next) => serve(c.req.param('name'), askedIn(c)) ?? next());

  app.onError((error, c) => {
    log.trouble(error);
    return answer(c, unreachablePage(), 502);
  });
  return app;
};
