/**
 * The rooms of a service that the commands of its operators use, over one connection to its Redis. Loaded when a command
 * runs: most of the program hangs on it.
 */
import type { Configuration } from '../configuration/schema.ts';
import { createHistory, type History } from '../history/history.ts';
import { type Audit, createAudit } from '../operators/audit.ts';
import { createOperators, type Operators } from '../operators/operators.ts';
import { replayPolicy } from '../operators/replay-policy.ts';
import { createReplays, type Replays } from '../operators/replays.ts';
import { createProtocol } from '../protocol/parse.ts';
import { cancelTransaction } from '../queue/cancellation.ts';
import type { RedisClient } from '../redis/connect.ts';
import { createPasswordVerifier } from '../registry/password-verifier.ts';
import { createRateLimiter } from '../registry/rate-limiter.ts';
import { shardFor } from '../transactions/answers.ts';
import { closeShards, openShards } from '../transactions/shards.ts';

export interface OperationsService {
  readonly configuration: Configuration;
  readonly redis: RedisClient;
  readonly history: History;
  readonly audit: Audit;
  readonly replays: Replays;
  /** Users and tokens are sealed, so this needs the key. */
  operatorsWith(masterKey: Uint8Array): Operators;
  /** The fields of a transaction's job, as they lie in Redis. Undefined where there is none. */
  readJob(msspTransId: string): Promise<Readonly<Record<string, string>> | undefined>;
  close(): Promise<void>;
}

const dayMs = 86_400_000;

export const openOperationsService = (options: {
  readonly configuration: Configuration;
  readonly redis: RedisClient;
  readonly now: () => number;
}): OperationsService => {
  const { configuration, redis, now } = options;
  const { queue, retention, operations } = configuration;
  const { prefix } = queue;
  // The next command on the connection tells of it.
  const onError = (): void => undefined;
  const shards = openShards({ redis, prefix, shards: queue.shards, onError });
  const history = createHistory({
    redis,
    prefix,
    shards: queue.shards,
    retention: { signedMs: retention.signedDays * dayMs, failedMs: retention.failedDays * dayMs },
    now,
    onError,
  });
  // The log is the service's; what is done here stands in the audit log alone.
  const audit = createAudit({ redis, prefix, log: { audit: () => undefined } });
  const limiter = createRateLimiter({ redis, prefix });
  const protocol = createProtocol(configuration.protocol);
  return {
    configuration,
    redis,
    history,
    audit,
    replays: createReplays({
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
      policy: replayPolicy(operations.replay.policy),
    }),
    operatorsWith: (masterKey) =>
      createOperators({
        redis,
        prefix,
        masterKey,
        now,
        settings: operations,
        limiter,
        passwords: createPasswordVerifier(),
        audit,
      }),
    readJob: async (msspTransId) => {
      const key = shardFor(shards, msspTransId)?.signatures.queue.toKey(msspTransId);
      const fields = key === undefined ? {} : await redis.hgetall(key);
      return 'data' in fields ? fields : undefined;
    },
    close: async () => {
      history.close();
      await closeShards(shards);
    },
  };
};
