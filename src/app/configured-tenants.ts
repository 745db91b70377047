import type { Part } from '../part/part.ts';
import type { OauthTenant } from '../registry/oauth-client.ts';
import type { Configuration } from './configuration/schema.ts';
import { settingsOf } from './part-rooms.ts';

/**
 * The OpenID tenants of the configuration file. The first one has the clients of parts, too.
 *
 * @param publicUrl May be any URL when the addresses of clients are not used.
 */
export const configuredTenants = (
  {
    configuration,
    parts,
  }: { readonly configuration: Configuration; readonly parts: readonly Part[] },
  publicUrl = 'http://localhost',
): readonly OauthTenant[] => {
  const settings = settingsOf(configuration);
  return configuration.oidc.tenants.map((tenant, index) => {
    if (index > 0) return tenant;
    const taken = new Set(tenant.clients.map(({ id }) => id));
    const ofParts = parts.flatMap((part) => part.oauthClients?.(settings, publicUrl) ?? []);
    return {
      ...tenant,
      clients: [...tenant.clients, ...ofParts.filter(({ id }) => !taken.has(id))],
    };
  });
};
