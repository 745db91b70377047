import type { Queue } from 'bullmq';
import type { Shard } from '../../transactions/shards.ts';

/** All queues of a shard, in the order in which a transaction meets them. */
export const queuesOf = ({ signatures, receipts, callbacks }: Shard): readonly Queue[] =>
  [signatures, receipts, callbacks].map(({ queue }) => queue);
