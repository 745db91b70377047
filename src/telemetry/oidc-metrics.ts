/**
 * The OpenID provider, as its audit events tell of it. A grant type or an error that a caller made up is `other`.
 */
import { Counter, type Registry } from 'prom-client';
import type { OauthEntry, OauthEvent, OauthLog } from '../oauth/log.ts';
import { createLabel } from './labels.ts';
import { prefix } from './registry.ts';
import type { Troubles } from './troubles.ts';

const grantLabel = createLabel([
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'urn:openid:params:grant-type:ciba',
]);

export const createOidcMetrics = (
  registry: Registry,
  troubles: Troubles,
): ((inner: OauthLog) => OauthLog) => {
  const pushes = new Counter({
    name: `${prefix}oidc_requests_total`,
    help: 'Login requests by result: pushed (kept for the browser), or refused at any of the doors.',
    labelNames: ['result'] as const,
    registers: [registry],
  });
  const logins = new Counter({
    name: `${prefix}oidc_logins_total`,
    help: 'Logins by what became of them: begun, signed, failed (with the fault, if a fault ended them), cancelled, limited.',
    labelNames: ['result', 'fault'] as const,
    registers: [registry],
  });
  const tokens = new Counter({
    name: `${prefix}oidc_tokens_total`,
    help: 'Answers with tokens, by grant type.',
    labelNames: ['grant_type'] as const,
    registers: [registry],
  });
  const refusals = new Counter({
    name: `${prefix}oidc_refusals_total`,
    help: 'Refused clients and token requests.',
    labelNames: ['what'] as const,
    registers: [registry],
  });

  const ended = ({ error, code, fault }: OauthEntry): void => {
    if (fault !== undefined) logins.inc({ result: 'failed', fault });
    else logins.inc({ result: error === undefined && code === undefined ? 'signed' : 'failed' });
  };
  /** What else is audited is of no use as a number. */
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
  return (inner) => ({
    audit: (entry) => {
      counters[entry.event]?.(entry);
      inner.audit(entry);
    },
    trouble: troubles.counting('oidc', inner.trouble),
  });
};
