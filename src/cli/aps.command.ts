/**
 * `paraph aps`: the applications that may call, as the service has them. Passwords and their hashes
 * are never shown.
 */
import { type Admin, addAdminAction } from '../command-line/admin.ts';
import {
  type AddCommand,
  type CliContext,
  ok,
  type Report,
  variable,
} from '../command-line/context.ts';
import { type Column, table } from '../command-line/screen.ts';
import type { ProviderView } from '../console/deps.ts';

const allowed = (names: readonly string[] | undefined): string => {
  if (names === undefined) return 'all';
  return names.length === 0 ? 'none' : names.join(' ');
};

const rateOf = ({ rateLimit }: ShownProvider): string =>
  rateLimit === undefined ? '' : `${rateLimit.requests}/${rateLimit.perSeconds} s`;

type ShownProvider = Omit<ProviderView, 'more'>;

const columns: readonly Column<ShownProvider>[] = [
  { title: 'AP_ID', cell: ({ id }) => id },
  { title: 'PASSWORD', cell: ({ password }) => (password ? 'yes' : 'no') },
  {
    title: 'CERTIFICATES',
    cell: ({ clientCertificateFingerprints }) =>
      String(clientCertificateFingerprints?.length ?? 'any'),
    right: true,
  },
  { title: 'RATE', cell: rateOf },
  { title: 'PREFIX', cell: ({ dtbsPrefix = '' }) => dtbsPrefix },
  { title: 'PROFILES', cell: ({ profiles }) => allowed(profiles) },
  { title: 'SERVICES', cell: ({ services }) => allowed(services) },
];

/** The values in the JSON of settings that are not configured. */
const notConfigured = {
  clientCertificateFingerprints: null,
  rateLimit: null,
  dtbsPrefix: null,
  profiles: null,
  services: null,
};

interface Providers {
  readonly sandbox: boolean;
  readonly aps: readonly ShownProvider[];
}

/** Beside a service applications are those of the file that this shell names. */
const unread =
  'No application is known here: PARAPH_CONFIG is not set in this shell. Set it as for the service.\n';

const ls = async (context: CliContext, admin: Admin): Promise<Report> => {
  const { sandbox, aps } = await admin.get<Providers>(['aps']);
  const added = context.parts.flatMap(({ commands }) => commands?.providerColumns ?? []);
  const shown = [
    ...columns,
    ...added.map(({ title, member, none }) => ({
      title,
      cell: (provider: ShownProvider) => String(Reflect.get(provider, member) ?? none),
    })),
  ];
  const absent = {
    ...notConfigured,
    ...Object.fromEntries(added.map(({ member }) => [member, null])),
  };
  const isUnread = admin.place === 'Redis' && variable(context, 'PARAPH_CONFIG') === undefined;
  const none = isUnread ? unread : 'No application is registered.\n';
  const listed = aps.length === 0 ? none : table(shown, aps, context);
  const others =
    sandbox && !isUnread ? 'This is a sandbox: any other AP_ID is accepted, too.\n' : '';
  return ok(
    { sandbox, applicationProviders: aps.map((provider) => ({ ...absent, ...provider })) },
    `${listed}${others}`,
  );
};

export const addAps: AddCommand = (program, context, done) => {
  const aps = program.command('aps').description('the applications that may call');
  const list = aps.command('ls').description('list them, without their passwords');
  addAdminAction(list, context, done, (admin) => ls(context, admin));
};
