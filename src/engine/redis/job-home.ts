/** Ended jobs as they lie in Redis, read without what is not asked for. */
import type { Queue } from 'bullmq';
import type { RedisClient } from '../../redis/connect.ts';

export interface StoredEnd {
  /** Milliseconds since the epoch; undefined while the job is open. */
  readonly finishedOn: number | undefined;
  readonly returnValue: unknown;
  readonly failedReason: string | undefined;
}

export interface StoredJob extends StoredEnd {
  readonly data: unknown;
  readonly timestamp: number;
}

export interface JobHome {
  read(id: string): Promise<StoredJob | undefined>;
  /** How a job ended, without its data. @returns Undefined for a job that there is not. */
  readEnd(id: string): Promise<StoredEnd | undefined>;
  /** Replaces the return value of a completed job. @returns False when the job is not, or no longer, completed. */
  amend(id: string, returnValue: unknown): Promise<boolean>;
}

const amendScript = `
if redis.call('HEXISTS', KEYS[1], 'finishedOn') == 0 then return 0 end
if redis.call('HEXISTS', KEYS[1], 'returnvalue') == 0 then return 0 end
redis.call('HSET', KEYS[1], 'returnvalue', ARGV[1])
return 1`;

const endFields = ['finishedOn', 'returnvalue', 'failedReason'] as const;

const storedEnd = ([finishedOn, returnValue, failedReason]: readonly (string | null)[]): StoredEnd => ({
  finishedOn: finishedOn == null ? undefined : Number(finishedOn),
  returnValue: returnValue == null ? undefined : JSON.parse(returnValue),
  failedReason: failedReason ?? undefined,
});

export const createJobHome = (queue: Queue, redis: RedisClient): JobHome => {
  const keyOf = (id: string): string => queue.toKey(id);

  return {
    amend: async (id, returnValue) =>
      (await redis.eval(amendScript, 1, keyOf(id), JSON.stringify(returnValue))) === 1,

    read: async (id) => {
      const [data, timestamp, ...end] = await redis.hmget(keyOf(id), 'data', 'timestamp', ...endFields);
      if (typeof data !== 'string') return undefined;
      return { data: JSON.parse(data), timestamp: Number(timestamp), ...storedEnd(end) };
    },

    readEnd: async (id) => {
      const [timestamp, ...end] = await redis.hmget(keyOf(id), 'timestamp', ...endFields);
      return timestamp == null ? undefined : storedEnd(end);
    },
  };
};
