/**
 * The client by which the console lets its own people in with their phones.
 *
 * No configuration names it, and its secret is no text that could be lost: it proves itself with a key that is derived from
 * the master key (`console-login/client-key.ts`).
 *
 * Its sector is its own and no host name. So nobody else's `sub` of a person is the one that an operator is known by, and it
 * stays the same when the service moves to another address.
 */
import { type OauthClient, type OauthTenant, type PublicJwk, plainClient } from './oauth-client.ts';

export const consoleClientId = 'paraph-console';
export const consoleSector = 'paraph-console';

/** Where the provider sends people back to. */
export const consoleCallbackPath = '/admin/login/oidc/callback';

/** @param publicUrl Origin of this server. @param sandbox Lets it name a test number, which nobody can type. */
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
  // Nobody but the console begins a login in its name.
  parRequired: true,
  parSuccessStatus: 201,
  loginHintAllowed: sandbox,
  numberMatching: true,
  sector: consoleSector,
});

/** The tenants with the client added to one of them. */
export const withConsoleClient = (
  tenants: readonly OauthTenant[],
  tenantId: string,
  client: OauthClient,
): readonly OauthTenant[] =>
  tenants.map((tenant) =>
    tenant.id === tenantId ? { ...tenant, clients: [...tenant.clients, client] } : tenant,
  );
