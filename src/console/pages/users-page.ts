/** The users of the console, for admins. */
import { html } from 'hono/html';
import type { ConsoleSession } from '../deps.ts';
import { roles } from '../operators/operator.ts';
import type { User, UserError } from '../operators/users.ts';
import { confirmPage } from './confirm-page.ts';
import { layOut } from './layout.ts';
import {
  banner,
  cardTable,
  counted,
  csrfField,
  type Html,
  invalid,
  nothing,
  options,
} from './markup.ts';
import { type Notice, noticeBanner } from './notices.ts';

/** A user without secrets. */
export type ShownUser = Pick<User, 'name' | 'role' | 'origin'> & {
  /** The subject of the login with the phone; null without a phone. */
  readonly oidcSubject: string | null;
};

export interface UsersModel {
  readonly session: ConsoleSession;
  readonly users: readonly ShownUser[];
  readonly notice?: Notice | undefined;
  readonly problem?: UserError | 'exists' | 'bad-phone' | undefined;
  /** Whether logins with the phone are enabled. */
  readonly phones: boolean;
}

const problems: Readonly<Record<NonNullable<UsersModel['problem']>, string>> = {
  exists: 'There is a user of this name, or one with this phone.',
  'bad-phone': 'Give a mobile number with its country code, or the code that the login shows.',
  'bad-name':
    'A name has at most 64 lower-case letters, digits, dots, hyphens, _ and @; a few are reserved.',
  'bad-subject': 'The subject is too long.',
};

const wayIn = ({ oidcSubject }: ShownUser): string =>
  oidcSubject === null ? 'link' : 'phone, link';

const phoneField = (id: string, label: string, hint: string, attributes: Html = nothing): Html =>
  html`<div class="field"><label for="${id}">${label}</label><input id="${id}" name="phone" type="text" autocomplete="off" spellcheck="false" maxlength="255" aria-describedby="${id}-hint"${attributes}><span class="hint" id="${id}-hint">${hint}</span></div>`;

const phoneForms = ({ name, oidcSubject }: ShownUser, path: string, csrf: Html): Html =>
  html`<form method="post" action="${path}/phone"><h3>Phone</h3>${csrf}${phoneField(`phone-${name}`, oidcSubject === null ? `Mobile number of ${name}` : `Another mobile number of ${name}`, 'Or the code that the login has shown.', html` required`)}<button type="submit" class="plain">Let this phone log in …</button></form>
${oidcSubject === null ? nothing : html`<form method="post" action="${path}/phone/remove">${csrf}<p><button type="submit" class="plain danger">No login with the phone any more …</button></p></form>`}`;

const changes = (user: ShownUser, { session, phones }: UsersModel): Html => {
  const { name, role, origin } = user;
  if (origin === 'configuration') return html`<span class="quiet">in the configuration file</span>`;
  if (name === session.operator.name) return html`<span class="quiet">this is you</span>`;
  const path = `/admin/users/${encodeURIComponent(name)}`;
  const csrf = csrfField(session.csrf);
  return html`<details><summary aria-label="Change ${name}">Change</summary><div class="ask narrow">
<form method="post" action="${path}/role">${csrf}<div class="field"><label for="role-${name}">Role of ${name}</label><select id="role-${name}" name="role">${options(roles, role)}</select></div><button type="submit" class="plain">Set the role …</button></form>
${phones ? phoneForms(user, path, csrf) : nothing}
<form method="post" action="${path}/remove"><h3>Remove</h3>${csrf}<p><button type="submit" class="plain danger">Remove ${name} …</button></p></form>
</div></details>`;
};

