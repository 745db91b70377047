/**
 * The people who run the service, and the rights of each role. A role includes those before it.
 *
 * viewer    Sees lists; numbers are shortened and texts hidden.
 * operator  Sees numbers and texts, replays and cancels.
 * admin     Also manages users.
 */
export const roles = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

/**
 * The ways in which operators prove their identity.
 *
 * oidc      By a login with the phone, at our own OpenID provider.
 * provider  By a login at the OpenID provider of their organisation.
 * link      By a login link (links.ts).
 * token     By a bearer token (tokens.ts).
 * cli       By access to Redis, which needs no other proof.
 */
export const ways = ['oidc', 'provider', 'link', 'token', 'cli'] as const;

export interface Operator {
  readonly name: string;
  readonly role: Role;
  readonly via: (typeof ways)[number];
  /** The id of the token that was used. */
  readonly token?: string | undefined;
}

export const includesRole = (role: Role, needed: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(needed);

/** The name of a person who uses the login link that the terminal has printed. */
export const localName = 'local';
/** The name of an unknown person in the audit log. */
export const nobodyName = 'nobody';
