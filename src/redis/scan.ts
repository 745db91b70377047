import { nodesOf, type RedisClient } from './connect.ts';

const keysAtOnce = 1000;

/**
 * Finds all keys that match a pattern, on every node. It reads each key of Redis, in steps, so it
 * is for rare orders. A key that is written meanwhile may be missing.
 *
 * @param match A pattern of SCAN, in which `*`, `?` and `[` are special.
 */
export const scanKeys = async (redis: RedisClient, match: string): Promise<readonly string[]> => {
  const found = new Set<string>();
  for (const node of nodesOf(redis)) {
    let cursor = '0';
    do {
      const [next, keys] = await node.scan(cursor, 'MATCH', match, 'COUNT', keysAtOnce);
      for (const key of keys) found.add(key);
      cursor = next;
    } while (cursor !== '0');
  }
  return [...found];
};
