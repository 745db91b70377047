/**
 * Logging in to the console with the phone: to the provider and back (console-login/).
 *
 * What belongs to a login lies in Redis; the browser has a cookie that finds it. An answer counts when this browser has begun
 * that login and only then, so nobody is logged in by a link; and it counts once. An answer that is not to this login changes
 * nothing, or a link could end the logins of others.
 */
import { type Context, Hono } from 'hono';
import { loginProblems } from '../../console-login/login-problem.ts';
import { begunLoginSeconds } from '../../operators/begun-logins.ts';
import { endedLoginCookie, loginCookie, readLoginCookie } from '../../operators/cookie.ts';
import { consoleCallbackPath } from '../../registry/console-client.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { enteredPage, strangerPage } from '../pages/session-pages.ts';
import { letIn } from './let-in.ts';
import { nextPath, nextQuery } from './next-path.ts';
import { offersPhone, phoneLoginPath } from './phone-offer.ts';

type ConsoleContext = Context<ConsoleEnvironment>;

const phoneProblems = [...loginProblems, 'limited'] as const;
type PhoneProblem = (typeof phoneProblems)[number];

/** What the login page has to say: addresses carry the name of a problem, and never the provider's words. */
export const readProblem = (name: string | undefined): PhoneProblem | undefined =>
  phoneProblems.find((problem) => problem === name);

export const createPhoneLoginRoutes = (deps: ConsoleDeps): Hono<ConsoleEnvironment> => {
  const { operators, phoneLogin, addressOf, publicUrl } = deps;
  const { begunLogins } = operators;
  const routes = new Hono<ConsoleEnvironment>();
  if (phoneLogin === undefined) return routes;
  const secure = (): boolean => publicUrl().startsWith('https:');

  const backWith = (c: ConsoleContext, problem: PhoneProblem, next: string): Response =>
    c.redirect(`/admin/login${nextQuery(next, { phone: problem })}`, 303);

  const enter = async (c: ConsoleContext, subject: string, next: string): Promise<Response> => {
    const login = await operators.logInByOidc(subject);
    if (login.kind !== 'in') return c.html(strangerPage({ subject }), 403);
    await letIn(c, deps, login);
    // The session's cookie is not sent along a way that began at another site; our own page leads on without it.
    c.header('refresh', `0;url=${next}`);
    return c.html(enteredPage({ name: login.session.operator.name, next }));
  };

  routes.get(phoneLoginPath, async (c, otherwise) => {
    if (!(await offersPhone(deps))) return otherwise();
    const next = nextPath(c.req.query('next'));
    if (!(await begunLogins.mayBegin(addressOf(c.env?.incoming)))) return backWith(c, 'limited', next);
    const begun = await phoneLogin.begin();
    if (begun === undefined) return backWith(c, 'away', next);
    const cookie = await begunLogins.remember({ ...begun.secrets, next });
    c.header('set-cookie', loginCookie(cookie, begunLoginSeconds, secure()));
    return c.redirect(begun.address, 303);
  });

  routes.get(consoleCallbackPath, async (c) => {
    const cookie = readLoginCookie(c.req.header('cookie'), secure());
    const login = await begunLogins.find(cookie);
    if (login === undefined) return backWith(c, 'over', nextPath(undefined));
    const returned = phoneLogin.readReturned(new URL(c.req.url).searchParams, login);
    if (returned.kind === 'foreign' || !(await begunLogins.take(cookie)))
      return backWith(c, 'over', login.next);
    c.header('set-cookie', endedLoginCookie(secure()));
    const finished = await returned.finish();
    return finished.ok ? enter(c, finished.subject, login.next) : backWith(c, finished.problem, login.next);
  });

  return routes;
};
