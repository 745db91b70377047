/**
 * Sessions of the console.
 *
 * A session is found by the HMAC of its handle. It ends when nobody has used it for a while, at its absolute end, at logout,
 * and when its user is no longer what it was at login. Use is noted at most once a minute, and only in a session that
 * still is: a note that crosses a logout does not bring it back.
 *
 * The token against forged requests is an HMAC of the session, so it needs no room and ends with it.
 */
import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { RedisClient } from '../redis/connect.ts';
import { type Operator, type OperatorSettings, roles, ways } from './operator.ts';
import { createSealedRecords, type Sealed } from './sealed.ts';

export interface Session {
  /** Of no use as a cookie. */
  readonly id: string;
  readonly operator: Operator;
}

export interface Sessions {
  /** @param version Of the user. */
  begin(operator: Operator, version: string): Promise<{ readonly cookie: string; readonly session: Session }>;
  /** Counts as use. */
  find(cookie: string | undefined): Promise<Session | undefined>;
  /** Whether a session still is. Does not count as use. */
  isOn(id: string): Promise<boolean>;
  end(session: Session): Promise<void>;
  csrfTokenOf(session: Session): string;
  checkCsrf(session: Session, token: string | undefined): boolean;
}

const storedSchema = z.object({
  name: z.string(),
  role: z.enum(roles),
  via: z.enum(ways),
  version: z.string(),
  createdAt: z.number(),
  lastSeenAt: z.number(),
});
type Stored = z.infer<typeof storedSchema>;

const noteEveryMs = 60_000;

export const createSessions = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly sealed: Sealed;
  readonly now: () => number;
  readonly settings: OperatorSettings['sessions'];
  /** Whether whoever has that name still is what it was at that version. */
  readonly isCurrent: (name: string, version: string) => Promise<boolean>;
}): Sessions => {
  const { redis, sealed, now, isCurrent } = options;
  const idleMs = Math.ceil(options.settings.idleSeconds * 1000);
  const absoluteMs = options.settings.absoluteSeconds * 1000;
  const noteAfterMs = Math.min(noteEveryMs, idleMs / 10);

  const records = createSealedRecords(options, 'session', storedSchema);

  const sessionOf = (id: string, { name, role, via }: Stored): Session => ({
    id,
    operator: { name, role, via },
  });

  const csrfTokenOf = ({ id }: Session): string => sealed.hashOf('csrf', id);

  const look = async (id: string): Promise<Stored | undefined> => {
    const stored = await records.get(id);
    if (stored === undefined) return undefined;
    const { name, version, createdAt, lastSeenAt } = stored;
    const time = now();
    const isOver = time >= lastSeenAt + idleMs || time >= createdAt + absoluteMs;
    if (!isOver && (await isCurrent(name, version))) return stored;
    await records.remove(id);
    return undefined;
  };

  return {
    csrfTokenOf,

    begin: async ({ name, role, via }, version) => {
      const time = now();
      const stored: Stored = { name, role, via, version, createdAt: time, lastSeenAt: time };
      const { handle: cookie, id } = await records.add(stored, idleMs);
      return { cookie, session: sessionOf(id, stored) };
    },

    find: async (cookie) => {
      const id = records.idOf(cookie);
      const stored = id === undefined ? undefined : await look(id);
      if (id === undefined || stored === undefined) return undefined;
      const time = now();
      if (time >= stored.lastSeenAt + noteAfterMs) {
        const noted = records.seal(id, { ...stored, lastSeenAt: time });
        await redis.set(records.keyOf(id), noted, 'PX', idleMs, 'XX');
      }
      return sessionOf(id, stored);
    },

    isOn: async (id) => (await look(id)) !== undefined,

    end: async ({ id }) => {
      await records.remove(id);
    },

    checkCsrf: (session, token) => {
      const given = Buffer.from(token ?? '');
      const right = Buffer.from(csrfTokenOf(session));
      return given.length === right.length && timingSafeEqual(given, right);
    },
  };
};
