/**
 * The OpenID client of the console, whose users log in with their phones. It is not in the
 * configuration, and authenticates with a key derived from the service key
 * (`src/console/login/client-key.ts`).
 *
 * It has a sector of its own, which is not a host name. So no other client sees the `sub` of an
 * operator, and it stays the same when the service moves.
 */
import { type OauthClient, type OauthTenant, type PublicJwk, plainClient } from './oauth-client.ts';

export const consoleClientId = 'paraph-console';
export const consoleSector = 'paraph-console';

export const consoleCallbackPath = '/admin/login/oidc/callback';

/** @param sandbox True allows it to name a test number, which a person cannot type. */
export const consoleClient = ({
  publicUrl,
  publicKey,
  sandbox,
}: {
  readonly publicUrl: string;
  readonly publicKey: PublicJwk;
  readonly sandbox: boolean;
}): OauthClient => ({
  ...plainClient,
  id: consoleClientId,
  name: 'Paraph console',
  authentication: 'private_key_jwt',
  keys: [publicKey],
  redirectUris: [`${publicUrl}${consoleCallbackPath}`],
  scopes: ['openid'],
  // Only the console begins logins in its name.
  parRequired: true,
  parSuccessStatus: 201,
  loginHintAllowed: sandbox,
  numberMatching: true,
  sector: consoleSector,
});

export const withConsoleClient = (
  tenants: readonly OauthTenant[],
  tenantId: string,
  client: OauthClient,
): readonly OauthTenant[] =>
  tenants.map((tenant) =>
    tenant.id === tenantId ? { ...tenant, clients: [...tenant.clients, client] } : tenant,
  );
