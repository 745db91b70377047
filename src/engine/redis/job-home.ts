/** Ended jobs as they lie in Redis, read without what is not asked for. */
import type { Queue } from 'bullmq';
import type { RedisClient } from '../../redis/connect.ts';
import { awaitedField } from './end-stream.ts';
import { parse } from './instance-store.ts';

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
  /**
   * Of these jobs how each ended, without its data. Those that are open are left out and marked:
   * their end will be told (end-stream.ts). Redis does nothing else meanwhile.
   */
  awaitEnds(ids: readonly string[]): Promise<{
    readonly ended: ReadonlyMap<string, StoredEnd>;
    /** Jobs that there are not. */
    readonly gone: readonly string[];
  }>;
  /** Replaces the return value of a completed job. @returns False when the job is not, or no longer, completed. */
  amend(id: string, returnValue: unknown): Promise<boolean>;
}

const amendScript = `
if redis.call('HEXISTS', KEYS[1], 'finishedOn') == 0 then return 0 end
if redis.call('HEXISTS', KEYS[1], 'returnvalue') == 0 then return 0 end
redis.call('HSET', KEYS[1], 'returnvalue', ARGV[1])
return 1`;

const endFields = ['finishedOn', 'returnvalue', 'failedReason'] as const;

/** ARGV: what the jobs' keys begin with; ids. Returns the place of each id that is not open and, unless the job is gone, its end. */
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

const storedEnd = ([finishedOn, returnValue, failedReason]: readonly (string | null)[]): StoredEnd => ({
  finishedOn: finishedOn == null ? undefined : Number(finishedOn),
  returnValue: parse(returnValue),
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

    awaitEnds: async (ids) => {
      const ended = new Map<string, StoredEnd>();
      const gone: string[] = [];
      // The key is there for its slot, which all of them share.
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
