/**
 * Jobs that hold something else than JSON where BullMQ wants it. Only a program that writes to Redis by itself makes one.
 *
 * BullMQ cannot hand such a job to a step, nor fail it: the worker that takes it drops it, its lock lapses, and it is
 * taken again, for ever. So what is found stalled is looked at, which happens to jobs of dead workers otherwise. What cannot
 * be read is replaced, and the job marked to fail when it is taken next (`defa`, as in src/queue/cancellation.ts): from
 * there on it ends like every other failed job, with an event, a status and a reason.
 */
import type { Worker } from 'bullmq';
import type { RedisClient } from '../../redis/connect.ts';
import { toError } from '../../redis/to-error.ts';

/** What BullMQ parses on taking a job, and what it takes for nothing there. */
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

/** Only what still is as it was read is replaced, and a mark that is there already stays. */
const replaceScript = `
for i = 1, #ARGV - 1, 3 do
  if redis.call('HGET', KEYS[1], ARGV[i]) ~= ARGV[i + 1] then return 0 end
end
for i = 1, #ARGV - 1, 3 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2]) end
redis.call('HSETNX', KEYS[1], 'defa', ARGV[#ARGV])
return 1`;

/** @returns The names of what could not be read and is replaced now. */
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
    /** Why such a job fails; one line. */
    readonly reasonOf: (names: readonly string[]) => string;
    readonly onTrouble: (error: Error) => void;
  },
): void => {
  const { redis, reasonOf, onTrouble } = options;
  worker.on('stalled', (id) => {
    replaceUnreadable(redis, worker.toKey(id), reasonOf).then(
      (names) => {
        if (names.length > 0) onTrouble(new Error(`Job ${id} cannot be read: ${names.join(', ')}`));
      },
      (error) => onTrouble(toError(error)),
    );
  });
};
