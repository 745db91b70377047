/** The users of the console, for admins: page and API. */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { answer, refuse } from './answers.ts';
import type { ConsoleEnvironment, UserDeps } from './deps.ts';
import { json, readForm, text } from './input.ts';
import { type Operator, roles } from './operators/operator.ts';
import type { SubjectResult, User } from './operators/users.ts';
import { type OrderErrorName, present } from './order-errors.ts';
import { isConfirmed } from './pages/confirm-page.ts';
import { type Notice, readNotice } from './pages/notices.ts';
import {
  endLinksPage,
  type ShownUser,
  type UserOrder,
  type UsersModel,
  userOrderPage,
  usersPage,
} from './pages/users-page.ts';
import { needs } from './session/session.ts';

/** `oneself`: an admin may not change the own user, so as not to be locked out. */
type Change = SubjectResult | 'oneself';
type Make = (by: Operator, name: string) => Promise<Change>;

const errors = {
  'bad-name': 'name must be 1 to 64 lower-case letters, digits, ., _, @ or -; a few are reserved',
  'bad-subject': 'oidcSubject must have 1 to 255 characters',
} as const;

const changeErrors = {
  unknown: 'user-unknown',
  configured: 'user-configured',
  exists: 'user-taken',
  'bad-subject': 'user-number',
  oneself: 'oneself',
} as const satisfies Record<Exclude<Change, 'changed'>, OrderErrorName>;

const role = z.enum(roles);
const phone = z.strictObject({ msisdn: text(40), oidcSubject: text(255) }).partial();
const newUser = phone.extend({ name: text(64), role });

const shown = ({ name, role, origin, oidcSubject }: User): ShownUser => ({
  name,
  role,
  origin,
  oidcSubject: oidcSubject ?? null,
});

