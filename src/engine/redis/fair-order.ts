/**
 * Fair order among applications: whose job is taken next.
 *
 * Every producer adds to the list `wait`, where the first come is the first served, and so an application that adds 100 000
 * jobs would keep all others waiting. {@link sortFairly} puts that right afterwards, so that adding costs nothing more and
 * a producer need not know of it. It is start-time fair queueing: each job gets a tag, one more than that of the
 * job before it in its lane, but at least the smallest tag that still waits. Jobs are taken in the order of their tags, so
 * that lanes are served in turn, however long each of them is, and within a lane the order stays.
 *
 * parked   Jobs with a tag lie in BullMQ's own set `prioritized`, with the tag as score. BullMQ's priorities begin at 2^32
 *          there, so jobs that were added with one still come after. Nothing is written into the job.
 * ahead    BullMQ looks into `wait` before it looks into `prioritized`. So the smallest tags are put back at that end of
 *          `wait` from which jobs are taken; otherwise what has just arrived would come before all that is parked.
 *          Each call begins by taking them back, so the order is exact again when something has arrived.
 * lane     An application. Jobs that have begun (somebody has answered, the deadline has come, their worker died, they are
 *          replayed) have a lane of their own beside it: they never wait behind what their application has added.
 *
 * A job says whose it is, and its producer may lie: whoever can write to Redis speaks for every application.
 */
import type { Queue } from 'bullmq';
import type { RedisClient } from '../../redis/connect.ts';

/** More than workers take between two calls. */
export const aheadCount = 64;
/** Redis does nothing else meanwhile: with jobs of the usual size for 1 to 2 ms. Those of unusual size count by their bytes. */
const batchCount = 200;
const batchBytes = 1_000_000;

/** Lanes are read to be held to a limit, and so the longest of them. */
const mostLanes = 1000;

/** BullMQ's priority 1 begins one above. */
export const lastTag = 0xffff_ffff;

/** No longer AP_ID can be registered. */
export const longestName = 256;

/** Lanes are told apart by a letter before the name of the application. */
export const newLane = 'n';
const begunLane = 'b';
/**
 * Beside the lanes: the smallest tag that still waits. It never goes back, although a job may come back with the tag that it
 * had when it was put ahead.
 */
export const clock = 'c';

/**
 * Defines `sort`.
 *
 * KEYS: wait, prioritized, lanes (last tag of each), ahead (tag of each job that was put there).
 * ARGV: what job keys begin with, pattern that finds the application in a job's data, how many are left as they came.
 * Returns how many are parked or ahead, and how many lie in `wait` without a tag.
 */
const sortFunction = `
local wait, parked, lanes, ahead = unpack(KEYS)
local jobs, pattern = ARGV[1], ARGV[2]

local function sort()
  local smallest = redis.call('ZRANGE', parked, 0, 0, 'WITHSCORES')
  local now = tonumber(smallest[2])
  if now and now > ${lastTag} then now = nil end
  local length = redis.call('LLEN', wait)
  local function counted(untagged)
    return { redis.call('ZCOUNT', parked, '-inf', ${lastTag}) + redis.call('LLEN', wait) - untagged, untagged }
  end

  if not now and length <= tonumber(ARGV[3]) then
    redis.call('DEL', lanes, ahead)
    return { 0, 0 }
  end
  if length == 0 then return counted(0) end
  local latest = length <= ${aheadCount} and tonumber(redis.call('HGET', ahead, redis.call('LINDEX', wait, 0)) or nil)
  if latest and (not now or now >= latest) then return counted(0) end

  local tags = {}
  local flat = redis.call('HGETALL', ahead)
  for i = 1, #flat, 2 do tags[flat[i]] = tonumber(flat[i + 1]) end

  local ids = redis.call('LRANGE', wait, -${aheadCount + batchCount}, -1)
  local arrived, add, read, bytes = {}, {}, 0, 0
  for i = #ids, 1, -1 do
    local tag = tags[ids[i]]
    if tag then
      add[#add + 1] = tag
      add[#add + 1] = ids[i]
      if not now or tag < now then now = tag end
    else
      if #arrived >= ${batchCount} or bytes >= ${batchBytes} then break end
      local job = redis.call('HMGET', jobs .. ids[i], 'data', 'ats')
      local data = job[1] or ''
      bytes = bytes + #data
      local lane = string.sub(string.match(data, pattern) or '', 1, ${longestName})
      arrived[#arrived + 1] = { ids[i], ((tonumber(job[2]) or 0) > 0 and '${begunLane}' or '${newLane}') .. lane }
    end
    read = read + 1
  end

  if now then
    now = math.max(now, tonumber(redis.call('ZSCORE', lanes, '${clock}') or '0'))
    redis.call('ZREMRANGEBYSCORE', lanes, '-inf', '(' .. string.format('%.0f', now))
  else
    now = 1
    redis.call('DEL', lanes)
  end
  redis.call('ZADD', lanes, now, '${clock}')
  local last = {}
  for _, job in ipairs(arrived) do
    local id, lane = job[1], job[2]
    local before = last[lane] or tonumber(redis.call('ZSCORE', lanes, lane) or '0')
    local tag = math.min(math.max(now, before + 1), ${lastTag})
    last[lane] = tag
    add[#add + 1] = tag
    add[#add + 1] = id
  end
  redis.call('LTRIM', wait, 0, -(read + 1))
  redis.call('ZADD', parked, unpack(add))
  for lane, tag in pairs(last) do redis.call('ZADD', lanes, tag, lane) end

  local untagged = redis.call('LLEN', wait)
  local next = redis.call('ZRANGEBYSCORE', parked, '-inf', ${lastTag}, 'WITHSCORES', 'LIMIT', 0, ${aheadCount})
  local list, noted = {}, {}
  for i = #next - 1, 1, -2 do
    list[#list + 1] = next[i]
    noted[#noted + 1] = next[i]
    noted[#noted + 1] = next[i + 1]
  end
  redis.call('ZREM', parked, unpack(list))
  redis.call('RPUSH', wait, unpack(list))
  redis.call('DEL', ahead)
  redis.call('HSET', ahead, unpack(noted))
  return counted(untagged)
end`;

