/**
 * What is sent back. Every answer is JSON that nobody may keep: a handle is as good as the request behind it.
 */
import type { OauthClient } from '../../registry/oauth-client.ts';
import { describeError } from '../error-codes.ts';
import type { Limits } from '../limits.ts';
import type { OauthLog } from '../log.ts';
import type { Tenant } from '../tenant.ts';
import { crossOriginHeaders } from './cross-origin.ts';
import { type Refusal, type WireError, wireErrorOf } from './refusal.ts';

export interface PushAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** As far as it is known when an answer is written. */
export interface Asker {
  readonly tenant: Tenant;
  /** Whom the request comes from, or claims to. */
  readonly client?: OauthClient | undefined;
  /** The header of that name, which browsers send. */
  readonly origin: string | undefined;
  /** The caller has sent an Authorization header. */
  readonly triedBasic?: boolean;
}

const commonHeaders = {
  'content-type': 'application/json;charset=UTF-8',
  'cache-control': 'no-store',
  pragma: 'no-cache',
  vary: 'Origin',
} as const;

export const answerHeaders = ({ origin, tenant, client }: Asker): Readonly<Record<string, string>> =>
  origin === undefined ? commonHeaders : { ...commonHeaders, ...crossOriginHeaders(origin, tenant, client) };

export const createRefusalAnswers = ({
  limits,
  log,
}: {
  readonly limits: Pick<Limits, 'retryAfterSeconds'>;
  readonly log: OauthLog;
}) => {
  const headersFor = (status: WireError['status'], { tenant, triedBasic }: Asker): Record<string, string> => {
    switch (status) {
      case 401:
        return triedBasic === true ? { 'www-authenticate': `Basic realm="${tenant.issuer}"` } : {};
      case 405:
        return { allow: 'POST' };
      case 429:
        return { 'retry-after': String(limits.retryAfterSeconds) };
      default:
        return {};
    }
  };

  /** Writes the audit entry, too. */
  return (refusal: Refusal, asker: Asker): PushAnswer => {
    const { status, error, cause, text } = wireErrorOf(refusal);
    const { description, code, trace } = describeError(cause, text);
    const event = refusal.reason === 'clientRefused' ? 'client refused' : 'request refused';
    log.audit({ event, tenant: asker.tenant.id, clientId: asker.client?.id, error, code, trace });
    return {
      status,
      headers: { ...answerHeaders(asker), ...headersFor(status, asker) },
      body: { error, error_description: description },
    };
  };
};
