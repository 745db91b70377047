/** Bearer tokens: the user's own, for an admin all. Page and API. */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { type AdminRefusal, answer, refuse } from './answers.ts';
import type { ConsoleDeps, ConsoleEnvironment } from './deps.ts';
import { json, readForm, text } from './input.ts';
import { includesRole } from './operators/operator.ts';
import { type IssuedToken, maxTokens } from './operators/tokens.ts';
import { isConfirmed } from './pages/confirm-page.ts';
import { readNotice } from './pages/notices.ts';
import {
  endTokenPage,
  maxTokenDays,
  maxTokenLabel,
  type TokensModel,
  tokensPage,
} from './pages/tokens-page.ts';

const newToken = z.strictObject({
  label: text(maxTokenLabel).default('API'),
  days: z.number().min(0.01).max(maxTokenDays).default(90),
});

const refusals: Readonly<
  Record<Extract<IssuedToken, { refused: unknown }>['refused'], AdminRefusal>
> = {
  unknown: [404, 'unknown', 'There is no such user'],
  'too-many': [409, 'too-many', `The user has ${maxTokens} tokens; end one first`],
  'by-token': [403, 'forbidden', 'A token makes no tokens: log in to make one'],
  'too-often': [429, 'too-often', 'You have made many tokens just now; wait a minute'],
};

export const createTokenRoutes = ({
  operators: { tokens, users },
}: Pick<ConsoleDeps, 'operators'>): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();

  routes.post('/admin/api/users/:name/tokens', json(newToken), async (c) => {
    const { operator } = c.get('session');
    const name = c.req.param('name');
    if (name !== operator.name && !includesRole(operator.role, 'admin')) {
      return refuse(403, 'forbidden', 'This needs the role admin');
    }
    const issued = await tokens.issue(operator, { name, ...c.req.valid('json') });
    return 'refused' in issued
      ? refuse(...refusals[issued.refused])
      : answer({ token: issued.token, ...issued.view }, 201);
  });

  routes.get('/admin/api/tokens', async (c) =>
    answer({ tokens: await tokens.list(c.get('session').operator) }),
  );

  routes.delete('/admin/api/tokens/:id', async (c) => {
    const result = await tokens.revoke(c.get('session').operator, c.req.param('id'));
    return result === 'revoked'
      ? answer({ result })
      : refuse(404, 'unknown', 'There is no such token');
  });

  /**
   * The possible owners of a token. An admin who is logged in by a link is not a user, and no
   * owner.
   */
  const listOwners = async (c: Context<ConsoleEnvironment>): Promise<readonly string[]> => {
    const { name, role } = c.get('session').operator;
    const names = (await users.list()).map((user) => user.name);
    return includesRole(role, 'admin') ? names : names.filter((each) => each === name);
  };

  const show = async (
    c: Context<ConsoleEnvironment>,
    more: Pick<TokensModel, 'notice' | 'problem' | 'secret'>,
    status: 200 | 422 = 200,
  ) => {
    const session = c.get('session');
    const [owners, seen] = await Promise.all([listOwners(c), tokens.list(session.operator)]);
    return c.html(tokensPage({ session, tokens: seen, owners, ...more }), status);
  };

  routes.get('/admin/tokens', (c) => show(c, { notice: readNotice(c.req.query('notice')) }));

  routes.post('/admin/tokens', async (c) => {
    const form = await readForm(c);
    const { name = '' } = form;
    const label = (form.label ?? '').trim();
    const days = Number(form.days);
    if (!(await listOwners(c)).includes(name)) return show(c, { problem: 'unknown' }, 422);
    if (label === '' || label.length > maxTokenLabel) return show(c, { problem: 'label' }, 422);
    if (!Number.isInteger(days) || days < 1 || days > maxTokenDays)
      return show(c, { problem: 'days' }, 422);
    const issued = await tokens.issue(c.get('session').operator, { name, label, days });
    return 'refused' in issued
      ? show(c, { problem: issued.refused }, 422)
      : show(c, { secret: { name, token: issued.token } });
  });

  routes.post('/admin/tokens/:id/revoke', async (c) => {
    const session = c.get('session');
    const id = c.req.param('id');
    if (!isConfirmed(await readForm(c))) {
      const token = (await tokens.list(session.operator)).find((each) => each.id === id);
      if (token !== undefined) return c.html(endTokenPage(session, token));
    }
    const result = await tokens.revoke(session.operator, id);
    return c.redirect(`/admin/tokens?notice=token-${result}`, 303);
  });

  return routes;
};
