/**
 * Login and logout: by link, with the phone over our own provider, and at the provider of the
 * operator's organisation (console-login/).
 *
 * A login link opens a page with a button, because programs that preview links would use it up
 * otherwise. The forms of a login have no session and so no CSRF token; the headers of the browser
 * give their origin.
 *
 * The state of a login at a provider is in Redis; a cookie of the browser refers to it. An answer
 * counts once, and only in the browser that began that login, so that no link can log in another
 * person. An answer to another login changes nothing, so that no link can end a login.
 */
import { type Context, Hono } from 'hono';
import { readOrigin } from '../../http/pages/form.ts';
import { consoleCallbackPath } from '../../registry/console-client.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { readForm } from '../input.ts';
import type { CodeLogin } from '../login/code-login.ts';
import { loginProblems } from '../login/login-problem.ts';
import { providerCallbackPath } from '../login/provider-login.ts';
import {
  endedLoginCookie,
  endedSessionCookie,
  loginCookie,
  readLoginCookie,
  readSessionCookie,
  sessionCookie,
} from '../operators/cookie.ts';
import type { LoginResult } from '../operators/logins.ts';
import { type LoginWay, loginWays, pendingLoginSeconds } from '../operators/pending-logins.ts';
import { queryOf } from '../pages/markup.ts';
import {
  enteredPage,
  type LoginModel,
  linkPage,
  loginPage,
  messagePage,
  outsiderPage,
  strangerPage,
} from '../pages/session-pages.ts';

type ConsoleContext = Context<ConsoleEnvironment>;

/** The page after a login, unless another one was requested. */
const home = '/admin';
const paths = { phone: '/admin/login/oidc', provider: '/admin/login/provider' } as const;
const callbackPaths = { phone: consoleCallbackPath, provider: providerCallbackPath } as const;

/** The page after a login: only pages of the console. */
export const nextPath = (wanted: string | undefined): string => {
  if (wanted === undefined || !/^\/admin(?![\w-])[\x21-\x7e]{0,1000}$/.test(wanted)) return home;
  const { origin, pathname, search } = new URL(wanted, 'http://console.invalid');
  const isOurs = origin === 'http://console.invalid' && /^\/admin(?:\/|$)/.test(pathname);
  return isOurs && !/^\/admin\/(?:login|logout|api)/.test(pathname) ? `${pathname}${search}` : home;
};

const nextField = (next: string): string | undefined => (next === home ? undefined : next);

const wayProblems = [...loginProblems, 'limited'] as const;
type WayProblem = (typeof wayProblems)[number];

const statusOf = { limited: 429, expired: 401 } as const;

