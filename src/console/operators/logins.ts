/**
 * The ways to log in: by a link, with the phone, at the provider of the organisation.
 *
 * A refused login is recorded only if the limits allow it, so that strangers cannot fill the log.
 */
import type { Source } from '../../registry/rate-limiter.ts';
import { type Audit, doneBy } from './audit.ts';
import type { LinkOwner, Links } from './links.ts';
import type { LoginLimits } from './login-limits.ts';
import { localName, nobodyName, type Operator } from './operator.ts';
import { type ProviderPerson, readProviderPerson } from './provider-people.ts';
import type { Session, Sessions } from './sessions.ts';
import type { OperatorSettings } from './settings.ts';
import { isGoodSubject, type Users } from './users.ts';

/**
 * in        The cookie's value and its session.
 * refused   There is no such user, or the link has ended. The two look the same to the caller.
 * too-many  Too many tries from this address.
 */
export type LoginResult =
  | { readonly kind: 'in'; readonly cookie: string; readonly session: Session }
  | { readonly kind: 'refused' }
  | { readonly kind: 'too-many' };

export const createLogins = ({
  users,
  links,
  sessions,
  limits,
  audit,
  versionOf,
  openidProvider,
}: {
  readonly users: Pick<Users, 'find' | 'findBySubject'>;
  readonly links: Pick<Links, 'redeem'>;
  readonly sessions: Pick<Sessions, 'begin'>;
  readonly limits: LoginLimits;
  readonly audit: Audit;
  readonly openidProvider: OperatorSettings['openidProvider'];
  readonly versionOf: (name: string) => Promise<string | undefined>;
}) => {
  const refused = async (
    via: Operator['via'],
    target?: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<LoginResult> => {
    const details = { via, ...more };
    await audit.record({ who: nobodyName, via: 'none', action: 'login-failed', target, details });
    return { kind: 'refused' };
  };

  const logIn = async (
    operator: Operator,
    version: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<LoginResult> => {
    const details = { role: operator.role, ...more };
    await audit.record({ ...doneBy(operator), action: 'login', details });
    return { kind: 'in', ...(await sessions.begin(operator, version)) };
  };

  /** The operator that a link logs in; undefined when its owner has changed since. */
  const operatorOf = async ({ name, version }: LinkOwner): Promise<Operator | undefined> => {
    if ((await versionOf(name)) !== version) return undefined;
    const role = name === localName ? 'admin' : (await users.find(name))?.role;
    return role && { name, role, via: 'link' };
  };

  return {
    /**
     * Logs in the user to whom the link belongs. A link of `local` logs in an admin.
     *
     * @throws When Redis is unreachable, like the other logins.
     */
    logInByLink: async (secret: string, address: Source): Promise<LoginResult> => {
      // Links cannot be guessed, so a good one works however many bad ones come from that address.
      const owner = await links.redeem(secret);
      const operator = owner && (await operatorOf(owner));
      if (owner !== undefined && operator !== undefined) return logIn(operator, owner.version);
      return (await limits.tryFrom(address, 'link')) ? refused('link') : { kind: 'too-many' };
    },

    /**
     * Logs in a person whom the provider of the organisation has just authenticated.
     *
     * @param claims The claims of a validated ID token.
     * @returns The login, or the reason of its refusal, for the page.
     */
    logInByProvider: async (
      claims: Readonly<Record<string, unknown>> & { readonly sub: string },
    ): Promise<LoginResult | Exclude<ProviderPerson, { kind: 'person' }>> => {
      if (openidProvider === undefined) throw new Error('No OpenID provider is configured');
      const person = readProviderPerson(openidProvider, claims);
      const { subject } = person;
      const version = await versionOf(person.kind === 'no-name' ? '' : person.name);
      if (person.kind !== 'person' || version === undefined) {
        const target = person.kind === 'no-name' ? undefined : person.name;
        await refused('provider', target, { subject, outcome: person.kind });
        return person.kind === 'person' ? { kind: 'refused' } : person;
      }
      const { name, role } = person;
      return logIn({ name, role, via: 'provider' }, version, { subject });
    },

    /**
     * Logs in a user whom our own provider has just authenticated. The limits apply to the pending
     * login.
     *
     * @param subject The claim `sub` of a validated ID token.
     */
    logInByOidc: async (subject: string): Promise<LoginResult> => {
      const user = await users.findBySubject(subject);
      // The subject reveals nothing to others, and an admin can compare it with the expected one.
      if (user === undefined)
        return refused('oidc', undefined, isGoodSubject(subject) ? { subject } : {});
      return logIn({ name: user.name, role: user.role, via: 'oidc' }, user.version);
    },
  };
};
