/**
 * What the provider keeps in Redis: codes, tokens, sessions, logins on their way.
 *
 * Whoever can read Redis must not be able to log in as somebody. So a record is found under a hash of its handle, and its
 * content, which names the handle again, is encrypted (AES-256-GCM) under a key derived from the master key; the record's
 * key is authenticated with it, so that records cannot be exchanged.
 *
 * Handles are random or belong to a person; SHA-256 with the tenant's own key (HMAC) keeps short ones from being guessed.
 *
 * Keys: `<prefix>:oidc:<tenant>:<kind>:{<hash>}`, and the same with `:used` behind it for what can be used once. The
 * braces keep the two in one slot of a Redis Cluster.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { randomBytesOf } from '../pki/random.ts';
import type { RedisClient } from '../redis/connect.ts';

export interface SealedStore {
  /** Overwrites. */
  put(kind: string, handle: string, value: unknown, ttlSeconds: number): Promise<void>;
  /** @returns False, and writes nothing, when there is one already. */
  putOnce(kind: string, handle: string, value: unknown, ttlSeconds: number): Promise<boolean>;
  get(kind: string, handle: string): Promise<unknown>;
  /** What was used stays used: somebody may be about to try it again. */
  remove(kind: string, handle: string): Promise<void>;
  /** Marks a record as used: of any number of callers one hears `true`. @param at Seconds since the epoch. */
  use(kind: string, handle: string, at: number, ttlSeconds: number): Promise<boolean>;
  /** A record together with when it was used. */
  getWithUse(
    kind: string,
    handle: string,
  ): Promise<{ readonly value: unknown; readonly usedAt: number | undefined }>;
  /** Remembers that a record belongs to a group, for as long as `ttlSeconds` at least. */
  join(group: string, kind: string, handle: string, ttlSeconds: number): Promise<void>;
  /** Removes all records of a group. */
  removeGroup(group: string): Promise<void>;
  /** The hash under which a handle is stored: for names of other keys, such as those of rate limits. */
  hashOf(handle: string): string;
}

const ivBytes = 12;
const tagBytes = 16;

/** Lengthens a life and never shortens it. */
const joinScript = `
redis.call('SADD', KEYS[1], ARGV[1])
if redis.call('TTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('EXPIRE', KEYS[1], ARGV[2]) end`;

export const createSealedStore = ({
  redis,
  prefix,
  tenant,
  masterKey,
}: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly tenant: string;
  readonly masterKey: Uint8Array;
}): SealedStore => {
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', masterKey, '', `paraph oidc ${purpose} ${tenant}`, 32));
  const contentKey = derive('records');
  const handleKey = derive('handles');

  const hashOf = (handle: string): string =>
    createHmac('sha256', handleKey).update(handle).digest('base64url').slice(0, 32);
  const keyOf = (kind: string, handle: string): string =>
    `${prefix}:oidc:${tenant}:${kind}:{${hashOf(handle)}}`;

  const seal = (key: string, value: unknown): Buffer => {
    const iv = randomBytesOf(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', contentKey, iv).setAAD(Buffer.from(key));
    const content = [cipher.update(JSON.stringify(value), 'utf8'), cipher.final()];
    return Buffer.concat([iv, ...content, cipher.getAuthTag()]);
  };

  /** What was sealed under another master key, or for another place, is as good as absent. */
  const open = (key: string, sealed: Buffer | null | undefined): unknown => {
    if (sealed === null || sealed === undefined || sealed.length < ivBytes + tagBytes) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', contentKey, sealed.subarray(0, ivBytes), {
      authTagLength: tagBytes,
    })
      .setAAD(Buffer.from(key))
      .setAuthTag(sealed.subarray(-tagBytes));
    try {
      const content = [decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()];
      return JSON.parse(Buffer.concat(content).toString('utf8'));
    } catch {
      return undefined;
    }
  };

  const seconds = (ttlSeconds: number): number => Math.max(1, Math.ceil(ttlSeconds));

  return {
    hashOf,
    put: async (kind, handle, value, ttlSeconds) => {
      const key = keyOf(kind, handle);
      await redis.set(key, seal(key, value), 'EX', seconds(ttlSeconds));
    },
    putOnce: async (kind, handle, value, ttlSeconds) => {
      const key = keyOf(kind, handle);
      return (await redis.set(key, seal(key, value), 'EX', seconds(ttlSeconds), 'NX')) === 'OK';
    },
    get: async (kind, handle) => {
      const key = keyOf(kind, handle);
      return open(key, await redis.getBuffer(key));
    },
    remove: async (kind, handle) => {
      await redis.del(keyOf(kind, handle));
    },
    use: async (kind, handle, at, ttlSeconds) =>
      (await redis.set(`${keyOf(kind, handle)}:used`, at, 'EX', seconds(ttlSeconds), 'NX')) === 'OK',
    getWithUse: async (kind, handle) => {
      const key = keyOf(kind, handle);
      const [sealed, used] = await redis.mgetBuffer(key, `${key}:used`);
      return { value: open(key, sealed), usedAt: used ? Number(used.toString()) : undefined };
    },
    join: async (group, kind, handle, ttlSeconds) => {
      await redis.eval(joinScript, 1, keyOf('group', group), keyOf(kind, handle), seconds(ttlSeconds));
    },
    removeGroup: async (group) => {
      const key = keyOf('group', group);
      const members = await redis.smembers(key);
      await Promise.all([...members, key].map((member) => redis.del(member)));
    },
  };
};
