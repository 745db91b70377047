/**
 * `paraph aps`: the applications that may call, as the configuration has them. No password, in no form, is shown. The secret of an
 * application's callbacks is, to whoever has the master key that it is made of, and that is in the audit log.
 */
import type { Configuration } from '../configuration/schema.ts';
import { doneBy } from '../operators/audit.ts';
import { callbackHostOf } from '../registry/application-providers.ts';
import { usableConfiguration } from './configuration-file.ts';
import { type AddCommand, type CliContext, environmentOf, type Report, UsageProblem } from './context.ts';
import { withOperations } from './operations-session.ts';
import { type Column, table } from './operations-table.ts';
import { existingMasterKey } from './service-redis.ts';

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
  const configuration = await usableConfiguration(environmentOf(context).configurationPath);
  const { applicationProviders: providers, sandbox } = configuration;
  const others = sandbox ? 'This is a sandbox: any other AP_ID is accepted, too.\n' : '';
  return {
    outcome: 'ok',
    document: {
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
    },
    text: `${providers.length === 0 ? 'No application is registered.\n' : table(columns, providers, context)}${others}`,
  };
};

const secretOf = async (id: string, context: CliContext): Promise<Report> => {
  const configuration = await usableConfiguration(environmentOf(context).configurationPath);
  const callback = configuration.applicationProviders.find((provider) => provider.id === id)?.callback;
  if (callback === undefined) throw new UsageProblem('No application of that id has a callback.');
  const masterKey = await existingMasterKey(context);
  return withOperations(context, async ({ audit, operator }) => {
    // Before it is shown: what cannot be recorded is not.
    await audit.record({ ...doneBy(operator), action: 'callback-secret', target: id });
    const { callbackSecret } = await import('../callbacks/secret.ts');
    const secret = callbackSecret(masterKey, id, callback.secretVersion);
    return {
      outcome: 'ok',
      document: { apId: id, secretVersion: callback.secretVersion, secret },
      text: `${secret}\n`,
    };
  });
};

export const addAps: AddCommand = (program, context, done) => {
  const aps = program.command('aps').description('the applications that may call');
  aps
    .command('secret <id>')
    .description(
      'print the secret that an application verifies its callbacks with; recorded in the audit log',
    )
    .action(async (id: string) => done(await secretOf(id, context)));
  aps
    .command('ls')
    .description('list them, without their passwords')
    .action(async () => done(await ls(context)));
};
