/**
 * `paraph keys`: the keys that sign a tenant's ID tokens. Running processes follow by themselves.
 * The first keys are made by the service alone.
 */
import { type Admin, secretActions } from '../command-line/admin.ts';
import { type AddCommand, type CliContext, ok, type Report } from '../command-line/context.ts';
import { paletteFor } from '../command-line/screen.ts';
import { parseCount } from '../command-line/transactions-filter.ts';
import { iso, isoOrNull } from '../command-line/transactions-row.ts';
import type { ShownKeys } from '../console/secrets.route.ts';
import type { SigningKey } from '../oauth/signing-keys.ts';

interface Options {
  readonly tenant?: string;
  readonly publishSeconds?: number;
}

interface Answered {
  readonly tenants: readonly ShownKeys[];
}

const shown = ({ tenant, keys }: ShownKeys) => ({
  tenant,
  keys: keys.map(({ kid, kty, state, signsFrom, withdrawnAt }) => ({
    kid,
    kty,
    state,
    // 0 for the first keys, which have always signed.
    signsFrom: isoOrNull(signsFrom),
    withdrawnAt: isoOrNull(withdrawnAt),
  })),
});

const keysText = (tenants: readonly ShownKeys[], context: CliContext): string => {
  const { bold, dim } = paletteFor(context.stdout, context);
  const rowsOf = ({ kid, kty, state, signsFrom, withdrawnAt }: SigningKey): readonly string[] => [
    `  ${kty.padEnd(3)}  ${state.padEnd(9)}  ${kid}`,
    ...(state === 'published' ? [dim(`       signs from ${iso(signsFrom)} on`)] : []),
    ...(withdrawnAt === undefined ? [] : [dim(`       withdrawn at ${iso(withdrawnAt)}`)]),
  ];
  const lines = tenants.flatMap(({ tenant, keys }) => [
    bold(tenant),
    ...(keys.length === 0
      ? ['  no keys yet: the service makes them when it needs them']
      : keys.flatMap(rowsOf)),
  ]);
  return lines.map((line) => `${line}\n`).join('');
};

export const addKeys: AddCommand = (program, context, done) => {
  const action = secretActions(context, done);
  const report = ({ tenants }: Answered): Report =>
    ok({ tenants: tenants.map(shown) }, keysText(tenants, context));
  const keys = program.command('keys').description('manage the keys that sign ID tokens');
  const list = keys
    .command('list')
    .description('show which are published, which sign and until when')
    .option('--tenant <id>', 'by default all');
  action(list, async (admin: Admin, { tenant }: Options) =>
    report(await admin.get<Answered>(['keys'], { tenant })),
  );
  const rotate = keys
    .command('rotate')
    .description('publish new keys, which sign later and replace the old ones')
    .option('--tenant <id>', 'by default all')
    .option(
      '--publish-seconds <n>',
      'only published for so long; 0 in an emergency',
      parseCount('--publish-seconds', 0, 30 * 86_400, 'of seconds '),
    );
  action(rotate, async (admin: Admin, { tenant, publishSeconds }: Options) =>
    report(await admin.post<Answered>(['keys', 'rotate'], { tenant, publishSeconds })),
  );
};
