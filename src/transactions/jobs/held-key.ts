/** A key that one holder has at a time, until the holder releases it or its time is over. */
import type { RedisClient } from '../../redis/connect.ts';

/**
 * ARGV: holder, a holder from whom it may be taken, least time, end by the clock of Redis. Returns
 * another holder that has it, or nothing.
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
 * Takes the key, or extends the hold: for the given time or until the given end, whichever is
 * later.
 *
 * @param options.from A holder from whom it may be taken.
 * @returns Undefined when `holder` has it now; otherwise its other holder.
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

/** Releases the key, unless another holder has it. */
export const letGoOfKey = async (
  redis: RedisClient,
  key: string,
  holder: string,
): Promise<void> => {
  await redis.eval(letGoScript, 1, key, holder);
};
