/** The people who run the service, over the API. */
import { randomBytes } from 'node:crypto';
import { type Context, Hono } from 'hono';
import type { SubjectResult, User } from '../../operators/users.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { needs } from '../session/session.ts';
import { answer, refuse } from './answers.ts';
import { phoneBody, readJson, roleBody, userBody } from './input.ts';

const objections = {
  'bad-name': 'name must be 1 to 64 lower-case letters, digits, ., _, @ or -',
  'bad-password': 'password must have at least 12 characters',
  'bad-subject': 'oidcSubject must have 1 to 255 characters',
  'no-way-in': 'password, msisdn or oidcSubject is needed',
} as const;

const shown = ({ name, role, origin, passwordHash, oidcSubject }: User): object => ({
  name,
  role,
  origin,
  password: passwordHash !== undefined,
  oidc: oidcSubject !== undefined,
});

const presentChange = (result: SubjectResult): Response => {
  switch (result) {
    case 'changed':
      return answer({ result });
    case 'unknown':
      return refuse(404, 'unknown', 'There is no such user');
    case 'configured':
      return refuse(409, 'configured', 'The user stands in the configuration file and is changed there');
    case 'exists':
      return refuse(409, 'exists', 'oidcSubject is somebody else’s');
    case 'no-way-in':
      return refuse(409, 'no-way-in', 'The user has no password, and nothing would be left to log in with');
    case 'bad-subject':
      return refuse(400, 'bad-request', objections[result]);
  }
};

const passwordBytes = 15;

interface PhoneInput {
  readonly msisdn?: string | undefined;
  readonly oidcSubject?: string | undefined;
}

export const createUserRoutes = ({ operators, phoneLogin }: ConsoleDeps): Hono<ConsoleEnvironment> => {
  const { users } = operators;
  const routes = new Hono<ConsoleEnvironment>();

  /** Nobody locks themselves out by mistake. */
  const oneself = (c: Context<ConsoleEnvironment>): Response | undefined =>
    c.req.param('name') === c.get('session').operator.name
      ? refuse(409, 'oneself', 'Somebody else has to change this user')
      : undefined;

  /** The number itself goes no further. */
  const subjectIn = ({ msisdn, oidcSubject }: PhoneInput): string | undefined | Response => {
    if (msisdn === undefined) return oidcSubject;
    if (oidcSubject !== undefined)
      return refuse(400, 'bad-request', 'msisdn and oidcSubject exclude each other');
    if (phoneLogin === undefined) return refuse(409, 'phone-off', 'Logins with the phone are off');
    return (
      phoneLogin.subjectOf(msisdn) ??
      refuse(400, 'bad-request', 'msisdn must be a number with its country code')
    );
  };

  routes.get('/users', needs('admin'), async () => answer({ users: (await users.list()).map(shown) }));

  routes.post('/users', needs('admin'), async (c) => {
    const body = await readJson(c, userBody);
    if (!body.ok) return body.response;
    const { name, role } = body.value;
    const oidcSubject = subjectIn(body.value);
    if (oidcSubject instanceof Response) return oidcSubject;
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

  routes.put('/users/:name/phone', needs('admin'), async (c) => {
    const body = await readJson(c, phoneBody);
    if (!body.ok) return body.response;
    const subject = subjectIn(body.value);
    if (subject instanceof Response) return subject;
    if (subject === undefined) return refuse(400, 'bad-request', 'msisdn or oidcSubject is needed');
    const { operator } = c.get('session');
    return oneself(c) ?? presentChange(await users.setSubject(operator, c.req.param('name'), subject));
  });

  routes.delete('/users/:name/phone', needs('admin'), async (c) => {
    const { operator } = c.get('session');
    return oneself(c) ?? presentChange(await users.setSubject(operator, c.req.param('name'), undefined));
  });

  routes.delete('/users/:name', needs('admin'), async (c) => {
    const { operator } = c.get('session');
    return oneself(c) ?? presentChange(await users.remove(operator, c.req.param('name')));
  });

  return routes;
};
