/**
 * A worker process that is killed with -9 before or after the nth command that it sends to Redis.
 *
 * `node other-worker.ts <redis socket or url> <prefix> <commands until the end, 0 for never>`
 */
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { createEngine, spreadOver, turnBusyTimeoutMs } from '../src/engine.ts';
import { createOthers } from '../src/other.ts';
import { startWorkflowWorker } from '../src/worker.ts';
import { dieAtCommand } from './die-at-command.ts';
import { till, tripsIn } from './other-charts.ts';

const [address = '', prefix = '', commands = '0'] = process.argv.slice(2);
const connection = new Redis(address, { maxRetriesPerRequest: null });
const ledger = connection.duplicate();
const { leg, trip } = tripsIn(async (what) => {
  await ledger.hincrby(`${prefix}:world`, what, 1);
});
dieAtCommand(connection, Number(commands));
const queue = new Queue('workflows', { connection, prefix });
const locate = spreadOver([queue], connection, Date.now);
startWorkflowWorker({
  queue,
  connection,
  workflows: [leg, trip, till],
  concurrency: 20,
  now: Date.now,
  holdMs: 600,
  others: createOthers({ engine: createEngine(locate, Date.now, turnBusyTimeoutMs) }),
  onError: (error) => process.stderr.write(`${error.stack}\n`),
  worker: { lockDuration: 400, stalledInterval: 200 },
});
process.stdout.write('started\n');
