import type { RedisClient } from './connect.ts';

/** The id of a stream's last entry, to read on from; `0-0` when it is empty or absent. */
export const lastEntryId = async (redis: RedisClient, key: string): Promise<string> => {
  const [last] = await redis.xrevrange(key, '+', '-', 'COUNT', 1);
  return last?.[0] ?? '0-0';
};
