/** `paraph users`: who may use the console and the API, their tokens, phones and login links. */
import { z } from 'zod';
import { type Role, roles } from '../operators/operator.ts';
import type { Operators } from '../operators/operators.ts';
import type { TokenView } from '../operators/tokens.ts';
import type { SubjectResult, User } from '../operators/users.ts';
import { type AddCommand, type CliContext, environmentOf, type Report, UsageProblem } from './context.ts';
import type { Outcome } from './exit-codes.ts';
import { parseCount, parseOneOf } from './operations-filter.ts';
import { iso } from './operations-row.ts';
import { type OperationsSession, withOperations } from './operations-session.ts';
import { type Column, table } from './operations-table.ts';
import { fieldsText } from './screen.ts';
import { existingMasterKey } from './service-redis.ts';
import { readPassword } from './terminal-input.ts';

/** What was not done, in words; `usage` is what can never be right. */
const refusals = {
  'unknown-user': ['unknown', 'There is no such user.'],
  'unknown-token': ['unknown', 'There is no such token.'],
  'too-many-tokens': ['refused', 'That user has as many tokens as anybody may have: revoke one first.'],
  configured: ['refused', 'That user stands in the configuration file and is changed there.'],
  exists: ['refused', 'There is such a user already, or somebody with that subject.'],
  'bad-name': [
    'usage',
    'A name has 1 to 64 lower-case letters, digits, ., _, @ or -, and is not one of the service’s own.',
  ],
  'bad-password': ['usage', 'A password must have at least 12 characters and at most 1024 bytes.'],
  'bad-subject': ['usage', '--oidc-subject must have 1 to 255 characters.'],
  'no-way-in': ['usage', 'A user needs a password, or a phone: --msisdn or --oidc-subject.'],
} as const satisfies Record<string, readonly [Outcome, string]>;

/** `refused` in the JSON names it for scripts. */
const refusal = (refused: keyof typeof refusals, document: object = {}): Report => {
  const [outcome, problem] = refusals[refused];
  return { outcome, document: { ...document, refused }, problem };
};

const recordSchema = z.object({ key: z.string() });
const rootName = 'ca:root';

/**
 * Users and tokens that are sealed with another key are of no use to the service, and it would not
 * say so. So the private key of its certificate authority is opened first. A service that was never
 * started has none; but when the key was used before, it is a Redis that has lost its data.
 *
 * @throws UsageProblem When it is another key, or Redis has lost what was stored under it.
 */
const assertOwnKey = async (
  context: CliContext,
  { redis, configuration }: OperationsSession,
  masterKey: Uint8Array,
): Promise<void> => {
  const [{ createSealer }, { createCustodyStore }, { findNewAuthorityError, readKeyUse }] = await Promise.all(
    [
      import('../pki/sealed-record.ts'),
      import('../product/custody-store.ts'),
      import('../product/key-use.ts'),
    ],
  );
  const stored = await createCustodyStore(redis, configuration.queue.prefix).get(rootName);
  if (stored === undefined) {
    const environment = environmentOf(context);
    const keyUse = await readKeyUse(masterKey, environment);
    const objection = findNewAuthorityError(keyUse, environment.newAuthority);
    if (objection !== undefined) throw new UsageProblem(objection);
    return;
  }
  const { key } = recordSchema.parse(JSON.parse(stored));
  await createSealer(masterKey)
    .open(rootName, key)
    .catch(() => {
      throw new UsageProblem(
        'The master key does not open what the service has stored: it is not that of the service.',
      );
    });
};

type Work = (operators: Operators, session: OperationsSession) => Promise<Report>;

const withOperators = async (context: CliContext, work: Work): Promise<Report> => {
  const masterKey = await existingMasterKey(context);
  return withOperations(context, async (session) => {
    await assertOwnKey(context, session, masterKey);
    return work(session.operatorsWith(masterKey), session);
  });
};

const nothingChanged = 'nothing was changed';
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

interface PhoneFlags {
  readonly msisdn?: string;
  readonly oidcSubject?: string;
}

/**
 * The `sub` that the flags stand for. The number itself goes no further.
 *
 * @returns Undefined without a flag.
 * @throws UsageProblem For what is no number, for both flags, and where logins with the phone are off.
 */
const subjectIn = async (
  context: CliContext,
  { configuration }: OperationsSession,
  { msisdn, oidcSubject }: PhoneFlags,
): Promise<string | undefined> => {
  if (msisdn === undefined) return oidcSubject;
  if (oidcSubject !== undefined) throw new UsageProblem('Give either --msisdn or --oidc-subject.');
  const { enabled, tenant } = configuration.operations.openid;
  if (!enabled) throw new UsageProblem('Logins with the phone are off (operations.openid.enabled).');
  const { createSubjects } = await import('../console-login/subjects.ts');
  const subject = createSubjects(await existingMasterKey(context), tenant)(msisdn);
  if (subject === undefined) throw new UsageProblem('--msisdn must be a number with its country code.');
  return subject;
};

