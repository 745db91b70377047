/**
 * Apps that run in a browser without a server of their own push from there: they are public clients, and their pages may read
 * the answer if they come from where a public client of the tenant may be answered.
 *
 * Who asks beforehand (preflight) does not say for which client or tenant, so there any tenant's apps count; nothing is
 * decided by it.
 *
 * Source: the Fetch standard, section 3.3; RFC 9700 section 2.6.
 */
import type { OauthClient } from '../../registry/oauth-client.ts';
import type { Tenant } from '../tenant.ts';

/** Addresses of other schemes all have the origin `null`, which strangers have as well. */
const originOf = (uri: string): string | undefined =>
  /^https?:/.test(uri) && URL.canParse(uri) ? new URL(uri).origin : undefined;

/** Of answers of all endpoints, the library's too. */
export const mayRead = (origin: string, client: OauthClient): boolean =>
  client.authentication === 'none' && client.redirectUris.some((uri) => originOf(uri) === origin);

const exposed = 'WWW-Authenticate, Retry-After';
const preflightSeconds = '3600';

const grant = (origin: string): Record<string, string> => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': exposed,
});

/** @param client When it is known who asks; otherwise any client of the tenant may be meant. */
export const crossOriginHeaders = (
  origin: string | undefined,
  tenant: Tenant,
  client: OauthClient | undefined,
): Record<string, string> => {
  if (origin === undefined) return {};
  const meant = client === undefined ? [...tenant.clients.values()] : [client];
  return meant.some((each) => mayRead(origin, each)) ? grant(origin) : {};
};

export const preflightHeaders = (
  origin: string | undefined,
  requestedHeaders: string | undefined,
  tenants: readonly Tenant[],
): Record<string, string> => {
  const vary = { vary: 'Origin, Access-Control-Request-Headers' };
  const granted = tenants
    .map((tenant) => crossOriginHeaders(origin, tenant, undefined))
    .find((headers) => 'access-control-allow-origin' in headers);
  if (granted === undefined) return vary;
  return {
    ...vary,
    'access-control-allow-origin': granted['access-control-allow-origin'] ?? '',
    'access-control-allow-methods': 'POST',
    'access-control-max-age': preflightSeconds,
    ...(requestedHeaders !== undefined && { 'access-control-allow-headers': requestedHeaders }),
  };
};
