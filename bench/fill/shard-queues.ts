/** The signature queues of a service, for a benchmark. */
import { setTimeout as delay } from 'node:timers/promises';
import { connectForBlocking, disconnect, whenReady } from '../../src/redis/connect.ts';
import { closeShards, openShards } from '../../src/transactions/shards.ts';

export interface ShardQueues {
  /** Workers take nothing more; requests are accepted all the same. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Jobs that have completed and are still kept. @throws When a job has failed. */
  completed(): Promise<number>;
  /** Resolves when so many have completed. */
  untilCompleted(count: number): Promise<void>;
  /** Resolves when nothing waits and nothing is in hand. */
  untilIdle(): Promise<void>;
  close(): Promise<void>;
}

const pollMs = 10;

/** @param url As REDIS_URL: one node or a cluster. */
export const openShardQueues = async (
  url: string,
  { shards = 1, prefix = 'paraph' }: { readonly shards?: number; readonly prefix?: string } = {},
): Promise<ShardQueues> => {
  const redis = connectForBlocking({ url });
  const problems: Error[] = [];
  redis.on('error', (error: Error) => problems.push(error));
  await whenReady(redis);
  const opened = openShards({ redis, prefix, shards, onError: (error) => problems.push(error) });
  const queues = opened.map(({ signatures }) => signatures.queue);
  const sum = async (
    count: (queue: (typeof queues)[number]) => Promise<number>,
  ): Promise<number> => {
    const [problem] = problems;
    if (problem !== undefined) throw problem;
    return (await Promise.all(queues.map(count))).reduce((total, some) => total + some, 0);
  };
  const completed = async (): Promise<number> => {
    if ((await sum((queue) => redis.zcard(queue.toKey('failed')))) > 0)
      throw new Error('A transaction failed');
    return sum((queue) => redis.zcard(queue.toKey('completed')));
  };
  return {
    pause: async () => {
      await Promise.all(queues.map((queue) => queue.pause()));
    },
    resume: async () => {
      await Promise.all(queues.map((queue) => queue.resume()));
    },
    completed,
    untilCompleted: async (count) => {
      while ((await completed()) < count) await delay(pollMs);
    },
    untilIdle: async () => {
      const left = async (): Promise<number> =>
        sum(async (queue) => {
          const lists = await Promise.all(
            ['wait', 'paused', 'active'].map((name) => redis.llen(queue.toKey(name))),
          );
          return lists.reduce((total, length) => total + length, 0);
        });
      while ((await left()) > 0) await delay(pollMs);
    },
    close: async () => {
      await closeShards(opened);
      await disconnect(redis);
    },
  };
};
