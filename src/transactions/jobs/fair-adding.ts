/**
 * Adds a job at its place in the fair order.
 *
 * Workers sort the jobs in `wait`, two hundred at a time, in the order in which they came
 * (fair-order.ts). While one application adds faster, the next job of another one would lie behind
 * thousands. So the producers of this service run BullMQ's script and sort the new job in, in one
 * step. Nothing is sorted while few jobs wait.
 *
 * Within a lane such a job may come before one that a plain BullMQ producer has added a moment
 * earlier.
 *
 * The script does not add a job that was withdrawn before: a process that was paused while it added
 * one may go on hours later.
 *
 * Jobs that a process adds to a queue in one turn of its event loop go to Redis as one command.
 * They would go in one packet anyway, so none waits longer. With 64 requests in flight Redis needs
 * a seventh less for each of them (38 → 33 µs), and the process has fewer commands to write and
 * read. Each job is added, or refused, for itself.
 */

import type { Queue } from 'bullmq';
import { addStandardJob } from '../../../packages/engine/src/redis/bullmq-script.ts';
import { unusableCodes } from '../../../packages/engine/src/redis/to-error.ts';
import type { RedisClient } from '../../redis/connect.ts';
import { atEndOfTurn } from '../../redis/end-of-turn.ts';
import { aheadCount, clock, lastTag, longestName, newLane, patternOf } from './fair-order.ts';

/** Distance of tags within which a job is placed among those ahead. Workers place others later. */
const nearTags = 16;

/**
 * The key that marks an id as withdrawn. While it exists, a job for an activity (`answerTo` in its
 * data) is not added under the id. It is not a key of a job, because ids of jobs have no colon.
 */
export const takenBackKey = (id: string): string => `withdrawn:${id}`;

/** Whether a job of this queue was withdrawn by the workflow that has requested it. */
export const createIsWithdrawn =
  ({ queue, redis }: { readonly queue: Queue; readonly redis: RedisClient }) =>
  async (id: string): Promise<boolean> =>
    (await redis.exists(queue.toKey(takenBackKey(id)))) === 1;

/** Jobs in one command. Adding them takes Redis one to two milliseconds. */
const maxTogether = 32;

