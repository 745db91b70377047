/**
 * The people who run the service, and what each role may do. Each role includes the ones before it.
 *
 * viewer    Sees lists; numbers are shortened and texts hidden.
 * operator  Sees numbers and texts, replays and cancels.
 * admin     Also manages users.
 */
export const roles = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

/**
 * How operators prove who they are.
 *
 * oidc      With the phone, at our own OpenID provider.
 * provider  At the OpenID provider of their organisation.
 * cli       By access to Redis, which needs no other proof.
 */
export const ways = ['oidc', 'provider', 'link', 'token', 'cli'] as const;

export interface Operator {
  readonly name: string;
  readonly role: Role;
  readonly via: (typeof ways)[number];
  /** Id of the token that was used. */
  readonly token?: string | undefined;
}

export const includesRole = (role: Role, needed: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(needed);

/** Anyone who uses a login link that the terminal printed. */
export const localName = 'local';
/** In the audit log, for an unknown person. */
export const nobodyName = 'nobody';
