/** The page of bearer tokens: everybody's own, and for admins all of them. */
import { type Context, Hono } from 'hono';
import { includesRole } from '../../operators/operator.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { readForm } from './form.ts';
import { readNotice } from './notices.ts';
import { longestTokenLabel, mostTokenDays, type TokensModel, tokensPage } from './tokens-page.ts';

const problemOf = {
  unknown: 'owner',
  'by-token': 'owner',
  'too-many': 'too-many',
  'too-often': 'too-often',
} as const satisfies Record<string, TokensModel['problem']>;

export const createTokenPages = ({
  operators: { tokens, users },
}: Pick<ConsoleDeps, 'operators'>): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();

  /** Whoever is in by a link is an admin and no user, so there is no token that would act for them. */
  const ownersFor = async (c: Context<ConsoleEnvironment>): Promise<readonly string[]> => {
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
    const [owners, seen] = await Promise.all([ownersFor(c), tokens.list(session.operator)]);
    return c.html(tokensPage({ session, tokens: seen, owners, ...more }), status);
  };

  routes.get('/admin/tokens', (c) => show(c, { notice: readNotice(c.req.query('notice')) }));

  routes.post('/admin/tokens', async (c) => {
    const form = await readForm(c);
    const name = form('name') ?? '';
    const label = (form('label') ?? '').trim();
    const days = Number(form('days'));
    if (!(await ownersFor(c)).includes(name)) return show(c, { problem: 'owner' }, 422);
    if (label === '' || label.length > longestTokenLabel) return show(c, { problem: 'label' }, 422);
    if (!Number.isInteger(days) || days < 1 || days > mostTokenDays) return show(c, { problem: 'days' }, 422);
    const issued = await tokens.issue(c.get('session').operator, { name, label, days });
    return 'refused' in issued
      ? show(c, { problem: problemOf[issued.refused] }, 422)
      : show(c, { secret: { name, token: issued.token } });
  });

  routes.post('/admin/tokens/:id/revoke', async (c) => {
    const result = await tokens.revoke(c.get('session').operator, c.req.param('id'));
    return c.redirect(`/admin/tokens?notice=token-${result}`, 303);
  });

  return routes;
};
