/**
 * What this room keeps in Redis, in a form that whoever reads Redis cannot use and whoever writes to it cannot make up.
 *
 * Handles (of sessions, links, tokens) are 256 random bits and are known to Redis only by an HMAC. Contents are encrypted
 * (AES-256-GCM), with their place authenticated, so that one record does not fit in the place of another. The keys come
 * from the master key. An older record of the same place can be put back by whoever writes to Redis; nothing here closes that.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { RedisClient } from '../redis/connect.ts';

export interface Sealed {
  /** 256 bits, 43 characters base64url. */
  newHandle(): string;
  /** 43 characters; the same for the same handle and purpose. */
  hashOf(purpose: string, handle: string): string;
  seal(place: string, value: unknown): string;
  /** @returns Undefined for what was sealed under another key, for another place, or not at all. */
  open(place: string, sealed: string | null | undefined): unknown;
}

const ivBytes = 12;
const tagBytes = 16;

export const isHandle = (text: string): boolean => /^[\w-]{43}$/.test(text);

export const createSealed = (masterKey: Uint8Array): Sealed => {
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', masterKey, '', `paraph operators ${purpose}`, 32));
  const contentKey = derive('records');
  const handleKey = derive('handles');
  return {
    newHandle: () => randomBytes(32).toString('base64url'),

    hashOf: (purpose, handle) =>
      createHmac('sha256', handleKey).update(`${purpose} ${handle}`).digest('base64url'),

    seal: (place, value) => {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', contentKey, iv).setAAD(Buffer.from(place));
      const content = [cipher.update(JSON.stringify(value), 'utf8'), cipher.final()];
      return Buffer.concat([iv, ...content, cipher.getAuthTag()]).toString('base64');
    },

    open: (place, sealed) => {
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

/** Records that are found by a handle: sessions, links, tokens, logins that have begun. */
export interface SealedRecords<T> {
  /** @returns Undefined for what cannot be a handle. */
  idOf(handle: string | undefined): string | undefined;
  keyOf(id: string): string;
  seal(id: string, value: T): string;
  /** Keeps it under a handle of its own. */
  add(value: T, lifeMs: number): Promise<{ readonly handle: string; readonly id: string }>;
  /** Undefined without an id, and for a record that is gone or cannot be believed. */
  get(id: string | undefined): Promise<T | undefined>;
  /** @returns True for one of any number of callers. */
  remove(id: string | undefined): Promise<boolean>;
}

/** @param prefix Of the keys: `<prefix>:operators:<kind>:<id>`. */
export const createSealedRecords = <T>(
  {
    redis,
    prefix,
    sealed,
  }: { readonly redis: RedisClient; readonly prefix: string; readonly sealed: Sealed },
  kind: string,
  schema: z.ZodType<T>,
): SealedRecords<T> => {
  const keyOf = (id: string): string => `${prefix}:operators:${kind}:${id}`;
  const seal = (id: string, value: T): string => sealed.seal(`${kind} ${id}`, value);
  return {
    idOf: (handle) => (handle !== undefined && isHandle(handle) ? sealed.hashOf(kind, handle) : undefined),
    keyOf,
    seal,
    add: async (value, lifeMs) => {
      const handle = sealed.newHandle();
      const id = sealed.hashOf(kind, handle);
      await redis.set(keyOf(id), seal(id, value), 'PX', lifeMs);
      return { handle, id };
    },
    get: async (id) =>
      id === undefined
        ? undefined
        : schema.safeParse(sealed.open(`${kind} ${id}`, await redis.get(keyOf(id)))).data,
    remove: async (id) => id !== undefined && (await redis.del(keyOf(id))) === 1,
  };
};
