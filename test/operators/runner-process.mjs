/** A process that works off replays and nothing else, for tests that kill it. Arguments: Redis, prefix, shards. */
import { createAudit } from '../../dist/src/operators/audit.js';
import { createReplayRunner } from '../../dist/src/operators/replay-runner.js';
import { connectForBlocking } from '../../dist/src/redis/connect.js';
import { createRateLimiter } from '../../dist/src/registry/rate-limiter.js';
import { openShards } from '../../dist/src/transactions/shards.js';

const [url = '', prefix = '', count = '1'] = process.argv.slice(2);
const redis = connectForBlocking({ url });
const onError = (/** @type {Error} */ error) => console.error(error.message);
redis.on('error', onError);
createReplayRunner({
  redis,
  prefix,
  shards: openShards({ redis, prefix, shards: Number(count), onError }),
  audit: createAudit({ redis, prefix, log: { audit: () => undefined } }),
  limiter: createRateLimiter({ redis, prefix }),
  automatic: [],
  now: Date.now,
  onError,
  leaseMs: 1000,
}).start();
console.log('running');
