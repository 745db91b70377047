/** `paraph users`: who may use the console and the API, and their tokens. */
import type { Command } from 'commander';
import { type Role, roles } from '../operators/operator.ts';
import type { Operators } from '../operators/operators.ts';
import type { TokenView } from '../operators/tokens.ts';
import type { SubjectResult, User } from '../operators/users.ts';
import { type CliContext, type Report, UsageProblem } from './context.ts';
import { parseCount } from './operations-filter.ts';
import { existingMasterKey } from './operations-master-key.ts';
import { type Refusal, refusal } from './operations-refusal.ts';
import { iso } from './operations-row.ts';
import { type OperationsSession, withOperations } from './operations-session.ts';
import { type Column, table } from './operations-table.ts';
import { type Field, formatFields, paletteFor, widthOf } from './screen.ts';
import { readPiped, readTyped } from './secret-input.ts';
import { endLocal, issueLink } from './users-link.ts';
import { type PhoneFlags, showSubject, subjectIn } from './users-phone.ts';

type Work = (operators: Operators, session: OperationsSession) => Promise<Report>;

const withOperators = async (context: CliContext, work: Work): Promise<Report> => {
  const masterKey = await existingMasterKey(context);
  return withOperations(context, async (session) => {
    const { assertOwnKey } = await import('./operations-own-key.ts');
    await assertOwnKey(context, session, masterKey);
    return work(session.operatorsWith(masterKey), session);
  });
};

const parseRole = (text: string): Role => {
  const role = roles.find((known) => known === text);
  if (role === undefined) throw new UsageProblem(`The role must be one of ${roles.join(', ')}.`);
  return role;
};

/** Typed twice, or piped. @returns Undefined when the user gave up. */
const readPassword = async ({ stdin, stderr }: CliContext): Promise<string | undefined> => {
  const read = stdin.isTTY
    ? await readTyped(stdin, stderr)
    : { kind: 'read' as const, secret: await readPiped(stdin) };
  if (read.kind === 'differs') throw new UsageProblem('The two passwords differ; nothing was changed.');
  if (read.kind === 'interrupted') return undefined;
  if (/[\r\n]/.test(read.secret)) throw new UsageProblem('The password must be one line.');
  return read.secret;
};

const interrupted: Report = {
  outcome: 'interrupted',
  document: {},
  problem: 'Interrupted; nothing was changed.',
};

const changed = (result: SubjectResult | 'bad-password', name: string, text: string): Report => {
  switch (result) {
    case 'changed':
      return { outcome: 'ok', document: { name, result }, text };
    case 'unknown':
      return refusal('unknown-user', { name });
    default:
      return refusal(result, { name });
  }
};

const ended = 'All sessions and tokens of that user have ended.\n';

interface AddFlags extends PhoneFlags {
  readonly role: Role;
  readonly password?: boolean;
}

const add = async (context: CliContext, name: string, flags: AddFlags): Promise<Report> => {
  const { role } = flags;
  const password = flags.password === false ? undefined : await readPassword(context);
  if (flags.password !== false && password === undefined) return interrupted;
  return withOperators(context, async ({ users }, session) => {
    const oidcSubject = await subjectIn(context, session, flags);
    const result = await users.add(session.operator, { name, role, password, oidcSubject });
    if (result !== 'added') return refusal(result, { name });
    return { outcome: 'ok', document: { name, role, result }, text: `Added as ${role}.\n` };
  });
};

const setPassword = async (context: CliContext, name: string): Promise<Report> => {
  const password = await readPassword(context);
  if (password === undefined) return interrupted;
  return withOperators(context, async ({ users }, { operator }) =>
    changed(await users.setPassword(operator, name, password), name, `Changed. ${ended}`),
  );
};

const remove = (context: CliContext, name: string): Promise<Report> =>
  withOperators(context, async ({ users }, { operator }) =>
    changed(await users.remove(operator, name), name, `Removed. ${ended}`),
  );

const setRole = (context: CliContext, name: string, role: Role): Promise<Report> =>
  withOperators(context, async ({ users }, { operator }) =>
    changed(await users.setRole(operator, name, role), name, `Changed to ${role}. ${ended}`),
  );

const setPhone = (
  context: CliContext,
  name: string,
  flags: PhoneFlags & { readonly remove?: boolean },
): Promise<Report> =>
  withOperators(context, async ({ users }, session) => {
    const subject = await subjectIn(context, session, flags);
    if ((subject === undefined) !== (flags.remove === true)) {
      throw new UsageProblem('Give one of --msisdn, --oidc-subject and --remove.');
    }
    const text = subject === undefined ? 'No phone any more' : 'Logs in with that phone';
    return changed(await users.setSubject(session.operator, name, subject), name, `${text}. ${ended}`);
  });

interface TokenFlags {
  readonly label: string;
  readonly days: number;
}

const tokenRefusals = {
  unknown: 'unknown-user',
  'too-many': 'too-many-tokens',
  // Neither of the two happens at Redis.
  'by-token': 'role',
  'too-often': 'role',
} as const satisfies Record<string, Refusal>;