export const createLoginRoutes = (deps: ConsoleDeps): Hono<ConsoleEnvironment> => {
  const { operators, phoneLogin, providerLogin, addressOf, publicUrl, sandbox } = deps;
  const { pendingLogins } = operators;
  const routes = new Hono<ConsoleEnvironment>();
  const isSecure = (): boolean => publicUrl().startsWith('https:');
  const sessionIn = (c: ConsoleContext) =>
    operators.sessionOf(readSessionCookie(c.req.header('cookie')));

  /**
   * Whether the login with the phone is offered. Without a user with a phone it would only let
   * strangers send prompts to phones. A sandbox always offers it.
   */
  const offersPhone = async (): Promise<boolean> =>
    phoneLogin !== undefined &&
    (sandbox ||
      (await operators.users.list()).some(({ oidcSubject }) => oidcSubject !== undefined));

  const showLogin = async (
    c: ConsoleContext,
    next: string,
    problem?: LoginModel['problem'],
    status: 200 | 401 | 429 = 200,
  ) => {
    // The login begins at the public address: the provider redirects there, so its cookie counts.
    const addressFor = (way: LoginWay): string =>
      `${publicUrl()}${paths[way]}${queryOf({ next: nextField(next) })}`;
    const model = {
      problem,
      phoneAddress: (await offersPhone()) ? addressFor('phone') : undefined,
      provider: providerLogin && {
        address: addressFor('provider'),
        name: providerLogin.settings.name,
      },
      sandbox,
    };
    return c.html(loginPage(model), status);
  };

  const refuseForeign = (c: ConsoleContext): Response | undefined => {
    if (readOrigin(c, publicUrl()) !== 'other') return undefined;
    return c.html(
      messagePage(403, 'Not from this page', 'Open the login page and try again.'),
      403,
    );
  };

  /** Ends an earlier session of the browser, because its cookie is replaced. */
  const startSession = async (c: ConsoleContext, cookie: string): Promise<void> => {
    const earlier = await sessionIn(c);
    if (earlier !== undefined) await operators.logOut(earlier);
    c.header('set-cookie', sessionCookie(cookie, isSecure()), { append: true });
  };

  // The address has the name of an error, never the text of the provider.
  routes.get('/admin/login', (c) => {
    const given = loginWays
      .map((way) => ({ way, problem: wayProblems.find((each) => each === c.req.query(way)) }))
      .find(({ problem }) => problem !== undefined);
    return showLogin(c, nextPath(c.req.query('next')), given);
  });

  routes.get('/admin/login/link', (c) => c.html(linkPage({ token: c.req.query('token') ?? '' })));

  routes.post('/admin/login/link', async (c) => {
    const refused = refuseForeign(c);
    if (refused !== undefined) return refused;
    const { token = '' } = await readForm(c);
    const login = await operators.logInByLink(token, addressOf(c.env?.incoming));
    if (login.kind === 'in') {
      await startSession(c, login.cookie);
      return c.redirect(home, 303);
    }
    const problem = login.kind === 'refused' ? 'expired' : 'limited';
    return showLogin(c, home, { way: 'link', problem }, statusOf[problem]);
  });

  // The session check has run before, with its CSRF token.
  routes.post('/admin/logout', async (c) => {
    const session = await sessionIn(c);
    if (session !== undefined) await operators.logOut(session);
    c.header('set-cookie', endedSessionCookie(isSecure()));
    return c.redirect('/admin/login', 303);
  });

  const backWith = (
    c: ConsoleContext,
    way: LoginWay,
    problem: WayProblem,
    next: string,
  ): Response =>
    c.redirect(`/admin/login${queryOf({ [way]: problem, next: nextField(next) })}`, 303);

  const enterAs = async (
    c: ConsoleContext,
    { cookie, session }: Extract<LoginResult, { kind: 'in' }>,
    next: string,
  ): Promise<Response> => {
    await startSession(c, cookie);
    // The cookie is not sent in a redirect chain from another site, so our own page leads on.
    c.header('refresh', `0;url=${next}`);
    return c.html(enteredPage({ name: session.operator.name, next }));
  };

  type Claims = Parameters<typeof operators.logInByProvider>[0];

  /** Adds the two routes of a login at a provider: to the provider, and back. */
  const addWay = (
    way: LoginWay,
    login: Pick<CodeLogin, 'begin' | 'readReturned'>,
    isOffered: () => Promise<boolean>,
    enter: (c: ConsoleContext, claims: Claims, next: string) => Promise<Response>,
  ): void => {
    routes.get(paths[way], async (c, otherwise) => {
      if (!(await isOffered())) return otherwise();
      const next = nextPath(c.req.query('next'));
      if (!(await pendingLogins.mayBegin(addressOf(c.env?.incoming), way)))
        return backWith(c, way, 'limited', next);
      const begun = await login.begin();
      if (begun === undefined) return backWith(c, way, 'away', next);
      const cookie = await pendingLogins.remember({ ...begun.secrets, way, next });
      c.header('set-cookie', loginCookie(cookie, pendingLoginSeconds, isSecure()));
      return c.redirect(begun.address, 303);
    });

    routes.get(callbackPaths[way], async (c) => {
      const cookie = readLoginCookie(c.req.header('cookie'), isSecure());
      const begun = await pendingLogins.find(cookie);
      if (begun?.way !== way) return backWith(c, way, 'over', home);
      const returned = login.readReturned(new URL(c.req.url).searchParams, begun);
      if (returned.kind === 'foreign' || !(await pendingLogins.take(cookie)))
        return backWith(c, way, 'over', begun.next);
      c.header('set-cookie', endedLoginCookie(isSecure()));
      const finished = await returned.finish();
      return finished.ok
        ? enter(c, finished.claims, begun.next)
        : backWith(c, way, finished.problem, begun.next);
    });
  };

  if (phoneLogin !== undefined) {
    addWay('phone', phoneLogin, offersPhone, async (c, { sub: subject }, next) => {
      const result = await operators.logInByOidc(subject);
      return result.kind === 'in'
        ? enterAs(c, result, next)
        : c.html(strangerPage({ subject }), 403);
    });
  }

  if (providerLogin !== undefined) {
    const { login, settings } = providerLogin;
    addWay(
      'provider',
      login,
      async () => true,
      async (c, claims, next) => {
        const result = await operators.logInByProvider(claims);
        switch (result.kind) {
          case 'in':
            return enterAs(c, result, next);
          case 'no-role':
          case 'no-name':
            return c.html(outsiderPage({ person: result, settings }), 403);
          default:
            return backWith(c, 'provider', 'failed', next);
        }
      },
    );
  }

  return routes;
};
