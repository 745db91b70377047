/**
 * A worker process that is killed with -9 at a command of its choice: before or after the nth that it sends to Redis.
 *
 * `node crash-worker.ts <redis socket or url> <prefix> <commands until the end, 0 for never>`
 */
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { defineWorkflow } from '../../packages/engine/src/define.ts';
import { startWorkflowWorker } from '../../packages/engine/src/worker.ts';
import { chartsIn } from './charts.ts';
import { dieAtCommand } from './die-at-command.ts';
import { processWorkflow } from './process-charts.ts';

const [address = '', prefix = '', commands = '0'] = process.argv.slice(2);
const connection = new Redis(address, { maxRetriesPerRequest: null });
const ledger = connection.duplicate();
const charts = chartsIn({
  quietMs: 1000,
  did: async (name) => {
    await ledger.hincrby(`${prefix}:world`, name, 1);
  },
});
dieAtCommand(connection, Number(commands));
const queue = new Queue('workflows', { connection, prefix });
startWorkflowWorker({
  queue,
  connection,
  workflows: [
    ...Object.entries(charts).map(([name, chart]) => defineWorkflow({ name, version: 1, chart })),
    processWorkflow(async (line) => void (await ledger.rpush(`${prefix}:log`, line)), Date.now),
  ],
  concurrency: 20,
  now: Date.now,
  onError: (error) => process.stderr.write(`${error.stack}\n`),
  holdMs: 600,
  worker: { lockDuration: 400, stalledInterval: 200 },
});
process.stdout.write('started\n');
