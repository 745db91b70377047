/** What this room needs to be told; the configuration's `operations` fits. */
import type { RateLimit } from '../registry/rate-limiter.ts';
import type { Role } from './operator.ts';

export interface ConfiguredOperator {
  readonly name: string;
  readonly role: Role;
  /** As passwords.ts stores it. */
  readonly passwordHash?: string | undefined;
  /** `sub` of the default issuer. */
  readonly oidcSubject?: string | undefined;
}

export interface OperatorSettings {
  /** They cannot be changed while the service runs, and go before stored ones of the same name. */
  readonly users: readonly ConfiguredOperator[];
  readonly sessions: {
    /** A session that nobody uses for so long is over. */
    readonly idleSeconds: number;
    readonly absoluteSeconds: number;
  };
  readonly logins: {
    readonly perAddress: RateLimit;
    readonly perNameAndAddress: RateLimit;
    /** From all addresses. */
    readonly perName: RateLimit;
  };
}
