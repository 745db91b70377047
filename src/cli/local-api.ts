/**
 * The service's rooms and its admin API in the process of a command, over the Redis of the service.
 * They are most of the program, so a command imports this file when it runs.
 *
 * The operator is an admin: `os:` and the user's name in the operating system, which no user of the
 * service can have. The audit log adds `via: cli`.
 *
 * Users, tokens, secrets and keys are sealed with the service's master key, or derived from it.
 */
import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { createKeyCustody } from '../../packages/pki/src/custody.ts';
import type { KeyCustody, KeyVault } from '../../packages/pki/src/ports.ts';
import { createSealer } from '../../packages/pki/src/sealed-record.ts';
import {
  ensureServiceKey,
  OtherMasterKeyError,
  openServiceKey,
} from '../../packages/pki/src/service-key.ts';
import { createProtocol } from '../../packages/protocol/src/parse.ts';
import { parts } from '../../parts/parts.ts';
import type { Configuration } from '../app/configuration/schema.ts';
import { createCustodyStore } from '../app/custody-store.ts';
import { openKeyPlace } from '../app/key-place.ts';
import { createKeySlots } from '../app/key-slots.ts';
import { findNewAuthorityError, readKeyUse } from '../app/key-use.ts';
import { openOperatorsRooms } from '../app/operators-rooms.ts';
import { pointersOf, queuesOf, settingsOf } from '../app/part-rooms.ts';
import { retentionOf } from '../app/retention.ts';
import {
  type CliContext,
  environmentIn,
  type LocalNeeds,
  UsageError,
} from '../command-line/context.ts';
import { openAdminApi } from '../console/admin-api.ts';
import type { AdminApiDeps, SecretDeps, UserDeps } from '../console/deps.ts';
import { createSubjects } from '../console/login/subjects.ts';
import type { Operator } from '../console/operators/operator.ts';
import type { RedisClient } from '../redis/connect.ts';
import { createSubscriberRegistry } from '../registry/subscribers.ts';
import { closeShards, openShards } from '../transactions/shards.ts';
import { createFind } from '../transactions/transactions.ts';
import { existingMasterKey, isConnectionError } from './service-redis.ts';

