/** `paraph users`: who may use the console and the API, their tokens, phones and login links. */
import { type Admin, refused, secretActions } from '../command-line/admin.ts';
import {
  type AddCommand,
  type CliContext,
  ok,
  type Report,
  UsageError,
} from '../command-line/context.ts';
import { worksAt } from '../command-line/place.ts';
import { type Column, type Field, fieldsText, table } from '../command-line/screen.ts';
import { parseCount, parseOneOf } from '../command-line/transactions-filter.ts';
import { iso } from '../command-line/transactions-row.ts';
import { linkAddress } from '../console/operators/links.ts';
import { type Role, roles } from '../console/operators/operator.ts';
import type { TokenView } from '../console/operators/tokens.ts';
import type { ShownUser } from '../console/pages/users-page.ts';
import { withOperations } from './operations.ts';

const ended = 'All sessions and tokens of that user have ended.\n';

interface PhoneFlags {
  readonly msisdn?: string;
  readonly oidcSubject?: string;
}

interface AddFlags extends PhoneFlags {
  readonly role: Role;
}

/** @returns Whether a phone is named. */
const checkPhone = ({ msisdn, oidcSubject }: PhoneFlags): boolean => {
  if (msisdn !== undefined && oidcSubject !== undefined) {
    throw new UsageError('Give either --msisdn or --oidc-subject.');
  }
  return msisdn !== undefined || oidcSubject !== undefined;
};

const add = async (
  admin: Admin,
  name: string,
  { role, msisdn, oidcSubject }: AddFlags,
): Promise<Report> => {
  await admin.post(['users'], { name, role, msisdn, oidcSubject });
  const hasPhone = msisdn !== undefined || oidcSubject !== undefined;
  const next = hasPhone ? 'Logs in with the phone.' : `To let them in: paraph users link ${name}`;
  return ok({ name, role, result: 'added' }, `Added as ${role}. ${next}\n`);
};

interface TokenFlags {
  readonly label: string;
  readonly days: number;
}

const issueToken = async (
  context: CliContext,
  admin: Admin,
  name: string,
  { label, days }: TokenFlags,
): Promise<Report> => {
  const path = ['users', name, 'tokens'];
  const { token, id, ...view } = await admin.post<TokenView & { readonly token: string }>(path, {
    label,
    days,
  });
  const expiresAt = iso(view.expiresAt);
  const fields: readonly Field[] = [
    ['token', token],
    ['', 'Keep it now: nobody can show it again.'],
    ['id', id],
    ['expires', expiresAt],
  ];
  return ok({ name, token, id, expiresAt }, fieldsText(fields, context));
};

/** The maker of a link can log in as any user, so a link can only be made at Redis. */
const issueLink = (context: CliContext, name: string): Promise<Report> =>
  withOperations(context, async (session, { openSecrets }) => {
    const { operators } = await openSecrets(context, session);
    const publicUrl = session.configuration.publicUrl ?? (await operators.address());
    if (publicUrl === undefined)
      throw new UsageError('No API of the service has run yet: start one first.');
    const issued = await operators.issueLinkFor(session.operator, name);
    if (issued === undefined) throw refused('unknown', 'unknown-user', 'There is no such user.');
    const link = linkAddress(publicUrl, issued.secret);
    const expiresAt = iso(issued.expiresAt);
    const fields: readonly Field[] = [
      ['link', link],
      ['', `Valid once. It logs its user in as ${name}.`],
      ['expires', expiresAt],
    ];
    return ok({ name, link, expiresAt }, fieldsText(fields, context));
  });

const userColumns: readonly Column<ShownUser>[] = [
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'ROLE', cell: ({ role }) => role },
  { title: 'PHONE', cell: ({ oidcSubject }) => (oidcSubject === null ? 'no' : 'yes') },
  { title: 'FROM', cell: ({ origin }) => (origin === 'configuration' ? 'configuration' : 'added') },
];

const tokenColumns: readonly Column<TokenView>[] = [
  { title: 'TOKEN OF', cell: ({ name }) => name },
  { title: 'EXPIRES', cell: ({ expiresAt }) => iso(expiresAt) },
  { title: 'ID', cell: ({ id }) => id },
  { title: 'LABEL', cell: ({ label }) => label },
];

