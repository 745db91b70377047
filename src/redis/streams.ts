import type { RedisClient } from './connect.ts';

/** Where a stream ends now: what is read from there on is what comes. `0-0` for one that has nothing, or is none. */
export const lastEntryId = async (redis: RedisClient, key: string): Promise<string> => {
  const [last] = await redis.xrevrange(key, '+', '-', 'COUNT', 1);
  return last?.[0] ?? '0-0';
};
