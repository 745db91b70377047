import { type QueueAt, queueOf, type Shard } from '../../src/transactions/shards.ts';

export const workflowQueueName = 'workflows';

/** The instances of workflows in a shard. */
export const workflowsOf = (shard: Shard): QueueAt => queueOf(shard, workflowQueueName);
