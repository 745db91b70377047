/**
 * What the provider has to say. Audit events: who was let in, or was not, and what was handed out. Clients and transactions
 * are named; numbers, handles, codes and tokens stay out.
 */
export type OauthEvent =
  | 'request pushed'
  | 'request refused'
  | 'login begun'
  | 'login ended'
  | 'login cancelled'
  | 'login limited'
  | 'client refused'
  | 'code issued'
  | 'tokens issued'
  | 'token refused'
  | 'grant revoked'
  | 'logged out';

export interface OauthEntry {
  readonly event: OauthEvent;
  readonly tenant: string;
  /** Of a registered client only: an unknown one is the caller's own text. */
  readonly clientId?: string | undefined;
  readonly msspTransId?: string | undefined;
  /** OAuth's error code. */
  readonly error?: string | undefined;
  /** The stable code of `error-codes.ts`. */
  readonly code?: string | undefined;
  /** The same in error_description: what a caller quotes when asking. */
  readonly trace?: string | undefined;
  /** The code of the transaction's fault. */
  readonly fault?: number | undefined;
  readonly grantType?: string | undefined;
}

export interface OauthLog {
  audit(entry: OauthEntry): void;
  /** Something that should not happen: Redis away, a bug. */
  trouble(error: Error): void;
}
