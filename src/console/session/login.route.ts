/**
 * Login and logout: by password, by link, and with the phone over the provider (console-login/).
 *
 * A login link opens a page with a button, because programs that preview links would use it up
 * otherwise. The forms of a login have no session and so no CSRF token; the browser's headers say
 * where they come from.
 *
 * The state of a login with the phone is in Redis; a cookie of the browser refers to it. An answer
 * counts once, and only in the browser that began that login, so that no link can log anybody in.
 * An answer to another login changes nothing, so that no link can end a login.
 */
import { type Context, Hono } from 'hono';
import { loginProblems } from '../../console-login/login-problem.ts';
import {
  endedLoginCookie,
  endedSessionCookie,
  loginCookie,
  readLoginCookie,
  readSessionCookie,
  sessionCookie,
} from '../../operators/cookie.ts';
import type { LoginResult } from '../../operators/logins.ts';
import { pendingLoginSeconds } from '../../operators/pending-logins.ts';
import { readOrigin } from '../../pages/form.ts';
import { consoleCallbackPath } from '../../registry/console-client.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { readForm } from '../input.ts';
import { queryOf } from '../pages/markup.ts';
import {
  enteredPage,
  type LoginModel,
  linkPage,
  loginPage,
  messagePage,
  strangerPage,
} from '../pages/session-pages.ts';

type ConsoleContext = Context<ConsoleEnvironment>;

/** The page after a login, unless another one was wanted. */
const home = '/admin';
const phoneLoginPath = '/admin/login/oidc';

/** The page after a login: only pages of the console. */
export const nextPath = (wanted: string | undefined): string => {
  if (wanted === undefined || !/^\/admin(?![\w-])[\x21-\x7e]{0,1000}$/.test(wanted)) return home;
  const { origin, pathname, search } = new URL(wanted, 'http://console.invalid');
  const isOurs = origin === 'http://console.invalid' && /^\/admin(?:\/|$)/.test(pathname);
  return isOurs && !/^\/admin\/(?:login|logout|api)/.test(pathname) ? `${pathname}${search}` : home;
};

const nextField = (next: string): string | undefined => (next === home ? undefined : next);

const phoneProblems = [...loginProblems, 'limited'] as const;
type PhoneProblem = (typeof phoneProblems)[number];

const statusOf = { wrong: 401, limited: 429, expired: 401 } as const;
type Problem = keyof typeof statusOf;

