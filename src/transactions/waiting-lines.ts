/**
 * Queues whose jobs wait for a worker, and since when.
 *
 * The age is that of the oldest job among the next ones that no worker has ever taken. A job that
 * slept and was woken does not say since when it waits, so it counts and has no age.
 */
import type { Queue } from 'bullmq';
import type { RedisClient } from '../redis/connect.ts';

/** The jobs at the head of a queue of which the oldest is looked for. */
const maxLooked = 50;

export interface WaitingLine {
  /** The name of the queue, of all shards together. */
  readonly name: string;
  readonly waiting: number;
  /** How long the oldest of the next jobs has waited; undefined when none says so. */
  readonly oldestMs: number | undefined;
}

const readLine = async (
  redis: RedisClient,
  queue: Queue,
  now: number,
): Promise<Omit<WaitingLine, 'name'>> => {
  const [wait, prioritized] = [queue.toKey('wait'), queue.toKey('prioritized')];
  const [first, next, inWait, inOrder] = await Promise.all([
    redis.lrange(wait, -maxLooked, -1),
    redis.zrange(prioritized, '0', String(maxLooked - 1)),
    redis.llen(wait),
    redis.zcard(prioritized),
  ]);
  const since = await Promise.all(
    [...first, ...next].map((id) => redis.hmget(queue.toKey(id), 'timestamp', 'processedOn')),
  );
  const times = since.flatMap(([at, takenAt]) => (at && !takenAt ? [Number(at)] : []));
  return {
    waiting: inWait + inOrder,
    oldestMs: times.length === 0 ? undefined : Math.max(0, now - Math.min(...times)),
  };
};

/** The lines of the queues, by name. */
export const readWaitingLines = async (
  redis: RedisClient,
  queues: readonly Queue[],
  now: number,
): Promise<readonly WaitingLine[]> => {
  const lines = new Map<string, WaitingLine>();
  const read = queues.map(async (queue) => ({
    name: queue.name,
    ...(await readLine(redis, queue, now)),
  }));
  for (const line of await Promise.all(read)) {
    const { name } = line;
    const { waiting = 0, oldestMs } = lines.get(name) ?? {};
    const ages = [oldestMs, line.oldestMs].filter((age) => age !== undefined);
    lines.set(name, {
      name,
      waiting: waiting + line.waiting,
      oldestMs: ages.length === 0 ? undefined : Math.max(...ages),
    });
  }
  return [...lines.values()];
};
