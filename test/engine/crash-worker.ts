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
import { processWorkflow } from './process-charts.ts';

const [address = '', prefix = '', commands = '0'] = process.argv.slice(2);
const connection = address.startsWith('/')
  ? new Redis(address, { maxRetriesPerRequest: null })
  : new Redis(address, { maxRetriesPerRequest: null });
const ledger = connection.duplicate();
const charts = chartsIn({
  quietMs: 1000,
  did: async (name) => {
    await ledger.hincrby(`${prefix}:world`, name, 1);
  },
});
let left = Number(commands);
if (left > 0) {
  const send = connection.sendCommand.bind(connection);
  connection.sendCommand = (command, ...rest) => {
    const sent = send(command, ...rest);
    left -= 1;
    // Odd ones have gone out, the others have not: both sides of every write are tried.
    if (left === 0)
      Number(commands) % 2 === 0
        ? process.kill(process.pid, 'SIGKILL')
        : setTimeout(() => process.kill(process.pid, 'SIGKILL'), 2);
    return sent;
  };
}
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
