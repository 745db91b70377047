/**
 * `paraph keys`: the keys that sign a tenant's ID tokens. They are in Redis, sealed with the master
 * key, so the command needs both. Running processes follow by themselves.
 *
 * The first keys are never made here: under a wrong master key they would lock the service out.
 */
import type { Configuration } from '../configuration/schema.ts';
import type { SigningKey, SigningKeys } from '../oauth/signing-keys.ts';
import { toError } from '../redis/to-error.ts';
import { usableConfiguration } from './configuration-file.ts';
import { type AddCommand, type CliContext, ok, type Report, UsageError } from './context.ts';
import { paletteFor } from './screen.ts';
import { existingMasterKey, withServiceRedis } from './service-redis.ts';
import { parseCount } from './transactions-filter.ts';
import { iso, isoOrNull } from './transactions-row.ts';

interface Options {
  readonly tenant?: string;
  readonly publishSeconds?: number;
}

interface TenantKeys {
  readonly tenant: string;
  readonly keys: readonly SigningKey[];
}

const findTenants = ({ oidc }: Configuration, wanted: string | undefined): readonly string[] => {
  const ids = oidc.tenants.map(({ id }) => id).filter((id) => wanted === undefined || id === wanted);
  if (ids.length === 0) throw new UsageError('The configuration has no tenant of the id in --tenant.');
  return ids;
};

const shown = ({ tenant, keys }: TenantKeys) => ({
  tenant,
  keys: keys.map(({ kid, kty, state, signsFrom, withdrawnAt }) => ({
    ...{ kid, kty, state },
    // 0 for the first keys, which have always signed.
    signsFrom: isoOrNull(signsFrom),
    withdrawnAt: isoOrNull(withdrawnAt),
  })),
});

const keysText = (tenants: readonly TenantKeys[], context: CliContext): string => {
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

/** Read before anything is written: the master key must open the keys that are there. */
export const presentKeys = (keys: SigningKeys): Promise<readonly SigningKey[]> =>
  keys.list().catch((error: unknown) => {
    // Redis may fail as well.
    if (!toError(error).message.startsWith('the master key does not open')) throw error;
    throw new UsageError(
      'The master key does not open the keys that are there: it is not that of the service.',
    );
  });

const run = async (context: CliContext, isRotation: boolean, options: Options): Promise<Report> => {
  const configuration = await usableConfiguration(context);
  const { oidc, queue } = configuration;
  const ids = findTenants(configuration, options.tenant);
  const masterKey = await existingMasterKey(context);
  return withServiceRedis(context, async (redis) => {
    const { createSigningKeys } = await import('../oauth/signing-keys.ts');
    const { now } = context;
    const common = { redis, prefix: queue.prefix, masterKey, settings: oidc.keys, now };
    const tenants: TenantKeys[] = [];
    for (const tenant of ids) {
      const stored = createSigningKeys({ ...common, tenant });
      const present = await presentKeys(stored);
      const rotates = isRotation && present.length > 0;
      tenants.push({ tenant, keys: rotates ? await stored.rotate(options.publishSeconds) : present });
    }
    return ok({ tenants: tenants.map(shown) }, keysText(tenants, context));
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
