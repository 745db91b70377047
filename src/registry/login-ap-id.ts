/**
 * The AP_ID of logins. Logins are transactions of one internal application provider for each
 * tenant. Over HTTP nobody may use it (application-providers.ts), also in a sandbox.
 */
const beginning = 'urn:paraph:oidc:';

export const loginApId = (tenantId: string): string => `${beginning}${tenantId}`;

/** Whether a transaction is a login; also of a tenant that was removed. */
export const isLogin = (apId: string): boolean => apId.startsWith(beginning);
