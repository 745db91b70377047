import type { CustodyStore } from '../pki/ports.ts';
import type { RedisClient } from '../redis/connect.ts';

/**
 * The key custody's records in Redis, where every process of the service finds them. Private keys
 * among them are encrypted before they get here.
 */
export const createCustodyStore = (redis: RedisClient, prefix: string): CustodyStore => {
  const keyOf = (key: string): string => `${prefix}:custody:${key}`;
  const get = async (key: string): Promise<string | undefined> => (await redis.get(keyOf(key))) ?? undefined;
  return {
    get,
    setIfAbsent: async (key, value) => {
      await redis.setnx(keyOf(key), value);
      return (await get(key)) ?? value;
    },
  };
};
