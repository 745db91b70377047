/** What operators work with, in the console and on the command line. */

import { createCallbacks } from '../callbacks/callbacks.ts';
import type { Configuration } from '../configuration/schema.ts';
import { createHistory, type History } from '../history/history.ts';
import { type Audit, type AuditLog, createAudit } from '../operators/audit.ts';
import { type CallbackReplays, createCallbackReplays } from '../operators/callback-replays.ts';
import { createOperators, type Operators } from '../operators/operators.ts';
import { replayPolicy } from '../operators/replay-policy.ts';
import { createReplays, type Replays } from '../operators/replays.ts';
import type { Protocol } from '../protocol/parse.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { PasswordVerifier } from '../registry/password-verifier.ts';
import { createRateLimiter } from '../registry/rate-limiter.ts';
import { closeQueues, openBulkQueue, type Shard } from '../transactions/shards.ts';
import { retentionOf } from './retention.ts';

export interface OperatorsRooms {
  readonly history: History;
  readonly audit: Audit;
  readonly replays: Replays;
  readonly callbacks: CallbackReplays;
  /** Users and tokens are sealed, so this needs the key. */
  operatorsWith(masterKey: Uint8Array): Operators;
  close(): Promise<void>;
}

export const openOperatorsRooms = (options: {
  readonly configuration: Configuration;
  readonly redis: RedisClient;
  readonly shards: readonly Shard[];
  readonly protocol: Protocol;
  readonly passwords: PasswordVerifier;
  readonly log: AuditLog;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}): OperatorsRooms => {
  const { configuration, redis, shards, protocol, now, onError } = options;
  const { operations, queue } = configuration;
  const { prefix } = queue;
  const limiter = createRateLimiter({ redis, prefix });
  const audit = createAudit({ redis, prefix, log: options.log });
  const retention = retentionOf(configuration);
  const history = createHistory({ redis, prefix, shards: shards.length, retention, now, onError });
  const bulkQueue = openBulkQueue({ redis, prefix, onError });
  return {
    history,
    audit,
    close: async () => {
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
    callbacks: createCallbackReplays({ callbacks: createCallbacks({ redis, shards }), audit, now }),
    operatorsWith: (masterKey) =>
      createOperators({
        redis,
        prefix,
        masterKey,
        now,
        settings: operations,
        limiter,
        passwords: options.passwords,
        audit,
      }),
  };
};
