/**
 * `paraph keys`: the keys that sign a tenant's ID tokens. They are in Redis under the master key, so both are needed; the
 * running processes follow by themselves.
 *
 * Nothing is made here where nothing is: a first key under a master key that is not the service's would lock the service out.
 */
import type { Configuration } from '../configuration/schema.ts';
import type { SigningKey, SigningKeys } from '../oauth/signing-keys.ts';
import { usableConfiguration } from './configuration-file.ts';
import { type AddCommand, type CliContext, environmentOf, type Report, UsageProblem } from './context.ts';
import { parseCount } from './operations-filter.ts';
import { iso, isoOrNull } from './operations-row.ts';
import { paletteFor } from './screen.ts';
import { existingMasterKey, withServiceRedis } from './service-redis.ts';

interface Options {
  readonly tenant?: string;
  readonly publishSeconds?: number;
}

interface TenantKeys {
  readonly tenant: string;
  readonly keys: readonly SigningKey[];
}

const tenantsOf = ({ oidc }: Configuration, wanted: string | undefined): readonly string[] => {
  const ids = oidc.tenants.map(({ id }) => id).filter((id) => wanted === undefined || id === wanted);
  if (ids.length === 0) throw new UsageProblem('The configuration has no tenant of the id in --tenant.');
  return ids;
};

const shown = ({ tenant, keys }: TenantKeys) => ({
  tenant,
  keys: keys.map(({ kid, kty, state, signsFrom, withdrawnAt }) => ({
    kid,
    kty,
    state,
    // The first keys have signed from the beginning.
    signsFrom: isoOrNull(signsFrom),
    withdrawnAt: isoOrNull(withdrawnAt),
  })),
});

const tableOf = (tenants: readonly TenantKeys[], context: CliContext): string => {
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

/** Read before anything is written: under a master key that does not open what is there, new keys would be lost. */
const presentKeys = (keys: SigningKeys): Promise<readonly SigningKey[]> =>
  keys.list().catch((error: unknown) => {
    // Redis may fail as well; the sealer says whether it was the key.
    const isSealedOtherwise =
      error instanceof Error && error.message.startsWith('the master key does not open');
    if (!isSealedOtherwise) throw error;
    throw new UsageProblem(
      'The master key does not open the keys that are there: it is not that of the service.',
    );
  });

const run = async (context: CliContext, isRotation: boolean, options: Options): Promise<Report> => {
  const configuration = await usableConfiguration(environmentOf(context).configurationPath);
  const { oidc, queue } = configuration;
  const ids = tenantsOf(configuration, options.tenant);
  const masterKey = await existingMasterKey(context);
  return withServiceRedis(context, async (redis) => {
    const { createSigningKeys } = await import('../oauth/signing-keys.ts');
    const tenants: TenantKeys[] = [];
    for (const tenant of ids) {
      const { now } = context;
      const settings = oidc.keys;
      const stored = createSigningKeys({ redis, prefix: queue.prefix, tenant, masterKey, settings, now });
      const present = await presentKeys(stored);
      const rotates = isRotation && present.length > 0;
      tenants.push({ tenant, keys: rotates ? await stored.rotate(options.publishSeconds) : present });
    }
    return { outcome: 'ok', document: { tenants: tenants.map(shown) }, text: tableOf(tenants, context) };
  });
};

export const addKeys: AddCommand = (program, context, done) => {
  const keys = program
    .command('keys')
    .description('manage the keys that sign ID tokens (on the machine of the service)');
  keys
    .command('list')
    .description('show which are published, which sign and until when')
    .option('--tenant <id>', 'by default all')
    .action(async (options: Options) => done(await run(context, false, options)));
  keys
    .command('rotate')
    .description('publish new keys, which sign later and replace the old ones')
    .option('--tenant <id>', 'by default all')
    .option(
      '--publish-seconds <n>',
      'only published for so long; 0 in an emergency',
      parseCount('--publish-seconds', 0, 30 * 86_400, 'of seconds '),
    )
    .action(async (options: Options) => done(await run(context, true, options)));
};
