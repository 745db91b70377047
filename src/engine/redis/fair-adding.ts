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
 * The script also leaves out a job that was taken back before it was added: a process that was
 * paused while it added one may go on hours later.
 */
import type { RedisClient } from '../../redis/connect.ts';
import { addStandardJob } from './bullmq-script.ts';
import { aheadCount, clock, lastTag, longestName, newLane, patternOf } from './fair-order.ts';

/** A tag that is further away is not placed among those ahead. Workers do this later. */
const nearTags = 16;

/**
 * While this key is there, a job for an activity (`answerTo` in its data) is not added under the id.
 * No job has an id with a colon.
 */
export const takenBackKey = (id: string): string => `withdrawn:${id}`;

/** It looks for both names of the member; a queue uses one of them. */
const script = `
local function add()
${addStandardJob.content}
end

local function place(id)
  local wait = KEYS[1]
  local keys = string.sub(wait, 1, -5)
  local ahead, parked, lanes = keys .. 'fair:ahead', keys .. 'prioritized', keys .. 'fair:lanes'
  if redis.call('EXISTS', ahead) == 0 or redis.call('LINDEX', wait, 0) ~= id then return end
  if redis.call('HEXISTS', ahead, id) == 1 then return end

  local name = string.match(ARGV[2], '${patternOf('AP_ID')}') or string.match(ARGV[2], '${patternOf('apId')}') or ''
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

if string.find(ARGV[2], '"answerTo":', 1, true) then
  local wanted = cmsgpack.unpack(ARGV[1])[2] or ''
  if redis.call('EXISTS', string.sub(KEYS[1], 1, -5) .. '${takenBackKey('')}' .. wanted) == 1 then return wanted end
end
local id = add()
-- The job is there by now, and whoever added it is to hear that.
pcall(place, id)
return id`;

/** Call before a queue is opened on the client: BullMQ defines only what there is not yet. */
export const addFairly = (redis: RedisClient): void => {
  const { commandName: name } = addStandardJob;
  if (Reflect.has(redis, name)) return;
  redis.defineCommand(name, { numberOfKeys: addStandardJob.keys, lua: script });
};