interface AddFlags extends PhoneFlags {
  readonly role: Role;
  readonly password: boolean;
}

const add = async (context: CliContext, name: string, flags: AddFlags): Promise<Report> => {
  const { role } = flags;
  const password = flags.password ? await readPassword(context, nothingChanged) : undefined;
  return withOperators(context, async ({ users }, session) => {
    const oidcSubject = await subjectIn(context, session, flags);
    const result = await users.add(session.operator, { name, role, password, oidcSubject });
    if (result !== 'added') return refusal(result, { name });
    return { outcome: 'ok', document: { name, role, result }, text: `Added as ${role}.\n` };
  });
};

const setPassword = async (context: CliContext, name: string): Promise<Report> => {
  const password = await readPassword(context, nothingChanged);
  return withOperators(context, async ({ users }, { operator }) =>
    changed(await users.setPassword(operator, name, password), name, `Changed. ${ended}`),
  );
};

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

const issueToken = (context: CliContext, name: string, { label, days }: TokenFlags): Promise<Report> =>
  withOperators(context, async ({ tokens }, { operator }) => {
    const issued = await tokens.issue(operator, { name, label, days });
    if ('refused' in issued) {
      // The other refusals do not happen at Redis.
      return refusal(issued.refused === 'unknown' ? 'unknown-user' : 'too-many-tokens', { name });
    }
    const { token, view } = issued;
    const expiresAt = iso(view.expiresAt);
    return {
      outcome: 'ok',
      document: { name, token, id: view.id, expiresAt },
      text: fieldsText(
        [
          ['token', token],
          ['', 'Keep it now: nobody can show it again.'],
          ['id', view.id],
          ['expires', expiresAt],
        ],
        context,
      ),
    };
  });

const issueLink = (context: CliContext, name: string): Promise<Report> =>
  withOperators(context, async ({ issueLinkFor }, { operator, configuration: { publicUrl } }) => {
    const issued = await issueLinkFor(operator, name);
    if (issued === undefined) return refusal('unknown-user', { name });
    const link = `${publicUrl ?? ''}/admin/login/link?token=${issued.secret}`;
    const expiresAt = iso(issued.expiresAt);
    return {
      outcome: 'ok',
      document: { name, link, expiresAt },
      text: fieldsText(
        [
          ['link', link],
          [
            '',
            publicUrl === undefined ? 'It goes behind the address of the service (publicUrl).' : undefined,
          ],
          ['', `Good once. Whoever opens it is ${name}.`],
          ['expires', expiresAt],
        ],
        context,
      ),
    };
  });

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

export const addUsers: AddCommand = (program, context, done) => {
  const users = program
    .command('users')
    .description('the people who run the service (at its Redis, with its master key)');
  const command = (name: string, description: string) => users.command(name).description(description);
  const run = async (work: Work): Promise<void> => done(await withOperators(context, work));
  const role = 'viewer, operator or admin';
  const parseRole = parseOneOf('The role', roles);
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
    .action((name: string) =>
      run(async ({ users }, { operator }) =>
        changed(await users.remove(operator, name), name, `Removed. ${ended}`),
      ),
    );
  command('role', 'change what one may do')
    .argument('<name>', 'who')
    .argument('<role>', role, parseRole)
    .action((name: string, next: Role) =>
      run(async ({ users }, { operator }) =>
        changed(await users.setRole(operator, name, next), name, `Changed to ${next}. ${ended}`),
      ),
    );
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
    .action((flags: PhoneFlags) =>
      run(async (_, session) => {
        const found = (await subjectIn(context, session, flags)) ?? '';
        return { outcome: 'ok', document: { oidcSubject: found }, text: `${found}\n` };
      }),
    );
  command('token', 'make a bearer token that acts for one')
    .argument('<name>', 'who')
    .option('--label <text>', 'what it is for', 'command line')
    .option('--days <n>', 'how long it is good', parseCount('--days', 1, 366), 90)
    .action(async (name: string, flags: TokenFlags) => done(await issueToken(context, name, flags)));
  command('revoke', 'end a token')
    .argument('<id>', 'as paraph users ls prints it, or the token itself')
    // What was typed is not shown again: it may be the token itself.
    .action((id: string) =>
      run(async ({ tokens }, { operator }) =>
        (await tokens.revoke(operator, id)) === 'revoked'
          ? { outcome: 'ok', document: { result: 'revoked' }, text: 'Revoked.\n' }
          : refusal('unknown-token'),
      ),
    );
  command('link', 'make a link that logs one in, once, within fifteen minutes')
    .argument('<name>', 'who')
    .action(async (name: string) => done(await issueLink(context, name)));
  command(
    'end-local',
    'end all sessions and links of local, whom the service’s own login links let in',
  ).action(() =>
    run(async ({ endLocal }, { operator }) => {
      await endLocal(operator);
      const text = 'All sessions and links of local have ended.\n';
      return { outcome: 'ok', document: { result: 'ended' }, text };
    }),
  );
};
