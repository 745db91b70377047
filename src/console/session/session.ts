/**
 * Who is asking, before anything below `/admin` is answered.
 *
 * People have a session cookie, programs a bearer token, which is good for the API alone. Whatever changes something needs
 * more than the cookie: the session's token, in the field `csrf` of a form or the header `x-csrf-token`. The queue board
 * is another's program and sends none; there the browser's own word counts that one of our pages asks.
 */
import { createHash } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { readSessionCookie } from '../../operators/cookie.ts';
import { includesRole, type Role } from '../../operators/operator.ts';
import { refuse } from '../api/answers.ts';
import type { ConsoleDeps, ConsoleEnvironment, ConsoleSession } from '../deps.ts';
import { messagePage } from '../pages/session-pages.ts';
import { isApi, isBoard } from './paths.ts';
import { originOf } from './same-origin.ts';

type ConsoleContext = Context<ConsoleEnvironment>;

const isPublic = (path: string): boolean =>
  path === '/admin/login' || path.startsWith('/admin/login/') || path.startsWith('/admin/assets/');

const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD';

const tokenOf = (authorization: string | undefined): string | undefined =>
  /^bearer +([\x21-\x7e]{1,200})$/i.exec(authorization ?? '')?.[1];

const csrfOf = async (c: ConsoleContext): Promise<string | undefined> => {
  const header = c.req.header('x-csrf-token');
  if (header !== undefined) return header;
  const type = c.req.header('content-type') ?? '';
  if (!type.startsWith('application/x-www-form-urlencoded')) return undefined;
  const { csrf } = await c.req.parseBody();
  return typeof csrf === 'string' ? csrf : undefined;
};

const forbidden = (c: ConsoleContext, message: string, code = 'forbidden'): Response =>
  isApi(c.req.path)
    ? refuse(403, code, message)
    : c.html(messagePage({ title: 'Not allowed', text: message, status: 403 }), 403);

export const createSessionCheck = ({
  operators,
  publicUrl,
}: ConsoleDeps): MiddlewareHandler<ConsoleEnvironment> => {
  const byToken = async (token: string): Promise<ConsoleSession | undefined> => {
    const operator = await operators.tokens.verify(token);
    const id = createHash('sha256').update(token).digest('base64url').slice(0, 22);
    return operator && { operator, csrf: '', id };
  };

  return async (c, next) => {
    const { path, method } = c.req;
    if (isPublic(path)) return next();
    const token = path.startsWith('/admin/api/') ? tokenOf(c.req.header('authorization')) : undefined;
    if (token !== undefined) {
      const session = await byToken(token);
      if (session === undefined) return refuse(401, 'unauthorized', 'The token is not, or no longer, good');
      c.set('session', session);
      return next();
    }
    const found = await operators.sessionOf(readSessionCookie(c.req.header('cookie')));
    if (found === undefined) {
      if (isApi(path)) return refuse(401, 'unauthorized', 'Log in first');
      const { pathname, search } = new URL(c.req.url);
      const wanted = isSafe(method) && pathname !== '/admin' ? `${pathname}${search}` : undefined;
      return c.redirect(`/admin/login${wanted ? `?next=${encodeURIComponent(wanted)}` : ''}`, 303);
    }
    if (!isSafe(method)) {
      const proven = isBoard(path)
        ? originOf((name) => c.req.header(name), publicUrl()) === 'ours'
        : operators.checkCsrf(found, await csrfOf(c));
      if (!proven) return forbidden(c, 'The form is too old; load the page again', 'csrf');
    }
    c.set('session', { operator: found.operator, csrf: operators.csrfTokenOf(found), id: found.id });
    return next();
  };
};

/** For routes that not everybody who is logged in may use. */
export const needs =
  (role: Role): MiddlewareHandler<ConsoleEnvironment> =>
  async (c, next) =>
    includesRole(c.get('session').operator.role, role) ? next() : forbidden(c, `This needs the role ${role}`);
