/**
 * Who may use the console, the admin API and the command line's remote half: logins, sessions, tokens, users.
 *
 * Whatever changes something is in the audit log before it is done. A refused login is recorded after the limits have let it
 * through, and with a name only when there is such a user: people type passwords where names belong, and nobody outside may
 * fill the log.
 *
 * For a name that does not exist a password is compared with a decoy, so that the time does not tell who there is.
 */
import type { RedisClient } from '../redis/connect.ts';
import type { PasswordVerifier } from '../registry/password-verifier.ts';
import { decoyPassword } from '../registry/passwords.ts';
import type { RateLimiter } from '../registry/rate-limiter.ts';
import type { Audit, AuditAction } from './audit.ts';
import { createLinks } from './links.ts';
import { localName, nobodyName, type Operator, type Role } from './operator.ts';
import { createSealed } from './sealed.ts';
import { createSessions, type Session } from './sessions.ts';
import type { OperatorSettings } from './settings.ts';
import { createTokens, type TokenView } from './tokens.ts';
import {
  type AddResult,
  type ChangeResult,
  createUsers,
  isGoodPassword,
  type NewUser,
  type User,
} from './users.ts';

/**
 * in        The cookie's value and the session behind it.
 * refused   Unknown user, wrong password, a link that is over: not told apart.
 * too-many  Too many tries for this name or from this address: later.
 * busy      Too many passwords are being tried at the moment: again.
 */
export type LoginResult =
  | { readonly kind: 'in'; readonly cookie: string; readonly session: Session }
  | { readonly kind: 'refused' }
  | { readonly kind: 'too-many' }
  | { readonly kind: 'busy' };

export interface Operators {
  /** @param address Of the caller, for the limits. @throws When Redis is unreachable, as all of these do. */
  logInByPassword(login: {
    readonly name: string;
    readonly password: string;
    readonly address: string;
  }): Promise<LoginResult>;
  /** For the link's session, an admin called `local`. */
  logInByLink(secret: string, address: string): Promise<LoginResult>;
  /** For somebody whom the provider has just authenticated. @param subject `sub` of the default issuer. */
  logInByOidc(subject: string): Promise<LoginResult>;
  /** @returns What goes into the link: see links.ts. */
  issueLink(): Promise<{ readonly secret: string; readonly expiresAt: number }>;
  /** @param cookie Its value. Undefined when there is no such session, or no longer. */
  sessionOf(cookie: string | undefined): Promise<Session | undefined>;
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
  };
  readonly tokens: {
    /** @returns The token, which is not to be had again; undefined for an unknown user. */
    issue(
      by: Operator,
      token: { readonly name: string; readonly label: string; readonly days: number },
    ): Promise<{ readonly token: string; readonly view: TokenView } | undefined>;
    list(): Promise<readonly TokenView[]>;
    revoke(by: Operator, id: string): Promise<'revoked' | 'unknown'>;
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
}

export const createOperators = (options: OperatorsOptions): Operators => {
  const { redis, prefix, masterKey, now, settings, limiter, passwords, audit } = options;
  const sealed = createSealed(masterKey);
  const common = { redis, prefix, sealed, now };
  const users = createUsers({ ...common, configured: settings.users });
  const sessions = createSessions({ ...common, settings: settings.sessions });
  const links = createLinks(common);
  const tokens = createTokens({ ...common, users });
  const decoy = decoyPassword(settings.users.find(({ passwordHash }) => passwordHash)?.passwordHash);

  const mayTryFrom = (address: string): Promise<boolean> =>
    limiter.take(`operators:address:${sealed.hashOf('address', address)}`, settings.logins.perAddress);
  const mayTryName = (name: string): Promise<boolean> =>
    limiter.take(`operators:name:${sealed.hashOf('name', name)}`, settings.logins.perName);

  const refused = async (via: Operator['via'], target?: string): Promise<LoginResult> => {
    await audit.record({ who: nobodyName, via: 'none', action: 'login-failed', target, details: { via } });
    return { kind: 'refused' };
  };

  const logIn = async (operator: Operator, version: string | undefined): Promise<LoginResult> => {
    const { name, via, role } = operator;
    await audit.record({ who: name, via, action: 'login', details: { role } });
    return { kind: 'in', ...(await sessions.begin(operator, version)) };
  };

  const isCurrent = async ({ name, via }: Operator, version: string | undefined): Promise<boolean> =>
    via === 'link' || (await users.find(name))?.version === version;

  const noted = async <T>(
    by: Operator,
    action: AuditAction,
    target: string,
    details: Readonly<Record<string, string | number>>,
    act: () => Promise<T>,
    isDone: (result: T) => boolean,
  ): Promise<T> => {
    const entry = { who: by.name, via: by.via, action, target };
    await audit.record({ ...entry, details });
    const result = await act();
    if (!isDone(result)) await audit.record({ ...entry, details: { outcome: 'not-done' } });
    return result;
  };
  const isChanged = (result: string): boolean => result === 'changed';

  return {
    logInByPassword: async ({ name, password, address }) => {
      if (!(await mayTryFrom(address)) || !(await mayTryName(name))) return { kind: 'too-many' };
      const user = await users.find(name);
      const verdict = await passwords.verify(user?.passwordHash ?? decoy, password);
      if (verdict === 'busy') return { kind: 'busy' };
      if (user === undefined || verdict === 'wrong') return refused('password', user?.name);
      return logIn({ name, role: user.role, via: 'password' }, user.version);
    },

    logInByLink: async (secret, address) => {
      if (!(await mayTryFrom(address))) return { kind: 'too-many' };
      if (!(await links.redeem(secret))) return refused('link');
      return logIn({ name: localName, role: 'admin', via: 'link' }, undefined);
    },

    logInByOidc: async (subject) => {
      const user = await users.findBySubject(subject);
      if (user === undefined) return refused('oidc');
      return logIn({ name: user.name, role: user.role, via: 'oidc' }, user.version);
    },

    issueLink: async () => {
      await audit.record({ who: localName, via: 'service', action: 'link-issue' });
      return links.issue();
    },

    sessionOf: (cookie) => sessions.find(cookie, isCurrent),
    csrfTokenOf: sessions.csrfTokenOf,
    checkCsrf: sessions.checkCsrf,

    logOut: async (session) => {
      const { name, via } = session.operator;
      await audit.record({ who: name, via, action: 'logout' });
      await sessions.end(session);
    },

    users: {
      list: users.list,
      find: users.find,
      add: async (by, user) => {
        const objection = users.objectionTo(user);
        if (objection !== undefined) return objection;
        const { name, role } = user;
        return noted(
          by,
          'user-add',
          name,
          { role },
          () => users.add(user),
          (result) => result === 'added',
        );
      },
      remove: (by, name) => noted(by, 'user-remove', name, {}, () => users.remove(name), isChanged),
      setRole: (by, name, role) =>
        noted(by, 'user-role', name, { role }, () => users.setRole(name, role), isChanged),
      setPassword: async (by, name, password) =>
        isGoodPassword(password)
          ? noted(by, 'user-password', name, {}, () => users.setPassword(name, password), isChanged)
          : 'bad-password',
    },

    tokens: {
      list: tokens.list,
      verify: tokens.verify,
      issue: (by, { name, label, days }) =>
        noted(
          by,
          'token-issue',
          name,
          { days },
          () => tokens.issue(name, label, days),
          (result) => result !== undefined,
        ),
      revoke: (by, id) =>
        noted(
          by,
          'token-revoke',
          id,
          {},
          () => tokens.revoke(id),
          (result) => result === 'revoked',
        ),
    },
  };
};