/** The script. It searches for both names of the member; a queue uses one of them. */
const script = `
local function add(KEYS, ARGV)
${addStandardJob.content}
end

local wait = KEYS[1]
local keys = string.sub(wait, 1, -5)
local ahead, parked, lanes = keys .. 'fair:ahead', keys .. 'prioritized', keys .. 'fair:lanes'
local isSorted = redis.call('EXISTS', ahead) == 1

local function place(id, data)
  if redis.call('LINDEX', wait, 0) ~= id then return end
  if redis.call('HEXISTS', ahead, id) == 1 then return end

  local name = string.match(data, '${patternOf('AP_ID')}') or string.match(data, '${patternOf('apId')}') or ''
  local lane = '${newLane}' .. string.sub(name, 1, ${longestName})
  local smallest = tonumber(redis.call('ZRANGE', parked, 0, 0, 'WITHSCORES')[2])
  if smallest and smallest > ${lastTag} then smallest = nil end
  local now = tonumber(redis.call('HGET', ahead, redis.call('LINDEX', wait, -1)) or nil) or smallest or 1
  now = math.max(now, tonumber(redis.call('ZSCORE', lanes, '${clock}') or '1'))
  local tag = math.min(math.max(now, tonumber(redis.call('ZSCORE', lanes, lane) or '0') + 1), ${lastTag})
  redis.call('ZADD', lanes, tag, lane)
  redis.call('LPOP', wait)
  if tag >= now + ${nearTags} then return redis.call('ZADD', parked, tag, id) end

  local next = redis.call('LRANGE', wait, -${aheadCount}, -1)
  local before, later = 0, nil
  for i = #next, 1, -1 do
    later = tonumber(redis.call('HGET', ahead, next[i]) or nil)
    if not later or later > tag then break end
    before = before + 1
  end
  if before == ${aheadCount} or (before == #next or not later) and smallest and smallest < tag then
    return redis.call('ZADD', parked, tag, id)
  end
  if before > 0 then redis.call('LTRIM', wait, 0, -(before + 1)) end
  redis.call('RPUSH', wait, id, unpack(next, #next - before + 1))
  redis.call('HSET', ahead, id, tag)
end

local function addOne(packed, data, options)
  if string.find(data, '"answerTo":', 1, true) then
    local wanted = cmsgpack.unpack(packed)[2] or ''
    if redis.call('EXISTS', keys .. '${takenBackKey('')}' .. wanted) == 1 then return wanted end
  end
  local id = add(KEYS, { packed, data, options })
  -- The job is there by now, and whoever added it is to hear that.
  if isSorted then pcall(place, id, data) end
  return id
end

-- Redis refuses the first write of a script, or none. So such an answer is one of the whole command:
-- none of its jobs was added, and it may be sent to another node (redis/connect.ts, not-after.ts).
local function refusalIn(why)
  for _, code in ipairs({ '${unusableCodes.join("', '")}' }) do
    local at = string.find(why, '%f[%u]' .. code .. ' ')
    if at then return string.sub(why, at) end
  end
end

-- A job has three arguments. Another one may follow the last (not-after.ts).
if #ARGV < 6 then return addOne(ARGV[1], ARGV[2], ARGV[3]) end
local ids = {}
for i = 1, #ARGV - 2, 3 do
  local isAdded, id = pcall(addOne, ARGV[i], ARGV[i + 1], ARGV[i + 2])
  if not isAdded then
    local why = type(id) == 'table' and id.err or tostring(id)
    local refusal = refusalIn(why)
    if refusal then return redis.error_reply(refusal) end
    id = { err = why }
  end
  ids[#ids + 1] = id
end
return ids`;

/** A script as BullMQ calls it, on a client or a pipeline: keys and arguments in one list. */
type RunScript = (this: unknown, given: readonly unknown[]) => Promise<unknown>;

interface Adding {
  readonly job: readonly unknown[];
  readonly resolve: (id: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Wraps the script: collects jobs until the end of the turn of the event loop, then adds them. */
const addTogether = (redis: RedisClient, run: RunScript): RunScript => {
  const { keys: keyCount } = addStandardJob;
  const turns = new Map<unknown, Adding[]>();
  const send = async (keys: readonly unknown[], turn: readonly Adding[]): Promise<void> => {
    try {
      const answer = await run.call(redis, [...keys, ...turn.flatMap(({ job }) => job)]);
      const ids = turn.length === 1 ? [answer] : (answer as unknown[]);
      for (const [index, { resolve, reject }] of turn.entries()) {
        const id = ids[index];
        if (id instanceof Error) reject(id);
        else resolve(id);
      }
    } catch (error) {
      for (const { reject } of turn) reject(error);
    }
  };
  return function (given) {
    if (this !== redis) return run.call(this, given);
    const [wait] = given;
    return new Promise((resolve, reject) => {
      const adding: Adding = { job: given.slice(keyCount), resolve, reject };
      const turn = turns.get(wait);
      if (turn !== undefined && turn.length < maxTogether) {
        turn.push(adding);
        return;
      }
      const begun = [adding];
      turns.set(wait, begun);
      atEndOfTurn(() => {
        if (turns.get(wait) === begun) turns.delete(wait);
        void send(given.slice(0, keyCount), begun);
      });
    });
  };
};

/** Defines the script. Call it before a queue is opened: BullMQ does not redefine commands. */
export const addFairly = (redis: RedisClient): void => {
  const { commandName: name } = addStandardJob;
  if (Reflect.has(redis, name)) return;
  redis.defineCommand(name, { numberOfKeys: addStandardJob.keys, lua: script });
  Reflect.set(redis, name, addTogether(redis, Reflect.get(redis, name)));
};