export const createUserRoutes = ({
  operators: { users, tokens, endLocal },
  phoneLogin,
}: UserDeps): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();
  const list = async (): Promise<readonly ShownUser[]> => (await users.list()).map(shown);

  const change = async (c: Context<ConsoleEnvironment>, make: Make): Promise<Change> => {
    const { operator } = c.get('session');
    const name = c.req.param('name') ?? '';
    return name === operator.name ? 'oneself' : make(operator, name);
  };

  /** Reads the subject of a phone from a number or a code. The number itself is not stored. */
  const readSubject = ({
    msisdn,
    oidcSubject,
  }: z.output<typeof phone>): string | undefined | Response => {
    if (msisdn === undefined) return oidcSubject;
    if (oidcSubject !== undefined) {
      return refuse(400, 'bad-request', 'msisdn and oidcSubject exclude each other');
    }
    if (phoneLogin === undefined) return refuse(409, 'phone-off', 'Logins with the phone are off');
    return (
      phoneLogin.subjectOf(msisdn) ??
      refuse(400, 'bad-request', 'msisdn must be a number with its country code')
    );
  };

  routes.get('/admin/api/users', needs('admin'), async () => answer({ users: await list() }));

  routes.post('/admin/api/users', needs('admin'), json(newUser), async (c) => {
    const { name, role, ...phone } = c.req.valid('json');
    const oidcSubject = readSubject(phone);
    if (oidcSubject instanceof Response) return oidcSubject;
    const result = await users.add(c.get('session').operator, { name, role, oidcSubject });
    switch (result) {
      case 'added':
        return answer({ name, role }, 201);
      case 'exists':
        return refuse(409, 'exists', 'name or oidcSubject is taken');
      default:
        return refuse(400, result, errors[result]);
    }
  });

  const answerChange = async (c: Context<ConsoleEnvironment>, make: Make) =>
    present(await change(c, make), 'changed', changeErrors);

  routes.put('/admin/api/users/:name/role', needs('admin'), json(z.strictObject({ role })), (c) => {
    const { role } = c.req.valid('json');
    return answerChange(c, (by, name) => users.setRole(by, name, role));
  });

  routes.put('/admin/api/users/:name/phone', needs('admin'), json(phone), (c) => {
    const subject = readSubject(c.req.valid('json'));
    if (subject instanceof Response) return subject;
    if (subject === undefined) return refuse(400, 'bad-request', 'msisdn or oidcSubject is needed');
    return answerChange(c, (by, name) => users.setSubject(by, name, subject));
  });

  const removePhone: Make = (by, name) => users.setSubject(by, name, undefined);
  routes.delete('/admin/api/users/:name/phone', needs('admin'), (c) =>
    answerChange(c, removePhone),
  );

  routes.delete('/admin/api/users/:name', needs('admin'), (c) => answerChange(c, users.remove));

  /** Gives the subject of a number. The number is in the body, because addresses are logged. */
  routes.post(
    '/admin/api/subject',
    needs('admin'),
    json(z.strictObject({ msisdn: text(40) })),
    (c) => {
      const oidcSubject = readSubject(c.req.valid('json'));
      return oidcSubject instanceof Response ? oidcSubject : answer({ oidcSubject });
    },
  );

  routes.delete('/admin/api/links', needs('admin'), async (c) => {
    await endLocal(c.get('session').operator);
    return answer({ result: 'ended' });
  });

  const show = async (
    c: Context<ConsoleEnvironment>,
    more: Omit<UsersModel, 'session' | 'users' | 'phones'>,
    status: 200 | 422 = 200,
  ) => {
    const model = {
      session: c.get('session'),
      users: await list(),
      phones: phoneLogin !== undefined,
    };
    return c.html(usersPage({ ...model, ...more }), status);
  };

  const backWith = (c: Context<ConsoleEnvironment>, notice: Notice): Response =>
    c.redirect(`/admin/users?notice=${notice}`, 303);

  /**
   * The subject for a number, or for the code that the login shows to a person who is not a user.
   */
  const subjectOf = (written = ''): string | undefined => {
    const phone = written.trim();
    return (
      phoneLogin?.subjectOf(phone) ?? (phoneLogin && /^[\w-]{43}$/.test(phone) ? phone : undefined)
    );
  };

  routes.get('/admin/users', needs('admin'), (c) =>
    show(c, { notice: readNotice(c.req.query('notice')) }),
  );

  routes.post('/admin/users', needs('admin'), async (c) => {
    const form = await readForm(c);
    const name = (form.name ?? '').trim().toLowerCase();
    const role = roles.find((each) => each === form.role) ?? 'viewer';
    const withPhone = (form.phone ?? '').trim() !== '';
    const oidcSubject = withPhone ? subjectOf(form.phone) : undefined;
    if (withPhone && oidcSubject === undefined) return show(c, { problem: 'bad-phone' }, 422);
    const result = await users.add(c.get('session').operator, { name, role, oidcSubject });
    if (result !== 'added') return show(c, { problem: result }, 422);
    return backWith(c, withPhone ? 'user-with-phone' : 'user-by-link');
  });

  /** Shows the page before a change of a user, because each change ends sessions and tokens. */
  const showChange = async (
    c: Context<ConsoleEnvironment>,
    order: UserOrder,
    make: Make,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<Response | 'changed'> => {
    const session = c.get('session');
    const name = c.req.param('name') ?? '';
    if (!isConfirmed(await readForm(c)) && name !== session.operator.name) {
      const user = await users.find(name);
      if (user === undefined) return backWith(c, 'user-unknown');
      if (user.origin === 'configuration') return backWith(c, 'user-configured');
      const theirs = (await tokens.list(session.operator)).filter((token) => token.name === name);
      const labels = theirs.map(({ label }) => label);
      return c.html(userOrderPage({ session, user: shown(user), order, fields, tokens: labels }));
    }
    const result = await change(c, make);
    return result === 'changed' ? result : backWith(c, changeErrors[result]);
  };

  const backChanged = (
    c: Context<ConsoleEnvironment>,
    result: Response | 'changed',
    notice: Notice = 'user-changed',
  ): Response => (result === 'changed' ? backWith(c, notice) : result);

  routes.post('/admin/users/:name/phone', needs('admin'), async (c) => {
    const { phone = '' } = await readForm(c);
    const subject = subjectOf(phone);
    if (subject === undefined) return backWith(c, 'user-number');
    const make: Make = (by, name) => users.setSubject(by, name, subject);
    return backChanged(c, await showChange(c, 'phone', make, { phone }));
  });

  routes.post('/admin/users/:name/phone/remove', needs('admin'), async (c) =>
    backChanged(c, await showChange(c, 'phone/remove', removePhone)),
  );

  routes.post('/admin/users/:name/role', needs('admin'), async (c) => {
    const { role: written } = await readForm(c);
    const role = roles.find((each) => each === written);
    if (role === undefined) return backWith(c, 'user-unknown');
    return backChanged(
      c,
      await showChange(c, 'role', (by, name) => users.setRole(by, name, role), { role }),
    );
  });

  routes.post('/admin/users/:name/remove', needs('admin'), async (c) =>
    backChanged(c, await showChange(c, 'remove', users.remove), 'user-removed'),
  );

  routes.post('/admin/links/end', needs('admin'), async (c) => {
    const session = c.get('session');
    if (!isConfirmed(await readForm(c))) return c.html(endLinksPage(session));
    await endLocal(session.operator);
    return backWith(c, 'links-ended');
  });

  return routes;
};
