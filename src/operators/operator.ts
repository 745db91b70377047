/**
 * Who runs the service, and what each of them may do.
 *
 * viewer    Sees lists; numbers are shortened and texts hidden.
 * operator  Sees numbers and texts, replays and cancels.
 * admin     Also decides who the others are.
 *
 * Each role includes the ones before it.
 */
export const roles = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

export interface Operator {
  readonly name: string;
  readonly role: Role;
  /** How they proved it. */
  readonly via: 'password' | 'oidc' | 'link' | 'cli';
}

export const includesRole = (role: Role, needed: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(needed);

/** Whoever uses a login link: they hold the terminal that printed it. */
export const localName = 'local';
/** Replays that nobody asked for one by one. */
export const automaticName = 'automatic';
/** In the audit log, for somebody whose name is not known. */
export const nobodyName = 'nobody';

const reserved: readonly string[] = [localName, automaticName, nobodyName];

/** Lower case only, so that no two names look the same. */
export const isOperatorName = (name: string): boolean =>
  /^[a-z0-9][a-z0-9._@-]{0,63}$/.test(name) && !reserved.includes(name);
