/**
 * How many jobs a queue of BullMQ has in each state, and which of them is the oldest: one small
 * script for each queue. The metrics and the overview of the console read it.
 */
import type { RedisClient } from './connect.ts';

/** The score of a delayed job is its time multiplied by this, plus a counter. */
const delayedScale = 0x1000;

export const queueStates = ['waiting', 'active', 'delayed', 'failed'] as const;
export type QueueState = (typeof queueStates)[number];

const script = `
local function field(id, name) return id and redis.call('HGET', ARGV[1] .. id, name) or false end
local function delayOf(id)
  local read, opts = pcall(cjson.decode, field(id, 'opts') or '{}')
  local delay = read and type(opts) == 'table' and tonumber(opts.delay) or 0
  return string.format('%.0f', math.max(delay, 0))
end
local waiting = redis.call('LINDEX', KEYS[1], -1) or redis.call('ZRANGE', KEYS[2], 0, 0)[1]
local oldest
for _, id in ipairs(redis.call('LRANGE', KEYS[1], -64, -1)) do
  local added = tonumber(field(id, 'timestamp') or '')
  local since = added and not field(id, 'ats') and added + tonumber(delayOf(id))
  if since and (not oldest or since < oldest) then oldest, waiting = since, id end
end
local active = redis.call('LINDEX', KEYS[3], -1)
return {
  redis.call('LLEN', KEYS[1]) + redis.call('ZCARD', KEYS[2]),
  redis.call('LLEN', KEYS[3]), redis.call('ZCARD', KEYS[4]), redis.call('ZCARD', KEYS[5]),
  waiting or false, field(waiting, 'timestamp'), delayOf(waiting), field(waiting, 'ats'), field(active, 'processedOn'),
  redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')[2] or false,
  redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')[2] or false }`;

const keyNames = ['wait', 'prioritized', 'active', 'delayed', 'failed'];

/** A queue of BullMQ: its name, and the key in Redis of a list or a job of it. */
export interface ReadableQueue {
  readonly name: string;
  toKey(name: string): string;
}

/** Times are in milliseconds since the epoch. */
export interface QueueDepth {
  readonly jobs: Readonly<Record<QueueState, number>>;
  /**
   * The oldest of the next jobs. The fair order puts new jobs before older ones of another
   * application, so it is looked for among the next 64: each waiting application has one there.
   */
  readonly next:
    | {
        readonly id: string;
        /** Its submission, or the time for which it was scheduled. */
        readonly dueAt: number | undefined;
        /** It has run before (it slept or is replayed), so `dueAt` does not say since when it waits. */
        readonly hasRun: boolean;
      }
    | undefined;
  /** When a worker took the oldest active job. */
  readonly activeSince: number | undefined;
  /** The time of the first sleeping job. */
  readonly firstDueAt: number | undefined;
  /** When the oldest failed job ended. */
  readonly failedSince: number | undefined;
}

type Answer = [number, number, number, number, ...(string | null | undefined)[]];

const time = (text: string | null | undefined, scale = 1): number | undefined =>
  text == null ? undefined : Number(text) / scale;

export const readQueueDepth = async (
  redis: RedisClient,
  queue: ReadableQueue,
): Promise<QueueDepth> => {
  const keys = keyNames.map((name) => queue.toKey(name));
  const answer = (await redis.eval(script, keys.length, ...keys, queue.toKey(''))) as Answer;
  const [waiting, active, delayed, failed, id, timestamp, delay, started, taken, due, ended] =
    answer;
  const addedAt = time(timestamp);
  return {
    jobs: { waiting, active, delayed, failed },
    next:
      id == null
        ? undefined
        : {
            id,
            dueAt: addedAt === undefined ? undefined : addedAt + Number(delay ?? 0),
            hasRun: Number(started ?? 0) > 0,
          },
    activeSince: time(taken),
    firstDueAt: time(due, delayedScale),
    failedSince: time(ended),
  };
};
