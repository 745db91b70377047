/** A key that one holder has at a time, until it lets go of it or its time is over. */
import type { RedisClient } from '../redis/connect.ts';

/**
 * ARGV: holder, from whom it may be taken, for how long at least, until when by the clock of Redis.
 * Returns who else holds it, or nothing.
 */
const takeScript = `
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] and held ~= ARGV[2] then return held end
local time = redis.call('TIME')
local left = tonumber(ARGV[4]) - (time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('SET', KEYS[1], ARGV[1], 'PX', math.max(left, tonumber(ARGV[3])))
return ''`;

const letGoScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

/**
 * Takes the key, or holds it for longer: for so long, or until that time, whichever is later.
 *
 * @param options.from A holder from whom it may be taken.
 * @returns Undefined when it is held now; otherwise its holder.
 */
export const takeKey = async (
  redis: RedisClient,
  key: string,
  holder: string,
  options: { readonly ms: number; readonly untilMs?: number; readonly from?: string },
): Promise<string | undefined> => {
  const { ms, untilMs = 0, from = '' } = options;
  return String(await redis.eval(takeScript, 1, key, holder, from, ms, untilMs)) || undefined;
};

/** Does nothing where somebody else holds it. */
export const letGoOfKey = async (
  redis: RedisClient,
  key: string,
  holder: string,
): Promise<void> => {
  await redis.eval(letGoScript, 1, key, holder);
};