const sortScript = `${sortFunction}
return sort()`;

/** The same, and how many of each lane wait, once all have their places: the smallest tag, and the last one of each lane. */
const countScript = `${sortFunction}
local sorted = sort()
if sorted[2] > 0 then return { sorted[1], sorted[2], '0', {} } end
local id = redis.call('LINDEX', wait, -1)
local now = tonumber(id and redis.call('HGET', ahead, id) or redis.call('ZRANGE', parked, 0, 0, 'WITHSCORES')[2])
if not now or now > ${lastTag} then return { sorted[1], 0, '0', {} } end
now = string.format('%.0f', now)
return { sorted[1], 0, now, redis.call('ZREVRANGEBYSCORE', lanes, '+inf', now, 'WITHSCORES', 'LIMIT', 0, ${mostLanes}) }`;

/** How a job's data names the application, as a pattern of Lua: the first member of that name. */
export const patternOf = (member: string): string => `"${member}"%s*:%s*"([^"]*)"`;

/** The lane of what an application has added and nobody has begun. A name is what its JSON has between the quotes. */
export const laneOf = (apId: string): string => {
  const [written = ''] = JSON.stringify(apId).slice(1, -1).split('"');
  return newLane + Buffer.from(written).toString('utf8', 0, longestName);
};

export interface FairOrder {
  readonly queue: Queue;
  /** Name of the member of a job's data that says whose it is. */
  readonly member: 'AP_ID' | 'apId';
}

const keysOf = ({ queue }: FairOrder): readonly [string, string, string, string] => [
  queue.toKey('wait'),
  queue.toKey('prioritized'),
  // BullMQ allows no colon in a job id, so these are no job's keys.
  queue.toKey('fair:lanes'),
  queue.toKey('fair:ahead'),
];

export interface Sorted {
  /** Jobs whose place is found. */
  readonly placed: number;
  /** Jobs for which another call is needed. */
  readonly left: number;
}

const evaluate = (redis: RedisClient, script: string, order: FairOrder, few: number): Promise<unknown> => {
  const keys = keysOf(order);
  return redis.eval(script, keys.length, ...keys, order.queue.toKey(''), patternOf(order.member), few);
};

/** When no more wait, they are left as they came: they are taken within milliseconds. */
const few = 32;

/**
 * One step: finds the place of those that have waited longest for it, at most two hundred.
 *
 * Any number of processes may call it, at any time.
 */
export const sortFairly = async (redis: RedisClient, order: FairOrder): Promise<Sorted> => {
  const [placed, left] = (await evaluate(redis, sortScript, order, few)) as [number, number];
  return { placed, left };
};

/** Jobs that wait for a worker, without those that were added with a priority. */
export const countWaiting = async (redis: RedisClient, order: FairOrder): Promise<number> => {
  const [wait, parked] = keysOf(order);
  const counts = await redis.pipeline().llen(wait).zcount(parked, '-inf', lastTag).exec();
  return (counts ?? []).reduce((sum, [error, count]) => {
    if (error) throw error;
    return sum + Number(count);
  }, 0);
};

/**
 * Such a step for those that are few, too.
 *
 * @returns How many of each lane wait, of the longest lanes; undefined when another step is needed before that is known.
 */
export const countByLane = async (
  redis: RedisClient,
  order: FairOrder,
): Promise<ReadonlyMap<string, number> | undefined> => {
  const [, left, now, flat] = (await evaluate(redis, countScript, order, 0)) as [
    number,
    number,
    string,
    string[],
  ];
  if (left > 0) return undefined;
  const lanes = new Map<string, number>();
  for (let index = 0; index < flat.length; index += 2) {
    lanes.set(flat[index] ?? '', Number(flat[index + 1]) - Number(now) + 1);
  }
  return lanes;
};
