/** The users of the console, for admins. */
import { randomInt } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { type Role, roles } from '../../operators/operator.ts';
import type { SubjectResult } from '../../operators/users.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { needs } from '../session/session.ts';
import { readForm } from './form.ts';
import { type Notice, readNotice } from './notices.ts';
import { type ShownUser, type UsersModel, usersPage } from './users-page.ts';

/** Without letters and digits that are taken for each other. Four times five of them are 98 bits. */
const passwordLetters = 'abcdefghjkmnpqrstuvwxyz23456789';
const newPassword = (): string =>
  Array.from({ length: 4 }, () =>
    Array.from({ length: 5 }, () => passwordLetters[randomInt(passwordLetters.length)]).join(''),
  ).join('-');

const changeNotice = (result: SubjectResult, done: Notice): Notice => {
  switch (result) {
    case 'changed':
      return done;
    case 'unknown':
      return 'user-unknown';
    case 'configured':
      return 'user-configured';
    case 'exists':
      return 'user-taken';
    case 'no-way-in':
      return 'user-no-way-in';
    case 'bad-subject':
      return 'user-number';
  }
};

const roleIn = (text: string | undefined): Role => roles.find((role) => role === text) ?? 'viewer';

export const createUserPages = ({
  operators: { users, endLocal },
  phoneLogin,
}: ConsoleDeps): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();

  const shownUsers = async (): Promise<readonly ShownUser[]> =>
    (await users.list()).map(({ name, role, origin, passwordHash, oidcSubject }) => ({
      name,
      role,
      origin,
      password: passwordHash !== undefined,
      oidc: oidcSubject !== undefined,
    }));

  const show = async (
    c: Context<ConsoleEnvironment>,
    more: Omit<UsersModel, 'session' | 'users' | 'phones'>,
    status: 200 | 422 = 200,
  ) => {
    const phones = phoneLogin !== undefined;
    return c.html(
      usersPage({ session: c.get('session'), users: await shownUsers(), phones, ...more }),
      status,
    );
  };

  const backWith = (c: Context<ConsoleEnvironment>, notice: Notice): Response =>
    c.redirect(`/admin/users?notice=${notice}`, 303);

  /** A number, or what the login shows to somebody who is no user: of 43 characters, which no number has. */
  const subjectIn = (phone: string): string | undefined =>
    phoneLogin?.subjectOf(phone) ?? (phoneLogin && /^[\w-]{43}$/.test(phone) ? phone : undefined);

  /** Nobody locks themselves out by mistake. */
  const isOneself = (c: Context<ConsoleEnvironment>): boolean =>
    c.req.param('name') === c.get('session').operator.name;

  routes.get('/admin/users', needs('admin'), (c) => show(c, { notice: readNotice(c.req.query('notice')) }));

  routes.post('/admin/users', needs('admin'), async (c) => {
    const form = await readForm(c);
    const name = (form('name') ?? '').trim().toLowerCase();
    const role = roleIn(form('role'));
    const { operator } = c.get('session');
    const phone = (form('phone') ?? '').trim();
    if (phone !== '') {
      const oidcSubject = subjectIn(phone);
      if (oidcSubject === undefined) return show(c, { problem: 'bad-phone' }, 422);
      const result = await users.add(operator, { name, role, oidcSubject });
      return result === 'added' ? backWith(c, 'user-with-phone') : show(c, { problem: result }, 422);
    }
    const password = newPassword();
    const result = await users.add(operator, { name, role, password });
    return result === 'added' ? show(c, { secret: { name, password } }) : show(c, { problem: result }, 422);
  });

  routes.post('/admin/users/:name/phone', needs('admin'), async (c) => {
    if (isOneself(c)) return backWith(c, 'oneself');
    const form = await readForm(c);
    const subject = subjectIn((form('phone') ?? '').trim());
    if (subject === undefined) return backWith(c, 'user-number');
    const result = await users.setSubject(c.get('session').operator, c.req.param('name'), subject);
    return backWith(c, changeNotice(result, 'user-changed'));
  });

  routes.post('/admin/users/:name/phone/remove', needs('admin'), async (c) => {
    if (isOneself(c)) return backWith(c, 'oneself');
    const result = await users.setSubject(c.get('session').operator, c.req.param('name'), undefined);
    return backWith(c, changeNotice(result, 'user-changed'));
  });

  routes.post('/admin/users/:name/password', needs('admin'), async (c) => {
    if (isOneself(c)) return backWith(c, 'oneself');
    const name = c.req.param('name');
    const password = newPassword();
    const result = await users.setPassword(c.get('session').operator, name, password);
    if (result === 'changed') return show(c, { secret: { name, password } });
    return backWith(c, result === 'bad-password' ? 'user-unknown' : changeNotice(result, 'user-changed'));
  });

  routes.post('/admin/users/:name/role', needs('admin'), async (c) => {
    if (isOneself(c)) return backWith(c, 'oneself');
    const form = await readForm(c);
    const role = roles.find((known) => known === form('role'));
    if (role === undefined) return backWith(c, 'user-unknown');
    const result = await users.setRole(c.get('session').operator, c.req.param('name'), role);
    return backWith(c, changeNotice(result, 'user-changed'));
  });

  routes.post('/admin/links/end', needs('admin'), async (c) => {
    await endLocal(c.get('session').operator);
    return backWith(c, 'links-ended');
  });

  routes.post('/admin/users/:name/remove', needs('admin'), async (c) => {
    if (isOneself(c)) return backWith(c, 'oneself');
    const result = await users.remove(c.get('session').operator, c.req.param('name'));
    return backWith(c, changeNotice(result, 'user-removed'));
  });

  return routes;
};
