/** A process that works off replays and nothing else, for tests that kill it. Arguments: Redis, prefix, shards. */
import { createAudit } from '../../src/operators/audit.ts';
import { createReplayRunner } from '../../src/operators/replay-runner.ts';
import { connectForBlocking } from '../../src/redis/connect.ts';
import { createRateLimiter } from '../../src/registry/rate-limiter.ts';
import { openShards } from '../../src/transactions/shards.ts';

const [url = '', prefix = '', count = '1'] = process.argv.slice(2);
const redis = connectForBlocking({ url });
const onError = (error: Error): void => console.error(error.message);
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
