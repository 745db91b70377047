import { type Console, createConsole } from '../console/console.ts';
import type { ConsoleDeps, ProviderView } from '../console/deps.ts';
import { createHistory } from '../history/history.ts';
import { createAuditLog, createStepLog } from '../logger.ts';
import { createAudit } from '../operators/audit.ts';
import { createOperators } from '../operators/operators.ts';
import { replayPolicy } from '../operators/replay-policy.ts';
import { createReplays } from '../operators/replays.ts';
import { cancelTransaction } from '../queue/cancellation.ts';
import type { RegisteredProvider } from '../registry/application-provider.ts';
import { createPasswordVerifier } from '../registry/password-verifier.ts';
import { createRateLimiter } from '../registry/rate-limiter.ts';
import { shardFor } from '../transactions/answers.ts';
import type { Shard } from '../transactions/shards.ts';
import type { Core } from './core.ts';

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
  }: Pick<ConsoleDeps, 'shards' | 'transactions' | 'publicUrl' | 'addressOf'> & {
    readonly shards: readonly Shard[];
  },
): ConsoleSide => {
  const { configuration, commands: redis, protocol, retention, masterKey, now, logger, onError } = core;
  const { prefix } = configuration.queue;
  const limiter = createRateLimiter({ redis, prefix });
  const audit = createAudit({ redis, prefix, log: createAuditLog(logger) });
  const history = createHistory({ redis, prefix, shards: shards.length, retention, now, onError });
  const operators = createOperators({
    redis,
    prefix,
    masterKey,
    now,
    settings: configuration.operations,
    limiter,
    passwords: createPasswordVerifier(),
    audit,
  });
  const replays = createReplays({
    history,
    shards,
    cancel: async (msspTransId) => {
      const at = shardFor(shards, msspTransId)?.signatures;
      return at === undefined
        ? 'unknown'
        : cancelTransaction(msspTransId, { at, redis, protocol, now, by: 'operator' });
    },
    audit,
    redis,
    prefix,
    now,
    limiter,
    policy: replayPolicy(configuration.operations.replay.policy),
  });
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
      await history.close();
    },
  };
};
