/** bull-board for one role. It is loaded when somebody opens it first: no start waits for it, and hardly any process needs it. */
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import type { Queue } from 'bullmq';
import { Hono } from 'hono';
import type { Role } from '../../operators/operator.ts';
import { bulkQueueName, callbackQueueName } from '../../transactions/shards.ts';
import type { ConsoleDeps } from '../deps.ts';
import { seesPeople } from '../redaction.ts';
import { redactJob } from './shown-job.ts';

const transactionIn = (id: unknown): string => encodeURIComponent(String(id).replace(/-.*$/s, ''));

/** The queue as the board gets it: with what the role may see, and read-only where it may not replay. */
const adapterOf = (queue: Queue, prefix: string, role: Role): BullMQAdapter => {
  const isReplayed = queue.name === 'signatures' || queue.name === callbackQueueName;
  const readOnlyMode = !seesPeople(role);
  const adapter = new BullMQAdapter(queue, {
    prefix,
    readOnlyMode,
    allowRetries: !readOnlyMode && isReplayed,
    ...(queue.name === bulkQueueName && {
      externalJobUrl: ({ id }) => ({ href: `/admin/replays/${encodeURIComponent(String(id))}` }),
    }),
    // A callback is named after its transaction, whose page shows it.
    ...(isReplayed && { externalJobUrl: ({ id }) => ({ href: `/admin/transactions/${transactionIn(id)}` }) }),
  });
  const getJob = adapter.getJob.bind(adapter);
  const getJobs = adapter.getJobs.bind(adapter);
  adapter.getJob = async (id) => {
    try {
      const job = await getJob(id);
      return job && redactJob(job, role);
    } catch {
      // The queue has keys of its own beside its jobs, and their names can be asked for.
      return undefined;
    }
  };
  adapter.getJobs = async (...range) => (await getJobs(...range)).map((job) => redactJob(job, role));
  // Nothing of ours writes logs into a job; what others write there is not known.
  adapter.getJobLogs = async () => [];
  return adapter;
};

export const createBoard = ({ shards, replays }: ConsoleDeps, role: Role, basePath: string): Hono => {
  const adapter = new HonoAdapter(serveStatic);
  adapter.setBasePath(basePath);
  // Names are told apart by their shard where there are many.
  const queues = shards.flatMap(({ index, signatures, receipts, callbacks }) =>
    [signatures, receipts, callbacks].map(({ queue }) =>
      adapterOf(queue, shards.length > 1 ? `${index}-` : '', role),
    ),
  );
  createBullBoard({
    queues: [...queues, adapterOf(replays.queue, '', role)],
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: 'Paraph queues',
        hideRedisDetails: true,
        hideDocsLink: true,
        showWorkers: false,
        miscLinks: [{ text: 'Console', url: '/admin' }],
      },
    },
  });
  return new Hono().route(basePath, adapter.registerPlugin());
};
