/** A process that works off bulk replays and nothing else, for tests that kill it. Arguments: Redis, prefix, shards. */
import { createAudit } from '../../src/operators/audit.ts';
import { startBulkWorker } from '../../src/operators/bulk-worker.ts';
import { connectForBlocking } from '../../src/redis/connect.ts';
import { createRateLimiter } from '../../src/registry/rate-limiter.ts';
import { openBulkQueue, openShards } from '../../src/transactions/shards.ts';

const [url = '', prefix = '', count = '1'] = process.argv.slice(2);
const redis = connectForBlocking({ url });
const onError = (error: Error): void => console.error(error.message);
redis.on('error', onError);
const worker = startBulkWorker({
  queue: openBulkQueue({ redis, prefix, onError }),
  redis,
  prefix,
  shards: openShards({ redis, prefix, shards: Number(count), onError }),
  audit: createAudit({ redis, prefix, log: { audit: () => undefined } }),
  limiter: createRateLimiter({ redis, prefix }),
  now: Date.now,
  onError,
  holdMs: 1000,
});
await worker.ready();
console.log('running');
