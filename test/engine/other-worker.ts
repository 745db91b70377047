/**
 * A worker process that is killed with -9 before or after the nth command that it sends to Redis.
 *
 * `node other-worker.ts <redis socket or url> <prefix> <commands until the end, 0 for never>`
 */
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { createEngine, spreadOver, turnBusyTimeoutMs } from '../../packages/engine/src/engine.ts';
import { createOthers } from '../../packages/engine/src/other.ts';
import { startWorkflowWorker } from '../../packages/engine/src/worker.ts';
import { till, tripsIn } from './other-charts.ts';

const [address = '', prefix = '', commands = '0'] = process.argv.slice(2);
const connection = new Redis(address, { maxRetriesPerRequest: null });
const ledger = connection.duplicate();
const { leg, trip } = tripsIn(async (what) => {
  await ledger.hincrby(`${prefix}:world`, what, 1);
});
let left = Number(commands);
if (left > 0) {
  const send = connection.sendCommand.bind(connection);
  connection.sendCommand = (command, ...rest) => {
    const sent = send(command, ...rest);
    left -= 1;
    // Both sides of every write are tried.
    if (left === 0)
      Number(commands) % 2 === 0
        ? process.kill(process.pid, 'SIGKILL')
        : setTimeout(() => process.kill(process.pid, 'SIGKILL'), 2);
    return sent;
  };
}
const queue = new Queue('workflows', { connection, prefix });
const locate = spreadOver([queue], connection, Date.now);
startWorkflowWorker({
  ...{ queue, connection, workflows: [leg, trip, till], concurrency: 20, now: Date.now, holdMs: 600 },
  others: createOthers({ engine: createEngine(locate, Date.now, turnBusyTimeoutMs) }),
  onError: (error) => process.stderr.write(`${error.stack}\n`),
  worker: { lockDuration: 400, stalledInterval: 200 },
});
process.stdout.write('started\n');
