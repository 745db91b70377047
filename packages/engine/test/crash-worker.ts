/**
 * A worker process that is killed with -9 at a command of its choice: before or after the nth that
 * it sends to Redis.
 *
 * `node crash-worker.ts <redis socket or url> <prefix> <commands until the end, 0 for never>
 * [<module>]`
 *
 * The module has the charts to run instead of those of charts.ts: it exports `bring` ({@link
 * Bring}).
 */
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { defineWorkflow, type Workflow } from '../src/define.ts';
import { startWorkflowWorker } from '../src/worker.ts';
import { chartsIn } from './charts.ts';
import { dieAtCommand } from './die-at-command.ts';
import { processWorkflow } from './process-charts.ts';

/** What is done is told to a list in Redis. */
export type Bring = (tell: (list: string, line: string) => Promise<void>) => Promise<{
  readonly workflows: readonly Workflow[];
  readonly watch?: NonNullable<Parameters<typeof startWorkflowWorker>[0]['watch']>;
}>;

const [address = '', prefix = '', commands = '0', brought] = process.argv.slice(2);
const connection = new Redis(address, { maxRetriesPerRequest: null });
const ledger = connection.duplicate();

const bringOwn: Bring = async (tell) => {
  const charts = chartsIn({
    quietMs: 1000,
    did: async (name) => {
      await ledger.hincrby(`${prefix}:world`, name, 1);
    },
  });
  return {
    workflows: [
      ...Object.entries(charts).map(([name, chart]) => defineWorkflow({ name, version: 1, chart })),
      processWorkflow((line) => tell('log', line), Date.now),
    ],
  };
};

const bring =
  brought === undefined ? bringOwn : ((await import(brought)) as { readonly bring: Bring }).bring;
const { workflows, watch } = await bring(async (list, line) => {
  await ledger.rpush(`${prefix}:${list}`, line);
});
dieAtCommand(connection, Number(commands));
const queue = new Queue('workflows', { connection, prefix });
startWorkflowWorker({
  queue,
  connection,
  workflows,
  ...(watch !== undefined && { watch }),
  concurrency: 20,
  now: Date.now,
  onError: (error) => process.stderr.write(`${error.stack}\n`),
  holdMs: 600,
  worker: { lockDuration: 400, stalledInterval: 200 },
});
process.stdout.write('started\n');
