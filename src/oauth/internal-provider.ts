import type { RegisteredProvider } from '../registry/application-providers.ts';
import { loginApId } from '../registry/login-ap-id.ts';
import type { OauthTenant } from '../registry/oauth-client.ts';
import { decoyPassword } from '../registry/passwords.ts';

/**
 * The application providers of the logins. Workers know them; over HTTP nobody can be them, because no AP_PWD fits theirs.
 */
export const internalProviders = (tenants: readonly OauthTenant[]): readonly RegisteredProvider[] =>
  tenants.map(({ id }) => ({ id: loginApId(id), passwordHash: decoyPassword(undefined) }));
