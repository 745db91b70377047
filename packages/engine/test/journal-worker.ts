/**
 * A worker process that is killed with -9 while it carries out an effect, the first time.
 *
 * `node journal-worker.ts <redis socket or url> <prefix>`
 */
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { startWorkflowWorker } from '../src/worker.ts';
import { tellingWorkflow } from './journal-chart.ts';

const [address = '', prefix = ''] = process.argv.slice(2);
const connection = new Redis(address, { maxRetriesPerRequest: null });
startWorkflowWorker({
  queue: new Queue('workflows', { connection, prefix }),
  connection,
  workflows: [
    tellingWorkflow(async () => {
      const times = await connection.incr(`${prefix}:effects`);
      if (times === 1) process.kill(process.pid, 'SIGKILL');
    }),
  ],
  concurrency: 1,
  now: Date.now,
  onError: (error) => process.stderr.write(`${error.stack}\n`),
  worker: { lockDuration: 400, stalledInterval: 200 },
});
