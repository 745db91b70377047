/**
 * Fails jobs that contain no JSON where BullMQ expects it. Only a program that writes to Redis
 * without BullMQ makes such a job.
 *
 * BullMQ can neither run nor fail it: the worker drops it, its lock expires, and it is taken again,
 * for ever. So stalled jobs are examined. Unreadable fields are replaced, and the job is marked to
 * fail when it is taken next (BullMQ's field `defa`). Then it ends like every other failed job.
 */
import type { Worker } from 'bullmq';
import { toError } from '../../../packages/engine/src/redis/to-error.ts';
import type { RedisClient } from '../../redis/connect.ts';

/** The fields that BullMQ parses when it takes a job, and their empty values. */
const nothing = { data: '{}', opts: '{}', progress: '0', parent: '' } as const;
type Field = keyof typeof nothing;
const fields = Object.keys(nothing) as Field[];

const isReadable = (field: Field, text: string): boolean => {
  try {
    return JSON.parse(text) !== null || field !== 'opts';
  } catch {
    return false;
  }
};

/** Replaces fields only if they have not changed since they were read. An earlier mark stays. */
const replaceScript = `
for i = 1, #ARGV - 1, 3 do
  if redis.call('HGET', KEYS[1], ARGV[i]) ~= ARGV[i + 1] then return 0 end
end
for i = 1, #ARGV - 1, 3 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2]) end
redis.call('HSETNX', KEYS[1], 'defa', ARGV[#ARGV])
return 1`;

/** @returns The fields that were replaced. */
const replaceUnreadable = async (
  redis: RedisClient,
  key: string,
  reasonOf: (names: readonly string[]) => string,
): Promise<readonly Field[]> => {
  const texts = await redis.hmget(key, ...fields);
  const unreadable = fields.flatMap((field, index) => {
    const text = texts[index];
    return text && !isReadable(field, text) ? [{ field, text }] : [];
  });
  if (unreadable.length === 0) return [];
  const names = unreadable.map(({ field }) => field);
  const replaced = await redis.eval(
    replaceScript,
    1,
    key,
    ...unreadable.flatMap(({ field, text }) => [field, text, nothing[field]]),
    reasonOf(names),
  );
  return replaced === 1 ? names : [];
};

export const failUnreadable = (
  worker: Worker,
  options: {
    readonly redis: RedisClient;
    /** The reason of the failure, in one line. */
    readonly reasonOf: (names: readonly string[]) => string;
    readonly onError: (error: Error) => void;
  },
): void => {
  const { redis, reasonOf, onError } = options;
  worker.on('stalled', (id) => {
    replaceUnreadable(redis, worker.toKey(id), reasonOf).then(
      (names) => {
        if (names.length > 0) onError(new Error(`Job ${id} cannot be read: ${names.join(', ')}`));
      },
      (error) => onError(toError(error)),
    );
  });
};
