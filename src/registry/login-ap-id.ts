import type { RegisteredProvider } from './application-providers.ts';
import type { OauthTenant } from './oauth-client.ts';
import { decoyPassword } from './passwords.ts';

/**
 * The AP_ID of a login. Logins are transactions like any other, each tenant's under an application provider of its own that
 * exists only inside: by it they are told apart, in the queue and in whatever reads it.
 */
const beginning = 'urn:paraph:oidc:';

/** The AP_ID under which a tenant's logins are in the queue. */
export const loginApId = (tenantId: string): string => `${beginning}${tenantId}`;

/** Whether a transaction is a login; also of a tenant that is configured no longer. */
export const isLogin = (apId: string): boolean => apId.startsWith(beginning);

/**
 * The application providers of the logins. Workers know them; over HTTP nobody can be them, because no AP_PWD fits theirs.
 */
export const internalProviders = (tenants: readonly OauthTenant[]): readonly RegisteredProvider[] =>
  tenants.map(({ id }) => ({ id: loginApId(id), passwordHash: decoyPassword(undefined) }));
