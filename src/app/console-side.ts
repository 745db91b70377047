import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { createConsole } from '../console/console.ts';
import type { ConsoleDeps } from '../console/deps.ts';
import { createClientKey } from '../console/login/client-key.ts';
import {
  type ConsoleLogin,
  createConsoleLogin,
  type OwnFetch,
} from '../console/login/console-login.ts';
import { createProviderLogin, readClientSecret } from '../console/login/provider-login.ts';
import { createSubjects } from '../console/login/subjects.ts';
import { createAuditLog } from '../console/operators/audit.ts';
import { linkAddress } from '../console/operators/links.ts';
import type { Tenants } from '../oauth/tenant.ts';
import { connectForCommands, disconnect, whenReady } from '../redis/connect.ts';
import { consoleClient, withConsoleClient } from '../registry/console-client.ts';
import type { OauthTenant } from '../registry/oauth-client.ts';
import { closeShards } from '../transactions/shards.ts';
import { type Closing, createClosing } from './closing.ts';
import type { Core } from './core.ts';
import { openOperatorsRooms } from './operators-rooms.ts';

/** The pause before the address for `paraph users link` is stored again after an error. */
const noteAgainMs = 5000;

interface ConsoleSurroundings
  extends Pick<ConsoleDeps, 'transactions' | 'publicUrl' | 'addressOf'> {
  readonly tenants: Tenants;
  readonly ownFetch: OwnFetch;
}

/** The number of a robot that signs at once. */
const sandboxNumber = '+41700092501';

/** The login of operators with their phones; undefined where it is configured off. */
const openLogin = (
  core: Core,
  { publicUrl, tenants, ownFetch }: ConsoleSurroundings,
): ConsoleLogin | undefined => {
  const { configuration, serviceKey, hostNow: now } = core;
  const { enabled, tenant, acrValues } = configuration.operations.openid;
  if (!enabled) return undefined;
  return createConsoleLogin({
    key: createClientKey(serviceKey, now),
    subjectOf: createSubjects(serviceKey, tenant, core.custodyOver(core.commands).ownerOf),
    provider: () => tenants.find(tenant) ?? tenants.main,
    publicUrl,
    acrValues,
    sampleNumber: configuration.sandbox ? sandboxNumber : undefined,
    fetch: ownFetch,
    now,
    log: { trouble: core.eventLog.trouble },
  });
};

/**
 * The login at the provider of the operator's organisation; undefined where none is configured.
 *
 * @throws SettingFileError
 */
const openProviderLogin = (
  { configuration, hostNow: now, eventLog }: Core,
  { publicUrl }: ConsoleSurroundings,
): ConsoleDeps['providerLogin'] => {
  const settings = configuration.operations.openidProvider;
  if (settings === undefined) return undefined;
  const login = createProviderLogin({
    settings,
    secret: readClientSecret(settings.clientSecretFile),
    publicUrl,
    fetch,
    now,
    log: { trouble: eventLog.trouble },
  });
  return { login, settings };
};

/** The configured tenants, one of them with the console as a client. */
export const tenantsWithConsole = (
  { configuration, serviceKey, hostNow: now }: Core,
  tenants: readonly OauthTenant[],
  publicUrl: string,
): readonly OauthTenant[] => {
  const { sandbox, operations } = configuration;
  if (!operations.openid.enabled) return tenants;
  const { publicKey } = createClientKey(serviceKey, now);
  const client = consoleClient({ publicUrl, publicKey, sandbox });
  return withConsoleClient(tenants, operations.openid.tenant, client);
};

const openConsoleWith = async (
  core: Core,
  surroundings: ConsoleSurroundings,
  { add, close }: Closing,
) => {
  const { transactions, publicUrl, addressOf } = surroundings;
  const { configuration, protocol, serviceKey, now, onError } = core;
  const providerLogin = openProviderLogin(core, surroundings);
  const redis = connectForCommands({ url: core.redisUrl });
  add(() => disconnect(redis));
  redis.on('error', onError);
  core.telemetry.watchRedis('console', redis);
  await whenReady(redis);
  const shards = core.shardsOver(redis);
  add(() => closeShards(shards));
  const log = createAuditLog(core.eventLog);
  const {
    close: closeRooms,
    secretsWith,
    ...rooms
  } = await openOperatorsRooms({
    configuration,
    parts: core.parts,
    redis,
    shards,
    protocol,
    configured: core.configured,
    log,
    directory: core.directory,
    dataDirectory: core.dataDirectory,
    variables: core.variables,
    warn: (sentence) => core.logger.warn(sentence),
    now,
    onError,
  });
  add(closeRooms);
  const secrets = secretsWith({
    serviceKey,
    custody: core.custodyOver(redis),
    vault: core.vaultOver(redis),
    publicUrl,
  });
  const { operators } = secrets;
  await operators.users.forgetFormer();
  const console = createConsole({
    ...rooms,
    ...secrets,
    phoneLogin: openLogin(core, surroundings),
    providerLogin,
    transactions,
    shards,
    redis,
    publicUrl,
    addressOf,
    now,
    log: { trouble: core.eventLog.trouble },
  });
  let noting: NodeJS.Timeout | undefined;
  let closed = false;
  const noteAddress = async (): Promise<void> => {
    await operators.noteAddress(publicUrl()).catch((error: unknown) => {
      onError(toError(error));
      if (!closed) noting = setTimeout(noteAddress, noteAgainMs).unref();
    });
  };
  return {
    ...console,
    /** The address of a page of the console that logs its first visitor in. */
    issueLink: async (): Promise<string> =>
      linkAddress(publicUrl(), (await operators.issueLink()).secret),
    noteAddress,
    close: async (): Promise<void> => {
      console.endWaiting();
      closed = true;
      clearTimeout(noting);
      await close();
    },
  };
};

/** Opens the console on a connection of its own: its pages are large. */
export const openConsole = (core: Core, surroundings: ConsoleSurroundings) => {
  const closing = createClosing();
  return closing.orClose(() => openConsoleWith(core, surroundings, closing));
};
