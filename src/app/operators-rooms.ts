/** Opens the rooms that the console and the command line use. */

import type { KeyCustody, KeyVault } from '../../packages/pki/src/ports.ts';
import type { Protocol } from '../../packages/protocol/src/parse.ts';
import type { AdminApiDeps, ProviderView, SecretDeps } from '../console/deps.ts';
import { type AuditLog, auditActions, createAudit } from '../console/operators/audit.ts';
import { createNumberNames } from '../console/operators/number-names.ts';
import { createOperators } from '../console/operators/operators.ts';
import { replayPolicy } from '../console/operators/replay-policy.ts';
import { createReplays } from '../console/operators/replays.ts';
import { type ConsolePart, frameOf, type SecretRooms } from '../console/part.ts';
import { createClientChanges } from '../oauth/client-changes.ts';
import { createSigningKeys } from '../oauth/signing-keys.ts';
import type { Part } from '../part/part.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { RegisteredProvider } from '../registry/application-providers.ts';
import { createRateLimiter } from '../registry/rate-limiter.ts';
import type { ConfiguredSubscribers } from '../registry/subscriber.ts';
import { createAnswer } from '../transactions/answers.ts';
import { createHistory } from '../transactions/history/history.ts';
import { closeQueues, openBulkQueue, type Shard } from '../transactions/shards.ts';
import type { Configuration } from './configuration/schema.ts';
import { configuredTenants } from './configured-tenants.ts';
import { settingsOf } from './part-rooms.ts';
import { retentionOf } from './retention.ts';

const viewOf = (provider: RegisteredProvider, ofParts: readonly ConsolePart[]): ProviderView => ({
  id: provider.id,
  password: provider.passwordHash !== undefined,
  clientCertificateFingerprints: provider.clientCertificateFingerprints,
  rateLimit: provider.rateLimit,
  more: Object.assign({}, ...ofParts.map((part) => part.ofProvider?.(provider.id))),
  dtbsPrefix: provider.dtbsPrefix,
  profiles: provider.profiles,
  services: provider.services,
});

export const openOperatorsRooms = async (options: {
  readonly configuration: Configuration;
  readonly parts: readonly Part[];
  readonly redis: RedisClient;
  readonly shards: readonly Shard[];
  readonly protocol: Protocol;
  readonly configured: ConfiguredSubscribers;
  readonly log: AuditLog;
  readonly directory?: string | undefined;
  readonly dataDirectory?: string | undefined;
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined;
  readonly warn: (sentence: string) => void;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}) => {
  const { configuration, parts, redis, shards, protocol, now, onError } = options;
  const { operations, queue, sandbox, applicationProviders } = configuration;
  const { prefix } = queue;
  const limiter = createRateLimiter({ redis, prefix });
  const audit = createAudit({ redis, prefix, log: options.log });
  const retention = retentionOf(configuration);
  const rooms = {
    settings: settingsOf(configuration),
    redis,
    prefix,
    shards,
    retention,
    directory: options.directory,
    dataDirectory: options.dataDirectory,
    variables: options.variables ?? {},
    audit,
    configured: options.configured,
    answer: createAnswer(shards, { protocol, now }),
    warn: options.warn,
    now,
    onError,
  };
  const ofParts = (await Promise.all(parts.map((part) => part.openConsole?.(rooms)))).filter(
    (part) => part !== undefined,
  );
  const history = createHistory({ redis, prefix, shards: shards.length, retention, now, onError });
  const bulkQueue = openBulkQueue({ redis, prefix, onError });
  const providers = applicationProviders.map((provider) => viewOf(provider, ofParts));
  return {
    history,
    audit,
    sandbox,
    indexed: operations.index,
    links: operations.links,
    providers: () => providers,
    close: async (): Promise<void> => {
      history.close();
      await closeQueues([bulkQueue]);
    },
    replays: createReplays({
      history,
      shards,
      protocol,
      audit,
      queue: bulkQueue,
      redis,
      prefix,
      now,
      limiter,
      policy: replayPolicy(operations.replay.policy),
    }),
    parts: ofParts,
    frame: frameOf(ofParts),
    auditActions: [...auditActions, ...parts.flatMap((part) => part.auditActions ?? [])],
    secretsWith: ({
      serviceKey,
      custody,
      vault,
      publicUrl,
    }: {
      readonly serviceKey: Uint8Array;
      readonly custody: KeyCustody;
      readonly vault: KeyVault;
      /** Default: as the service has noted it. */
      readonly publicUrl?: () => string;
    }): SecretDeps & Required<Pick<AdminApiDeps, 'numberName'>> => {
      const operators = createOperators({
        redis,
        prefix,
        serviceKey,
        now,
        settings: operations,
        limiter,
        audit,
      });
      const numberName = createNumberNames(serviceKey);
      const secretRooms: SecretRooms = {
        serviceKey,
        numberName,
        custody,
        publicUrl: async () =>
          publicUrl?.() ?? configuration.publicUrl ?? (await operators.address()),
      };
      const secretParts = ofParts.flatMap((part) => part.openSecrets?.(secretRooms) ?? []);
      const owners = secretParts.flatMap((part) => part.owners ?? []);
      return {
        operators,
        numberName,
        secretRoutes: secretParts.flatMap(({ routes }) =>
          routes === undefined ? [] : [(deps: AdminApiDeps) => routes(deps, owners)],
        ),
        secretNeeds: secretParts.flatMap(({ needs }) => needs ?? []),
        tenants: configuredTenants({ configuration, parts }).map(({ id, clients }) => {
          const sealed = { redis, prefix, tenant: id, serviceKey, now };
          return {
            id,
            clients,
            changes: createClientChanges(sealed),
            keys: createSigningKeys({ ...sealed, vault, settings: configuration.oidc }),
          };
        }),
      };
    },
  };
};

export type OperatorsRooms = Awaited<ReturnType<typeof openOperatorsRooms>>;
