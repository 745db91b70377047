/**
 * Wants a data directory's lock: `lock-holder.ts <data directory>`. Tries at the first line of input, so that a test can let
 * many try at once; prints `held` or the problem, and then stays.
 */
import { once } from 'node:events';
import { acquireInstanceLock } from '../../src/embedded/instance-lock.ts';

const [dataDir = ''] = process.argv.slice(2);
console.log('ready');
await once(process.stdin, 'data');
const lock = acquireInstanceLock(dataDir);
console.log(lock.held ? 'held' : lock.problem);
