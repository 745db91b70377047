/** `paraph users`: who may use the console and the API, their tokens, phones and login links. */
import { z } from 'zod';
import { linkAddress } from '../operators/links.ts';
import { type Role, roles } from '../operators/operator.ts';
import type { Operators } from '../operators/operators.ts';
import type { TokenView } from '../operators/tokens.ts';
import type { SubjectResult, User } from '../operators/users.ts';
import { type AddCommand, type CliContext, environmentIn, ok, type Report, UsageError } from './context.ts';
import type { Outcome } from './exit-codes.ts';
import { type Column, type Field, fieldsText, table } from './screen.ts';
import { existingMasterKey, type OperationsSession, withOperations } from './service-redis.ts';
import { readPassword } from './terminal-input.ts';
import { parseCount, parseOneOf } from './transactions-filter.ts';
import { iso } from './transactions-row.ts';

/** `usage`: can never be right. */
const errors = {
  'unknown-user': ['unknown', 'There is no such user.'],
  'unknown-token': ['unknown', 'There is no such token.'],
  'too-many-tokens': ['refused', 'That user has the maximum of tokens: revoke one first.'],
  configured: ['refused', 'That user is in the configuration file and is changed there.'],
  exists: ['refused', 'There is such a user already, or another user with that subject.'],
  'bad-name': ['usage', 'A name has 1 to 64 lower-case letters, digits, ., _, @ or -; a few are reserved.'],
  'bad-password': ['usage', 'A password must have at least 12 characters and at most 1024 bytes.'],
  'bad-subject': ['usage', '--oidc-subject must have 1 to 255 characters.'],
  'no-way-in': ['usage', 'A user needs a password, or a phone: --msisdn or --oidc-subject.'],
} as const satisfies Record<string, readonly [Outcome, string]>;

/** `refused` in the JSON names the error for scripts. */
const reportError = (refused: keyof typeof errors, document: object = {}): Report => {
  const [outcome, problem] = errors[refused];
  return { outcome, document: { ...document, refused }, problem };
};

const recordSchema = z.object({ key: z.string() });
const rootName = 'ca:root';

/**
 * The service cannot use users and tokens that are sealed with another key, and would not say so.
 * Therefore the private key of its certificate authority is opened first. A service that was never
 * started has none. If the key was used before, Redis has lost its data.
 *
 * @throws UsageError when it is another key, or Redis has lost what was stored under it.
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
    const environment = environmentIn(context);
    const keyUse = await readKeyUse(masterKey, environment);
    const error = findNewAuthorityError(keyUse, environment.newAuthority);
    if (error !== undefined) throw new UsageError(error);
    return;
  }
  const { key } = recordSchema.parse(JSON.parse(stored));
  await createSealer(masterKey)
    .open(rootName, key)
    .catch(() => {
      throw new UsageError(
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
  if (result === 'changed') return ok({ name, result }, text);
  return reportError(result === 'unknown' ? 'unknown-user' : result, { name });
};

const ended = 'All sessions and tokens of that user have ended.\n';

interface PhoneFlags {
  readonly msisdn?: string;
  readonly oidcSubject?: string;
}

/**
 * The `sub` that the flags stand for. The number itself is not stored.
 *
 * @returns Undefined without a flag.
 * @throws UsageError for what is no number, for both flags, and where logins with the phone are off.
 */
const readSubject = async (
  context: CliContext,
  { configuration }: OperationsSession,
  { msisdn, oidcSubject }: PhoneFlags,
): Promise<string | undefined> => {
  if (msisdn === undefined) return oidcSubject;
  if (oidcSubject !== undefined) throw new UsageError('Give either --msisdn or --oidc-subject.');
  const { enabled, tenant } = configuration.operations.openid;
  if (!enabled) throw new UsageError('Logins with the phone are off (operations.openid.enabled).');
  const { createSubjects } = await import('../console-login/subjects.ts');
  const subject = createSubjects(await existingMasterKey(context), tenant)(msisdn);
  if (subject === undefined) throw new UsageError('--msisdn must be a number with its country code.');
  return subject;
};

