import { type QueueAt, queueOf, type Shard } from '../../src/transactions/shards.ts';

export const callbackQueueName = 'callbacks';

export const callbacksOf = (shard: Shard): QueueAt => queueOf(shard, callbackQueueName);
