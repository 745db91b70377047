/**
 * Checks the session of every request below `/admin`, and sets the headers of the answers.
 *
 * People have a session cookie, programs a bearer token for the API. An unsafe request also needs
 * the session's CSRF token, in the field `csrf` of a form or the header `x-csrf-token`.
 */
import { createHash } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { pageHeaders } from '../../http/pages/headers.ts';
import { refuse } from '../answers.ts';
import type { ConsoleDeps, ConsoleEnvironment, ConsoleSession } from '../deps.ts';
import { readForm } from '../input.ts';
import { demanding } from '../openapi.ts';
import { readSessionCookie } from '../operators/cookie.ts';
import { includesRole, type Role } from '../operators/operator.ts';
import { usualView } from '../operators/views.ts';
import { queryOf } from '../pages/markup.ts';
import { forbiddenPage } from '../pages/session-pages.ts';

type ConsoleContext = Context<ConsoleEnvironment>;

const isBoard = (path: string): boolean =>
  path === '/admin/queues' || path.startsWith('/admin/queues/');

/** Whether a path is one of programs. */
export const isApi = (path: string): boolean =>
  path.startsWith('/admin/api/') || path.startsWith('/admin/queues/api/');

/** The policy of the board: only its own files. It highlights JSON in a worker. */
const boardPolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; worker-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'self'";

/**
 * Sets the headers of the provider's pages. The board may also load images and use relative
 * addresses.
 */
export const consoleHeaders: MiddlewareHandler<ConsoleEnvironment> = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(pageHeaders)) {
    // Assets set these two themselves.
    const keeps = name === 'cache-control' || name === 'content-security-policy';
    if (!keeps || !c.res.headers.has(name)) c.res.headers.set(name, value);
  }
  // Without a referrer a browser sends `Origin: null` with our forms (Fetch Standard, 3.2).
  c.res.headers.set('referrer-policy', 'same-origin');
  if (isBoard(c.req.path)) c.res.headers.set('content-security-policy', boardPolicy);
};

const isPublic = (path: string): boolean =>
  path === '/admin/login' || path.startsWith('/admin/login/') || path.startsWith('/admin/assets/');

const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD';

const readBearer = (authorization: string | undefined): string | undefined =>
  /^bearer +([\x21-\x7e]{1,200})$/i.exec(authorization ?? '')?.[1];

const readCsrf = async (c: ConsoleContext): Promise<string | undefined> => {
  const header = c.req.header('x-csrf-token');
  if (header !== undefined) return header;
  const type = c.req.header('content-type') ?? '';
  if (!type.startsWith('application/x-www-form-urlencoded')) return undefined;
  return (await readForm(c)).csrf;
};

const forbidden = (c: ConsoleContext, message: string, code = 'forbidden'): Response =>
  isApi(c.req.path) ? refuse(403, code, message) : c.html(forbiddenPage(message), 403);

export const createSessionCheck = ({
  operators,
  frame,
  now,
}: ConsoleDeps): MiddlewareHandler<ConsoleEnvironment> => {
  const byToken = async (token: string): Promise<ConsoleSession | undefined> => {
    const operator = await operators.tokens.verify(token);
    const id = createHash('sha256').update(token).digest('base64url').slice(0, 22);
    return operator && { operator, csrf: '', id, view: usualView, frame, at: now() };
  };

  return async (c, next) => {
    const { path, method } = c.req;
    if (isPublic(path)) return next();
    const token = path.startsWith('/admin/api/')
      ? readBearer(c.req.header('authorization'))
      : undefined;
    if (token !== undefined) {
      const session = await byToken(token);
      if (session === undefined)
        return refuse(401, 'unauthorized', 'The token is not, or no longer, good');
      c.set('session', session);
      return next();
    }
    const found = await operators.sessionOf(readSessionCookie(c.req.header('cookie')));
    if (found === undefined) {
      if (isApi(path)) return refuse(401, 'unauthorized', 'Log in first');
      const { pathname, search } = new URL(c.req.url);
      const wanted = isSafe(method) && pathname !== '/admin' ? `${pathname}${search}` : undefined;
      return c.redirect(`/admin/login${queryOf({ next: wanted })}`, 303);
    }
    const isPosted = !isSafe(method);
    if (isPosted && !operators.checkCsrf(found, await readCsrf(c)))
      return forbidden(c, 'The form is too old; load the page again', 'csrf');
    const { operator, id } = found;
    const view =
      isApi(path) || isBoard(path) ? usualView : await operators.views.read(operator.name);
    c.set('session', {
      operator,
      csrf: operators.csrfTokenOf(found),
      id,
      view,
      frame,
      at: now(),
      isPosted,
    });
    return next();
  };
};

/** The middleware of routes that need a role. */
export const needs = (role: Role): MiddlewareHandler<ConsoleEnvironment> =>
  demanding({ role }, async (c, next) =>
    includesRole(c.get('session').operator.role, role)
      ? next()
      : forbidden(c, `This needs the role ${role}`),
  );