const add = async (
  context: CliContext,
  name: string,
  flags: PhoneFlags & { role: Role; password: boolean },
): Promise<Report> => {
  const { role } = flags;
  const password = flags.password ? await readPassword(context, nothingChanged) : undefined;
  return withOperators(context, async ({ users }, session) => {
    const oidcSubject = await readSubject(context, session, flags);
    const result = await users.add(session.operator, { name, role, password, oidcSubject });
    if (result !== 'added') return reportError(result, { name });
    return ok({ name, role, result }, `Added as ${role}.\n`);
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
    const subject = await readSubject(context, session, flags);
    if ((subject === undefined) !== (flags.remove === true)) {
      throw new UsageError('Give one of --msisdn, --oidc-subject and --remove.');
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
      // The other errors do not happen at Redis.
      return reportError(issued.refused === 'unknown' ? 'unknown-user' : 'too-many-tokens', { name });
    }
    const { token, view } = issued;
    const expiresAt = iso(view.expiresAt);
    const fields: readonly Field[] = [
      ['token', token],
      ['', 'Keep it now: nobody can show it again.'],
      ['id', view.id],
      ['expires', expiresAt],
    ];
    return ok({ name, token, id: view.id, expiresAt }, fieldsText(fields, context));
  });

const issueLink = (context: CliContext, name: string): Promise<Report> =>
  withOperators(context, async ({ issueLinkFor, address }, { operator, configuration }) => {
    const publicUrl = configuration.publicUrl ?? (await address());
    if (publicUrl === undefined) throw new UsageError('No API of the service has run yet: start one first.');
    const issued = await issueLinkFor(operator, name);
    if (issued === undefined) return reportError('unknown-user', { name });
    const link = linkAddress(publicUrl, issued.secret);
    const expiresAt = iso(issued.expiresAt);
    const fields: readonly Field[] = [
      ['link', link],
      ['', `Valid once. It logs its user in as ${name}.`],
      ['expires', expiresAt],
    ];
    return ok({ name, link, expiresAt }, fieldsText(fields, context));
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
    const document = {
      users: users.map(({ passwordHash, oidcSubject = null, name, role, origin }) => {
        return { name, role, password: passwordHash !== undefined, oidcSubject, origin };
      }),
      tokens: tokens.map((token) => {
        return { ...token, createdAt: iso(token.createdAt), expiresAt: iso(token.expiresAt) };
      }),
    };
    return ok(document, `${usersText}${tokensText}`);
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
    .action(async (name: string, flags: Parameters<typeof add>[2]) => done(await add(context, name, flags)));
  command('remove', 'remove one')
    .argument('<name>', 'who')
    .action((name: string) =>
      run(async ({ users }, { operator }) =>
        changed(await users.remove(operator, name), name, `Removed. ${ended}`),
      ),
    );
  command('role', 'change the role of one')
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
  command('subject', 'print the subject of a number, for the configuration file')
    .requiredOption('--msisdn <number>', 'with its country code')
    .action((flags: PhoneFlags) =>
      run(async (_, session) => {
        const found = (await readSubject(context, session, flags)) ?? '';
        return ok({ oidcSubject: found }, `${found}\n`);
      }),
    );
  command('token', 'make a bearer token that acts for one')
    .argument('<name>', 'who')
    .option('--label <text>', 'what it is for', 'command line')
    .option('--days <n>', 'how long it is good', parseCount('--days', 1, 366), 90)
    .action(async (name: string, flags: TokenFlags) => done(await issueToken(context, name, flags)));
  command('revoke', 'end a token')
    .argument('<id>', 'as paraph users ls prints it, or the token itself')
    // The report does not repeat the id: it may be the token itself.
    .action((id: string) =>
      run(async ({ tokens }, { operator }) =>
        (await tokens.revoke(operator, id)) === 'revoked'
          ? ok({ result: 'revoked' }, 'Revoked.\n')
          : reportError('unknown-token'),
      ),
    );
  command('link', 'make a link that logs one in, once, within fifteen minutes')
    .argument('<name>', 'who; local is an admin without a user')
    .action(async (name: string) => done(await issueLink(context, name)));
  command('end-local', 'end all sessions and links of local, whom the service’s login links log in').action(
    () =>
      run(async ({ endLocal }, { operator }) => {
        await endLocal(operator);
        return ok({ result: 'ended' }, 'All sessions and links of local have ended.\n');
      }),
  );
};
