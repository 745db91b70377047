/**
 * What this room keeps in Redis, so that reading Redis reveals nothing and writing to Redis forges
 * nothing.
 *
 * Handles (of sessions, links, tokens) are 256 random bits; Redis knows only their HMAC. Contents
 * are encrypted (AES-256-GCM) and bound to their place, so that one record does not fit in the
 * place of another. The keys come from the master key. Not prevented: someone who writes to Redis
 * can put back an older record of the same place.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { RedisClient } from '../redis/connect.ts';

const ivBytes = 12;
const tagBytes = 16;

export const isHandle = (text: string): boolean => /^[\w-]{43}$/.test(text);

export const createSealed = (masterKey: Uint8Array) => {
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', masterKey, '', `paraph operators ${purpose}`, 32));
  const contentKey = derive('records');
  const handleKey = derive('handles');
  return {
    /** 256 bits, 43 characters base64url. */
    newHandle: (): string => randomBytes(32).toString('base64url'),

    /** 43 characters; the same for the same handle and purpose. */
    hashOf: (purpose: string, handle: string): string =>
      createHmac('sha256', handleKey).update(`${purpose} ${handle}`).digest('base64url'),

    seal: (place: string, value: unknown): string => {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', contentKey, iv).setAAD(Buffer.from(place));
      const content = [cipher.update(JSON.stringify(value), 'utf8'), cipher.final()];
      return Buffer.concat([iv, ...content, cipher.getAuthTag()]).toString('base64');
    },

    /** @returns Undefined for what was sealed under another key or for another place. */
    open: (place: string, sealed: string | null | undefined): unknown => {
      const bytes = Buffer.from(sealed ?? '', 'base64');
      if (bytes.length < ivBytes + tagBytes) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', contentKey, bytes.subarray(0, ivBytes), {
        authTagLength: tagBytes,
      })
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(-tagBytes));
      try {
        const content = [decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()];
        return JSON.parse(Buffer.concat(content).toString('utf8'));
      } catch {
        return undefined;
      }
    },
  };
};

export type Sealed = ReturnType<typeof createSealed>;

export interface SealedOptions {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly sealed: Sealed;
}

/** Records that are found by a handle. Their keys are `<prefix>:operators:<kind>:<id>`. */
export const createSealedRecords = <T>(
  { redis, prefix, sealed }: SealedOptions,
  kind: string,
  schema: z.ZodType<T>,
) => {
  const keyOf = (id: string): string => `${prefix}:operators:${kind}:${id}`;
  const seal = (id: string, value: T): string => sealed.seal(`${kind} ${id}`, value);
  return {
    /** @returns Undefined for what cannot be a handle. */
    idOf: (handle: string | undefined): string | undefined =>
      handle !== undefined && isHandle(handle) ? sealed.hashOf(kind, handle) : undefined,
    keyOf,
    seal,
    /** Keeps the value under a new handle. */
    add: async (value: T, lifeMs: number) => {
      const handle = sealed.newHandle();
      const id = sealed.hashOf(kind, handle);
      await redis.set(keyOf(id), seal(id, value), 'PX', lifeMs);
      return { handle, id };
    },
    /** @returns Undefined without an id, and for a record that is gone or was not sealed here. */
    get: async (id: string | undefined): Promise<T | undefined> =>
      id === undefined
        ? undefined
        : schema.safeParse(sealed.open(`${kind} ${id}`, await redis.get(keyOf(id)))).data,
    /** @returns True for exactly one caller. */
    remove: async (id: string | undefined): Promise<boolean> =>
      id !== undefined && (await redis.del(keyOf(id))) === 1,
  };
};