/** The name of the user in the operating system; in a container often only a number. */
const systemUser = (): string => {
  try {
    return userInfo().username.slice(0, 60);
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
};

/**
 * Opens the service's rooms for one command.
 *
 * @param files Whether parts read the files that the configuration names.
 */
export const openSession = async (
  context: CliContext,
  configuration: Configuration,
  redis: RedisClient,
  files = false,
) => {
  const { now } = context;
  const { configurationPath = '.', dataDirectory, variables } = environmentIn(context);
  // The next command on the connection fails with the same error.
  const onError = (): void => undefined;
  const shards = openShards({ redis, ...configuration.queue, queues: queuesOf(parts), onError });
  const protocol = createProtocol(configuration.protocol);
  const rooms = await openOperatorsRooms({
    configuration,
    parts,
    redis,
    shards,
    protocol,
    configured: createSubscriberRegistry(configuration),
    directory: files ? dirname(resolve(configurationPath)) : undefined,
    dataDirectory,
    variables,
    warn: (sentence) => void context.stderr.write(`paraph: ${sentence}\n`),
    now,
    onError,
    // The log belongs to the service. The audit log has what is done here.
    log: { audit: () => undefined },
  });
  const operator: Operator = { name: `os:${systemUser()}`, role: 'admin', via: 'cli' };
  return {
    ...rooms,
    configuration,
    redis,
    shards,
    protocol,
    operator,
    close: async (): Promise<void> => {
      await rooms.close();
      await closeShards(shards);
    },
  };
};

export type OperationsSession = Awaited<ReturnType<typeof openSession>>;

const recordSchema = z.object({ key: z.string() });
const rootName = 'ca:root';
const otherKey =
  'The master key does not open what the service has stored: it is not that of the service.';

const opened = (opening: Promise<unknown>): Promise<unknown> =>
  opening.catch((error: unknown) => {
    if (isConnectionError(error)) throw error;
    throw new UsageError(otherKey);
  });

/** The vault of private keys for a command. It opens another place when a key there is used. */
export const vaultIn = async (
  context: CliContext,
  configuration: Configuration,
): Promise<KeyVault> => {
  const place = await openKeyPlace(parts, {
    settings: settingsOf(configuration),
    prefix: configuration.queue.prefix,
    variables: environmentIn(context).variables,
    // The key that is asked for says what is wrong.
    log: { info: () => undefined },
    onError: () => undefined,
  });
  return place.vault();
};

/**
 * The service key, where the store has one.
 *
 * @throws UsageError when the master key is not one of those that open the service.
 */
const serviceKeyOf = async (
  { redis, configuration }: Pick<OperationsSession, 'redis' | 'configuration'>,
  masterKey: Uint8Array,
): Promise<Uint8Array | undefined> => {
  try {
    return await openServiceKey(createKeySlots(redis, configuration.queue.prefix), masterKey);
  } catch (error) {
    if (error instanceof OtherMasterKeyError) throw new UsageError(otherKey);
    throw error;
  }
};

/** The keys of the service, whatever the state of its store. @throws As {@link serviceKeyOf}. */
export const openCustody = async (
  context: CliContext,
  { redis, configuration }: Pick<OperationsSession, 'redis' | 'configuration'>,
  masterKey: Uint8Array,
): Promise<KeyCustody> =>
  createKeyCustody({
    store: createCustodyStore(redis, configuration.queue.prefix),
    serviceKey: (await serviceKeyOf({ redis, configuration }, masterKey)) ?? masterKey,
    now: context.now,
    vault: await vaultIn(context, configuration),
  });

/**
 * The service key. Before the first start it is made here, as the start would make it: whatever is
 * sealed now is opened later. In a store of before, the master key is the service key.
 *
 * The service cannot use users, tokens and clients that are sealed with another key, and would not
 * say so. Therefore the private key of its certificate authority is opened first. A service that
 * was never started has none. If the key was used before, Redis has lost its data.
 *
 * @throws UsageError when it is another key, or Redis has lost what was stored under it.
 */
const openOwnKey = async (
  context: CliContext,
  session: OperationsSession,
  masterKey: Uint8Array,
): Promise<Uint8Array> => {
  const { redis, configuration } = session;
  const { prefix } = configuration.queue;
  const environment = environmentIn(context);
  // In this order: a process that starts at the same time makes the slot, then the authority.
  const keyUse = await readKeyUse(masterKey, environment);
  const root = await createCustodyStore(redis, prefix).get(rootName);
  const present = await serviceKeyOf(session, masterKey);
  if (root === undefined) {
    const error = findNewAuthorityError(keyUse, environment.newAuthority);
    if (error !== undefined) throw new UsageError(error);
    const options = { first: undefined, now: context.now };
    return present ?? ensureServiceKey(createKeySlots(redis, prefix), masterKey, options);
  }
  const serviceKey = present ?? masterKey;
  const { key } = recordSchema.parse(JSON.parse(root));
  await opened(createSealer(serviceKey).open(rootName, key));
  return serviceKey;
};

/**
 * What is sealed with the service key, or derived from it.
 *
 * @throws UsageError when the master key is missing, or not the service's.
 */
export const openSecrets = async (
  context: CliContext,
  session: OperationsSession,
): Promise<SecretDeps & UserDeps & Pick<AdminApiDeps, 'numberName'>> => {
  const serviceKey = await openOwnKey(context, session, await existingMasterKey(context));
  const { queue, operations } = session.configuration;
  const store = createCustodyStore(session.redis, queue.prefix);
  const vault = await vaultIn(context, session.configuration);
  const custody = createKeyCustody({
    store,
    serviceKey,
    vault,
    now: context.now,
    pointersOf: pointersOf(parts, session.configuration),
  });
  const secrets = session.secretsWith({ serviceKey, custody, vault });
  // Without an authority, the keys that sign ID tokens show whether it is the right one.
  for (const { keys } of secrets.tenants) await opened(keys.list());
  // Who owns a number.
  await custody.refresh();
  const { enabled, tenant } = operations.openid;
  const subjectOf = createSubjects(serviceKey, tenant, custody.ownerOf);
  return { ...secrets, phoneLogin: enabled ? { subjectOf } : undefined };
};

export const openLocalApi = async (
  context: CliContext,
  session: OperationsSession,
  needs: LocalNeeds,
): Promise<(request: Request) => Promise<Response>> => {
  const { configuration } = session;
  const { now } = context;
  const retention = retentionOf(configuration);
  const secrets = needs.secrets ? await openSecrets(context, session) : undefined;
  const deps = {
    ...session,
    numberName: secrets?.numberName,
    transactions: {
      // Only the service can verify an end. Here it is shown as the job has it.
      find: createFind({ ...session, retention, now, readEnd: async () => ({ kind: 'open' }) }),
    },
    log: { trouble: () => undefined },
    now,
  };
  return openAdminApi(deps, secrets, session.operator);
};
