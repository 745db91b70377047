/**
 * Sessions of the console.
 *
 * A session is found by the HMAC of its handle. It ends after some time without use, at its
 * absolute end, at logout, and when its user changes. Use is written at most once a minute, and
 * only over a record that still exists: a write that crosses a logout does not bring the session
 * back.
 *
 * The CSRF token is an HMAC of the session. It is not stored, and ends with the session.
 */
import { z } from 'zod';
import { isEqual } from '../../../packages/pki/src/is-equal.ts';
import { type Operator, roles, ways } from './operator.ts';
import { createSealedRecords, type SealedOptions } from './sealed.ts';
import type { OperatorSettings } from './settings.ts';

export interface Session {
  /** The id of the session, which cannot be used as a cookie. */
  readonly id: string;
  readonly operator: Operator;
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

export const createSessions = (
  options: SealedOptions & {
    readonly now: () => number;
    readonly settings: OperatorSettings['sessions'];
    /** Whether the user of that name still has that version. */
    readonly isCurrent: (name: string, version: string) => Promise<boolean>;
  },
) => {
  const { redis, sealed, now, isCurrent } = options;
  const idleMs = Math.ceil(options.settings.idleSeconds * 1000);
  const absoluteMs = options.settings.absoluteSeconds * 1000;
  const noteAfterMs = Math.min(noteEveryMs, idleMs / 10);
  const records = createSealedRecords(options, 'session', storedSchema);

  const toSession = (id: string, { name, role, via }: Stored): Session => ({
    id,
    operator: { name, role, via },
  });

  const csrfTokenOf = ({ id }: Pick<Session, 'id'>): string => sealed.hashOf('csrf', id);

  const readStored = async (id: string): Promise<Stored | undefined> => {
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

    /** @param version The version of the user. */
    begin: async ({ name, role, via }: Operator, version: string) => {
      const time = now();
      const stored: Stored = { name, role, via, version, createdAt: time, lastSeenAt: time };
      const { handle: cookie, id } = await records.add(stored, idleMs);
      return { cookie, session: toSession(id, stored) };
    },

    /** Finds a session, and counts as use. @returns Undefined for an unknown or ended session. */
    find: async (cookie: string | undefined): Promise<Session | undefined> => {
      const id = records.idOf(cookie);
      const stored = id === undefined ? undefined : await readStored(id);
      if (id === undefined || stored === undefined) return undefined;
      const time = now();
      if (time >= stored.lastSeenAt + noteAfterMs) {
        const noted = records.seal(id, { ...stored, lastSeenAt: time });
        await redis.set(records.keyOf(id), noted, 'PX', idleMs, 'XX');
      }
      return toSession(id, stored);
    },

    /** Whether a session is valid. Does not count as use. */
    isOn: async (id: string): Promise<boolean> => (await readStored(id)) !== undefined,

    end: ({ id }: Session): Promise<boolean> => records.remove(id),

    checkCsrf: (session: Pick<Session, 'id'>, token: string | undefined): boolean =>
      isEqual(token ?? '', csrfTokenOf(session)),
  };
};

export type Sessions = ReturnType<typeof createSessions>;
