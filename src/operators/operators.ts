/**
 * Who may use the console, the admin API and the command line's remote half: logins, sessions, tokens, users.
 *
 * Whatever changes something is in the audit log before it is done.
 */
import type { RedisClient } from '../redis/connect.ts';
import type { PasswordVerifier } from '../registry/password-verifier.ts';
import type { ScryptCost } from '../registry/passwords.ts';
import type { RateLimiter, Source } from '../registry/rate-limiter.ts';
import { type Audit, type AuditAction, doneBy } from './audit.ts';
import { type BegunLogin, createBegunLogins } from './begun-logins.ts';
import { createLinks, type IssuedLink } from './links.ts';
import { createLoginLimits } from './login-limits.ts';
import { createLogins, type Logins } from './logins.ts';
import { includesRole, isOperatorName, localName, type Operator, type Role } from './operator.ts';
import { createSealed } from './sealed.ts';
import { createSessions, type Session } from './sessions.ts';
import type { OperatorSettings } from './settings.ts';
import { createTokens, type NewToken, type TokenObjection, type TokenView } from './tokens.ts';
import {
  type AddResult,
  type ChangeResult,
  createUsers,
  isGoodPassword,
  isGoodSubject,
  type NewUser,
  type SubjectResult,
  type User,
} from './users.ts';

/**
 * by-token   A token makes no others: what follows from it would outlive it.
 * too-often  Later.
 */
export type IssuedToken =
  | { readonly token: string; readonly view: TokenView }
  | { readonly refused: TokenObjection | 'by-token' | 'too-often' };

export interface Operators extends Logins {
  /** Logins with the phone that are on their way: see begun-logins.ts. */
  readonly begunLogins: {
    /** Asked before a login begins, and counted with the other tries of this address. */
    mayBegin(address: Source): Promise<boolean>;
    /** @returns The cookie's value. */
    remember(login: BegunLogin): Promise<string>;
    find(cookie: string | undefined): Promise<BegunLogin | undefined>;
    /** @returns True for one of any number of callers. */
    take(cookie: string | undefined): Promise<boolean>;
  };
  /** For `local`, an admin who is no user. */
  issueLink(): Promise<IssuedLink>;
  /** @returns Undefined for an unknown user. */
  issueLinkFor(by: Operator, name: string): Promise<IssuedLink | undefined>;
  /** Ends all sessions and links of `local`. */
  endLocal(by: Operator): Promise<void>;
  /** @param cookie Its value. Undefined when there is no such session, or no longer. */
  sessionOf(cookie: string | undefined): Promise<Session | undefined>;
  /** Whether the session or the token that somebody came with still is; for what is answered over a long time. Counts as no use. */
  isStillIn(asker: Pick<Session, 'id' | 'operator'>): Promise<boolean>;
  /** For forms, and for the header `x-csrf-token` of the API. */
  csrfTokenOf(session: Session): string;
  checkCsrf(session: Session, token: string | undefined): boolean;
  logOut(session: Session): Promise<void>;
  readonly users: {
    list(): Promise<readonly User[]>;
    find(name: string): Promise<User | undefined>;
    add(by: Operator, user: NewUser): Promise<AddResult>;
    remove(by: Operator, name: string): Promise<ChangeResult>;
    setRole(by: Operator, name: string, role: Role): Promise<ChangeResult>;
    setPassword(by: Operator, name: string, password: string): Promise<ChangeResult | 'bad-password'>;
    /** @param oidcSubject Undefined: no login with the phone any more. */
    setSubject(by: Operator, name: string, oidcSubject: string | undefined): Promise<SubjectResult>;
  };
  readonly tokens: {
    /** @returns The token, which is not to be had again. */
    issue(by: Operator, token: NewToken): Promise<IssuedToken>;
    /** One's own; all of them for an admin. */
    list(by: Operator): Promise<readonly TokenView[]>;
    /** `unknown` also for one that is not to be seen. @param idOrToken Who has found a token has no id of it. */
    revoke(by: Operator, idOrToken: string): Promise<'revoked' | 'unknown'>;
    verify(token: string): Promise<Operator | undefined>;
  };
}

export interface OperatorsOptions {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly masterKey: Uint8Array;
  readonly now: () => number;
  readonly settings: OperatorSettings;
  readonly limiter: RateLimiter;
  readonly passwords: PasswordVerifier;
  readonly audit: Audit;
  /** Of new passwords; that of src/registry/passwords.ts where nothing is said. */
  readonly passwordCost?: ScryptCost;
}

/** For each who issues them. The command line at Redis needs no asking. */
const issuedTokens = { requests: 20, perSeconds: 600 };

