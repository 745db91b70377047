/** The queues as the board gets them, for one role: with what it may see, and read-only where it may not replay. */
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { Queue } from 'bullmq';
import type { Role } from '../../operators/operator.ts';
import { bulkQueueName, callbackQueueName } from '../../transactions/shards.ts';
import type { ConsoleDeps } from '../deps.ts';
import { seesPeople } from '../redaction.ts';
import { queuesOf } from './queues-of.ts';
import { hideIn } from './shown-job.ts';

const transactionIn = (id: unknown): string => encodeURIComponent(String(id).replace(/-.*$/s, ''));

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
      return job && hideIn(job, role);
    } catch {
      // The queue has keys of its own beside its jobs, and their names can be asked for.
      return undefined;
    }
  };
  adapter.getJobs = async (...range) => (await getJobs(...range)).map((job) => hideIn(job, role));
  // Nothing of ours writes logs into a job; what others write there is not known.
  adapter.getJobLogs = async () => [];
  return adapter;
};

/** Names are told apart by their shard where there are many. */
export const createAdapters = (
  { shards, replays }: Pick<ConsoleDeps, 'shards' | 'replays'>,
  role: Role,
): readonly BullMQAdapter[] => [
  ...shards.flatMap((shard) =>
    queuesOf(shard).map((queue) => adapterOf(queue, shards.length > 1 ? `${shard.index}-` : '', role)),
  ),
  adapterOf(replays.queue, '', role),
];
