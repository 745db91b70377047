/**
 * `paraph clients`: the applications that log people in. `add` writes one into the configuration
 * file; the others change a client while the service runs.
 */
import { randomBytes } from 'node:crypto';
import { parts } from '../../parts/parts.ts';
import type { Configuration } from '../app/configuration/schema.ts';
import { configuredTenants } from '../app/configured-tenants.ts';
import { type Admin, secretActions } from '../command-line/admin.ts';
import {
  type AddCommand,
  type CliContext,
  ok,
  type Report,
  UsageError,
  variable,
} from '../command-line/context.ts';
import { readNamed } from '../command-line/named-file.ts';
import { worksAt } from '../command-line/place.ts';
import { type Field, fieldsText, listFields, printable } from '../command-line/screen.ts';
import { parseOneOf } from '../command-line/transactions-filter.ts';
import { isoOrNull } from '../command-line/transactions-row.ts';
import type { clientOrders, ShownClient } from '../console/secrets.route.ts';
import { clientAuthentications } from '../registry/oauth-client.ts';
import { hashPassword } from '../registry/passwords.ts';
import {
  changeConfigurationFile,
  isJsonObject,
  type JsonObject,
  readConfiguration,
} from './configuration-file.ts';

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
  readonly sector?: string;
}

const secretBytes = 32;

const readAuthentication = ({ auth, public: isPublic }: AddOptions): ClientAuthentication => {
  if (isPublic && auth !== undefined && auth !== 'none') {
    throw new UsageError('--public and --auth exclude each other.');
  }
  return auth ?? (isPublic ? 'none' : 'client_secret');
};

