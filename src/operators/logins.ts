/**
 * The three ways in: a password, a link, the phone.
 *
 * For a name that does not exist a password is compared with a decoy, one for each name, and whoever tries it waits in the lane of
 * that name: neither the time nor the queue tells who there is. There are few lanes, because anybody may try names.
 *
 * A refused login is recorded after the limits have let it through, and with a name only when there is such a user: people type
 * passwords where names belong, and nobody outside may fill the log.
 */
import type { PasswordVerifier } from '../registry/password-verifier.ts';
import { decoyPassword } from '../registry/passwords.ts';
import { originOf, type Source } from '../registry/rate-limiter.ts';
import { type Audit, doneBy } from './audit.ts';
import type { LinkOwner, Links } from './links.ts';
import type { LoginLimits } from './login-limits.ts';
import { localName, nobodyName, type Operator } from './operator.ts';
import type { Sealed } from './sealed.ts';
import type { Session, Sessions } from './sessions.ts';
import { isGoodSubject, type Users } from './users.ts';

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

export interface Logins {
  /** @param address Of the caller, for the limits. @throws When Redis is unreachable, as all of these do. */
  logInByPassword(login: {
    readonly name: string;
    readonly password: string;
    readonly address: Source;
  }): Promise<LoginResult>;
  /** For the user whose link it is; one of `local` makes an admin. */
  logInByLink(secret: string, address: Source): Promise<LoginResult>;
  /**
   * For somebody whom the provider has just authenticated, in a login of `begunLogins`: there the limits are.
   *
   * @param subject `sub` of an ID token that was validated.
   */
  logInByOidc(subject: string): Promise<LoginResult>;
}

const passwordLanes = 32;

export const createLogins = ({
  users,
  links,
  sessions,
  limits,
  passwords,
  audit,
  sealed,
  versionOf,
  likeHash,
}: {
  readonly users: Pick<Users, 'find' | 'findBySubject'>;
  readonly links: Pick<Links, 'redeem'>;
  readonly sessions: Pick<Sessions, 'begin'>;
  readonly limits: LoginLimits;
  readonly passwords: PasswordVerifier;
  readonly audit: Audit;
  readonly sealed: Sealed;
  readonly versionOf: (name: string) => Promise<string | undefined>;
  /** A stored password; decoys cost as much to refuse. */
  readonly likeHash: string | undefined;
}): Logins => {
  const verify = (
    name: string,
    stored: string | undefined,
    password: string,
    origin: string,
  ): ReturnType<PasswordVerifier['verify']> => {
    const seed = Buffer.from(sealed.hashOf('decoy', name), 'base64url');
    const lane = String((seed[0] ?? 0) % passwordLanes);
    return passwords.verify(stored ?? decoyPassword(likeHash, seed), password, lane, origin);
  };

  const refused = async (
    via: Operator['via'],
    target?: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<LoginResult> => {
    const details = { via, ...more };
    await audit.record({ who: nobodyName, via: 'none', action: 'login-failed', target, details });
    return { kind: 'refused' };
  };

  const logIn = async (operator: Operator, version: string): Promise<LoginResult> => {
    await audit.record({ ...doneBy(operator), action: 'login', details: { role: operator.role } });
    return { kind: 'in', ...(await sessions.begin(operator, version)) };
  };

  /** Undefined when the owner is no longer who it was made for. */
  const operatorOf = async ({ name, version }: LinkOwner): Promise<Operator | undefined> => {
    if ((await versionOf(name)) !== version) return undefined;
    const role = name === localName ? 'admin' : (await users.find(name))?.role;
    return role && { name, role, via: 'link' };
  };

  return {
    logInByPassword: async ({ name, password, address }) => {
      const allowed = await limits.tryName(name, address);
      if (allowed === undefined) return { kind: 'too-many' };
      const user = await users.find(name);
      const verdict = await verify(name, user?.passwordHash, password, originOf(address));
      if (verdict === 'wrong' || (verdict === 'right' && user === undefined)) {
        return refused('password', user?.name);
      }
      await allowed.giveBack();
      if (verdict === 'busy' || user === undefined) return { kind: 'busy' };
      return logIn({ name, role: user.role, via: 'password' }, user.version);
    },

    logInByLink: async (secret, address) => {
      // Nobody guesses a link, so a good one is let in however many bad ones come from there.
      const owner = await links.redeem(secret);
      const operator = owner && (await operatorOf(owner));
      if (owner !== undefined && operator !== undefined) return logIn(operator, owner.version);
      const allowed = await limits.tryFrom(address, 'link');
      return allowed === undefined ? { kind: 'too-many' } : refused('link');
    },

    logInByOidc: async (subject) => {
      const user = await users.findBySubject(subject);
      // Who it is says nothing to others, and an admin can compare it with what he was told.
      if (user === undefined) return refused('oidc', undefined, isGoodSubject(subject) ? { subject } : {});
      return logIn({ name: user.name, role: user.role, via: 'oidc' }, user.version);
    },
  };
};
