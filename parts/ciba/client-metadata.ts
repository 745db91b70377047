import type { ClientMetadata } from 'oidc-provider';
import { type CibaClient, notificationEndpointOf } from './configuration.ts';

export const cibaGrantType = 'urn:openid:params:grant-type:ciba';

/** A client in the format of the library. @returns Undefined for one that needs a browser. */
export const describeClient = (client: CibaClient): Partial<ClientMetadata> | undefined => {
  const { backchannel, sector, id } = client;
  if (backchannel === undefined) return undefined;
  return {
    // For such clients the library reads keys from an address only.
    jwks_uri: `https://${sector}/${encodeURIComponent(id)}/jwks.json`,
    grant_types: [cibaGrantType],
    backchannel_token_delivery_mode: backchannel.kind,
    // Pings are ours (`pings.ts`); the library would refuse a local address.
    ...(notificationEndpointOf(client) !== undefined && {
      backchannel_client_notification_endpoint: `https://${sector}/`,
    }),
  };
};