export const createLoginRoutes = (deps: ConsoleDeps): Hono<ConsoleEnvironment> => {
  const { operators, phoneLogin, addressOf, publicUrl, sandbox } = deps;
  const routes = new Hono<ConsoleEnvironment>();
  const isSecure = (): boolean => publicUrl().startsWith('https:');
  const sessionIn = (c: ConsoleContext) => operators.sessionOf(readSessionCookie(c.req.header('cookie')));

  /**
   * Without a user who has a phone, the page would only let strangers send prompts to phones. A
   * sandbox offers it always.
   */
  const offersPhone = async (): Promise<boolean> =>
    phoneLogin !== undefined &&
    (sandbox || (await operators.users.list()).some(({ oidcSubject }) => oidcSubject !== undefined));

  const showLogin = async (
    c: ConsoleContext,
    next: string,
    problem?: LoginModel['problem'],
    status: 200 | 401 | 429 = 200,
  ) => {
    // At the public address: the provider redirects there, so the cookie must belong to it.
    const phoneAddress = `${publicUrl()}${phoneLoginPath}${queryOf({ next: nextField(next) })}`;
    const offered = (await offersPhone()) ? phoneAddress : undefined;
    return c.html(loginPage({ next: nextField(next), problem, phoneAddress: offered, sandbox }), status);
  };

  const refuseForeign = (c: ConsoleContext): Response | undefined => {
    if (readOrigin(c, publicUrl()) !== 'other') return undefined;
    return c.html(messagePage(403, 'Not from this page', 'Open the login page and try again.'), 403);
  };

  /** Ends an earlier session of the browser, because its cookie is replaced. */
  const startSession = async (c: ConsoleContext, cookie: string): Promise<void> => {
    const earlier = await sessionIn(c);
    if (earlier !== undefined) await operators.logOut(earlier);
    c.header('set-cookie', sessionCookie(cookie, isSecure()), { append: true });
  };

  /** @returns A redirect after a login, otherwise the login page. */
  const enter = async (
    c: ConsoleContext,
    login: LoginResult,
    next: string,
    refused: Problem,
  ): Promise<Response> => {
    if (login.kind === 'in') {
      await startSession(c, login.cookie);
      return c.redirect(next, 303);
    }
    const problem = login.kind === 'refused' ? refused : 'limited';
    return showLogin(c, next, problem, statusOf[problem]);
  };

  // The address has the name of an error, never the text of the provider.
  routes.get('/admin/login', (c) => {
    const problem = phoneProblems.find((each) => each === c.req.query('phone'));
    return showLogin(c, nextPath(c.req.query('next')), problem);
  });

  routes.post('/admin/login', async (c) => {
    const refused = refuseForeign(c);
    if (refused !== undefined) return refused;
    const { name = '', password = '', next } = await readForm(c);
    const address = addressOf(c.env?.incoming);
    const login = { name: name.trim().toLowerCase(), password, address };
    return enter(c, await operators.logInByPassword(login), nextPath(next), 'wrong');
  });

  routes.get('/admin/login/link', (c) => c.html(linkPage({ token: c.req.query('token') ?? '' })));

  routes.post('/admin/login/link', async (c) => {
    const refused = refuseForeign(c);
    if (refused !== undefined) return refused;
    const { token = '' } = await readForm(c);
    return enter(c, await operators.logInByLink(token, addressOf(c.env?.incoming)), home, 'expired');
  });

  // The session check has run before, with its CSRF token.
  routes.post('/admin/logout', async (c) => {
    const session = await sessionIn(c);
    if (session !== undefined) await operators.logOut(session);
    c.header('set-cookie', endedSessionCookie(isSecure()));
    return c.redirect('/admin/login', 303);
  });

  if (phoneLogin === undefined) return routes;
  const { pendingLogins } = operators;

  const backWith = (c: ConsoleContext, phone: PhoneProblem, next: string): Response =>
    c.redirect(`/admin/login${queryOf({ phone, next: nextField(next) })}`, 303);

  const enterAs = async (c: ConsoleContext, subject: string, next: string): Promise<Response> => {
    const result = await operators.logInByOidc(subject);
    if (result.kind !== 'in') return c.html(strangerPage({ subject }), 403);
    await startSession(c, result.cookie);
    // The cookie is not sent in a redirect chain from another site, so our own page leads on.
    c.header('refresh', `0;url=${next}`);
    return c.html(enteredPage({ name: result.session.operator.name, next }));
  };

  routes.get(phoneLoginPath, async (c, otherwise) => {
    if (!(await offersPhone())) return otherwise();
    const next = nextPath(c.req.query('next'));
    if (!(await pendingLogins.mayBegin(addressOf(c.env?.incoming)))) return backWith(c, 'limited', next);
    const begun = await phoneLogin.begin();
    if (begun === undefined) return backWith(c, 'away', next);
    const cookie = await pendingLogins.remember({ ...begun.secrets, next });
    c.header('set-cookie', loginCookie(cookie, pendingLoginSeconds, isSecure()));
    return c.redirect(begun.address, 303);
  });

  routes.get(consoleCallbackPath, async (c) => {
    const cookie = readLoginCookie(c.req.header('cookie'), isSecure());
    const begun = await pendingLogins.find(cookie);
    if (begun === undefined) return backWith(c, 'over', home);
    const returned = phoneLogin.readReturned(new URL(c.req.url).searchParams, begun);
    if (returned.kind === 'foreign' || !(await pendingLogins.take(cookie)))
      return backWith(c, 'over', begun.next);
    c.header('set-cookie', endedLoginCookie(isSecure()));
    const finished = await returned.finish();
    return finished.ok ? enterAs(c, finished.subject, begun.next) : backWith(c, finished.problem, begun.next);
  });

  return routes;
};
