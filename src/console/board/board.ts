/** bull-board for one role. It is loaded at its first use, because few processes need it. */
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import type { Queue } from 'bullmq';
import { Hono } from 'hono';
import { bulkQueueName, queuesIn } from '../../transactions/shards.ts';
import type { ConsoleDeps } from '../deps.ts';
import type { Role } from '../operators/operator.ts';
import { type BoardQueue, queuePrefix, transactionPageOf } from './board-part.ts';
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

/** A receipt is named after its transaction, whose page shows it. */
const pageOf = (queue: string, id: string, part: BoardQueue | undefined): string =>
  queue === bulkQueueName
    ? `/admin/replays/${encodeURIComponent(id)}`
    : (part?.pageOf ?? transactionPageOf)(id);

/** Redacts jobs for the role. Without buttons: each job leads to its page in the console. */
const createAdapter = (
  queue: Queue,
  prefix: string,
  role: Role,
  part?: BoardQueue,
): BullMQAdapter => {
  const adapter = new BullMQAdapter(queue, {
    prefix,
    readOnlyMode: true,
    allowRetries: false,
    externalJobUrl: ({ id }) => ({ href: pageOf(queue.name, String(id), part) }),
  });
  const getJob = adapter.getJob.bind(adapter);
  const getJobs = adapter.getJobs.bind(adapter);
  adapter.getJob = async (id) => {
    try {
      const job = await getJob(id);
      return job && redactJob(job, role, part);
    } catch {
      // The id may be the name of another key of the queue.
      return undefined;
    }
  };
  adapter.getJobs = async (...range) =>
    (await getJobs(...range)).map((job) => redactJob(job, role, part));
  // We write no logs into jobs, and cannot redact those of others.
  adapter.getJobLogs = async () => [];
  return adapter;
};

export const createBoard = (
  { shards, replays, parts }: ConsoleDeps,
  role: Role,
  basePath: string,
): Hono => {
  const adapter = new HonoAdapter(serveStatic);
  adapter.setBasePath(basePath);
  // With several shards the names begin with the number of the shard.
  const board: Readonly<Record<string, BoardQueue>> = Object.assign(
    {},
    ...parts.map((part) => part.board),
  );
  const queues = queuesIn(shards).map(({ shard, queue }) =>
    createAdapter(queue, queuePrefix(shards, shard), role, board[queue.name]),
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
      },
    },
  });
  return new Hono().route(basePath, adapter.registerPlugin());
};
