/**
 * Bearer tokens, for the command line and for programs.
 *
 * A token acts for its user, with the user's role of that time; whatever changes the user ends its tokens. It is shown once, and
 * Redis has only its HMAC.
 *
 * A record expires by itself. Which tokens somebody has stands in an index for this version of the user, so that nobody has to
 * look at those of others: after a change of the user the index is an empty one, and what the old one names is found by nobody.
 *
 * Keys, all in one slot of a Redis Cluster and all expiring: `{<prefix>}:operators:token:<id>`, a sealed record;
 * `{<prefix>}:operators:tokens:<HMAC of user and version>`, sorted set of ids by their expiry.
 */
import { z } from 'zod';
import type { RedisClient } from '../redis/connect.ts';
import type { RateLimiter } from '../registry/rate-limiter.ts';
import { type Audit, doneBy, noted } from './audit.ts';
import { includesRole, type Operator } from './operator.ts';
import { createSealedRecords, isHandle, type Sealed } from './sealed.ts';
import type { User, Users } from './users.ts';

const storedSchema = z.object({
  name: z.string(),
  version: z.string(),
  label: z.string(),
  /** Milliseconds since the epoch. */
  createdAt: z.number(),
  expiresAt: z.number(),
});
type Stored = z.infer<typeof storedSchema>;

export interface TokenView extends Readonly<Omit<Stored, 'version'>> {
  /** Names it for `revoke`; cannot be used in its place. */
  readonly id: string;
}

export interface NewToken {
  /** Whom it acts for. */
  readonly name: string;
  readonly label: string;
  /** More than 0, at most 366. */
  readonly days: number;
}

/**
 * unknown    There is no such user.
 * too-many   The user has as many as anybody may have.
 * by-token   A token makes no others: what follows from it would outlive it.
 * too-often  Later.
 */
export type TokenObjection = 'unknown' | 'too-many' | 'by-token' | 'too-often';

export type IssuedToken =
  | { readonly token: string; readonly view: TokenView }
  | { readonly refused: TokenObjection };

export interface Tokens {
  /**
   * @returns The token, which is not to be had again.
   * @throws RangeError For days out of bounds.
   */
  issue(by: Operator, token: NewToken): Promise<IssuedToken>;
  /** Those that are good, oldest first: one's own; all of them for an admin. */
  list(by: Operator): Promise<readonly TokenView[]>;
  /** @param idOrToken Who has found a token has no id of it. */
  find(idOrToken: string): Promise<TokenView | undefined>;
  /** `unknown` also for one that is not to be seen. */
  revoke(by: Operator, idOrToken: string): Promise<'revoked' | 'unknown'>;
  /** Whose token it is, now. @param token As issued. */
  verify(token: string): Promise<Operator | undefined>;
}

/** In front of the random part, so that tools that look for leaked secrets know one. */
const prefixOfTokens = 'paraph_';
const dayMs = 86_400_000;
const maxDays = 366;
/** Of one user, that are good at a time. */
export const mostTokens = 20;

/** For each who issues them. The command line at Redis needs no asking. */
const issuedAtMost = { requests: 20, perSeconds: 600 };

