/**
 * Logins at an OpenID provider that a browser has started, kept until the provider sends the
 * browser back.
 *
 * A login belongs to the browser that has its cookie. It can be taken once: when the same answer
 * comes several times, one of them goes on. Redis has only the HMAC of the cookie, and the record
 * is encrypted (sealed.ts).
 */
import { z } from 'zod';
import { createSealedRecords, type SealedOptions } from './sealed.ts';

/** The providers for logins: our own with the phone, or that of the organisation. */
export const loginWays = ['phone', 'provider'] as const;
export type LoginWay = (typeof loginWays)[number];

/** The values that prove that an answer belongs to this login, and the page that follows. */
const pendingSchema = z.object({
  way: z.enum(loginWays),
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  begunAt: z.number(),
  issuerOptional: z.boolean(),
  next: z.string(),
});

/** Twice the time that the provider usually gives a browser. */
export const pendingLoginSeconds = 1800;
const lifeMs = pendingLoginSeconds * 1000;

export const createPendingLogins = (options: SealedOptions & { readonly now: () => number }) => {
  const records = createSealedRecords(options, 'login', pendingSchema);
  return {
    /** Stores a login. @returns The value of its cookie. */
    remember: async (login: z.infer<typeof pendingSchema>): Promise<string> =>
      (await records.add(login, lifeMs)).handle,
    /** Finds a login; undefined for an unknown or expired one. */
    find: async (cookie: string | undefined) => {
      const found = await records.get(records.idOf(cookie));
      return found !== undefined && options.now() < found.begunAt + lifeMs ? found : undefined;
    },
    /** Removes a login. @returns True for exactly one caller. */
    take: (cookie: string | undefined): Promise<boolean> => records.remove(records.idOf(cookie)),
  };
};