export const createOperators = (options: OperatorsOptions): Operators => {
  const { redis, prefix, masterKey, now, settings, limiter, passwords, audit } = options;
  const sealed = createSealed(masterKey);
  const common = { redis, prefix, sealed, now };
  const users = createUsers({ ...common, configured: settings.users, passwordCost: options.passwordCost });
  const links = createLinks(common);
  const begunLogins = createBegunLogins(common);
  const tokens = createTokens({ ...common, users });
  const limits = createLoginLimits({ limiter, sealed, logins: settings.logins });

  const versionOf = async (name: string): Promise<string | undefined> =>
    name === localName ? links.localVersion() : (await users.find(name))?.version;
  const sessions = createSessions({
    ...common,
    settings: settings.sessions,
    isCurrent: async (name, version) => (await versionOf(name)) === version,
  });

  const logins = createLogins({
    users,
    links,
    sessions,
    limits,
    passwords,
    audit,
    sealed,
    versionOf,
    likeHash: settings.users.find(({ passwordHash }) => passwordHash !== undefined)?.passwordHash,
  });

  const noted = async <T>(
    by: Operator,
    action: AuditAction,
    target: string,
    details: Readonly<Record<string, string | number>>,
    act: () => Promise<T>,
    isDone: (result: T) => boolean,
  ): Promise<T> => {
    const entry = { ...doneBy(by), action, target };
    await audit.record({ ...entry, details });
    const result = await act();
    if (!isDone(result)) await audit.record({ ...entry, details: { outcome: 'not-done' } });
    return result;
  };
  const mayIssueToken = async ({ name, via }: Operator): Promise<boolean> =>
    via === 'cli' || limiter.take(`operators:tokens:${sealed.hashOf('name', name)}`, issuedTokens);

  /** What is no name is not written down: people paste secrets. */
  const onUser = async <T extends string>(
    by: Operator,
    action: AuditAction,
    name: string,
    details: Readonly<Record<string, string>>,
    act: () => Promise<T>,
  ): Promise<T | 'unknown'> =>
    isOperatorName(name)
      ? noted(by, action, name, details, act, (result) => result === 'changed')
      : 'unknown';

  return {
    ...logins,

    begunLogins: {
      ...begunLogins,
      mayBegin: async (address) => (await limits.tryFrom(address, 'phone')) !== undefined,
    },

    issueLink: async () => {
      await audit.record({ who: localName, via: 'service', action: 'link-issue' });
      return links.issue({ name: localName, version: await links.localVersion() });
    },

    issueLinkFor: async (by, name) => {
      const user = await users.find(name);
      if (user === undefined) return undefined;
      await audit.record({ ...doneBy(by), action: 'link-issue', target: name });
      return links.issue(user);
    },

    endLocal: async (by) => {
      await audit.record({ ...doneBy(by), action: 'link-end', target: localName });
      await links.endLocal();
    },

    sessionOf: sessions.find,
    isStillIn: async ({ id, operator: { token } }) =>
      token === undefined ? sessions.isOn(id) : (await tokens.find(token)) !== undefined,
    csrfTokenOf: sessions.csrfTokenOf,
    checkCsrf: sessions.checkCsrf,

    logOut: async (session) => {
      await audit.record({ ...doneBy(session.operator), action: 'logout' });
      await sessions.end(session);
    },

    users: {
      list: users.list,
      find: users.find,
      add: async (by, user) => {
        const objection = users.objectionTo(user);
        if (objection !== undefined) return objection;
        const { name, role, oidcSubject: subject } = user;
        return noted(
          by,
          'user-add',
          name,
          { role, ...(subject !== undefined && { subject }) },
          () => users.add(user),
          (result) => result === 'added',
        );
      },
      remove: (by, name) => onUser(by, 'user-remove', name, {}, () => users.remove(name)),
      setRole: (by, name, role) => onUser(by, 'user-role', name, { role }, () => users.setRole(name, role)),
      setPassword: async (by, name, password) =>
        isGoodPassword(password)
          ? onUser(by, 'user-password', name, {}, () => users.setPassword(name, password))
          : 'bad-password',
      setSubject: async (by, name, subject) => {
        if (subject !== undefined && !isGoodSubject(subject)) return 'bad-subject';
        const details = subject === undefined ? { phone: 'removed' } : { subject };
        return onUser(by, 'user-phone', name, details, () => users.setSubject(name, subject));
      },
    },

    tokens: {
      verify: tokens.verify,
      list: async (by) => {
        if (includesRole(by.role, 'admin')) return tokens.list(await users.list());
        const user = await users.find(by.name);
        return tokens.list(user === undefined ? [] : [user]);
      },
      issue: async (by, token) => {
        if (by.via === 'token') return { refused: 'by-token' };
        if (!(await mayIssueToken(by))) return { refused: 'too-often' };
        const objection = await tokens.objectionTo(token.name);
        if (objection !== undefined) return { refused: objection };
        const drawn = tokens.draw();
        const issued = await noted(
          by,
          'token-issue',
          token.name,
          { token: drawn.id, days: token.days },
          () => tokens.issue(drawn, token),
          (result) => typeof result !== 'string',
        );
        return typeof issued === 'string' ? { refused: issued } : { token: drawn.token, view: issued };
      },
      revoke: async (by, idOrToken) => {
        const token = await tokens.find(idOrToken);
        if (token === undefined) return 'unknown';
        if (token.name !== by.name && !includesRole(by.role, 'admin')) return 'unknown';
        return noted(
          by,
          'token-revoke',
          token.id,
          { of: token.name },
          () => tokens.revoke(token),
          (result) => result === 'revoked',
        );
      },
    },
  };
};