/** KEYS index, record; ARGV id, sealed, now, expiry, life in ms, how many at most, longest life in ms. */
const issueScript = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[6]) then return 0 end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[5])
redis.call('ZADD', KEYS[1], ARGV[4], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[7])
return 1`;

/** A token that nobody has yet. */
export const drawToken = (sealed: Sealed): { readonly token: string; readonly id: string } => {
  for (;;) {
    const handle = sealed.newHandle();
    const id = sealed.hashOf('token', handle);
    // On a command line that would be an option.
    if (!id.startsWith('-')) return { token: `${prefixOfTokens}${handle}`, id };
  }
};

export const createTokens = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly sealed: Sealed;
  readonly users: Pick<Users, 'find' | 'list'>;
  readonly limiter: RateLimiter;
  readonly audit: Audit;
  readonly now: () => number;
}): Tokens => {
  const { redis, sealed, users, limiter, audit, now } = options;
  const prefix = `{${options.prefix}}`;
  const records = createSealedRecords({ redis, prefix, sealed }, 'token', storedSchema);
  const indexOf = ({ name, version }: Pick<User, 'name' | 'version'>): string =>
    `${prefix}:operators:tokens:${sealed.hashOf('tokens', `${name} ${version}`)}`;

  const idOf = (idOrToken: string): string =>
    (idOrToken.startsWith(prefixOfTokens)
      ? records.idOf(idOrToken.slice(prefixOfTokens.length))
      : undefined) ?? idOrToken;

  const viewOf = (id: string, { version: _, ...stored }: Stored): TokenView => ({ id, ...stored });

  const read = async (id: string): Promise<Stored | undefined> => {
    const stored = await records.get(id);
    return stored !== undefined && now() < stored.expiresAt ? stored : undefined;
  };

  /** A token that is good, and its user. */
  const look = async (id: string): Promise<{ readonly stored: Stored; readonly user: User } | undefined> => {
    const stored = isHandle(id) ? await read(id) : undefined;
    if (stored === undefined) return undefined;
    const user = await users.find(stored.name);
    return user?.version === stored.version ? { stored, user } : undefined;
  };

  const listOf = async (user: User): Promise<readonly TokenView[]> => {
    const ids = await redis.zrange(indexOf(user), '0', '-1');
    const found = await Promise.all(ids.map(async (id) => ({ id, stored: await read(id) })));
    return found.flatMap(({ id, stored }) =>
      stored?.name === user.name && stored.version === user.version ? [viewOf(id, stored)] : [],
    );
  };

  const mayIssue = async ({ name, via }: Operator): Promise<boolean> =>
    via === 'cli' || limiter.take(`operators:tokens:${sealed.hashOf('name', name)}`, issuedAtMost);

  /** What would keep a token from being issued, as far as it can be told before. */
  const objectionTo = async (name: string): Promise<'unknown' | 'too-many' | undefined> => {
    const user = await users.find(name);
    if (user === undefined) return 'unknown';
    const good = await redis.zcount(indexOf(user), `(${String(now())}`, '+inf');
    return good >= mostTokens ? 'too-many' : undefined;
  };

  const issue = async (
    id: string,
    { name, label, days }: NewToken,
  ): Promise<TokenView | 'unknown' | 'too-many'> => {
    if (!(days > 0 && days <= maxDays)) throw new RangeError(`days must be at most ${maxDays}`);
    const user = await users.find(name);
    if (user === undefined) return 'unknown';
    const createdAt = now();
    const lifeMs = Math.round(days * dayMs);
    const stored: Stored = {
      name,
      version: user.version,
      label: label.slice(0, 100),
      createdAt,
      expiresAt: createdAt + lifeMs,
    };
    const issued = await redis.eval(
      issueScript,
      2,
      indexOf(user),
      records.keyOf(id),
      id,
      records.seal(id, stored),
      createdAt,
      stored.expiresAt,
      lifeMs,
      mostTokens,
      maxDays * dayMs,
    );
    return issued === 1 ? viewOf(id, stored) : 'too-many';
  };

  const find = async (idOrToken: string): Promise<TokenView | undefined> => {
    const id = idOf(idOrToken);
    const found = await look(id);
    return found && viewOf(id, found.stored);
  };

  const revoke = async ({ id, name }: TokenView): Promise<'revoked' | 'unknown'> => {
    const user = await users.find(name);
    if (user === undefined) return 'unknown';
    await redis.zrem(indexOf(user), id);
    return (await records.remove(id)) ? 'revoked' : 'unknown';
  };

  return {
    find,

    issue: async (by, token) => {
      if (by.via === 'token') return { refused: 'by-token' };
      if (!(await mayIssue(by))) return { refused: 'too-often' };
      const objection = await objectionTo(token.name);
      if (objection !== undefined) return { refused: objection };
      const drawn = drawToken(sealed);
      const issued = await noted(
        audit,
        {
          ...doneBy(by),
          action: 'token-issue',
          target: token.name,
          details: { token: drawn.id, days: token.days },
        },
        () => issue(drawn.id, token),
        (result) => typeof result !== 'string',
      );
      return typeof issued === 'string' ? { refused: issued } : { token: drawn.token, view: issued };
    },

    list: async (by) => {
      const user = await users.find(by.name);
      const owners = includesRole(by.role, 'admin') ? await users.list() : user === undefined ? [] : [user];
      return (await Promise.all(owners.map(listOf))).flat().sort((a, b) => a.createdAt - b.createdAt);
    },

    revoke: async (by, idOrToken) => {
      const token = await find(idOrToken);
      if (token === undefined) return 'unknown';
      if (token.name !== by.name && !includesRole(by.role, 'admin')) return 'unknown';
      return noted(
        audit,
        { ...doneBy(by), action: 'token-revoke', target: token.id, details: { of: token.name } },
        () => revoke(token),
        (result) => result === 'revoked',
      );
    },

    verify: async (token) => {
      const id = idOf(token);
      if (id === token) return undefined;
      const found = await look(id);
      return found && { name: found.user.name, role: found.user.role, via: 'token', token: id };
    },
  };
};
