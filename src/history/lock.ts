/**
 * A claim of one process that lapses by itself. It saves two processes from doing the same work; that they would not harm
 * each other is the index store's doing, so a claim that lapsed unnoticed costs nothing but time.
 */
import { randomBytes } from 'node:crypto';
import type { RedisClient } from '../redis/connect.ts';

export interface Lock {
  /** Gets or keeps it. */
  hold(): Promise<boolean>;
  release(): Promise<void>;
}

const holdScript = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

const releaseScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

export const createLock = (redis: RedisClient, key: string, ttlMs: number): Lock => {
  const me = randomBytes(12).toString('base64url');
  return {
    hold: async () => (await redis.eval(holdScript, 1, key, me, ttlMs)) === 1,
    release: async () => {
      await redis.eval(releaseScript, 1, key, me);
    },
  };
};