export const usersPage = (model: UsersModel): string => {
  const { session, users, notice, problem, phones } = model;
  return layOut({
    title: problem === undefined ? 'Users' : 'Error: Users',
    session,
    current: 'users',
    main: html`<h1>Users</h1>
${noticeBanner(notice)}
${problem === undefined ? nothing : banner('bad', 'The user was not added', problems[problem])}
<div class="columns main"><section aria-labelledby="all"><h2 id="all" class="unseen">All users</h2>
${cardTable(
  'All users',
  ['Name', 'Role', 'Way in', ['Change', 'unseen']],
  users.map(
    (user) =>
      html`<tr role="row"><th scope="row" role="rowheader"><strong>${user.name}</strong></th><td role="cell">${user.role}</td><td role="cell" data-label="by">${wayIn(user)}</td><td role="cell" class="wide">${changes(user, model)}</td></tr>`,
  ),
  html`There are no users yet: you are logged in without one. <a href="#add">Add the first</a>.`,
)}
<h2>Logins without a user</h2>
<p>The service prints a link when it starts. It logs in the admin <strong>local</strong>, who is no user. People whom the OpenID provider of your organisation lets in are no users either.</p>
<form method="post" action="/admin/links/end">${csrfField(session.csrf)}<button type="submit" class="plain danger">End all sessions and links without a user …</button></form></section>
<section aria-labelledby="add"><h2 id="add">Add a user</h2><form class="ask" method="post" action="/admin/users">${csrfField(session.csrf)}
<div class="field"><label for="name">Name</label><input id="name" name="name" type="text" required maxlength="64" autocomplete="off" autocapitalize="none" spellcheck="false" pattern="[a-z0-9][a-z0-9._@\\-]*" aria-describedby="name-hint"${invalid(problem === 'bad-name' || problem === 'exists')}><span class="hint" id="name-hint">Lower-case letters, digits, dots, hyphens, _ and @</span></div>
<div class="field"><label for="new-role">Role</label><select id="new-role" name="role" aria-describedby="role-hint">${options(roles, 'viewer')}</select><span class="hint" id="role-hint">A viewer sees lists with numbers shortened; an operator also sees numbers and texts, replays and cancels; an admin also manages users.</span></div>
${phones ? phoneField('phone', 'Mobile number (optional)', 'With its country code; or the code that the login has shown to the person. The user then logs in with the phone. The number itself is not kept.', invalid(problem === 'bad-phone')) : nothing}
<button type="submit">Add the user</button></form></section></div>`,
  });
};

/** An order about a user, before it is carried out. */
export type UserOrder = 'remove' | 'role' | 'phone' | 'phone/remove';

export interface UserOrderModel {
  readonly session: ConsoleSession;
  readonly user: ShownUser;
  readonly order: UserOrder;
  /** The new role, or the unparsed text of the phone. */
  readonly fields: Readonly<Record<string, string>>;
  /** The labels of the user's tokens. */
  readonly tokens: readonly string[];
}

/** The texts of the orders: the question, the consequences, and the button. */
const userOrders: Readonly<
  Record<
    UserOrder,
    (name: string, role: string) => readonly [title: string, what: string, button: string]
  >
> = {
  remove: (name) => [
    `Remove the user ${name}?`,
    'The user cannot log in any more, and has to be added again to come back.',
    `Remove ${name}`,
  ],
  role: (name, role) => [
    `Make ${name} ${role === 'viewer' ? 'a' : 'an'} ${role}?`,
    `From now on ${name} may do what the role ${role} allows.`,
    'Set the role',
  ],
  phone: (name) => [
    `Let another phone log in as ${name}?`,
    'Whoever has this phone logs in as this user. A phone that the user had before does not any more.',
    'Let this phone log in',
  ],
  'phone/remove': (name) => [
    `No login with the phone for ${name}?`,
    'The user logs in by a link alone, which a command on the machine of the service prints.',
    'No login with the phone any more',
  ],
};

export const userOrderPage = ({ session, user, order, fields, tokens }: UserOrderModel): string => {
  const { name, role } = user;
  const [title, what, button] = userOrders[order](name, fields.role ?? '');
  return confirmPage({
    session,
    current: 'users',
    title,
    about: [
      ['User', name],
      ['Role', fields.role === undefined ? role : `${role}, then ${fields.role}`],
      ['Phone', fields.phone],
      [
        'Tokens',
        tokens.length === 0
          ? 'none'
          : html`${tokens.map((label, at) => html`${at === 0 ? nothing : html`<br>`}${label}`)}`,
      ],
    ],
    consequences: [
      what,
      `Every session of ${name} ends${tokens.length === 0 ? '' : `, and ${counted(tokens.length, 'token')}: the programs that use ${tokens.length === 1 ? 'it' : 'them'} are refused`}.`,
    ],
    action: `/admin/users/${encodeURIComponent(name)}/${order}`,
    fields,
    button,
    back: '/admin/users',
  });
};

export const endLinksPage = (session: ConsoleSession): string =>
  confirmPage({
    session,
    current: 'users',
    title: 'End all sessions and links without a user?',
    about: [
      ['Who', 'local, and everybody whom the OpenID provider of your organisation has let in'],
    ],
    consequences: [
      'This ends every session of theirs, and every login link of local, on every machine.',
      'People of the provider may log in again at once, as long as it says so.',
      'A new link is printed by a command on the machine of the service, or when it starts.',
    ],
    action: '/admin/links/end',
    fields: {},
    button: 'End them all',
    back: '/admin/users',
  });
