/**
 * Audit events of the provider. Entries name clients and transactions; numbers, handles, codes and
 * tokens stay out.
 */
import type { EventLog } from '../telemetry/logger.ts';

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
  /** The id of a registered client. An unknown id is left out: it is the caller's text. */
  readonly clientId?: string | undefined;
  readonly msspTransId?: string | undefined;
  readonly error?: string | undefined;
  /** The stable code of `error-codes.ts`. */
  readonly code?: string | undefined;
  /** A fixed text of ours: it may name a parameter, and holds nothing that the caller has sent. */
  readonly description?: string | undefined;
  /** The trace that error_description has, too; a caller quotes it to support. */
  readonly trace?: string | undefined;
  readonly fault?: number | undefined;
  readonly grantType?: string | undefined;
}

export interface OauthLog {
  audit(entry: OauthEntry): void;
  /** Logs an error that should not happen: Redis is away, or a bug. */
  trouble(error: Error): void;
}

export const createOauthLog = (log: EventLog): OauthLog => ({
  audit: ({
    event,
    tenant,
    clientId,
    msspTransId,
    error,
    code,
    description,
    trace,
    fault,
    grantType,
  }) =>
    log.info(
      {
        audit: true,
        tenant,
        clientId,
        msspTransId,
        error,
        code,
        description,
        trace,
        fault,
        grantType,
      },
      event,
    ),
  trouble: log.trouble,
});
