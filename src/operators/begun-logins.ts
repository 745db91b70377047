/**
 * Logins with the phone that a browser has begun, until it comes back from the provider.
 *
 * A login belongs to the browser that has its cookie, and is taken out once: of several who come back with the same answer, one
 * goes on. Redis knows the cookie by its HMAC only, and what is remembered is encrypted (sealed.ts).
 */
import { z } from 'zod';
import type { RedisClient } from '../redis/connect.ts';
import { createSealedRecords, type Sealed } from './sealed.ts';

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
const lifeMs = begunLoginSeconds * 1000;

export const createBegunLogins = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly sealed: Sealed;
  readonly now: () => number;
}): BegunLogins => {
  const records = createSealedRecords(options, 'login', begunSchema);
  return {
    remember: async (login) => (await records.add(login, lifeMs)).handle,
    find: async (cookie) => {
      const found = await records.get(records.idOf(cookie));
      return found !== undefined && options.now() < found.begunAt + lifeMs ? found : undefined;
    },
    take: (cookie) => records.remove(records.idOf(cookie)),
  };
};
