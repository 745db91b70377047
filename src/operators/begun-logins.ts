/**
 * Logins with the phone that a browser has begun, until it comes back from the provider.
 *
 * A login belongs to the browser that has its cookie, and is taken out once: of several who come back with the same answer, one
 * goes on. Redis knows the cookie by its HMAC only, and what is remembered is encrypted (sealed.ts).
 */
import { z } from 'zod';
import type { RedisClient } from '../redis/connect.ts';
import { isHandle, type Sealed } from './sealed.ts';

const begunSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  begunAt: z.number(),
  next: z.string(),
});

/** What proves that an answer is the one to this login, and where it leads. */
export type BegunLogin = Readonly<z.infer<typeof begunSchema>>;

export interface BegunLogins {
  /** @returns The cookie's value. */
  remember(login: BegunLogin): Promise<string>;
  /** Undefined when there is no such login, or no longer. */
  find(cookie: string | undefined): Promise<BegunLogin | undefined>;
  /** @returns True for one of any number of callers. */
  take(cookie: string | undefined): Promise<boolean>;
}

/** As long as the provider usually gives a browser, and as much again. */
export const begunLoginSeconds = 1800;

export const createBegunLogins = ({
  redis,
  prefix,
  sealed,
  now,
}: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly sealed: Sealed;
  readonly now: () => number;
}): BegunLogins => {
  const idOf = (cookie: string): string => sealed.hashOf('login', cookie);
  const keyOf = (id: string): string => `${prefix}:operators:login:${id}`;
  const placeOf = (id: string): string => `login ${id}`;
  return {
    remember: async (login) => {
      const cookie = sealed.newHandle();
      const id = idOf(cookie);
      await redis.set(keyOf(id), sealed.seal(placeOf(id), login), 'EX', begunLoginSeconds);
      return cookie;
    },
    find: async (cookie) => {
      if (cookie === undefined || !isHandle(cookie)) return undefined;
      const id = idOf(cookie);
      const found = begunSchema.safeParse(sealed.open(placeOf(id), await redis.get(keyOf(id)))).data;
      return found !== undefined && now() < found.begunAt + begunLoginSeconds * 1000 ? found : undefined;
    },
    take: async (cookie) =>
      cookie !== undefined && isHandle(cookie) && (await redis.del(keyOf(idOf(cookie)))) === 1,
  };
};
