/**
 * `paraph aps`: the applications that may call, as the configuration has them. Passwords and their
 * hashes are never shown. `secret` shows the secret of an application's callbacks. It needs the
 * master key, and is recorded in the audit log.
 */
import type { Configuration } from '../configuration/schema.ts';
import { doneBy } from '../operators/audit.ts';
import { callbackHostOf } from '../registry/application-providers.ts';
import { usableConfiguration } from './configuration-file.ts';
import { type AddCommand, type CliContext, ok, type Report, UsageError } from './context.ts';
import { type Column, table } from './screen.ts';
import { existingMasterKey, withOperations } from './service-redis.ts';

type Registered = Configuration['applicationProviders'][number];

const allowed = (names: readonly string[] | undefined): string => {
  if (names === undefined) return 'all';
  return names.length === 0 ? 'none' : names.join(' ');
};

const rateOf = ({ rateLimit }: Registered): string =>
  rateLimit === undefined ? '' : `${rateLimit.requests}/${rateLimit.perSeconds} s`;

const columns: readonly Column<Registered>[] = [
  { title: 'AP_ID', cell: ({ id }) => id },
  { title: 'PASSWORD', cell: ({ passwordHash }) => (passwordHash === undefined ? 'no' : 'yes') },
  {
    title: 'CERTIFICATES',
    cell: ({ clientCertificateFingerprints }) => String(clientCertificateFingerprints?.length ?? 'any'),
    right: true,
  },
  { title: 'RATE', cell: rateOf },
  { title: 'CALLBACK', cell: (provider) => callbackHostOf(provider) ?? 'no' },
  { title: 'PREFIX', cell: ({ dtbsPrefix = '' }) => dtbsPrefix },
  { title: 'PROFILES', cell: ({ profiles }) => allowed(profiles) },
  { title: 'SERVICES', cell: ({ services }) => allowed(services) },
];

const ls = async (context: CliContext): Promise<Report> => {
  const { applicationProviders: providers, sandbox } = await usableConfiguration(context);
  const listed =
    providers.length === 0 ? 'No application is registered.\n' : table(columns, providers, context);
  const others = sandbox ? 'This is a sandbox: any other AP_ID is accepted, too.\n' : '';
  const document = {
    sandbox,
    applicationProviders: providers.map((provider) => ({
      id: provider.id,
      password: provider.passwordHash !== undefined,
      clientCertificateFingerprints: provider.clientCertificateFingerprints ?? null,
      rateLimit: provider.rateLimit ?? null,
      callbackHost: callbackHostOf(provider) ?? null,
      dtbsPrefix: provider.dtbsPrefix ?? null,
      profiles: provider.profiles ?? null,
      services: provider.services ?? null,
    })),
  };
  return ok(document, `${listed}${others}`);
};

const showSecret = async (
  id: string,
  purpose: 'callbacks' | 'alerts',
  context: CliContext,
): Promise<Report> => {
  const { applicationProviders, operations } = await usableConfiguration(context);
  const receiver =
    purpose === 'alerts'
      ? operations.alerts.find(({ name }) => name === id)
      : applicationProviders.find((provider) => provider.id === id)?.callback;
  if (receiver === undefined) {
    const nobody = 'No application of that id has a callback.';
    throw new UsageError(purpose === 'alerts' ? 'No alert has that name.' : nobody);
  }
  const masterKey = await existingMasterKey(context);
  return withOperations(context, async ({ audit, operator }) => {
    // Recorded first: without a record it is not shown.
    const target = purpose === 'alerts' ? `alert ${id}` : id;
    await audit.record({ ...doneBy(operator), action: 'callback-secret', target });
    const { callbackSecret } = await import('../callbacks/secret.ts');
    const { secretVersion } = receiver;
    const secret = callbackSecret(masterKey, id, secretVersion, purpose);
    const named = purpose === 'alerts' ? { name: id } : { apId: id };
    return ok({ ...named, secretVersion, secret }, `${secret}\n`);
  });
};

export const addAps: AddCommand = (program, context, done) => {
  const aps = program.command('aps').description('the applications that may call');
  aps
    .command('secret <id>')
    .description('print the secret that verifies the callbacks of one; recorded in the audit log')
    .action(async (id: string) => done(await showSecret(id, 'callbacks', context)));
  aps
    .command('ls')
    .description('list them, without their passwords')
    .action(async () => done(await ls(context)));
  const alerts = program.command('alerts').description('messages to operators about fault rates');
  alerts
    .command('secret <name>')
    .description('print the secret that verifies the messages of one; recorded in the audit log')
    .action(async (name: string) => done(await showSecret(name, 'alerts', context)));
};
