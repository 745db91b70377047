/**
 * Logging in and out of the console: by password, by link, and with the phone over the provider (console-login/).
 *
 * A login link is shown as a page with a button before it is used: programs that preview links would use it up otherwise. The
 * forms of a login have no session yet and so no token; that they come from a page of ours is told by the browser.
 *
 * What belongs to a login with the phone lies in Redis; the browser has a cookie that finds it. An answer counts when this browser
 * has begun that login and only then, so nobody is logged in by a link; and it counts once. An answer that is not to this login
 * changes nothing, or a link could end the logins of others.
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
import { originOf } from './session.ts';

type ConsoleContext = Context<ConsoleEnvironment>;

/** Where logins lead unless somebody was on the way to another page. */
const home = '/admin';
const maxNextLength = 1000;
const phoneLoginPath = '/admin/login/oidc';

/** Where a login leads: a page of the console and nothing else. */
export const nextPath = (wanted: string | undefined): string => {
  if (
    wanted === undefined ||
    wanted.length > maxNextLength ||
    !/^\/admin(?![\w-])[\x21-\x7e]*$/.test(wanted)
  ) {
    return home;
  }
  const { origin, pathname, search } = new URL(wanted, 'http://console.invalid');
  const isOurs = origin === 'http://console.invalid' && /^\/admin(?:\/|$)/.test(pathname);
  return isOurs && !/^\/admin\/(?:login|logout|api)/.test(pathname) ? `${pathname}${search}` : home;
};

/** For an address that leads on to `next`. */
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
   * The login with the phone needs somebody who is known by a phone: without one it would only be a page from which strangers
   * have phones ring. In a sandbox it can be tried out.
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
    // At the public address, where the provider sends people back to and the cookie of the login must therefore be.
    const phoneAddress = `${publicUrl()}${phoneLoginPath}${queryOf({ next: nextField(next) })}`;
    const offered = (await offersPhone()) ? phoneAddress : undefined;
    return c.html(loginPage({ next: nextField(next), problem, phoneAddress: offered }), status);
  };

  const refuseForeign = (c: ConsoleContext): Response | undefined => {
    if (originOf(c, publicUrl()) !== 'other') return undefined;
    return c.html(messagePage(403, 'Not from this page', 'Open the login page and try again.'), 403);
  };

  /** The browser gets its session, and the one that it came with is over: its cookie is about to be replaced. */
  const letIn = async (c: ConsoleContext, cookie: string): Promise<void> => {
    const earlier = await sessionIn(c);
    if (earlier !== undefined) await operators.logOut(earlier);
    c.header('set-cookie', sessionCookie(cookie, isSecure()), { append: true });
  };

  /** @returns A redirect for who is in, otherwise the login page. */
  const enter = async (
    c: ConsoleContext,
    login: LoginResult,
    next: string,
    refused: Problem,
  ): Promise<Response> => {
    if (login.kind === 'in') {
      await letIn(c, login.cookie);
      return c.redirect(next, 303);
    }
    const problem = login.kind === 'refused' ? refused : 'limited';
    return showLogin(c, next, problem, statusOf[problem]);
  };

  // Addresses carry the name of a problem, and never the provider's words.
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

  // Behind the session's own check, token and all.
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
    await letIn(c, result.cookie);
    // The session's cookie is not sent along a way that began at another site; our own page leads on without it.
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
