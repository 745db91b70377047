/**
 * `paraph clients`: the applications that log people in. `add` writes one into the configuration
 * file. What is changed while the service runs is in Redis, sealed with the master key.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Configuration } from '../configuration/schema.ts';
import { doneBy } from '../operators/audit.ts';
import { withDemoClients } from '../registry/demo-clients.ts';
import { clientAuthentications } from '../registry/oauth-client.ts';
import { hashPassword } from '../registry/passwords.ts';
import {
  changeConfigurationFile,
  isJsonObject,
  type JsonObject,
  readConfiguration,
} from './configuration-file.ts';
import { type AddCommand, type CliContext, ok, type Report, UsageError, variable } from './context.ts';
import { presentKeys } from './keys.command.ts';
import { type Field, fieldsText, listFields, printable } from './screen.ts';
import { existingMasterKey, withOperations } from './service-redis.ts';
import { parseOneOf } from './transactions-filter.ts';
import { isoOrNull } from './transactions-row.ts';

type ClientAuthentication = (typeof clientAuthentications)[number];

interface AddOptions {
  readonly config?: string;
  readonly create?: true;
  readonly id: string;
  readonly name: string;
  readonly redirectUri?: readonly string[];
  readonly postLogoutRedirectUri?: readonly string[];
  readonly public?: true;
  readonly auth?: ClientAuthentication;
  readonly jwks?: string;
  readonly tenant?: string;
  readonly scope?: readonly string[];
  readonly refreshTokens?: true;
  readonly loginHint?: true;
  readonly parStatus?: '200' | '201';
  readonly library?: true;
  readonly ciba?: 'poll' | 'ping';
  readonly notificationEndpoint?: string;
  readonly sector?: string;
}

const secretBytes = 32;

const readAuthentication = ({ auth, public: isPublic }: AddOptions): ClientAuthentication => {
  if (isPublic && auth !== undefined && auth !== 'none') {
    throw new UsageError('--public and --auth exclude each other.');
  }
  return auth ?? (isPublic ? 'none' : 'client_secret');
};

const readBackchannel = ({ ciba, notificationEndpoint }: AddOptions): object | undefined => {
  if ((ciba === 'ping') !== (notificationEndpoint !== undefined)) {
    throw new UsageError('--ciba ping and --notification-endpoint need each other.');
  }
  return ciba === undefined
    ? undefined
    : { kind: ciba, ...(notificationEndpoint && { notificationEndpoint }) };
};

/** A key set, or one key. The configuration checks that they are public and strong enough. */
const readKeys = async ({ jwks }: AddOptions): Promise<readonly unknown[] | undefined> => {
  if (jwks === undefined) return undefined;
  const text = await readFile(jwks, 'utf8').catch(() => {
    throw new UsageError('The file that --jwks names cannot be read.');
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the text.
  }
  if (isJsonObject(value) && Array.isArray(value.keys)) return value.keys;
  if (isJsonObject(value) && 'kty' in value) return [value];
  throw new UsageError('The file that --jwks names must be a JSON Web Key Set, or one key of it.');
};

/** `--scope "openid phone" --scope profile` */
const readScopes = ({ scope }: AddOptions): readonly string[] | undefined => {
  if (scope === undefined) return undefined;
  const given = scope.flatMap((text) => text.split(/[\s,]+/)).filter((name) => name !== '');
  return [...new Set(['openid', ...given])];
};

/** Defaults are left out: the file stays readable, and follows when a default gets better. */
const createEntry = async (options: AddOptions, secretHash: string | undefined): Promise<JsonObject> => {
  const all = {
    id: options.id,
    name: options.name,
    authentication: readAuthentication(options),
    secretHash,
    keys: await readKeys(options),
    redirectUris: options.redirectUri,
    postLogoutRedirectUris: options.postLogoutRedirectUri,
    scopes: readScopes(options),
    refreshTokens: options.refreshTokens,
    loginHintAllowed: options.loginHint,
    parSuccessStatus: Number(options.parStatus ?? (options.library && 201)) || undefined,
    strictParameters: options.library && false,
    backchannel: readBackchannel(options),
    sector: options.sector,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
};

const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The default tenant is written into the file with its first client. */
const defaultTenants: readonly JsonObject[] = [{ id: 'default', name: 'Paraph' }];

const withClient = (configuration: JsonObject, wanted: string | undefined, entry: JsonObject) => {
  const oidc = asObject(configuration.oidc);
  const tenants = (oidc.tenants === undefined ? defaultTenants : asList(oidc.tenants)).map(asObject);
  const index = wanted === undefined ? 0 : tenants.findIndex(({ id }) => id === wanted);
  const tenant = tenants[index];
  if (tenant === undefined) throw new UsageError('The configuration has no tenant of the id in --tenant.');
  const clients = asList(tenant.clients);
  if (clients.some((client) => asObject(client).id === entry.id)) {
    throw new UsageError('The tenant has a client of this id already.');
  }
  const changed = tenants.with(index, { ...tenant, clients: [...clients, entry] });
  return { changed: { ...configuration, oidc: { ...oidc, tenants: changed } }, tenant: String(tenant.id) };
};

const add = async (context: CliContext, options: AddOptions): Promise<Report> => {
  const file = options.config ?? variable(context, 'PARAPH_CONFIG');
  if (file === undefined) {
    throw new UsageError('Which file? Name it with --config or PARAPH_CONFIG; --create begins one.');
  }
  const authentication = readAuthentication(options);
  const secret = authentication.startsWith('client_secret')
    ? randomBytes(secretBytes).toString('base64url')
    : undefined;
  const entry = await createEntry(options, secret === undefined ? undefined : await hashPassword(secret));
  let tenant = '';
  await changeConfigurationFile(file, { create: options.create === true }, (configuration) => {
    const added = withClient(configuration, options.tenant, entry);
    tenant = added.tenant;
    return added.changed;
  });
  const fields: readonly Field[] = [
    ['client_id', options.id],
    ['client_secret', secret],
    ['', secret && 'Keep it now: the file has only its hash, and nobody can show it again.'],
    ['method', authentication],
    ['tenant', tenant],
    ['file', file],
    ['', 'The service knows the client from its next start on.'],
    ['', options.library ? undefined : 'If it uses an OAuth library, add it with --library.'],
  ];
  const { id, name } = options;
  const client = { id, name, authentication };
  return ok({ file, tenant, client, ...(secret && { secret }) }, fieldsText(fields, context));
};

/** Addresses of demo clients are not shown, so any address will do. */
const tenantsIn = ({ oidc }: Configuration) =>
  oidc.demoClients ? withDemoClients(oidc.tenants, 'http://localhost') : oidc.tenants;

const clientsIn = (configuration: Configuration) => {
  const { oidc } = configuration;
  return tenantsIn(configuration).flatMap(({ id: tenant, clients }, index) =>
    clients.map((client) => ({
      tenant,
      id: client.id,
      name: client.name,
      authentication: client.authentication,
      // Not in the file: it comes with the sandbox.
      demo: oidc.tenants[index]?.clients.includes(client) !== true,
    })),
  );
};

const list = async (context: CliContext, options: { readonly config?: string }): Promise<Report> => {
  const file = options.config ?? variable(context, 'PARAPH_CONFIG');
  const clients = clientsIn(await readConfiguration(file));
  const columns = ['id', 'tenant', 'authentication'] as const;
  const widths = columns.map((column) => Math.max(0, ...clients.map((client) => client[column].length)));
  const lines = clients.map((client) => {
    const cells = columns.map((column, index) => client[column].padEnd(widths[index] ?? 0));
    return `  ${[...cells, printable(client.name)].join('  ')}${client.demo ? ' (sandbox)' : ''}\n`;
  });
  return ok({ clients }, lines.join('') || 'There are no clients.\n');
};

/** What can be done to a client while the service runs. */
const changes = {
  rotate: 'give it a new secret; its newest one so far stays valid, too',
  'disable-older': 'end its secrets but the newest one',
  'disable-all': 'end all of its secrets',
  'end-tokens': 'end all that its logins have given so far: codes, access and refresh tokens',
  show: 'show which of its secrets count',
} as const;

type Change = keyof typeof changes;

const change = async (
  context: CliContext,
  what: Change,
  id: string,
  { tenant: wanted }: { readonly tenant?: string },
): Promise<Report> => {
  const masterKey = await existingMasterKey(context);
  return withOperations(context, async ({ configuration, redis, audit, operator }) => {
    const tenants = tenantsIn(configuration);
    const tenant = wanted === undefined ? tenants[0] : tenants.find((each) => each.id === wanted);
    const client = tenant?.clients.find((each) => each.id === id);
    if (tenant === undefined || client === undefined) {
      throw new UsageError('The configuration has no client of this id in this tenant.');
    }
    if (client.secretHash === undefined && what !== 'end-tokens' && what !== 'show') {
      throw new UsageError('This client has no secret. Its keys are in the configuration file.');
    }
    const [{ createClientChanges, listSecrets }, { createSigningKeys }] = await Promise.all([
      import('../oauth/client-changes.ts'),
      import('../oauth/signing-keys.ts'),
    ]);
    const { prefix } = configuration.queue;
    const common = { redis, prefix, tenant: tenant.id, masterKey, now: context.now };
    // A record under another master key would keep the service from starting.
    const keys = await presentKeys(createSigningKeys({ ...common, settings: configuration.oidc.keys }));
    if (keys.length === 0) throw new UsageError('The service has to be started before clients are changed.');
    const stored = createClientChanges(common);
    if (what !== 'show') {
      const details = { tenant: tenant.id, what };
      await audit.record({ ...doneBy(operator), action: 'client-change', target: id, details });
    }
    const rotated = what === 'rotate' ? await stored.rotate(client) : undefined;
    if (what === 'disable-older') await stored.disable(client, 'older');
    if (what === 'disable-all') await stored.disable(client, 'all');
    if (what === 'end-tokens') await stored.endTokens(client);
    const now = (await stored.read()).get(id);
    const secrets = listSecrets(client, now).map(({ since }) => isoOrNull(since));
    const shown = secrets.map((since) => (since === null ? 'of the configuration file' : `since ${since}`));
    const endedBefore = isoOrNull(now?.endedBefore ?? 0);
    const fields: readonly Field[] = [
      ['client_id', id],
      ['tenant', tenant.id],
      ['new client_secret', rotated?.secret],
      ['', rotated && 'Keep it now: nobody can show it again.'],
      ...listFields('secrets', shown.length === 0 ? ['none'] : shown),
      ['tokens', endedBefore === null ? 'of all logins' : `of logins since ${endedBefore}`],
      ['', what === 'show' ? undefined : 'All processes follow within two seconds.'],
    ];
    const document = { tenant: tenant.id, client: id, secrets, endedBefore };
    return ok({ ...document, ...(rotated && { secret: rotated.secret }) }, fieldsText(fields, context));
  });
};

const collect = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];

export const addClients: AddCommand = (program, context, done) => {
  const clients = program.command('clients').description('manage the applications that log people in');
  const authMethods = `${clientAuthentications.slice(0, -1).join(', ')} or none`;
  const parStatus = 'of answers to pushed requests: 200 or 201';
  const library = 'it uses an OAuth library: pushed requests are answered 201, unknown scopes are left out';
  const ciba = 'logins without a browser: poll or ping';
  clients
    .command('add')
    .description('add one to the configuration file; prints its new secret, once')
    .requiredOption('--id <id>', 'client_id')
    .requiredOption('--name <name>', 'its name on the login pages')
    .option('--redirect-uri <url>', 'where people are sent back to (may be repeated)', collect)
    .option('--post-logout-redirect-uri <url>', 'the same after a logout (may be repeated)', collect)
    .option('--auth <method>', authMethods, parseOneOf('--auth', clientAuthentications))
    .option('--public', 'no secret, such as for an app; the same as --auth none')
    .option('--jwks <file>', 'its public keys, for private_key_jwt or signed requests')
    .option('--tenant <id>', 'by default the first one')
    .option('--scope <scopes>', 'what it may ask for; openid always (may be repeated)', collect)
    .option('--refresh-tokens', 'it may stay logged in without the user')
    .option('--login-hint', "it may name the user's number")
    .option('--library', library)
    .option('--par-status <status>', parStatus, parseOneOf('--par-status', ['200', '201']))
    .option('--ciba <delivery>', ciba, parseOneOf('--ciba', ['poll', 'ping']))
    .option('--notification-endpoint <url>', 'where it is pinged')
    .option('--sector <host>', 'clients of one sector see the same sub for a user')
    .option('--config <file>', 'by default the one in PARAPH_CONFIG')
    .option('--create', 'begin the file if there is none')
    .action(async (options: AddOptions) => done(await add(context, options)));
  for (const what of Object.keys(changes) as Change[]) {
    clients
      .command(`${what} <id>`)
      .description(changes[what])
      .option('--tenant <id>', 'by default the first one')
      .action(async (id: string, options: { readonly tenant?: string }) =>
        done(await change(context, what, id, options)),
      );
  }
  clients
    .command('list')
    .description('list them')
    .option('--config <file>', 'by default the one in PARAPH_CONFIG')
    .action(async (options: { readonly config?: string }) => done(await list(context, options)));
};
