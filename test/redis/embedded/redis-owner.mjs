/**
 * Owns a Redis, as a process that tests can kill: `redis-owner.mjs <command> <data directory>`.
 *
 * Prints `<pid of Redis> <socket>` when Redis is up. SIGINT makes it say `stopping` and then wait
 * for a line of input, as a Paraph whose workers still have jobs in hand does, before it stops
 * Redis.
 */
import { once } from 'node:events';
import { startEmbeddedRedis } from '../../../dist/src/redis/embedded/redis.js';

const [command = '', dataDir = ''] = process.argv.slice(2);
const redis = await startEmbeddedRedis({
  command,
  dataDir,
  onExit: (problem) => console.log(problem),
});
process.on('SIGINT', async () => {
  console.log('stopping');
  await once(process.stdin, 'data');
  await redis.stop();
  process.exit(0);
});
console.log(`${redis.pid} ${redis.socketPath}`);
