/**
 * Login links: what the embedded default prints, so that the person at the terminal gets in without a user being made.
 *
 * Good once, for a quarter of an hour. Redis has only an HMAC of it under the master key, so nobody can make one up there.
 *
 * Key: `<prefix>:operators:link:<hash>`, expiring.
 */
import type { RedisClient } from '../redis/connect.ts';
import { isHandle, type Sealed } from './sealed.ts';

export interface Links {
  /** @returns What goes into the link, and when it ends, milliseconds since the epoch. */
  issue(): Promise<{ readonly secret: string; readonly expiresAt: number }>;
  /** @returns True for one of any number of callers. */
  redeem(secret: string): Promise<boolean>;
}

const lifeMs = 15 * 60_000;

export const createLinks = ({
  redis,
  prefix,
  sealed,
  now,
}: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly sealed: Sealed;
  readonly now: () => number;
}): Links => {
  const keyOf = (secret: string): string => `${prefix}:operators:link:${sealed.hashOf('link', secret)}`;
  return {
    issue: async () => {
      const secret = sealed.newHandle();
      const expiresAt = now() + lifeMs;
      await redis.set(keyOf(secret), expiresAt, 'PX', lifeMs);
      return { secret, expiresAt };
    },
    redeem: async (secret) => {
      if (!isHandle(secret)) return false;
      const expiresAt = await redis.getdel(keyOf(secret));
      return expiresAt !== null && now() < Number(expiresAt);
    },
  };
};
