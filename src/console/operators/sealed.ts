/**
 * What this room keeps in Redis, so that reading Redis reveals nothing and writing to Redis forges
 * nothing (pki/sealed-json.ts): sessions, links, tokens and logins under way are records of the
 * sealed store, and users and views are sealed fields.
 */
import type { z } from 'zod';
import { createSealing, type Sealing } from '../../../packages/pki/src/sealed-json.ts';
import type { RedisClient } from '../../redis/connect.ts';
import { createSealedStore } from '../../redis/sealed-store.ts';

/** Handles and the ids of their records look alike. */
export const isHandle = (text: string): boolean => /^[\w-]{43}$/.test(text);

export const createSealed = (serviceKey: Uint8Array): Sealing =>
  createSealing(serviceKey, 'operators');

export interface SealedOptions {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly sealed: Sealing;
}

/** Records of one kind. Their keys are `<prefix>:operators:<kind>:{<id>}`. */
export const createSealedRecords = <T>(
  { redis, prefix, sealed }: SealedOptions,
  kind: string,
  schema: z.ZodType<T>,
) => {
  const { byId } = createSealedStore({ redis, base: `${prefix}:operators`, sealing: sealed });
  const keyOf = (id: string): string => byId.keyOf(kind, id);
  const seal = (id: string, value: T): Buffer => byId.seal(kind, id, value);
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
      id === undefined ? undefined : schema.safeParse(await byId.get(kind, id)).data,
    /** @returns True for exactly one caller. */
    remove: async (id: string | undefined): Promise<boolean> =>
      id !== undefined && byId.remove(kind, id),
  };
};
