/**
 * Who runs the service, and what each of them may do.
 *
 * viewer    Sees lists; numbers are shortened and texts hidden.
 * operator  Sees numbers and texts, replays and cancels.
 * admin     Also decides who the others are.
 *
 * Each role includes the ones before it.
 */
import type { Configuration } from '../configuration/schema.ts';

/** What this room needs to be told. */
export type OperatorSettings = Pick<Configuration['operations'], 'users' | 'sessions' | 'logins'>;

export const roles = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

/** How operators prove who they are. `cli` is the command line at Redis, which proves nothing more. */
export const ways = ['password', 'oidc', 'link', 'token', 'cli'] as const;

export interface Operator {
  readonly name: string;
  readonly role: Role;
  readonly via: (typeof ways)[number];
  /** Id of the token, for what is done with one. */
  readonly token?: string | undefined;
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
