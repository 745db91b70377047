/**
 * Access to the console, the admin API and the remote commands: logins, sessions, tokens, users.
 *
 * Every change is written to the audit log before it is done.
 */
import type { RedisClient } from '../../redis/connect.ts';
import type { RateLimiter, Source } from '../../registry/rate-limiter.ts';
import { type Audit, doneBy } from './audit.ts';
import { createLinks } from './links.ts';
import { createLoginLimits } from './login-limits.ts';
import { createLogins } from './logins.ts';
import { localName, type Operator } from './operator.ts';
import { createPendingLogins, type LoginWay } from './pending-logins.ts';
import { isProviderName, providerVersionOf } from './provider-people.ts';
import { createSealed } from './sealed.ts';
import { createSessions, type Session } from './sessions.ts';
import type { OperatorSettings } from './settings.ts';
import { createTokens } from './tokens.ts';
import { createUsers } from './users.ts';
import { createViews } from './views.ts';

interface OperatorsOptions {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly serviceKey: Uint8Array;
  readonly now: () => number;
  readonly settings: OperatorSettings;
  readonly limiter: RateLimiter;
  readonly audit: Audit;
}

export const createOperators = (options: OperatorsOptions) => {
  const { settings, limiter, audit } = options;
  const sealed = createSealed(options.serviceKey);
  const common = { ...options, sealed };
  const views = createViews(common);
  const users = createUsers({
    ...common,
    configured: settings.users,
    views,
    keepsProviderNames: settings.openidProvider !== undefined,
  });
  const links = createLinks(common);
  const tokens = createTokens({ ...common, users });
  const limits = createLoginLimits({ limiter, sealed, logins: settings.logins });

  const { openidProvider } = settings;
  const providerVersion = openidProvider && providerVersionOf(openidProvider);
  const versionOf = async (name: string): Promise<string | undefined> => {
    if (name === localName) return links.localVersion();
    if (!isProviderName(name)) return (await users.find(name))?.version;
    return providerVersion && `${providerVersion} ${await links.localVersion()}`;
  };
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
    openidProvider,
  });

  return {
    ...logins,
    users,
    tokens,
    views,
    /** @param cookie Its value. @returns Undefined unless the session is valid. Counts as use. */
    sessionOf: sessions.find,
    csrfTokenOf: sessions.csrfTokenOf,
    checkCsrf: sessions.checkCsrf,

    /** Logins at an OpenID provider that are not finished. */
    pendingLogins: {
      ...createPendingLogins(common),
      /** Whether a login may start. It counts with the other attempts of this address. */
      mayBegin: (address: Source, way: LoginWay) => limits.tryFrom(address, way),
    },

    /** Issues a link for `local`, an admin without a user. */
    issueLink: async () => {
      await audit.record({ who: localName, via: 'service', action: 'link-issue' });
      return links.issue({ name: localName, version: await links.localVersion() });
    },

    /** Issues a link. @param name A user, or `local`. @returns Undefined for an unknown user. */
    issueLinkFor: async (by: Operator, name: string) => {
      // People of a provider have no stored role, so they get no links.
      const version = isProviderName(name) ? undefined : await versionOf(name);
      if (version === undefined) return undefined;
      await audit.record({ ...doneBy(by), action: 'link-issue', target: name });
      return links.issue({ name, version });
    },

    noteAddress: links.noteAddress,
    /** The address at which an API listened last. */
    address: links.address,

    /**
     * Ends all sessions that belong to no user: those of `local`, with its links, and those of
     * people of the provider.
     */
    endLocal: async (by: Operator) => {
      await audit.record({ ...doneBy(by), action: 'link-end', target: localName });
      await links.endLocal();
    },

    /** Whether the session or token of a long request is still valid. Does not count as use. */
    isStillIn: async ({ id, operator: { token } }: Pick<Session, 'id' | 'operator'>) =>
      token === undefined ? sessions.isOn(id) : (await tokens.find(token)) !== undefined,

    logOut: async (session: Session) => {
      await audit.record({ ...doneBy(session.operator), action: 'logout' });
      await sessions.end(session);
    },
  };
};

export type Operators = ReturnType<typeof createOperators>;
