/**
 * Fair order among applications: decides which job is taken next.
 *
 * Every producer adds to the list `wait`, which is first come, first served. An application that
 * adds 100 000 jobs would block all others. {@link sortFairly} corrects the order afterwards, so
 * producers need not know of it. It is start-time fair queueing: each job gets a tag, one more than
 * the job before it in its lane, but at least the smallest tag that still waits. Jobs are taken in
 * the order of their tags. So lanes are served in turn, and the order within a lane stays.
 *
 * parked   Jobs with a tag lie in BullMQ's own set `prioritized`, with the tag as score. BullMQ's
 *          priorities begin at 2^32 there, so jobs with a priority still come later.
 * ahead    BullMQ takes from `wait` before `prioritized`, so new jobs would come before all parked
 *          ones. So the smallest tags are put back at the front of `wait`. Each call takes them
 *          back first, so the order is exact again.
 * lane     An application. Jobs that have begun (an answer, the deadline, a dead worker, a replay)
 *          have a second lane: they never wait behind new jobs of their application.
 *
 * A job names its application. Its producer is trusted, because it can write to Redis.
 */
import type { Queue } from 'bullmq';
import type { RedisClient } from '../../redis/connect.ts';

/** Jobs that are ahead: more than workers take between two calls. */
export const aheadCount = 64;
/**
 * Jobs of one call, which blocks Redis for 1 to 2 ms. Large jobs are limited by their bytes.
 */
const batchCount = 200;
const batchBytes = 1_000_000;

/** Lanes are counted to enforce a limit, so the longest are enough. */
const maxLanes = 1000;

/** The greatest tag. The scores of BullMQ's priorities begin one above. */
export const lastTag = 0xffff_ffff;

/** The maximum length of an AP_ID. */
export const longestName = 256;

/** The first letter of a lane is its kind. The name of the application follows. */
export const newLane = 'n';
const begunLane = 'b';
/**
 * The member for the smallest tag that still waits. It never decreases, unlike the tags of jobs
 * that return.
 */
export const clock = 'c';

/**
 * Defines `sort`.
 *
 * KEYS: wait, prioritized, lanes (last tag of each), ahead (tag of each job that was put there).
 * ARGV: prefix of job keys, pattern that finds the application in the data of a job, number of jobs
 * that are left in their order. Returns the number of jobs that are parked or ahead, and of those
 * in `wait` without a tag.
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

/**
 * Sorts and counts the lanes, once all jobs have their places: returns the smallest tag, and the
 * last one of each lane.
 */
const countScript = `${sortFunction}
local sorted = sort()
if sorted[2] > 0 then return { sorted[1], sorted[2], '0', {} } end
local id = redis.call('LINDEX', wait, -1)
local now = tonumber(id and redis.call('HGET', ahead, id) or redis.call('ZRANGE', parked, 0, 0, 'WITHSCORES')[2])
if not now or now > ${lastTag} then return { sorted[1], 0, '0', {} } end
now = string.format('%.0f', now)
return { sorted[1], 0, now, redis.call('ZREVRANGEBYSCORE', lanes, '+inf', now, 'WITHSCORES', 'LIMIT', 0, ${maxLanes}) }`;

/** The Lua pattern that finds the application in the data of a job: the first such member. */
export const patternOf = (member: string): string => `"${member}"%s*:%s*"([^"]*)"`;

/** The lane of new jobs of an application. Its name is the text between the quotes in JSON. */
export const laneOf = (apId: string): string => {
  const [written = ''] = JSON.stringify(apId).slice(1, -1).split('"');
  return newLane + Buffer.from(written).toString('utf8', 0, longestName);
};

export interface FairOrder {
  readonly queue: Queue;
  /** The member of a job's data that names the application. */
  readonly member: 'AP_ID' | 'apId';
}

const keysOf = ({ queue }: FairOrder): readonly [string, string, string, string] => [
  queue.toKey('wait'),
  queue.toKey('prioritized'),
  // BullMQ allows no colon in a job id, so these are not the keys of a job.
  queue.toKey('fair:lanes'),
  queue.toKey('fair:ahead'),
];

export interface Sorted {
  /** The number of jobs that have their place. */
  readonly placed: number;
  /** The number of jobs that need another call. */
  readonly left: number;
}

const evaluate = (
  redis: RedisClient,
  script: string,
  order: FairOrder,
  few: number,
): Promise<unknown> => {
  const keys = keysOf(order);
  return redis.eval(
    script,
    keys.length,
    ...keys,
    order.queue.toKey(''),
    patternOf(order.member),
    few,
  );
};

/** Waiting jobs up to which nothing is sorted: they are taken within milliseconds. */
const few = 32;

/**
 * Sorts the next jobs, at most two hundred. Any number of processes may call it, at any time.
 */
export const sortFairly = async (redis: RedisClient, order: FairOrder): Promise<Sorted> => {
  const [placed, left] = (await evaluate(redis, sortScript, order, few)) as [number, number];
  return { placed, left };
};

/** Jobs that wait for a worker, without those that have a priority. */
export const countWaiting = async (redis: RedisClient, order: FairOrder): Promise<number> => {
  const [wait, parked] = keysOf(order);
  const counts = await redis.pipeline().llen(wait).zcount(parked, '-inf', lastTag).exec();
  return (counts ?? []).reduce((sum, [error, count]) => {
    if (error) throw error;
    return sum + Number(count);
  }, 0);
};

/**
 * Sorts like {@link sortFairly}, also when few jobs wait.
 *
 * @returns The number of waiting jobs in each of the longest lanes; undefined when another call is
 *   needed.
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