/** A key set, or one key. The configuration checks that they are public and strong enough. */
const readKeys = async ({ jwks }: AddOptions): Promise<readonly unknown[] | undefined> => {
  if (jwks === undefined) return undefined;
  const text = await readNamed(jwks, 'The file that --jwks names');
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
const createEntry = async (
  options: AddOptions,
  secretHash: string | undefined,
  ofParts: readonly object[],
): Promise<JsonObject> => {
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
    ...Object.assign({}, ...ofParts),
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
  const tenants = (oidc.tenants === undefined ? defaultTenants : asList(oidc.tenants)).map(
    asObject,
  );
  const index = wanted === undefined ? 0 : tenants.findIndex(({ id }) => id === wanted);
  const tenant = tenants[index];
  if (tenant === undefined)
    throw new UsageError('The configuration has no tenant of the id in --tenant.');
  const clients = asList(tenant.clients);
  if (clients.some((client) => asObject(client).id === entry.id)) {
    throw new UsageError('The tenant has a client of this id already.');
  }
  const changed = tenants.with(index, { ...tenant, clients: [...clients, entry] });
  return {
    changed: { ...configuration, oidc: { ...oidc, tenants: changed } },
    tenant: String(tenant.id),
  };
};

/** What parts add to the options of `clients add`. */
const optionsOf = ({ parts: known }: Pick<CliContext, 'parts'>) =>
  known.flatMap(({ commands }) => commands?.clientOptions ?? []);

const add = async (context: CliContext, options: AddOptions): Promise<Report> => {
  const file = options.config ?? variable(context, 'PARAPH_CONFIG');
  if (file === undefined) {
    throw new UsageError(
      'Which file? Name it with --config or PARAPH_CONFIG; --create begins one.',
    );
  }
  const authentication = readAuthentication(options);
  const secret = authentication.startsWith('client_secret')
    ? randomBytes(secretBytes).toString('base64url')
    : undefined;
  const entry = await createEntry(
    options,
    secret === undefined ? undefined : await hashPassword(secret),
    optionsOf(context).map(({ read }) => read(options)),
  );
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

const clientsIn = (configuration: Configuration) => {
  const { oidc } = configuration;
  return configuredTenants({ configuration, parts }).flatMap(({ id: tenant, clients }, index) =>
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

const list = async (
  context: CliContext,
  options: { readonly config?: string },
): Promise<Report> => {
  const file = options.config ?? variable(context, 'PARAPH_CONFIG');
  const clients = clientsIn(await readConfiguration(file));
  const columns = ['id', 'tenant', 'authentication'] as const;
  const widths = columns.map((column) =>
    Math.max(0, ...clients.map((client) => client[column].length)),
  );
  const lines = clients.map((client) => {
    const cells = columns.map((column, index) => client[column].padEnd(widths[index] ?? 0));
    return `  ${[...cells, printable(client.name)].join('  ')}${client.demo ? ' (sandbox)' : ''}\n`;
  });
  return ok({ clients }, lines.join('') || 'There are no clients.\n');
};

/** What can be done to a client while the service runs. */
const changes: Readonly<Record<(typeof clientOrders)[number] | 'show', string>> = {
  rotate: 'give it a new secret; its newest one so far stays valid, too',
  'disable-older': 'end its secrets but the newest one',
  'disable-all': 'end all of its secrets',
  'end-tokens': 'end all that its logins have given so far: codes, access and refresh tokens',
  show: 'show which of its secrets count',
};

interface ChangeFlags {
  readonly tenant?: string;
}

const change = async (
  context: CliContext,
  admin: Admin,
  order: keyof typeof changes,
  id: string,
  { tenant }: ChangeFlags,
): Promise<Report> => {
  const path = ['clients', id];
  const found = await (order === 'show'
    ? admin.get<ShownClient>(path, { tenant })
    : admin.post<ShownClient>(path, { order, tenant }));
  const secrets = found.secrets.map(isoOrNull);
  const shown = secrets.map((since) =>
    since === null ? 'of the configuration file' : `since ${since}`,
  );
  const endedBefore = isoOrNull(found.endedBefore);
  const fields: readonly Field[] = [
    ['client_id', id],
    ['tenant', found.tenant],
    ['new client_secret', found.secret],
    ['', found.secret && 'Keep it now: nobody can show it again.'],
    ...listFields('secrets', shown.length === 0 ? ['none'] : shown),
    ['tokens', endedBefore === null ? 'of all logins' : `of logins since ${endedBefore}`],
    ['', order === 'show' ? undefined : 'All processes follow within two seconds.'],
  ];
  return ok({ ...found, secrets, endedBefore }, fieldsText(fields, context));
};

const collect = (value: string, previous: readonly string[] = []): readonly string[] => [
  ...previous,
  value,
];

export const addClients: AddCommand = (program, context, done) => {
  const clients = program
    .command('clients')
    .description('manage the applications that log people in');
  const authMethods = `${clientAuthentications.slice(0, -1).join(', ')} or none`;
  const parStatus = 'of answers to pushed requests: 200 or 201';
  const library =
    'it uses an OAuth library: pushed requests are answered 201, unknown scopes are left out';
  const adding = clients
    .command('add')
    .description('add one to the configuration file; prints its new secret, once')
    .requiredOption('--id <id>', 'client_id')
    .requiredOption('--name <name>', 'its name on the login pages')
    .option('--redirect-uri <url>', 'where people are sent back to (may be repeated)', collect)
    .option(
      '--post-logout-redirect-uri <url>',
      'the same after a logout (may be repeated)',
      collect,
    )
    .option('--auth <method>', authMethods, parseOneOf('--auth', clientAuthentications))
    .option('--public', 'no secret, such as for an app; the same as --auth none')
    .option('--jwks <file>', 'its public keys, for private_key_jwt or signed requests')
    .option('--tenant <id>', 'by default the first one')
    .option('--scope <scopes>', 'what it may ask for; openid always (may be repeated)', collect)
    .option('--refresh-tokens', 'it may stay logged in without the user')
    .option('--login-hint', "it may name the user's number")
    .option('--library', library)
    .option('--par-status <status>', parStatus, parseOneOf('--par-status', ['200', '201']));
  for (const options of optionsOf(context)) options.add(adding);
  adding
    .option('--sector <host>', 'clients of one sector see the same sub for a user')
    .option('--config <file>', 'by default the one in PARAPH_CONFIG')
    .option('--create', 'begin the file if there is none')
    .action(async (options: AddOptions) => done(await add(context, options)));
  worksAt('here', adding);
  const action = secretActions(context, done);
  for (const [order, description] of Object.entries(changes) as [keyof typeof changes, string][]) {
    const command = clients
      .command(`${order} <id>`)
      .description(description)
      .option('--tenant <id>', 'by default the first one');
    action(command, (admin, id: string, flags: ChangeFlags) =>
      change(context, admin, order, id, flags),
    );
  }
  const listing = clients
    .command('list')
    .description('list them')
    .option('--config <file>', 'by default the one in PARAPH_CONFIG')
    .action(async (options: { readonly config?: string }) => done(await list(context, options)));
  worksAt('here', listing);
};
