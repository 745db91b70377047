/**
 * What the provider keeps in Redis: codes, tokens, sessions, open logins.
 *
 * Read access to Redis must not be enough to log in as somebody. A record is therefore found under
 * a keyed hash (HMAC) of its handle, and its content is encrypted (AES-256-GCM) under a key derived
 * from the service key. The name of the record is authenticated with it, so records cannot be
 * exchanged.
 *
 * Keys: `<prefix>:oidc:<tenant>:<kind>:{<hash>}`; with `:used` behind it for what can be used once.
 * The braces keep both in one slot of a Redis Cluster.
 */
import { createHmac } from 'node:crypto';
import { createBoundedCache } from '../pki/bounded-cache.ts';
import { createJsonSealer, deriveKey } from '../pki/sealed-json.ts';
import type { RedisClient } from '../redis/connect.ts';

/** Lengthens the life of a group and never shortens it. */
const joinScript = `
redis.call('SADD', KEYS[1], ARGV[1])
if redis.call('TTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('EXPIRE', KEYS[1], ARGV[2]) end`;

const appendScript = `
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[1]) then return 0 end
redis.call('RPUSH', KEYS[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1`;

/** A mark of use lives as long as its record; without one there is nothing to use. */
const useScript = `
local left = redis.call('PTTL', KEYS[1])
if left <= 0 then return 0 end
return redis.call('SET', KEYS[2], ARGV[1], 'PX', left, 'NX') and 1 or 0`;

const removeOnceScript = `
if not redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[2], 'NX') then return 0 end
redis.call('DEL', KEYS[1])
return 1`;

/** A login asks for the hash of each of its handles several times. Longer handles are not ours. */
const maxHashes = 1000;
const maxHandleLength = 100;

const toTtl = (seconds: number): number => Math.max(1, Math.ceil(seconds));

/** Where a tenant keeps its secrets, and the key that they are sealed under. */
export interface TenantStorage {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly tenant: string;
  readonly serviceKey: Uint8Array;
}

export const createSealedStore = ({ redis, prefix, tenant, serviceKey }: TenantStorage) => {
  const { seal, open } = createJsonSealer(deriveKey(serviceKey, `paraph oidc records ${tenant}`));
  const handleKey = deriveKey(serviceKey, `paraph oidc handles ${tenant}`);

  const hashes = createBoundedCache<string>(maxHashes);

  const computeHash = (handle: string): string =>
    createHmac('sha256', handleKey).update(handle).digest('base64url').slice(0, 32);

  /** The hash under which a handle is stored; also for names of other keys, such as rate limits. */
  const hashOf = (handle: string): string =>
    handle.length > maxHandleLength
      ? computeHash(handle)
      : hashes.get(handle, () => computeHash(handle));
  const keyOf = (kind: string, handle: string): string =>
    `${prefix}:oidc:${tenant}:${kind}:{${hashOf(handle)}}`;

  return {
    hashOf,
    /** Overwrites. */
    put: async (
      kind: string,
      handle: string,
      value: unknown,
      ttlSeconds: number,
    ): Promise<void> => {
      const key = keyOf(kind, handle);
      await redis.set(key, seal(key, value), 'EX', toTtl(ttlSeconds));
    },
    /** @returns False, without writing, when there is a record already. */
    putOnce: async (
      kind: string,
      handle: string,
      value: unknown,
      ttlSeconds: number,
    ): Promise<boolean> => {
      const key = keyOf(kind, handle);
      return (await redis.set(key, seal(key, value), 'EX', toTtl(ttlSeconds), 'NX')) === 'OK';
    },
    get: async (kind: string, handle: string): Promise<unknown> => {
      const key = keyOf(kind, handle);
      return open(key, await redis.getBuffer(key));
    },
    /**
     * Adds to a list.
     * @returns False, without writing, when it has not exactly `length` elements.
     */
    append: async (
      kind: string,
      handle: string,
      length: number,
      value: unknown,
      ttlSeconds: number,
    ): Promise<boolean> => {
      const key = keyOf(kind, handle);
      const sealed = seal(`${key} ${length}`, value);
      return (await redis.eval(appendScript, 1, key, length, sealed, toTtl(ttlSeconds))) === 1;
    },
    /** The elements of a list, up to one that cannot be opened. */
    list: async (kind: string, handle: string): Promise<readonly unknown[]> => {
      const key = keyOf(kind, handle);
      const elements = await redis.lrangeBuffer(key, 0, -1);
      const values = elements.map((sealed, index) => open(`${key} ${index}`, sealed));
      const end = values.indexOf(undefined);
      return end === -1 ? values : values.slice(0, end);
    },
    /** The mark of use stays, because another request may still try the handle. */
    remove: async (kind: string, handle: string): Promise<void> => {
      await redis.del(keyOf(kind, handle));
    },
    /**
     * Marks a record that is there as used; one caller gets true.
     * @param at Seconds since the epoch.
     */
    useOnce: async (kind: string, handle: string, at: number): Promise<boolean> => {
      const key = keyOf(kind, handle);
      return (await redis.eval(useScript, 2, key, `${key}:used`, at)) === 1;
    },
    /**
     * Removes a record and marks it as used; one caller gets true, also when it was written anew
     * since.
     */
    removeOnce: async (
      kind: string,
      handle: string,
      at: number,
      ttlSeconds: number,
    ): Promise<boolean> => {
      const key = keyOf(kind, handle);
      return (
        (await redis.eval(removeOnceScript, 2, key, `${key}:used`, at, toTtl(ttlSeconds))) === 1
      );
    },
    /** Marks a handle as used, whether or not it has a record; one caller gets true. */
    use: async (kind: string, handle: string, at: number, ttlSeconds: number): Promise<boolean> =>
      (await redis.set(`${keyOf(kind, handle)}:used`, at, 'EX', toTtl(ttlSeconds), 'NX')) === 'OK',
    getWithUse: async (kind: string, handle: string) => {
      const key = keyOf(kind, handle);
      const [sealed, used] = await redis.mgetBuffer(key, `${key}:used`);
      return { value: open(key, sealed), usedAt: used ? Number(used.toString()) : undefined };
    },
    /** Remembers that a record belongs to a group, for `ttlSeconds` or longer. */
    join: async (
      group: string,
      kind: string,
      handle: string,
      ttlSeconds: number,
    ): Promise<void> => {
      await redis.eval(
        joinScript,
        1,
        keyOf('group', group),
        keyOf(kind, handle),
        toTtl(ttlSeconds),
      );
    },
    /** Removes all records of a group. */
    removeGroup: async (group: string): Promise<void> => {
      const key = keyOf('group', group);
      const members = await redis.smembers(key);
      await Promise.all([...members, key].map((member) => redis.del(member)));
    },
  };
};

export type SealedStore = ReturnType<typeof createSealedStore>;
