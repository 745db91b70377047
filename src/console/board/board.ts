/** bull-board for one role. It is loaded at its first use, because few processes need it. */
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import type { Queue } from 'bullmq';
import { Hono } from 'hono';
import type { Role } from '../../operators/operator.ts';
import { workflowQueueName } from '../../transactions/contract.ts';
import { bulkQueueName, queuesIn } from '../../transactions/shards.ts';
import { isInstanceOf, mailWorkflowName } from '../../workflows/contract.ts';
import type { ConsoleDeps } from '../deps.ts';
import { queuePrefix } from './flow.ts';
import { redactJob } from './shown-job.ts';

/** The format of times: UTC, like in the console and the log. */
const utc = {
  ...({
    day: 'numeric',
    month: 'short',
    hourCycle: 'h23',
    timeZone: 'UTC',
    timeZoneName: 'short',
  } as const),
  ...({ hour: '2-digit', minute: '2-digit', second: '2-digit' } as const),
};

/** The page for a job. A callback and a receipt are shown on the page of their transaction. */
const pageOf = (queue: string, given: unknown): string => {
  const id = String(given);
  if (queue === bulkQueueName) return `/admin/replays/${encodeURIComponent(id)}`;
  // A mail has no page.
  if (queue === workflowQueueName)
    return isInstanceOf(id, mailWorkflowName)
      ? '/admin/workflows'
      : `/admin/workflows/${encodeURIComponent(id)}`;
  const [transaction = ''] = id.split('-', 1);
  if (transaction === 'process') return '/admin/workflows';
  return `/admin/transactions/${encodeURIComponent(transaction)}`;
};

/** Redacts jobs for the role. There are no buttons: each job leads to its page in the console. */
const createAdapter = (queue: Queue, prefix: string, role: Role): BullMQAdapter => {
  const adapter = new BullMQAdapter(queue, {
    prefix,
    readOnlyMode: true,
    allowRetries: false,
    externalJobUrl: ({ id }) => ({ href: pageOf(queue.name, id) }),
  });
  const getJob = adapter.getJob.bind(adapter);
  const getJobs = adapter.getJobs.bind(adapter);
  adapter.getJob = async (id) => {
    try {
      const job = await getJob(id);
      return job && redactJob(job, role);
    } catch {
      // The id may be the name of another key of the queue.
      return undefined;
    }
  };
  adapter.getJobs = async (...range) =>
    (await getJobs(...range)).map((job) => redactJob(job, role));
  // Logs are not shown: those of other programs cannot be redacted.
  adapter.getJobLogs = async () => [];
  return adapter;
};

export const createBoard = (
  { shards, replays }: ConsoleDeps,
  role: Role,
  basePath: string,
): Hono => {
  const adapter = new HonoAdapter(serveStatic);
  adapter.setBasePath(basePath);
  // With several shards the names begin with the number of the shard.
  const queues = queuesIn(shards).map(({ shard, queue }) =>
    createAdapter(queue, queuePrefix(shards, shard), role),
  );
  createBullBoard({
    queues: [...queues, createAdapter(replays.queue, '', role)],
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: 'Paraph queues',
        hideRedisDetails: true,
        hideDocsLink: true,
        showWorkers: false,
        dateFormats: { short: utc, common: utc, full: utc },
        miscLinks: [{ text: 'Console', url: '/admin' }],
      },
    },
  });
  return new Hono().route(basePath, adapter.registerPlugin());
};
