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
import { type Operator, roles, ways } from './operator.ts';
import { isHandle, type Sealed } from './sealed.ts';
import type { OperatorSettings } from './settings.ts';

export interface Session {
  /** Of no use as a cookie. */
  readonly id: string;
  readonly operator: Operator;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly endsAt: number;
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
  const { redis, prefix, sealed, now, isCurrent } = options;
  const idleMs = options.settings.idleSeconds * 1000;
  const absoluteMs = options.settings.absoluteSeconds * 1000;
  const noteAfterMs = Math.min(noteEveryMs, idleMs / 10);

  const keyOf = (id: string): string => `${prefix}:operators:session:${id}`;
  const placeOf = (id: string): string => `session ${id}`;

  const sessionOf = (id: string, { name, role, via, createdAt }: Stored): Session => ({
    id,
    operator: { name, role, via },
    createdAt,
    endsAt: createdAt + absoluteMs,
  });

  const csrfTokenOf = ({ id }: Session): string => sealed.hashOf('csrf', id);

  const look = async (id: string): Promise<Stored | undefined> => {
    const stored = storedSchema.safeParse(sealed.open(placeOf(id), await redis.get(keyOf(id)))).data;
    if (stored === undefined) return undefined;
    const { name, version, createdAt, lastSeenAt } = stored;
    const time = now();
    const isOver = time >= lastSeenAt + idleMs || time >= createdAt + absoluteMs;
    if (!isOver && (await isCurrent(name, version))) return stored;
    await redis.del(keyOf(id));
    return undefined;
  };

  return {
    csrfTokenOf,

    begin: async ({ name, role, via }, version) => {
      const cookie = sealed.newHandle();
      const id = sealed.hashOf('session', cookie);
      const time = now();
      const stored: Stored = {
        name,
        role,
        via,
        version,
        createdAt: time,
        lastSeenAt: time,
      };
      await redis.set(keyOf(id), sealed.seal(placeOf(id), stored), 'PX', Math.ceil(idleMs));
      return { cookie, session: sessionOf(id, stored) };
    },

    find: async (cookie) => {
      if (cookie === undefined || !isHandle(cookie)) return undefined;
      const id = sealed.hashOf('session', cookie);
      const stored = await look(id);
      if (stored === undefined) return undefined;
      const time = now();
      if (time >= stored.lastSeenAt + noteAfterMs) {
        const noted = sealed.seal(placeOf(id), { ...stored, lastSeenAt: time });
        await redis.set(keyOf(id), noted, 'PX', Math.ceil(idleMs), 'XX');
      }
      return sessionOf(id, stored);
    },

    isOn: async (id) => (await look(id)) !== undefined,

    end: async ({ id }) => {
      await redis.del(keyOf(id));
    },

    checkCsrf: (session, token) => {
      const given = Buffer.from(token ?? '');
      const right = Buffer.from(csrfTokenOf(session));
      return given.length === right.length && timingSafeEqual(given, right);
    },
  };
};
