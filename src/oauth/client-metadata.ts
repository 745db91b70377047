import type { ClientMetadata } from 'oidc-provider';
import type { OauthClient } from '../registry/oauth-client.ts';
import type { OauthExtension } from './extension.ts';

const keySetOf = ({ keys }: OauthClient) => ({ keys: keys.map((key) => ({ ...key })) });

/**
 * A client as OpenID Connect Registration describes it, which is the library's format.
 * `client_secret` is the stored form; the comparison is ours (`library.ts`), and algorithms that
 * would use the secret as a key are off.
 */
export const clientMetadata = (
  client: OauthClient,
  extensions: readonly Pick<OauthExtension, 'describe'>[],
): ClientMetadata => {
  const added = extensions
    .map(({ describe }) => describe(client))
    .filter((members) => members !== undefined);
  const hasKeyAddress = added.some(({ jwks_uri }) => jwks_uri !== undefined);
  return {
    client_id: client.id,
    client_name: client.name,
    token_endpoint_auth_method:
      client.authentication === 'client_secret' ? 'client_secret_basic' : client.authentication,
    ...(client.secretHash !== undefined && { client_secret: client.secretHash }),
    ...(client.keys.length > 0 && !hasKeyAddress && { jwks: keySetOf(client) }),
    application_type: client.redirectUris.some((uri) => !/^https?:/.test(uri)) ? 'native' : 'web',
    redirect_uris: [...client.redirectUris],
    post_logout_redirect_uris: [...client.postLogoutRedirectUris],
    response_types: client.redirectUris.length > 0 ? ['code'] : [],
    scope: client.scopes.join(' '),
    subject_type: 'pairwise',
    // Names the sector. It is never fetched, because the configuration vouches for the addresses.
    sector_identifier_uri: `https://${client.sector}/`,
    id_token_signed_response_alg: client.idTokenAlgorithm,
    authorization_signed_response_alg: client.responseAlgorithm,
    require_pushed_authorization_requests: client.parRequired,
    require_signed_request_object: client.signedRequestRequired,
    dpop_bound_access_tokens: client.dpopRequired,
    ...Object.assign({}, ...added),
    grant_types: [
      ...(client.redirectUris.length > 0 ? ['authorization_code'] : []),
      ...(client.refreshTokens ? ['refresh_token'] : []),
      ...added.flatMap(({ grant_types = [] }) => grant_types),
    ],
  } as ClientMetadata;
};

/**
 * Answers for the addresses of keys that extensions have given.
 *
 * @returns Undefined for another address.
 */
export const keySetAt = (
  url: string,
  clients: Iterable<OauthClient>,
  extensions: readonly Pick<OauthExtension, 'describe'>[],
): Response | undefined => {
  for (const client of clients) {
    const addresses = extensions.map(({ describe }) => describe(client)?.jwks_uri);
    if (!addresses.some((address) => address !== undefined && new URL(address).href === url))
      continue;
    return Response.json(keySetOf(client), { headers: { 'cache-control': 'max-age=86400' } });
  }
  return undefined;
};
