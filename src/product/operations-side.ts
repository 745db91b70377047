import { createIndexer } from '../history/indexer.ts';
import { createAuditLog } from '../logger.ts';
import { createAudit } from '../operators/audit.ts';
import { createReplayRunner } from '../operators/replay-runner.ts';
import { createRateLimiter } from '../registry/rate-limiter.ts';
import type { Shard } from '../transactions/shards.ts';
import type { Core } from './core.ts';

export interface OperationsSide {
  close(): Promise<void>;
}

/**
 * What is kept for the people who run the service: the index that they search, and the replays that they have ordered. Of all
 * worker processes one at a time sees to each.
 */
export const startOperations = (core: Core, shards: readonly Shard[]): OperationsSide => {
  const { configuration, blocking: redis, retention, now, logger, onError } = core;
  const { queue, operations } = configuration;
  const { prefix } = queue;
  const indexer = operations.index
    ? createIndexer({ redis, prefix, shards: queue.shards, retention, now, onError })
    : undefined;
  indexer?.start();
  const replays = createReplayRunner({
    redis,
    prefix,
    shards,
    audit: createAudit({ redis, prefix, log: createAuditLog(logger) }),
    limiter: createRateLimiter({ redis, prefix }),
    automatic: operations.replay.automatic,
    now,
    onError,
  });
  replays.start();
  return {
    close: async () => {
      await replays.close();
      await indexer?.close();
    },
  };
};
