/**
 * A process that works off bulk replays and nothing else, for tests that kill it. Arguments: Redis,
 * prefix, shards.
 */

import { createProtocol } from '../../../dist/packages/protocol/src/parse.js';
import { loadConfiguration } from '../../../dist/src/app/configuration/load.js';
import { createAudit } from '../../../dist/src/console/operators/audit.js';
import { startBulkWorker } from '../../../dist/src/console/operators/bulk-worker.js';
import { connectForBlocking } from '../../../dist/src/redis/connect.js';
import { createRateLimiter } from '../../../dist/src/registry/rate-limiter.js';
import { openBulkQueue, openShards } from '../../../dist/src/transactions/shards.js';

const [url = '', prefix = '', count = '1'] = process.argv.slice(2);
const redis = connectForBlocking({ url });
const onError = (/** @type {Error} */ error) => console.error(error.message);
redis.on('error', onError);
const configuration = await loadConfiguration(undefined);
if (!configuration.ok) throw new Error('The usual configuration is not usable');
const worker = startBulkWorker({
  queue: openBulkQueue({ redis, prefix, onError }),
  redis,
  prefix,
  shards: openShards({ redis, prefix, shards: Number(count), onError }),
  protocol: createProtocol(configuration.value.protocol),
  audit: createAudit({ redis, prefix, log: { audit: () => undefined } }),
  limiter: createRateLimiter({ redis, prefix }),
  now: Date.now,
  onError,
  holdMs: 1000,
});
await worker.ready();
console.log('running');
