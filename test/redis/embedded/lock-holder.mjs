/**
 * Wants a data directory's lock: `lock-holder.mjs <data directory>`. Tries at the first line of
 * input, so that a test can let many try at once; prints `held` or the error, and then stays.
 */
import { once } from 'node:events';
import { acquireInstanceLock } from '../../../dist/src/redis/embedded/instance-lock.js';

const [dataDir = ''] = process.argv.slice(2);
console.log('ready');
await once(process.stdin, 'data');
const lock = acquireInstanceLock(dataDir);
console.log(lock.held ? 'held' : lock.error);