const issueToken = (context: CliContext, name: string, { label, days }: TokenFlags): Promise<Report> =>
  withOperators(context, async ({ tokens }, { operator }) => {
    const issued = await tokens.issue(operator, { name, label, days });
    if ('refused' in issued) return refusal(tokenRefusals[issued.refused], { name });
    const { token, view } = issued;
    const fields: readonly Field[] = [
      ['token', token],
      ['', 'Keep it now: nobody can show it again.'],
      ['id', view.id],
      ['expires', iso(view.expiresAt)],
    ];
    return {
      outcome: 'ok',
      document: { name, token, id: view.id, expiresAt: iso(view.expiresAt) },
      text: formatFields(fields, widthOf(context.stdout), paletteFor(context.stdout, context)),
    };
  });

/** What was typed is not shown again: it may be the token itself. */
const revokeToken = (context: CliContext, idOrToken: string): Promise<Report> =>
  withOperators(context, async ({ tokens }, { operator }) =>
    (await tokens.revoke(operator, idOrToken)) === 'revoked'
      ? { outcome: 'ok', document: { result: 'revoked' }, text: 'Revoked.\n' }
      : refusal('unknown-token'),
  );

const userColumns: readonly Column<User>[] = [
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'ROLE', cell: ({ role }) => role },
  { title: 'PASSWORD', cell: ({ passwordHash }) => (passwordHash === undefined ? 'no' : 'yes') },
  { title: 'PHONE', cell: ({ oidcSubject }) => (oidcSubject === undefined ? 'no' : 'yes') },
  { title: 'FROM', cell: ({ origin }) => (origin === 'configuration' ? 'configuration' : 'added') },
];

const tokenColumns: readonly Column<TokenView>[] = [
  { title: 'TOKEN OF', cell: ({ name }) => name },
  { title: 'EXPIRES', cell: ({ expiresAt }) => iso(expiresAt) },
  { title: 'ID', cell: ({ id }) => id },
  { title: 'LABEL', cell: ({ label }) => label },
];

const ls = (context: CliContext): Promise<Report> =>
  withOperators(context, async (operators, { operator }) => {
    const [users, tokens] = await Promise.all([operators.users.list(), operators.tokens.list(operator)]);
    const usersText = users.length === 0 ? 'No users.\n' : table(userColumns, users, context);
    const tokensText = tokens.length === 0 ? '' : `\n${table(tokenColumns, tokens, context)}`;
    return {
      outcome: 'ok',
      document: {
        users: users.map(({ name, role, passwordHash, oidcSubject, origin }) => ({
          name,
          role,
          password: passwordHash !== undefined,
          oidcSubject: oidcSubject ?? null,
          origin,
        })),
        tokens: tokens.map(({ createdAt, expiresAt, ...rest }) => ({
          ...rest,
          createdAt: iso(createdAt),
          expiresAt: iso(expiresAt),
        })),
      },
      text: `${usersText}${tokensText}`,
    };
  });

export const addUsers = (program: Command, context: CliContext, done: (report: Report) => void): void => {
  const users = program
    .command('users')
    .description('the people who run the service (at its Redis, with its master key)');
  const command = (name: string, description: string): Command =>
    users.command(name).description(description).option('--json', 'print one JSON document');
  const role = 'viewer, operator or admin';
  const msisdn = ['--msisdn <number>', 'the phone to log in with; the number is not kept'] as const;
  const oidcSubject = ['--oidc-subject <sub>', 'the same, as paraph users subject prints it'] as const;
  command('ls', 'list them and their tokens').action(async () => done(await ls(context)));
  command('add', 'add one; the password is typed or piped in')
    .argument('<name>', 'lower case')
    .requiredOption('--role <role>', role, parseRole)
    .option(...msisdn)
    .option(...oidcSubject)
    .option('--no-password', 'only with the phone')
    .action(async (name: string, flags: AddFlags) => done(await add(context, name, flags)));
  command('remove', 'remove one')
    .argument('<name>', 'who')
    .action(async (name: string) => done(await remove(context, name)));
  command('role', 'change what one may do')
    .argument('<name>', 'who')
    .argument('<role>', role, parseRole)
    .action(async (name: string, next: Role) => done(await setRole(context, name, next)));
  command('password', 'give one a new password, typed or piped in')
    .argument('<name>', 'who')
    .action(async (name: string) => done(await setPassword(context, name)));
  command('phone', 'let one log in with a phone, or no longer')
    .argument('<name>', 'who')
    .option(...msisdn)
    .option(...oidcSubject)
    .option('--remove', 'without a phone from now on')
    .action(async (name: string, flags: PhoneFlags) => done(await setPhone(context, name, flags)));
  command('subject', 'print who a number is to the console, for the configuration file')
    .requiredOption('--msisdn <number>', 'with its country code')
    .action(async (flags: { readonly msisdn: string }) =>
      done(await withOperators(context, (_, session) => showSubject(context, session, flags))),
    );
  command('token', 'make a bearer token that acts for one')
    .argument('<name>', 'who')
    .option('--label <text>', 'what it is for', 'command line')
    .option('--days <n>', 'how long it is good', parseCount('--days', 1, 366), 90)
    .action(async (name: string, flags: TokenFlags) => done(await issueToken(context, name, flags)));
  command('revoke', 'end a token')
    .argument('<id>', 'as paraph users ls prints it, or the token itself')
    .action(async (id: string) => done(await revokeToken(context, id)));
  command('link', 'make a link that logs one in, once, within fifteen minutes')
    .argument('<name>', 'who')
    .action(async (name: string) =>
      done(
        await withOperators(context, (operators, session) => issueLink(context, operators, session, name)),
      ),
    );
  command(
    'end-local',
    'end all sessions and links of local, whom the service’s own login links let in',
  ).action(async () => done(await withOperators(context, endLocal)));
};
