/**
 * The AP_ID of logins. Logins are transactions of one internal application provider for each
 * tenant. Callers over HTTP must not use it, not even in a sandbox (application-providers.ts).
 */
const beginning = 'urn:paraph:oidc:';

export const loginApId = (tenantId: string): string => `${beginning}${tenantId}`;

/** Whether a transaction is a login. Logins of removed tenants count, too. */
export const isLogin = (apId: string): boolean => apId.startsWith(beginning);
