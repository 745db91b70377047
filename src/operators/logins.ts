/**
 * The three ways to log in: a password, a link, the phone.
 *
 * For an unknown name the password is compared with a decoy of that name, and waits in the same
 * lane as others of that name. So neither the time nor the queue tells whether the user exists.
 * There are few lanes, because anyone may try names.
 *
 * A refused login is recorded only after the limits, so that strangers cannot fill the log, and
 * with a name only when there is such a user, because people type passwords where names belong.
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
 * in        The cookie's value and its session.
 * refused   Unknown user, wrong password or ended link: not told apart.
 * too-many  Too many tries for this name or from this address.
 * busy      Too many passwords are being checked at the moment; try again.
 */
export type LoginResult =
  | { readonly kind: 'in'; readonly cookie: string; readonly session: Session }
  | { readonly kind: 'refused' }
  | { readonly kind: 'too-many' }
  | { readonly kind: 'busy' };

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
  /** A stored password; decoys take as long to check. */
  readonly likeHash: string | undefined;
}) => {
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

  /** Undefined when the owner has changed since. */
  const operatorOf = async ({ name, version }: LinkOwner): Promise<Operator | undefined> => {
    if ((await versionOf(name)) !== version) return undefined;
    const role = name === localName ? 'admin' : (await users.find(name))?.role;
    return role && { name, role, via: 'link' };
  };

  return {
    /** @throws When Redis is unreachable, like the others. */
    logInByPassword: async ({
      name,
      password,
      address,
    }: {
      readonly name: string;
      readonly password: string;
      readonly address: Source;
    }): Promise<LoginResult> => {
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

    /** Logs in the user that the link belongs to; a link of `local` makes an admin. */
    logInByLink: async (secret: string, address: Source): Promise<LoginResult> => {
      // Links cannot be guessed, so a good one works however many bad ones come from that address.
      const owner = await links.redeem(secret);
      const operator = owner && (await operatorOf(owner));
      if (owner !== undefined && operator !== undefined) return logIn(operator, owner.version);
      const allowed = await limits.tryFrom(address, 'link');
      return allowed === undefined ? { kind: 'too-many' } : refused('link');
    },

    /**
     * For a user whom the provider has just authenticated. The limits apply to the pending login.
     *
     * @param subject `sub` of a validated ID token.
     */
    logInByOidc: async (subject: string): Promise<LoginResult> => {
      const user = await users.findBySubject(subject);
      // The subject reveals nothing to others, and an admin can compare it with the expected one.
      if (user === undefined) return refused('oidc', undefined, isGoodSubject(subject) ? { subject } : {});
      return logIn({ name: user.name, role: user.role, via: 'oidc' }, user.version);
    },
  };
};
