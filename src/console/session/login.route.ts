/**
 * Logging in and out of the console.
 *
 * A login link is shown as a page with a button before it is used: programs that preview links would use it up otherwise. The
 * forms of a login have no session yet and so no token; that they come from a page of ours is told by the browser.
 */
import { type Context, Hono } from 'hono';
import { endedSessionCookie, readSessionCookie } from '../../operators/cookie.ts';
import type { LoginResult } from '../../operators/logins.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { readForm } from '../pages/form.ts';
import { type LoginModel, linkPage, loginPage, messagePage } from '../pages/session-pages.ts';
import { letIn } from './let-in.ts';
import { home, nextPath } from './next-path.ts';
import { createPhoneLoginRoutes, readProblem } from './phone-login.route.ts';
import { offersPhone, phoneLoginAddress } from './phone-offer.ts';
import { originOf } from './same-origin.ts';

type Problem = 'wrong' | 'limited' | 'expired';

const statusOf = { wrong: 401, limited: 429, expired: 401 } as const;

export const createLoginRoutes = (deps: ConsoleDeps): Hono<ConsoleEnvironment> => {
  const { operators, addressOf, publicUrl } = deps;
  const routes = new Hono<ConsoleEnvironment>();
  const secure = (): boolean => publicUrl().startsWith('https:');

  const showLogin = async (
    c: Context<ConsoleEnvironment>,
    next: string,
    problem?: LoginModel['problem'],
    status: 200 | 401 | 429 = 200,
  ) =>
    c.html(
      loginPage({
        next: next === home ? undefined : next,
        problem,
        phoneAddress: (await offersPhone(deps)) ? phoneLoginAddress(publicUrl(), next) : undefined,
      }),
      status,
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
  const enter = async (
    c: Context<ConsoleEnvironment>,
    result: LoginResult,
    next: string,
  ): Promise<Response | Problem> => {
    switch (result.kind) {
      case 'in':
        await letIn(c, deps, result);
        return c.redirect(next, 303);
      case 'refused':
        return 'wrong';
      case 'too-many':
      case 'busy':
        return 'limited';
    }
  };

  routes.get('/admin/login', (c) =>
    showLogin(c, nextPath(c.req.query('next')), readProblem(c.req.query('phone'))),
  );

  routes.post('/admin/login', async (c) => {
    const refused = foreign(c);
    if (refused !== undefined) return refused;
    const field = await readForm(c);
    const next = nextPath(field('next'));
    const address = addressOf(c.env?.incoming);
    const name = (field('name') ?? '').trim().toLowerCase();
    const login = { name, password: field('password') ?? '', address };
    const entered = await enter(c, await operators.logInByPassword(login), next);
    return typeof entered === 'string' ? showLogin(c, next, entered, statusOf[entered]) : entered;
  });

  routes.get('/admin/login/link', (c) => c.html(linkPage({ token: c.req.query('token') ?? '' })));

  routes.post('/admin/login/link', async (c) => {
    const refused = foreign(c);
    if (refused !== undefined) return refused;
    const field = await readForm(c);
    const token = field('token') ?? '';
    const entered = await enter(c, await operators.logInByLink(token, addressOf(c.env?.incoming)), home);
    if (typeof entered !== 'string') return entered;
    const problem = entered === 'wrong' ? 'expired' : entered;
    return showLogin(c, home, problem, statusOf[problem]);
  });

  routes.route('/', createPhoneLoginRoutes(deps));

  // Behind the session's own check, token and all.
  routes.post('/admin/logout', async (c) => {
    const session = await operators.sessionOf(readSessionCookie(c.req.header('cookie')));
    if (session !== undefined) await operators.logOut(session);
    c.header('set-cookie', endedSessionCookie(secure()));
    return c.redirect('/admin/login', 303);
  });

  return routes;
};
