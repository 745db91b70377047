import type { ClientMetadata } from 'oidc-provider';
import type { OauthClient } from '../registry/oauth-client.ts';

const cibaGrantType = 'urn:openid:params:grant-type:ciba';

const keySetOf = ({ keys }: OauthClient) => ({ keys: keys.map((key) => ({ ...key })) });

/**
 * For clients with backchannel logins the library reads keys from an address only. {@link keySetAt}
 * answers it.
 */
const keySetAddress = ({ sector, id }: OauthClient): string =>
  `https://${sector}/${encodeURIComponent(id)}/jwks.json`;

export const keySetAt = (url: string, clients: Iterable<OauthClient>): Response | undefined => {
  for (const client of clients) {
    if (client.backchannel === undefined || new URL(keySetAddress(client)).href !== url) continue;
    return Response.json(keySetOf(client), { headers: { 'cache-control': 'max-age=86400' } });
  }
  return undefined;
};

/**
 * A client as OpenID Connect Registration describes it, which is the library's format.
 * `client_secret` is the stored form; the comparison is ours (`library.ts`), and algorithms that
 * would use the secret as a key are off.
 */
export const clientMetadata = (client: OauthClient): ClientMetadata =>
  ({
    client_id: client.id,
    client_name: client.name,
    token_endpoint_auth_method:
      client.authentication === 'client_secret' ? 'client_secret_basic' : client.authentication,
    ...(client.secretHash !== undefined && { client_secret: client.secretHash }),
    ...(client.backchannel === undefined
      ? client.keys.length > 0 && { jwks: keySetOf(client) }
      : { jwks_uri: keySetAddress(client) }),
    application_type: client.redirectUris.some((uri) => !/^https?:/.test(uri)) ? 'native' : 'web',
    redirect_uris: [...client.redirectUris],
    post_logout_redirect_uris: [...client.postLogoutRedirectUris],
    response_types: client.redirectUris.length > 0 ? ['code'] : [],
    grant_types: [
      ...(client.redirectUris.length > 0 ? ['authorization_code'] : []),
      ...(client.refreshTokens ? ['refresh_token'] : []),
      ...(client.backchannel === undefined ? [] : [cibaGrantType]),
    ],
    scope: client.scopes.join(' '),
    subject_type: 'pairwise',
    // Names the sector. It is never fetched, because the configuration vouches for the addresses.
    sector_identifier_uri: `https://${client.sector}/`,
    id_token_signed_response_alg: client.idTokenAlgorithm,
    authorization_signed_response_alg: client.responseAlgorithm,
    require_pushed_authorization_requests: client.parRequired,
    require_signed_request_object: client.signedRequestRequired,
    dpop_bound_access_tokens: client.dpopRequired,
    ...(client.backchannel !== undefined && {
      backchannel_token_delivery_mode: client.backchannel.delivery,
      // Pings are ours (`backchannel/`); the library would refuse a local address.
      ...(client.backchannel.delivery === 'ping' && {
        backchannel_client_notification_endpoint: `https://${client.sector}/`,
      }),
    }),
  }) as ClientMetadata;
