/**
 * The AP_ID of a login. Logins are transactions like any other, each tenant's under an application provider of its own that
 * exists only inside: by it they are told apart, in the queue and in whatever reads it.
 */
const beginning = 'urn:paraph:oidc:';

/** The AP_ID under which a tenant's logins are in the queue. */
export const loginApId = (tenantId: string): string => `${beginning}${tenantId}`;

/** Whether a transaction is a login; also of a tenant that is configured no longer. */
export const isLogin = (apId: string): boolean => apId.startsWith(beginning);
