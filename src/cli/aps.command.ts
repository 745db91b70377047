/**
 * `paraph aps`: the applications that may call, as the service has them. Passwords and their hashes
 * are never shown. `secret` shows the secret of an application's callbacks, which is recorded in the
 * audit log.
 */
import type { ProviderView } from '../console/deps.ts';
import { type Admin, addAdminAction, secretActions } from './admin.ts';
import { type AddCommand, type CliContext, ok, type Report } from './context.ts';
import { type Column, table } from './screen.ts';

const allowed = (names: readonly string[] | undefined): string => {
  if (names === undefined) return 'all';
  return names.length === 0 ? 'none' : names.join(' ');
};

const rateOf = ({ rateLimit }: ProviderView): string =>
  rateLimit === undefined ? '' : `${rateLimit.requests}/${rateLimit.perSeconds} s`;

const columns: readonly Column<ProviderView>[] = [
  { title: 'AP_ID', cell: ({ id }) => id },
  { title: 'PASSWORD', cell: ({ password }) => (password ? 'yes' : 'no') },
  {
    title: 'CERTIFICATES',
    cell: ({ clientCertificateFingerprints }) => String(clientCertificateFingerprints?.length ?? 'any'),
    right: true,
  },
  { title: 'RATE', cell: rateOf },
  { title: 'CALLBACK', cell: ({ callbackHost = 'no' }) => callbackHost },
  { title: 'PREFIX', cell: ({ dtbsPrefix = '' }) => dtbsPrefix },
  { title: 'PROFILES', cell: ({ profiles }) => allowed(profiles) },
  { title: 'SERVICES', cell: ({ services }) => allowed(services) },
];

/** In the JSON, for what is not configured. */
const none = {
  clientCertificateFingerprints: null,
  rateLimit: null,
  callbackHost: null,
  dtbsPrefix: null,
  profiles: null,
  services: null,
};

interface Providers {
  readonly sandbox: boolean;
  readonly aps: readonly ProviderView[];
}

const ls = async (context: CliContext, admin: Admin): Promise<Report> => {
  const { sandbox, aps } = await admin.get<Providers>(['aps']);
  const listed = aps.length === 0 ? 'No application is registered.\n' : table(columns, aps, context);
  const others = sandbox ? 'This is a sandbox: any other AP_ID is accepted, too.\n' : '';
  return ok(
    { sandbox, applicationProviders: aps.map((provider) => ({ ...none, ...provider })) },
    `${listed}${others}`,
  );
};

const showSecret = async (admin: Admin, apId: string): Promise<Report> => {
  const found = await admin.post<{ readonly secret: string }>(['callback-secret'], { apId });
  return ok({ apId, ...found }, `${found.secret}\n`);
};

export const addAps: AddCommand = (program, context, done) => {
  const action = secretActions(context, done);
  const aps = program.command('aps').description('the applications that may call');
  const secret = aps
    .command('secret <id>')
    .description('print the secret that verifies the callbacks of one; recorded in the audit log');
  action(secret, (admin, apId: string) => showSecret(admin, apId));
  const list = aps.command('ls').description('list them, without their passwords');
  addAdminAction(list, context, done, (admin) => ls(context, admin));
};
