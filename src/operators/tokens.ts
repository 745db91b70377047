/**
 * Bearer tokens, for the command line and for programs.
 *
 * A token acts for its user, with the user's role of that time; whatever changes the user ends its tokens. It is shown once, and
 * Redis has only its HMAC.
 *
 * Key: hash `<prefix>:operators:tokens`, id -> sealed record.
 */
import { z } from 'zod';
import type { RedisClient } from '../redis/connect.ts';
import type { Operator } from './operator.ts';
import { isHandle, type Sealed } from './sealed.ts';
import type { Users } from './users.ts';

export interface TokenView {
  /** Names it for `revoke`; cannot be used in its place. */
  readonly id: string;
  readonly name: string;
  readonly label: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface Tokens {
  /** @returns Undefined for an unknown user. @param days More than 0, at most 366. */
  issue(
    name: string,
    label: string,
    days: number,
  ): Promise<{ readonly token: string; readonly view: TokenView } | undefined>;
  list(): Promise<readonly TokenView[]>;
  revoke(id: string): Promise<'revoked' | 'unknown'>;
  /** Whose token it is, now. @param token As issued. */
  verify(token: string): Promise<Operator | undefined>;
}

const storedSchema = z.object({
  name: z.string(),
  version: z.string(),
  label: z.string(),
  createdAt: z.number(),
  expiresAt: z.number(),
});

/** In front of the random part, so that tools that look for leaked secrets know one. */
const prefixOfTokens = 'paraph_';
const dayMs = 86_400_000;
const mostDays = 366;

export const createTokens = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly sealed: Sealed;
  readonly users: Pick<Users, 'find'>;
  readonly now: () => number;
}): Tokens => {
  const { redis, sealed, users, now } = options;
  const key = `${options.prefix}:operators:tokens`;
  const placeOf = (id: string): string => `token ${id}`;
  const read = (id: string, text: string | null) =>
    storedSchema.safeParse(sealed.open(placeOf(id), text)).data;

  const list = async (): Promise<readonly TokenView[]> => {
    const time = now();
    const views: TokenView[] = [];
    const over: string[] = [];
    for (const [id, text] of Object.entries(await redis.hgetall(key))) {
      const stored = read(id, text);
      if (stored === undefined || stored.expiresAt <= time) {
        over.push(id);
        continue;
      }
      const { name, label, createdAt, expiresAt } = stored;
      views.push({ id, name, label, createdAt, expiresAt });
    }
    if (over.length > 0) await redis.hdel(key, ...over);
    return views.sort((a, b) => a.createdAt - b.createdAt);
  };

  return {
    list,

    issue: async (name, label, days) => {
      const user = await users.find(name);
      if (user === undefined) return undefined;
      if (!(days > 0 && days <= mostDays)) throw new RangeError(`days must be at most ${mostDays}`);
      // Those that have expired go when new ones come.
      await list();
      const handle = sealed.newHandle();
      const id = sealed.hashOf('token', handle);
      const createdAt = now();
      const view: TokenView = {
        id,
        name,
        label: label.slice(0, 100),
        createdAt,
        expiresAt: createdAt + Math.round(days * dayMs),
      };
      const { id: _, ...rest } = view;
      await redis.hset(key, id, sealed.seal(placeOf(id), { ...rest, version: user.version }));
      return { token: `${prefixOfTokens}${handle}`, view };
    },

    revoke: async (id) => ((await redis.hdel(key, id)) === 1 ? 'revoked' : 'unknown'),

    verify: async (token) => {
      const handle = token.startsWith(prefixOfTokens) ? token.slice(prefixOfTokens.length) : '';
      if (!isHandle(handle)) return undefined;
      const id = sealed.hashOf('token', handle);
      const stored = read(id, await redis.hget(key, id));
      if (stored === undefined || stored.expiresAt <= now()) return undefined;
      const user = await users.find(stored.name);
      if (user === undefined || user.version !== stored.version) return undefined;
      return { name: user.name, role: user.role, via: 'cli' };
    },
  };
};
