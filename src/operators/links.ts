/**
 * Login links: what the embedded default prints, so that the person at the terminal gets in without a user being made, and what
 * somebody at Redis gives a user who cannot log in otherwise.
 *
 * Good once, for a quarter of an hour. A link is of one version of whom it lets in, like a session, so that it ends with it.
 * Redis finds it by its HMAC, and its record is sealed, so nobody can make one up there.
 *
 * `local` is no user, and its version is a count here: raised, it ends all links and sessions of `local`.
 */
import { z } from 'zod';
import type { RedisClient } from '../redis/connect.ts';
import { createSealedRecords, type Sealed } from './sealed.ts';

const storedSchema = z.object({ name: z.string(), version: z.string(), expiresAt: z.number() });

/** Whom a link lets in. */
export interface LinkOwner {
  readonly name: string;
  readonly version: string;
}

export interface IssuedLink {
  /** What goes into the link. */
  readonly secret: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface Links {
  issue(owner: LinkOwner): Promise<IssuedLink>;
  /** @returns The owner for one of any number of callers; whether it still has that version is not looked at. */
  redeem(secret: string): Promise<LinkOwner | undefined>;
  localVersion(): Promise<string>;
  endLocal(): Promise<void>;
}

const lifeMs = 15 * 60_000;

export const createLinks = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly sealed: Sealed;
  readonly now: () => number;
}): Links => {
  const { redis, prefix, now } = options;
  const endedKey = `${prefix}:operators:links-ended`;
  const records = createSealedRecords(options, 'link', storedSchema);
  return {
    issue: async ({ name, version }) => {
      const expiresAt = now() + lifeMs;
      const { handle: secret } = await records.add({ name, version, expiresAt }, lifeMs);
      return { secret, expiresAt };
    },
    redeem: async (secret) => {
      const id = records.idOf(secret);
      const stored = await records.get(id);
      return stored !== undefined && (await records.remove(id)) && now() < stored.expiresAt
        ? stored
        : undefined;
    },
    localVersion: async () => (await redis.get(endedKey)) ?? '0',
    endLocal: async () => {
      await redis.incr(endedKey);
    },
  };
};
