/**
 * Seals the data of this room in Redis, so that a reader of Redis learns nothing and a writer
 * forges nothing.
 *
 * Handles (of sessions, links, tokens) are 256 random bits; Redis has only their HMAC. Contents are
 * encrypted (AES-256-GCM) and bound to their place, so that one record does not fit in the place of
 * another. The keys come from the service key. Not prevented: a writer of Redis can put back an
 * older record of the same place.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { createJsonSealer, deriveKey } from '../pki/sealed-json.ts';
import type { RedisClient } from '../redis/connect.ts';

export const isHandle = (text: string): boolean => /^[\w-]{43}$/.test(text);

export const createSealed = (serviceKey: Uint8Array) => {
  const { seal, open } = createJsonSealer(deriveKey(serviceKey, 'paraph operators records'));
  const handleKey = deriveKey(serviceKey, 'paraph operators handles');
  return {
    /** A new handle: 256 random bits as 43 characters base64url. */
    newHandle: (): string => randomBytes(32).toString('base64url'),

    /** The HMAC of a handle, 43 characters; equal for equal handle and purpose. */
    hashOf: (purpose: string, handle: string): string =>
      createHmac('sha256', handleKey).update(`${purpose} ${handle}`).digest('base64url'),

    seal: (place: string, value: unknown): string => seal(place, value).toString('base64'),

    /** @returns Undefined for a text that was sealed under another key or for another place. */
    open: (place: string, sealed: string | null | undefined): unknown =>
      open(place, Buffer.from(sealed ?? '', 'base64')),
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
    /** @returns Undefined for a text that cannot be a handle. */
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
    /**
     * @returns Undefined without an id, for a missing record, and for one that cannot be opened.
     */
    get: async (id: string | undefined): Promise<T | undefined> =>
      id === undefined
        ? undefined
        : schema.safeParse(sealed.open(`${kind} ${id}`, await redis.get(keyOf(id)))).data,
    /** Removes a record. @returns True for exactly one caller. */
    remove: async (id: string | undefined): Promise<boolean> =>
      id !== undefined && (await redis.del(keyOf(id))) === 1,
  };
};
