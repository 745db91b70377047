/**
 * Who may use the console, the admin API and the command line's remote half: logins, sessions, tokens, users.
 *
 * Whatever changes something is in the audit log before it is done.
 */
import type { RedisClient } from '../redis/connect.ts';
import type { PasswordVerifier } from '../registry/password-verifier.ts';
import type { ScryptCost } from '../registry/passwords.ts';
import type { RateLimiter, Source } from '../registry/rate-limiter.ts';
import { type Audit, doneBy } from './audit.ts';
import { type BegunLogins, createBegunLogins } from './begun-logins.ts';
import { createLinks, type IssuedLink } from './links.ts';
import { createLoginLimits } from './login-limits.ts';
import { createLogins, type Logins } from './logins.ts';
import { localName, type Operator, type OperatorSettings } from './operator.ts';
import { createSealed } from './sealed.ts';
import { createSessions, type Session, type Sessions } from './sessions.ts';
import { createTokens, type Tokens } from './tokens.ts';
import { createUsers, type Users } from './users.ts';

export interface Operators extends Logins, Pick<Sessions, 'csrfTokenOf' | 'checkCsrf'> {
  /** Logins with the phone that are on their way. */
  readonly begunLogins: BegunLogins & {
    /** Asked before a login begins, and counted with the other tries of this address. */
    mayBegin(address: Source): Promise<boolean>;
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
  logOut(session: Session): Promise<void>;
  readonly users: Users;
  readonly tokens: Tokens;
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

export const createOperators = (options: OperatorsOptions): Operators => {
  const { settings, limiter, audit } = options;
  const sealed = createSealed(options.masterKey);
  const common = { ...options, sealed };
  const users = createUsers({ ...common, configured: settings.users });
  const links = createLinks(common);
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
    ...common,
    users,
    links,
    sessions,
    limits,
    versionOf,
    likeHash: settings.users.find(({ passwordHash }) => passwordHash !== undefined)?.passwordHash,
  });

  return {
    ...logins,
    users,
    tokens,
    sessionOf: sessions.find,
    csrfTokenOf: sessions.csrfTokenOf,
    checkCsrf: sessions.checkCsrf,

    begunLogins: {
      ...createBegunLogins(common),
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

    isStillIn: async ({ id, operator: { token } }) =>
      token === undefined ? sessions.isOn(id) : (await tokens.find(token)) !== undefined,

    logOut: async (session) => {
      await audit.record({ ...doneBy(session.operator), action: 'logout' });
      await sessions.end(session);
    },
  };
};
