import type { RegisteredProvider } from '../registry/application-provider.ts';
import type { OauthTenant } from '../registry/oauth-client.ts';
import { decoyPassword } from '../registry/passwords.ts';

/** The AP_ID under which a tenant's logins are in the queue. */
export const internalApId = (tenantId: string): string => `urn:paraph:oidc:${tenantId}`;

/**
 * The application providers of the logins. Workers know them; over HTTP nobody can be them, because no AP_PWD fits theirs.
 */
export const internalProviders = (tenants: readonly OauthTenant[]): readonly RegisteredProvider[] =>
  tenants.map(({ id }) => ({
    id: internalApId(id),
    passwordHash: decoyPassword(undefined),
    dtbsPrefix: undefined,
    profiles: undefined,
    services: undefined,
    rateLimit: undefined,
    clientCertificateFingerprints: undefined,
  }));
