/** Bearer tokens over the API: one's own, and for admins everybody's. */
import { Hono } from 'hono';
import { includesRole } from '../../operators/operator.ts';
import { mostTokens } from '../../operators/tokens.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { answer, refuse } from './answers.ts';
import { readJson, tokenBody } from './input.ts';

const refusals = {
  unknown: [404, 'unknown', 'There is no such user'],
  'too-many': [409, 'too-many', `The user has ${mostTokens} tokens; end one first`],
  'by-token': [403, 'forbidden', 'A token makes no tokens: log in to make one'],
  'too-often': [429, 'too-often', 'You have made many tokens just now; wait a minute'],
} as const;

export const createTokenRoutes = ({
  operators: { tokens },
}: Pick<ConsoleDeps, 'operators'>): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();

  routes.post('/users/:name/tokens', async (c) => {
    const { operator } = c.get('session');
    const name = c.req.param('name');
    if (name !== operator.name && !includesRole(operator.role, 'admin')) {
      return refuse(403, 'forbidden', 'This needs the role admin');
    }
    const body = await readJson(c, tokenBody);
    if (!body.ok) return body.response;
    const issued = await tokens.issue(operator, { name, ...body.value });
    if ('refused' in issued) {
      const [status, code, message] = refusals[issued.refused];
      return refuse(status, code, message);
    }
    return answer({ token: issued.token, ...issued.view }, 201);
  });

  routes.get('/tokens', async (c) => answer({ tokens: await tokens.list(c.get('session').operator) }));

  routes.delete('/tokens/:id', async (c) => {
    const result = await tokens.revoke(c.get('session').operator, c.req.param('id'));
    return result === 'revoked' ? answer({ result }) : refuse(404, 'unknown', 'There is no such token');
  });

  return routes;
};