const ls = async (context: CliContext, admin: Admin): Promise<Report> => {
  const [{ users }, { tokens }] = await Promise.all([
    admin.get<{ readonly users: readonly ShownUser[] }>(['users']),
    admin.get<{ readonly tokens: readonly TokenView[] }>(['tokens']),
  ]);
  const usersText = users.length === 0 ? 'No users.\n' : table(userColumns, users, context);
  const tokensText = tokens.length === 0 ? '' : `\n${table(tokenColumns, tokens, context)}`;
  const shown = tokens.map((token) => {
    return { ...token, createdAt: iso(token.createdAt), expiresAt: iso(token.expiresAt) };
  });
  return ok({ users, tokens: shown }, `${usersText}${tokensText}`);
};

export const addUsers: AddCommand = (program, context, done) => {
  const users = program.command('users').description('the people who run the service');
  const command = (name: string, description: string) =>
    users.command(name).description(description);
  const action = secretActions(context, done);
  const changed = async (name: string, text: string, change: Promise<object>): Promise<Report> =>
    ok({ name, ...(await change) }, `${text}. ${ended}`);
  const role = 'viewer, operator or admin';
  const parseRole = parseOneOf('The role', roles);
  const msisdn = ['--msisdn <number>', 'the phone to log in with; the number is not kept'] as const;
  const oidcSubject = [
    '--oidc-subject <sub>',
    'the same, as paraph users subject prints it',
  ] as const;

  action(command('ls', 'list them and their tokens'), (admin) => ls(context, admin));

  const addOne = command('add', 'add one, who logs in with a phone or by links')
    .argument('<name>', 'lower case')
    .requiredOption('--role <role>', role, parseRole)
    .option(...msisdn)
    .option(...oidcSubject);
  action(
    addOne,
    (admin, name: string, flags: AddFlags) => add(admin, name, flags),
    (_name, flags) => void checkPhone(flags),
  );

  action(command('remove', 'remove one').argument('<name>', 'who'), (admin, name: string) =>
    changed(name, 'Removed', admin.delete(['users', name])),
  );

  const changeRole = command('role', 'change the role of one')
    .argument('<name>', 'who')
    .argument('<role>', role, parseRole);
  action(changeRole, (admin, name: string, next: Role) =>
    changed(name, `Changed to ${next}`, admin.put(['users', name, 'role'], { role: next })),
  );

  const changePhone = command('phone', 'let one log in with a phone, or no longer')
    .argument('<name>', 'who')
    .option(...msisdn)
    .option(...oidcSubject)
    .option('--remove', 'without a phone from now on');
  action(
    changePhone,
    (
      admin,
      name: string,
      { remove, msisdn, oidcSubject }: PhoneFlags & { readonly remove?: true },
    ) => {
      const path = ['users', name, 'phone'];
      return remove
        ? changed(name, 'No phone any more', admin.delete(path))
        : changed(name, 'Logs in with that phone', admin.put(path, { msisdn, oidcSubject }));
    },
    (_name, flags) => {
      if (checkPhone(flags) !== (flags.remove === true)) return;
      throw new UsageError('Give one of --msisdn, --oidc-subject and --remove.');
    },
  );

  const subject = command('subject', 'print the subject of a number, for the configuration file');
  action(
    subject.requiredOption('--msisdn <number>', 'with its country code'),
    async (admin, { msisdn }: PhoneFlags) => {
      const found = await admin.post<{ readonly oidcSubject: string }>(['subject'], { msisdn });
      return ok(found, `${found.oidcSubject}\n`);
    },
  );

  const token = command('token', 'make a bearer token that acts for one; a token makes none')
    .argument('<name>', 'who')
    .option('--label <text>', 'what it is for', 'command line')
    .option('--days <n>', 'how long it is good', parseCount('--days', 1, 366), 90);
  action(token, (admin, name: string, flags: TokenFlags) =>
    issueToken(context, admin, name, flags),
  );

  const revoke = command('revoke', 'end a token');
  // The report does not repeat the id: it may be the token itself.
  action(
    revoke.argument('<id>', 'as paraph users ls prints it, or the token itself'),
    async (admin, id: string) => ok(await admin.delete<object>(['tokens', id]), 'Revoked.\n'),
  );

  const link = command(
    'link',
    'make a link that logs one in, once, within fifteen minutes; at Redis only',
  )
    .argument('<name>', 'who; local is an admin without a user')
    .action(async (name: string) => done(await issueLink(context, name)));
  worksAt('redis', link);

  const endLocal =
    'end all sessions and links without a user: of local, and of people of the OpenID provider';
  action(command('end-local', endLocal), async (admin) =>
    ok(
      await admin.delete<object>(['links']),
      'All sessions and links without a user have ended.\n',
    ),
  );
};
