/** The people who run the service, and their tokens, over the API. */
import { randomBytes } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { includesRole } from '../../operators/operator.ts';
import type { User } from '../../operators/users.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { needs } from '../session/session.ts';
import { answer, refuse } from './answers.ts';
import { readJson, roleBody, tokenBody, userBody } from './input.ts';

const objections = {
  'bad-name': 'name must be 1 to 64 lower-case letters, digits, ., _, @ or -',
  'bad-password': 'password must have at least 12 characters',
  'bad-subject': 'oidcSubject must have 1 to 255 characters',
  'no-way-in': 'password or oidcSubject is needed',
} as const;

const shown = ({ name, role, origin, passwordHash, oidcSubject }: User): object => ({
  name,
  role,
  origin,
  password: passwordHash !== undefined,
  oidc: oidcSubject !== undefined,
});

const presentChange = (result: 'changed' | 'unknown' | 'configured'): Response => {
  switch (result) {
    case 'changed':
      return answer({ result });
    case 'unknown':
      return refuse(404, 'unknown', 'There is no such user');
    case 'configured':
      return refuse(409, 'configured', 'The user stands in the configuration file and is changed there');
  }
};

const passwordBytes = 15;

export const createUserRoutes = ({ operators }: ConsoleDeps): Hono<ConsoleEnvironment> => {
  const { users, tokens } = operators;
  const routes = new Hono<ConsoleEnvironment>();

  /** Nobody locks themselves out by mistake. */
  const oneself = (c: Context<ConsoleEnvironment>): Response | undefined =>
    c.req.param('name') === c.get('session').operator.name
      ? refuse(409, 'oneself', 'Somebody else has to change this user')
      : undefined;

  routes.get('/users', needs('admin'), async () => answer({ users: (await users.list()).map(shown) }));

  routes.post('/users', needs('admin'), async (c) => {
    const body = await readJson(c, userBody);
    if (!body.ok) return body.response;
    const { name, role, oidcSubject } = body.value;
    const noWayIn = body.value.password === undefined && oidcSubject === undefined;
    const made = noWayIn ? randomBytes(passwordBytes).toString('base64url') : undefined;
    const password = body.value.password ?? made;
    const result = await users.add(c.get('session').operator, { name, role, password, oidcSubject });
    switch (result) {
      case 'added':
        return answer({ name, role, ...(made !== undefined && { password: made }) }, 201);
      case 'exists':
        return refuse(409, 'exists', 'name or oidcSubject is taken');
      default:
        return refuse(400, 'bad-request', objections[result]);
    }
  });

  routes.put('/users/:name/role', needs('admin'), async (c) => {
    const body = await readJson(c, roleBody);
    if (!body.ok) return body.response;
    const { operator } = c.get('session');
    return oneself(c) ?? presentChange(await users.setRole(operator, c.req.param('name'), body.value.role));
  });

  routes.delete('/users/:name', needs('admin'), async (c) => {
    const { operator } = c.get('session');
    return oneself(c) ?? presentChange(await users.remove(operator, c.req.param('name')));
  });

  // One's own, or an admin's for anybody.
  routes.post('/users/:name/tokens', async (c) => {
    const { operator } = c.get('session');
    const name = c.req.param('name');
    if (name !== operator.name && !includesRole(operator.role, 'admin')) {
      return refuse(403, 'forbidden', 'This needs the role admin');
    }
    const body = await readJson(c, tokenBody);
    if (!body.ok) return body.response;
    const issued = await tokens.issue(operator, { name, ...body.value });
    if (issued === undefined) return refuse(404, 'unknown', 'There is no such user');
    return answer({ token: issued.token, ...issued.view }, 201);
  });

  routes.get('/tokens', needs('admin'), async () => answer({ tokens: await tokens.list() }));

  routes.delete('/tokens/:id', needs('admin'), async (c) => {
    const result = await tokens.revoke(c.get('session').operator, c.req.param('id'));
    return result === 'revoked' ? answer({ result }) : refuse(404, 'unknown', 'There is no such token');
  });

  return routes;
};
