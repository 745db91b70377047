/**
 * Login links. The embedded default prints one, so that the person at the terminal needs no user.
 * An administrator of Redis can make one for a user who cannot log in otherwise.
 *
 * A link works once, for 15 minutes. Like a session it belongs to one version of its owner and ends
 * with it. It is found by its HMAC and the record is sealed, so none can be forged in Redis.
 *
 * `local` is not a user. Its version is a counter here: raising it ends all links and sessions of
 * `local`, and all sessions of people of an OpenID provider, who are not users either.
 *
 * A link that is made at Redis needs the address of the service, which only the service knows. The
 * API stores it when it listens, sealed, so that a forged address cannot lead the link elsewhere.
 */
import { z } from 'zod';
import { createSealedRecords, type SealedOptions } from './sealed.ts';

const storedSchema = z.object({ name: z.string(), version: z.string(), expiresAt: z.number() });

/** The user that a link logs in. */
export interface LinkOwner {
  readonly name: string;
  readonly version: string;
}

export interface IssuedLink {
  /** The secret in the URL of the link. */
  readonly secret: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

const lifeMs = 15 * 60_000;

export const linkAddress = (publicUrl: string, secret: string): string =>
  `${publicUrl}/admin/login/link?token=${secret}`;

export const createLinks = (options: SealedOptions & { readonly now: () => number }) => {
  const { redis, prefix, sealed, now } = options;
  const endedKey = `${prefix}:operators:links-ended`;
  const addressKey = `${prefix}:operators:address`;
  const records = createSealedRecords(options, 'link', storedSchema);
  return {
    issue: async ({ name, version }: LinkOwner): Promise<IssuedLink> => {
      const expiresAt = now() + lifeMs;
      const { handle: secret } = await records.add({ name, version, expiresAt }, lifeMs);
      return { secret, expiresAt };
    },
    /**
     * Uses a link up. @returns The owner, for one caller only. Does not check the owner's version.
     */
    redeem: async (secret: string): Promise<LinkOwner | undefined> => {
      const id = records.idOf(secret);
      const stored = await records.get(id);
      return stored !== undefined && (await records.remove(id)) && now() < stored.expiresAt
        ? stored
        : undefined;
    },
    localVersion: async (): Promise<string> => (await redis.get(endedKey)) ?? '0',
    endLocal: async (): Promise<void> => {
      await redis.incr(endedKey);
    },
    /** @param publicUrl The address without a slash at its end: `https://sign.example.com`. */
    noteAddress: async (publicUrl: string): Promise<void> => {
      await redis.set(addressKey, sealed.text.seal('address', publicUrl));
    },
    /** The stored address; undefined before an API has listened. */
    address: async (): Promise<string | undefined> =>
      z.string().safeParse(sealed.text.open('address', await redis.get(addressKey))).data,
  };
};

export type Links = ReturnType<typeof createLinks>;
