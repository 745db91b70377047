/**
 * Bearer tokens, for the command line and for programs.
 *
 * A token acts for its user, with the user's current role; any change of the user ends it. It is
 * shown once, and Redis has only its HMAC. Each user version has an index of its tokens. After a
 * change of the user the index is a new, empty one, and the tokens of the old index are no longer
 * found. Keys: docs/storage.md.
 */
import { z } from 'zod';
import type { Sealing } from '../../../packages/pki/src/sealed-json.ts';
import type { RedisClient } from '../../redis/connect.ts';
import type { RateLimiter } from '../../registry/rate-limiter.ts';
import { type Audit, doneBy, noted } from './audit.ts';
import { includesRole, type Operator } from './operator.ts';
import { createSealedRecords, isHandle } from './sealed.ts';
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
  /** The id to be passed to `revoke`. It cannot be used as a token. */
  readonly id: string;
}

export interface NewToken {
  /** The user that it acts for. */
  readonly name: string;
  readonly label: string;
  /** The validity in days: more than 0, at most 366. */
  readonly days: number;
}

/**
 * unknown    There is no such user.
 * too-many   The user has the maximum number of tokens.
 * by-token   A token cannot issue tokens: they could outlive it.
 * too-often  The operator has issued too many just now.
 */
export type TokenError = 'unknown' | 'too-many' | 'by-token' | 'too-often';

export type IssuedToken =
  | { readonly token: string; readonly view: TokenView }
  | { readonly refused: TokenError };

/** Lets tools that search for leaked secrets recognise a token. */
const prefixOfTokens = 'paraph_';
const dayMs = 86_400_000;
const maxDays = 366;
/** The most valid tokens of one user. */
export const maxTokens = 20;

/** The limit for each issuing operator. It does not apply to the command line at Redis. */
const issueLimit = { requests: 20, perSeconds: 600 };

/** KEYS index, record; ARGV id, sealed, now, expiry, life ms, maximum, longest life ms. */
const issueScript = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[6]) then return 0 end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[5])
redis.call('ZADD', KEYS[1], ARGV[4], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[7])
return 1`;

/** A new token. */
export const drawToken = (sealed: Sealing): { readonly token: string; readonly id: string } => {
  for (;;) {
    const handle = sealed.newHandle();
    const id = sealed.hashOf('token', handle);
    // An id with a leading dash would look like an option on a command line.
    if (!id.startsWith('-')) return { token: `${prefixOfTokens}${handle}`, id };
  }
};

export const createTokens = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly sealed: Sealing;
  readonly users: Pick<Users, 'find' | 'list'>;
  readonly limiter: RateLimiter;
  readonly audit: Audit;
  readonly now: () => number;
}) => {
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

  /** A valid token and its user. */
  const readValid = async (
    id: string,
  ): Promise<{ readonly stored: Stored; readonly user: User } | undefined> => {
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
    via === 'cli' || limiter.take(`operators:tokens:${sealed.hashOf('name', name)}`, issueLimit);

  /** Finds an error before a token is issued. The issue checks again, atomically. */
  const findError = async (name: string): Promise<'unknown' | 'too-many' | undefined> => {
    const user = await users.find(name);
    if (user === undefined) return 'unknown';
    const good = await redis.zcount(indexOf(user), `(${String(now())}`, '+inf');
    return good >= maxTokens ? 'too-many' : undefined;
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
      maxTokens,
      maxDays * dayMs,
    );
    return issued === 1 ? viewOf(id, stored) : 'too-many';
  };

  const find = async (idOrToken: string): Promise<TokenView | undefined> => {
    const id = idOf(idOrToken);
    const found = await readValid(id);
    return found && viewOf(id, found.stored);
  };

  const revoke = async ({ id, name }: TokenView): Promise<'revoked' | 'unknown'> => {
    const user = await users.find(name);
    if (user === undefined) return 'unknown';
    await redis.zrem(indexOf(user), id);
    return (await records.remove(id)) ? 'revoked' : 'unknown';
  };

  return {
    /** @param idOrToken The id, or the token itself, for example one that was found somewhere. */
    find,

    /**
     * @returns The token, which cannot be read again.
     * @throws RangeError For days out of bounds.
     */
    issue: async (by: Operator, token: NewToken): Promise<IssuedToken> => {
      if (by.via === 'token') return { refused: 'by-token' };
      if (!(await mayIssue(by))) return { refused: 'too-often' };
      const error = await findError(token.name);
      if (error !== undefined) return { refused: error };
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
      return typeof issued === 'string'
        ? { refused: issued }
        : { token: drawn.token, view: issued };
    },

    /** Valid tokens, oldest first: the operator's own; for an admin the tokens of all users. */
    list: async (by: Operator): Promise<readonly TokenView[]> => {
      const user = await users.find(by.name);
      const owners = includesRole(by.role, 'admin')
        ? await users.list()
        : user === undefined
          ? []
          : [user];
      return (await Promise.all(owners.map(listOf)))
        .flat()
        .sort((a, b) => a.createdAt - b.createdAt);
    },

    /** Revokes a token. A token that the operator may not see is `unknown`. */
    revoke: async (by: Operator, idOrToken: string): Promise<'revoked' | 'unknown'> => {
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

    /** Verifies an issued token. @returns The current user of a valid one; undefined otherwise. */
    verify: async (token: string): Promise<Operator | undefined> => {
      const id = idOf(token);
      if (id === token) return undefined;
      const found = await readValid(id);
      return found && { name: found.user.name, role: found.user.role, via: 'token', token: id };
    },
  };
};
