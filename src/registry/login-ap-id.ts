import type { RegisteredProvider } from './application-providers.ts';
import type { OauthTenant } from './oauth-client.ts';
import { decoyPassword } from './passwords.ts';

/**
 * The AP_ID of logins. Logins are transactions of one internal application provider for each
 * tenant.
 */
const beginning = 'urn:paraph:oidc:';

export const loginApId = (tenantId: string): string => `${beginning}${tenantId}`;

/** Whether a transaction is a login; also of a tenant that was removed. */
export const isLogin = (apId: string): boolean => apId.startsWith(beginning);

/** The application providers of logins. Workers know them. Over HTTP no AP_PWD fits theirs. */
export const internalProviders = (tenants: readonly OauthTenant[]): readonly RegisteredProvider[] =>
  tenants.map(({ id }) => ({ id: loginApId(id), passwordHash: decoyPassword(undefined) }));
