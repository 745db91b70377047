/**
 * Records that are found by a secret handle: codes, tokens, sessions, links, open logins.
 *
 * Read access to Redis must not be enough to log in as a user. A record is therefore found under
 * a keyed hash of its handle, its id, and its content is sealed (pki/sealed-json.ts). Kind and id
 * are authenticated with it, so records cannot be exchanged.
 *
 * Keys: `<base>:<kind>:{<id>}`; with `:used` behind it for what can be used once. The braces keep
 * both in one slot of a Redis Cluster.
 */
import type { Sealing } from '../../packages/pki/src/sealed-json.ts';
import type { RedisClient } from './connect.ts';

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

const toTtl = (seconds: number): number => Math.max(1, Math.ceil(seconds));

export const createSealedStore = ({
  redis,
  base,
  sealing,
}: {
  readonly redis: RedisClient;
  /** What the keys begin with: `<prefix>:oidc:<tenant>`. */
  readonly base: string;
  readonly sealing: Sealing;
}) => {
  const { hashOf } = sealing;
  const { seal, open } = sealing.binary;

  const keyAt = (kind: string, id: string): string => `${base}:${kind}:{${id}}`;

  /** The key of the record of a handle, and the place to which its content is bound. */
  const placeOf = (
    kind: string,
    handle: string,
  ): { readonly key: string; readonly place: string } => {
    const id = hashOf(kind, handle);
    return { key: keyAt(kind, id), place: `${kind} ${id}` };
  };
  const keyOf = (kind: string, handle: string): string => placeOf(kind, handle).key;

  return {
    hashOf,
    keyOf,
    /** The same for callers that keep the id of a record instead of its handle. */
    byId: {
      keyOf: keyAt,
      seal: (kind: string, id: string, value: unknown): Buffer => seal(`${kind} ${id}`, value),
      get: async (kind: string, id: string): Promise<unknown> =>
        open(`${kind} ${id}`, await redis.getBuffer(keyAt(kind, id))),
      /** @returns True for exactly one caller. */
      remove: async (kind: string, id: string): Promise<boolean> =>
        (await redis.del(keyAt(kind, id))) === 1,
    },
    /** Overwrites. */
    put: async (
      kind: string,
      handle: string,
      value: unknown,
      ttlSeconds: number,
    ): Promise<void> => {
      const { key, place } = placeOf(kind, handle);
      await redis.set(key, seal(place, value), 'EX', toTtl(ttlSeconds));
    },
    /** @returns False, without writing, when there is a record already. */
    putOnce: async (
      kind: string,
      handle: string,
      value: unknown,
      ttlSeconds: number,
    ): Promise<boolean> => {
      const { key, place } = placeOf(kind, handle);
      return (await redis.set(key, seal(place, value), 'EX', toTtl(ttlSeconds), 'NX')) === 'OK';
    },
    get: async (kind: string, handle: string): Promise<unknown> => {
      const { key, place } = placeOf(kind, handle);
      return open(place, await redis.getBuffer(key));
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
      const { key, place } = placeOf(kind, handle);
      const sealed = seal(`${place} ${length}`, value);
      return (await redis.eval(appendScript, 1, key, length, sealed, toTtl(ttlSeconds))) === 1;
    },
    /** The elements of a list, up to one that cannot be opened. */
    list: async (kind: string, handle: string): Promise<readonly unknown[]> => {
      const { key, place } = placeOf(kind, handle);
      const elements = await redis.lrangeBuffer(key, 0, -1);
      const values = elements.map((sealed, index) => open(`${place} ${index}`, sealed));
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
      const { key, place } = placeOf(kind, handle);
      const [sealed, used] = await redis.mgetBuffer(key, `${key}:used`);
      return { value: open(place, sealed), usedAt: used ? Number(used.toString()) : undefined };
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
