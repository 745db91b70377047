/** The metrics of the OpenID provider. */
import { createLabel } from '../telemetry/labels.ts';
import { counter, type Registry } from '../telemetry/registry.ts';
import type { OauthEntry, OauthEvent, OauthLog } from './log.ts';

/**
 * The OpenID provider, from its audit events. An unknown grant type is `other`.
 *
 * @param grantTypes The grant types that parts add.
 */
export const createOidcCounter = (
  registry: Registry,
  grantTypes: readonly string[] = [],
): Pick<OauthLog, 'audit'> => {
  const grantLabel = createLabel([
    'authorization_code',
    'refresh_token',
    'client_credentials',
    ...grantTypes,
  ]);
  const pushes = counter(
    registry,
    'oidc_requests_total',
    'Login requests by result: pushed (kept for the browser) or refused.',
    ['result'],
  );
  const logins = counter(
    registry,
    'oidc_logins_total',
    'Logins by result: begun, signed, failed (with its fault, if any), cancelled, limited.',
    ['result', 'fault'],
  );
  const tokens = counter(registry, 'oidc_tokens_total', 'Answers with tokens, by grant type.', [
    'grant_type',
  ]);
  const refusals = counter(registry, 'oidc_refusals_total', 'Refused clients and token requests.', [
    'what',
  ]);
  const ended = ({ error, code, fault }: OauthEntry): void => {
    if (fault !== undefined) logins.inc({ result: 'failed', fault });
    else logins.inc({ result: error === undefined && code === undefined ? 'signed' : 'failed' });
  };
  /** Other events are not counted. */
  const counters: Partial<Record<OauthEvent, (entry: OauthEntry) => void>> = {
    'request pushed': () => pushes.inc({ result: 'pushed' }),
    'request refused': () => pushes.inc({ result: 'refused' }),
    'login begun': () => logins.inc({ result: 'begun' }),
    'login ended': ended,
    'login cancelled': () => logins.inc({ result: 'cancelled' }),
    'login limited': () => logins.inc({ result: 'limited' }),
    'tokens issued': ({ grantType }) => tokens.inc({ grant_type: grantLabel(grantType) }),
    'client refused': () => refusals.inc({ what: 'client' }),
    'token refused': () => refusals.inc({ what: 'token' }),
  };
  return { audit: (entry) => counters[entry.event]?.(entry) };
};
