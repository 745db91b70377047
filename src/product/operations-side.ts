import { startCallbacks } from '../callbacks/start.ts';
import { createAuditLog, createCallbackLog } from '../logger.ts';
import { createAudit } from '../operators/audit.ts';
import { createAutomaticReplays } from '../operators/automatic-replays.ts';
import { startBulkWorker } from '../operators/bulk-worker.ts';
import { createRateLimiter } from '../registry/rate-limiter.ts';
import { createReadEnd } from '../transactions/outcomes.ts';
import { closeQueues, openBulkQueue, type Shard } from '../transactions/shards.ts';
import { createFind } from '../transactions/transactions.ts';
import type { Core } from './core.ts';
import { keepIndexHere, keepIndexInThread } from './index-keeper.ts';

export interface OperationsSide {
  close(): Promise<void>;
}

/**
 * What is done beside signing: the index that people search, the replays that they have ordered, and the callbacks of
 * applications. Of all worker processes one at a time sees to the index and to automatic replays, and finds what there is to tell.
 */
export const startOperations = async (core: Core, shards: readonly Shard[]): Promise<OperationsSide> => {
  const { configuration, blocking: redis, protocol, retention, masterKey, now, logger, onError } = core;
  const readEnd = createReadEnd({ custody: core.custodyOver(redis), seals: core.seals, now, onError });
  const { queue, operations } = configuration;
  const { prefix } = queue;
  const keepIndex = core.compiled ? keepIndexInThread : keepIndexHere;
  const indexKeeper = operations.index
    ? keepIndex({ redisUrl: core.redisUrl, prefix, shards: queue.shards, retention }, { now, onError })
    : undefined;
  const audit = createAudit({ redis, prefix, log: createAuditLog(logger) });
  const replaying = {
    redis,
    prefix,
    shards,
    audit,
    limiter: createRateLimiter({ redis, prefix }),
    now,
    onError,
  };
  const bulkQueue = openBulkQueue({ redis, prefix, onError });
  const bulks = startBulkWorker({ ...replaying, queue: bulkQueue });
  await bulks.ready();
  const automatic = createAutomaticReplays({ ...replaying, rules: operations.replay.automatic });
  automatic.start();
  const callbacks = await startCallbacks({
    redis,
    prefix,
    shards,
    find: createFind({ shards, protocol, readEnd, retention, now }),
    providers: configuration.applicationProviders,
    masterKey,
    allowedHosts: operations.callbackHosts,
    sandbox: configuration.sandbox,
    retention,
    now,
    log: core.telemetry.callbackLog(createCallbackLog(logger)),
    onError,
    telemetry: core.telemetry.queue,
  });
  return {
    close: async () => {
      await callbacks.close();
      await automatic.close();
      await bulks.close();
      await closeQueues([bulkQueue]);
      await indexKeeper?.close();
    },
  };
};
