/**
 * Logging in and out of the console.
 *
 * A login link is shown as a page with a button before it is used: programs that preview links would use it up otherwise. The
 * forms of a login have no session yet and so no token; that they come from a page of ours is told by the browser.
 */
import { type Context, Hono } from 'hono';
import { endedSessionCookie, readSessionCookie, sessionCookie } from '../../operators/cookie.ts';
import type { LoginResult } from '../../operators/operators.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { readForm } from '../pages/form.ts';
import { linkPage, loginPage, messagePage } from '../pages/session-pages.ts';
import { originOf } from './same-origin.ts';

type Problem = 'wrong' | 'limited' | 'expired';

const home = '/admin';
const longestNext = 1000;

/** Where a login leads: a page of the console and nothing else. */
export const nextPath = (wanted: string | undefined): string => {
  if (wanted === undefined || wanted.length > longestNext || !/^\/admin(?![\w-])[\x21-\x7e]*$/.test(wanted)) {
    return home;
  }
  const { origin, pathname, search } = new URL(wanted, 'http://console.invalid');
  const isOurs = origin === 'http://console.invalid' && /^\/admin(?:\/|$)/.test(pathname);
  return isOurs && !/^\/admin\/(?:login|logout|api)/.test(pathname) ? `${pathname}${search}` : home;
};

const statusOf = { wrong: 401, limited: 429, expired: 401 } as const;

export const createLoginRoutes = (deps: ConsoleDeps): Hono<ConsoleEnvironment> => {
  const { operators, addressOf, publicUrl } = deps;
  const routes = new Hono<ConsoleEnvironment>();
  const secure = (): boolean => publicUrl().startsWith('https:');

  const showLogin = (c: Context<ConsoleEnvironment>, next: string, problem?: Problem) =>
    c.html(
      loginPage({ oidc: false, ...(next !== home && { next }), ...(problem !== undefined && { problem }) }),
      problem === undefined ? 200 : statusOf[problem],
    );

  const foreign = (c: Context<ConsoleEnvironment>): Response | undefined =>
    originOf((name) => c.req.header(name), publicUrl()) === 'other'
      ? c.html(
          messagePage({
            title: 'Not from this page',
            text: 'Open the login page and try again.',
            status: 403,
          }),
          403,
        )
      : undefined;

  /** @returns A redirect for who is in, otherwise what was wrong. */
  const enter = (c: Context<ConsoleEnvironment>, result: LoginResult, next: string): Response | Problem => {
    switch (result.kind) {
      case 'in':
        c.header('set-cookie', sessionCookie(result.cookie, secure()));
        return c.redirect(next, 303);
      case 'refused':
        return 'wrong';
      case 'too-many':
      case 'busy':
        return 'limited';
    }
  };

  routes.get('/admin/login', (c) => showLogin(c, nextPath(c.req.query('next'))));

  routes.post('/admin/login', async (c) => {
    const refused = foreign(c);
    if (refused !== undefined) return refused;
    const field = await readForm(c);
    const next = nextPath(field('next'));
    const address = addressOf(c.env?.incoming);
    const name = (field('name') ?? '').trim().toLowerCase();
    const login = { name, password: field('password') ?? '', address };
    const entered = enter(c, await operators.logInByPassword(login), next);
    return typeof entered === 'string' ? showLogin(c, next, entered) : entered;
  });

  routes.get('/admin/login/link', (c) => c.html(linkPage({ token: c.req.query('token') ?? '' })));

  routes.post('/admin/login/link', async (c) => {
    const refused = foreign(c);
    if (refused !== undefined) return refused;
    const field = await readForm(c);
    const token = field('token') ?? '';
    const entered = enter(c, await operators.logInByLink(token, addressOf(c.env?.incoming)), home);
    if (typeof entered !== 'string') return entered;
    return showLogin(c, home, entered === 'wrong' ? 'expired' : entered);
  });

  // Behind the session's own check, token and all.
  routes.post('/admin/logout', async (c) => {
    const session = await operators.sessionOf(readSessionCookie(c.req.header('cookie')));
    if (session !== undefined) await operators.logOut(session);
    c.header('set-cookie', endedSessionCookie(secure()));
    return c.redirect('/admin/login', 303);
  });

  return routes;
};
