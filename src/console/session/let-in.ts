/** The end of every login: the browser gets its session, and the one that it came with is over. */
import type { Context } from 'hono';
import { readSessionCookie, sessionCookie } from '../../operators/cookie.ts';
import type { LoginResult } from '../../operators/logins.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';

export const letIn = async (
  c: Context<ConsoleEnvironment>,
  { operators, publicUrl }: Pick<ConsoleDeps, 'operators' | 'publicUrl'>,
  { cookie }: Extract<LoginResult, { kind: 'in' }>,
): Promise<void> => {
  // Its cookie is about to be replaced: nobody could end it any more.
  const earlier = await operators.sessionOf(readSessionCookie(c.req.header('cookie')));
  if (earlier !== undefined) await operators.logOut(earlier);
  c.header('set-cookie', sessionCookie(cookie, publicUrl().startsWith('https:')), { append: true });
};
