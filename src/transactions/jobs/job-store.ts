/** Reads ended jobs from Redis, without unneeded fields. */
import type { Queue } from 'bullmq';
import { parse } from '../../../packages/engine/src/redis/inbox.ts';
import type { RedisClient } from '../../redis/connect.ts';
import { awaitedField } from './end-stream.ts';

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

export type JobStore = ReturnType<typeof createJobStore>;

const amendScript = `
if redis.call('HEXISTS', KEYS[1], 'finishedOn') == 0 then return 0 end
if redis.call('HEXISTS', KEYS[1], 'returnvalue') == 0 then return 0 end
redis.call('HSET', KEYS[1], 'returnvalue', ARGV[1])
return 1`;

/**
 * ARGV: field, value, `0` to keep an existing value. An empty value removes the field. Returns
 * nothing without the job, otherwise a list with the value before.
 */
const noteScript = `
if redis.call('EXISTS', KEYS[1]) == 0 then return nil end
local before = redis.call('HGET', KEYS[1], ARGV[1])
if before and ARGV[3] == '0' then return { before } end
if ARGV[2] == '' then redis.call('HDEL', KEYS[1], ARGV[1])
else redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return { before or '' }`;

const endFields = ['finishedOn', 'returnvalue', 'failedReason'] as const;

/**
 * ARGV: prefix of job keys; ids. Returns the index of each id that is not open, and its end or
 * nothing.
 */
const awaitScript = `
local found = {}
for i = 2, #ARGV do
  local key = ARGV[1] .. ARGV[i]
  local job = redis.call('HMGET', key, 'timestamp', 'finishedOn', 'returnvalue', 'failedReason', '${awaitedField}')
  if not job[1] then
    found[#found + 1] = { i - 2 }
  elseif job[2] then
    found[#found + 1] = { i - 2, job[2], job[3], job[4] }
  elseif not job[5] then
    -- Redis may be full. The end is found later then.
    redis.pcall('HSET', key, '${awaitedField}', '1')
  end
end
return found`;

const storedEnd = ([finishedOn, returnValue, failedReason]: readonly (
  | string
  | null
)[]): StoredEnd => ({
  finishedOn: finishedOn == null ? undefined : Number(finishedOn),
  returnValue: parse(returnValue),
  failedReason: failedReason ?? undefined,
});

export const createJobStore = (queue: Queue, redis: RedisClient) => {
  const keyOf = (id: string): string => queue.toKey(id);

  return {
    /**
     * Replaces the return value of a completed job. @returns False when the job is not completed.
     */
    amend: async (id: string, returnValue: unknown): Promise<boolean> =>
      (await redis.eval(amendScript, 1, keyOf(id), JSON.stringify(returnValue))) === 1,

    /**
     * Writes a field of the job, which is removed with it.
     *
     * @param options.once Keeps an existing value.
     * @returns The value before, empty for none; undefined without the job.
     */
    note: async (
      id: string,
      field: string,
      value: string,
      { once = false }: { readonly once?: boolean } = {},
    ): Promise<string | undefined> => {
      const found = await redis.eval(noteScript, 1, keyOf(id), field, value, once ? '0' : '1');
      return found === null ? undefined : String((found as string[])[0] ?? '');
    },

    read: async (id: string): Promise<StoredJob | undefined> => {
      const [data, timestamp, ...end] = await redis.hmget(
        keyOf(id),
        'data',
        'timestamp',
        ...endFields,
      );
      if (typeof data !== 'string') return undefined;
      return { data: JSON.parse(data), timestamp: Number(timestamp), ...storedEnd(end) };
    },

    /**
     * Reads the ends of jobs. Open jobs are marked, so that their ends come in the stream
     * (end-stream.ts).
     */
    awaitEnds: async (ids: readonly string[]) => {
      const ended = new Map<string, StoredEnd>();
      const gone: string[] = [];
      // The key only names the slot.
      const found = await redis.eval(awaitScript, 1, queue.toKey('meta'), queue.toKey(''), ...ids);
      for (const [place, ...end] of found as [number, ...(string | null)[]][]) {
        const id = ids[place] ?? '';
        if (end.length === 0) gone.push(id);
        else ended.set(id, storedEnd(end));
      }
      return { ended, gone };
    },
  };
};
