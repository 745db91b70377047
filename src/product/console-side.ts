import { type Console, createConsole } from '../console/console.ts';
import type { ConsoleDeps, ProviderView } from '../console/deps.ts';
import { createAuditLog, createStepLog } from '../logger.ts';
import type { RegisteredProvider } from '../registry/application-provider.ts';
import type { Core } from './core.ts';
import { openOperatorsRooms } from './operators-rooms.ts';

export interface ConsoleSide extends Console {
  /** The secret of a login link that works once. */
  issueLink(): Promise<string>;
  close(): Promise<void>;
}

const viewOf = (provider: RegisteredProvider): ProviderView => ({
  id: provider.id,
  password: provider.passwordHash !== undefined,
  certificates: provider.clientCertificateFingerprints?.length ?? 0,
  profiles: provider.profiles,
  services: provider.services,
  dtbsPrefix: provider.dtbsPrefix,
  ...(provider.rateLimit !== undefined && {
    requestsPerSecond: provider.rateLimit.requests / provider.rateLimit.perSeconds,
  }),
});

/** The console and what it is made of. */
export const openConsole = (
  core: Core,
  {
    shards,
    transactions,
    publicUrl,
    addressOf,
  }: Pick<ConsoleDeps, 'shards' | 'transactions' | 'publicUrl' | 'addressOf'>,
): ConsoleSide => {
  const { configuration, commands: redis, protocol, masterKey, now, logger, onError } = core;
  const log = createAuditLog(logger);
  const rooms = openOperatorsRooms({ configuration, redis, shards, protocol, log, now, onError });
  const { history, audit, replays } = rooms;
  const operators = rooms.operatorsWith(masterKey);
  const console = createConsole({
    operators,
    audit,
    replays,
    history,
    transactions,
    shards,
    redis,
    providers: () => configuration.applicationProviders.map(viewOf),
    publicUrl,
    sandbox: configuration.sandbox,
    addressOf,
    now,
    log: { trouble: createStepLog(logger, now).trouble },
  });
  return {
    ...console,
    issueLink: async () => (await operators.issueLink()).secret,
    close: async () => {
      console.endWaiting();
      history.close();
    },
  };
};
