import type { CustodyStore } from '../../packages/pki/src/ports.ts';
import type { RedisClient } from '../redis/connect.ts';
import { custodyBeginning } from '../redis/key-names.ts';
import { scanKeys } from '../redis/scan.ts';

/** Fields that are read in one command: few enough that other commands do not wait long. */
const fieldsAtOnce = 500;

/**
 * The key custody's records in Redis, where every process of the service finds them. Private keys
 * among them are encrypted before they get here.
 */
export const createCustodyStore = (redis: RedisClient, prefix: string): CustodyStore => {
  const beginning = custodyBeginning(prefix);
  const keyOf = (key: string): string => `${beginning}${key}`;
  const get = async (key: string): Promise<string | undefined> =>
    (await redis.get(keyOf(key))) ?? undefined;
  return {
    get,
    setIfAbsent: async (key, value) => {
      await redis.setnx(keyOf(key), value);
      return (await get(key)) ?? value;
    },
    namesOf: async (start) =>
      (await scanKeys(redis, `${keyOf(start)}*`)).map((key) => key.slice(beginning.length)),
    addField: async (key, field, value) => (await redis.hsetnx(keyOf(key), field, value)) === 1,
    countFields: (key) => redis.hlen(keyOf(key)),
    fields: async function* (key) {
      let cursor = '0';
      do {
        const [next, page] = await redis.hscan(keyOf(key), cursor, 'COUNT', fieldsAtOnce);
        cursor = next;
        yield Array.from({ length: page.length / 2 }, (_, index) => [
          page[index * 2] ?? '',
          page[index * 2 + 1] ?? '',
        ]);
      } while (cursor !== '0');
    },
  };
};
