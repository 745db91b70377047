/** The queues as the board gets them: redacted, and read-only for those who may not replay. */
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { Queue } from 'bullmq';
import type { Shard } from '../../transactions/shards.ts';
import { queuesOf } from './queues-of.ts';
import { hideIn } from './shown-job.ts';

const adapterOf = (queue: Queue, prefix: string, readOnlyMode: boolean): BullMQAdapter => {
  const isSignatures = queue.name === 'signatures';
  const adapter = new BullMQAdapter(queue, {
    prefix,
    readOnlyMode,
    allowRetries: !readOnlyMode && isSignatures,
    ...(isSignatures && {
      externalJobUrl: ({ id }) => ({ href: `/admin/transactions/${encodeURIComponent(String(id))}` }),
    }),
  });
  const getJob = adapter.getJob.bind(adapter);
  const getJobs = adapter.getJobs.bind(adapter);
  adapter.getJob = async (id) => {
    try {
      const job = await getJob(id);
      return job && hideIn(job);
    } catch {
      // The queue has keys of its own beside its jobs, and their names can be asked for.
      return undefined;
    }
  };
  adapter.getJobs = async (...range) => (await getJobs(...range)).map(hideIn);
  // Nothing of ours writes logs into a job; what others write there is not known.
  adapter.getJobLogs = async () => [];
  return adapter;
};

/** Names are told apart by their shard where there are many. */
export const createAdapters = (shards: readonly Shard[], readOnly: boolean): readonly BullMQAdapter[] =>
  shards.flatMap((shard) =>
    queuesOf(shard).map((queue) => adapterOf(queue, shards.length > 1 ? `${shard.index}-` : '', readOnly)),
  );
