/**
 * The library's provider for one tenant. What would let outsiders decide is off: symmetric
 * algorithms (secrets are stored as hashes), dynamic registration, remote documents, resource
 * indicators. Addresses come from the issuer (`mount.ts`).
 */
import type { JWK } from 'jose';
import type {
  Account,
  Adapter,
  Configuration,
  KoaContextWithOIDC,
  Provider as Library,
} from 'oidc-provider';
import { pageLanguages } from '../http/pages/languages.ts';
import {
  acrValues,
  clientAuthentications,
  type OauthClient,
  type OauthSettings,
  oauthScopes,
  signingAlgorithms,
} from '../registry/oauth-client.ts';
import type { SubscriberRegistry } from '../registry/subscriber.ts';
import type { AdapterOptions } from './adapter.ts';
import { claimsAbout, claimsOfScopes } from './claims.ts';
import { clockToleranceSeconds } from './client-jwt.ts';
import { clientMetadata, keySetAt } from './client-metadata.ts';
import { dpopAlgorithms } from './dpop-proof.ts';
import { codeErrors } from './error-codes.ts';
import type { createProviderPages } from './error-pages.ts';
import type { LoginEvidence } from './evidence.ts';
import type { OauthExtension, TenantExtension } from './extension.ts';
import { checkLink, checkSignedLink } from './front-channel.ts';
import { policyWith } from './interaction-policy.ts';
import { errors, Provider, patchLibrary } from './library.ts';
import { mayRead } from './par/answers.ts';
import { existingGrantWith } from './session-grants.ts';
import { type ProviderKey, sessionSecondsOf } from './signing-keys.ts';
import type { Tenant } from './tenant.ts';

export interface ProviderOptions {
  readonly settings: OauthSettings;
  readonly adapter: (model: string) => Adapter;
  readonly endedBefore: AdapterOptions['endedBefore'];
  readonly jwks: readonly ProviderKey[];
  /** Public keys that verify old ID tokens, and are in no key set any more. */
  readonly hintKeys: readonly JWK[];
  readonly cookieKeys: readonly string[];
  readonly subscribers: SubscriberRegistry;
  /** The extensions that a client of the tenant uses, with their additions to the tenant. */
  readonly extensions: readonly (readonly [OauthExtension, TenantExtension])[];
  readonly pages: ReturnType<typeof createProviderPages>;
  readonly now: () => number;
}

export const createProvider = (
  { id, issuer, path, clients, store, subjectOf }: Tenant,
  options: ProviderOptions,
): Library => {
  const { settings, pages, subscribers } = options;
  const clientOf = (clientId: string): OauthClient => {
    const client = clients.get(clientId);
    if (client === undefined)
      throw new errors.InvalidClient('client is invalid', 'client not found');
    return client;
  };

  const findAccount = async (
    _ctx: KoaContextWithOIDC,
    accountId: string,
    token?: { readonly grantId?: string | undefined },
  ): Promise<Account> => ({
    accountId,
    claims: async () => {
      const subscriber = await subscribers.find(accountId);
      const evidence =
        token?.grantId === undefined ? undefined : await store.get('evidence', token.grantId);
      return { ...claimsAbout(accountId, subscriber, evidence as LoginEvidence | undefined) };
    },
  });

  const algorithms = [...signingAlgorithms];
  const secure = issuer.startsWith('https:');
  const cookie = { httpOnly: true, sameSite: 'lax', secure, signed: true } as const;
  const extensions = options.extensions.map(([extension]) => extension);
  const additions = options.extensions.map(([, addition]) => addition);

  const configuration: Configuration = {
    acrValues: [...acrValues],
    adapter: options.adapter,
    claims: {
      acr: null,
      amr: null,
      sid: null,
      auth_time: null,
      iss: null,
      ...claimsOfScopes,
    },
    clients: [...clients.values()].map((client) => clientMetadata(client, extensions)),
    clientBasedCORS: (_ctx, origin, client) => mayRead(origin, clientOf(client.clientId)),
    clientAuthMethods: clientAuthentications.filter((method) => method !== 'client_secret'),
    clockTolerance: clockToleranceSeconds,
    cookies: {
      // Cookies of one tenant reach the paths of others, so the names differ.
      names: {
        session: `paraph_${id}_session`,
        interaction: `paraph_${id}_login`,
        resume: `paraph_${id}_resume`,
      },
      keys: [...options.cookieKeys],
      long: { ...cookie, path: `${path}/` },
      short: { ...cookie },
    },
    discovery: { ui_locales_supported: [...pageLanguages], service_documentation: undefined },
    enabledJWA: {
      clientAuthSigningAlgValues: algorithms,
      idTokenSigningAlgValues: algorithms,
      requestObjectSigningAlgValues: algorithms,
      authorizationSigningAlgValues: algorithms,
      userinfoSigningAlgValues: algorithms,
      introspectionSigningAlgValues: algorithms,
      dPoPSigningAlgValues: [...dpopAlgorithms],
    } as Configuration['enabledJWA'],
    expiresWithSession: (_ctx, source) => !source.scopes.has('offline_access'),
    extraParams: ['dtbd'],
    extraTokenClaims: () => undefined,
    features: {
      claimsParameter: { enabled: false },
      clientCredentials: { enabled: false },
      devInteractions: { enabled: false },
      // Whether a proof is new was asked before (`program-endpoints.ts`).
      dPoP: { enabled: true, allowReplay: true },
      externalSigningSupport: {
        enabled: options.jwks.some((key) => 'keyObject' in key),
        ack: 'experimental-01',
      },
      introspection: {
        enabled: true,
        // A resource server may ask about access tokens; other tokens only their owner.
        allowedPolicy: (_ctx, client, token) =>
          token.clientId === client.clientId ||
          (client.clientAuthMethod !== 'none' && token.kind === 'AccessToken'),
      },
      jwtResponseModes: { enabled: true },
      pushedAuthorizationRequests: { enabled: true },
      requestObjects: {
        enabled: true,
        // The library knows neither the type nor the required claims of a signed request.
        assertJwtClaimsAndHeader: (ctx, _claims, _header, client) =>
          checkSignedLink(ctx, clientOf(client.clientId), issuer, options.now()),
      },
      resourceIndicators: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: pages.logOut,
        postLogoutSuccessSource: pages.loggedOut,
      },
      userinfo: { enabled: true },
      ...Object.assign({}, ...additions.map(({ features }) => features)),
    },
    // The library fetches nothing: keys are in the configuration.
    fetch: async (url) => {
      const keySet = keySetAt(String(url), clients.values(), extensions);
      if (keySet === undefined) throw new Error('The provider does not fetch');
      return keySet;
    },
    findAccount,
    interactions: {
      policy: policyWith(
        { store, subjectOf },
        settings.singleSignOnSeconds,
        clientOf,
        options.endedBefore,
      ),
      url: (_ctx, interaction) => `${path}/interaction/${interaction.uid}`,
    },
    issueRefreshToken: async (_ctx, client, source) =>
      client.grantTypeAllowed('refresh_token') && source.scopes.has('offline_access'),
    jwks: { keys: options.jwks as NonNullable<Configuration['jwks']>['keys'] },
    loadExistingGrant: existingGrantWith(store, settings),
    pairwiseIdentifier: async (_ctx, accountId, client) =>
      subjectOf(accountId, clientOf(client.clientId)),
    pkce: { required: (_ctx, client) => client.clientAuthMethod === 'none' },
    renderError: (ctx, out, error) => {
      if (ctx.accepts('json', 'html') === 'html') return pages.error(ctx, out, error);
      ctx.type = 'json';
      ctx.body = out;
    },
    responseTypes: ['code'],
    rotateRefreshToken: true,
    routes: {
      authorization: '/auth',
      end_session: '/session/end',
      introspection: '/token/introspection',
      jwks: '/jwks.json',
      pushed_authorization_request: '/par',
      revocation: '/token/revocation',
      token: '/token',
      userinfo: '/userinfo',
      ...Object.assign({}, ...additions.map(({ routes }) => routes)),
    },
    scopes: [...oauthScopes],
    sectorIdentifierUriValidate: () => false,
    subjectTypes: ['pairwise'],
    ttl: {
      AccessToken: settings.accessTokenSeconds,
      AuthorizationCode: settings.codeSeconds,
      Grant: settings.refreshTokenSeconds,
      IdToken: settings.idTokenSeconds,
      Interaction: settings.interactionSeconds,
      RefreshToken: settings.refreshTokenSeconds,
      Session: sessionSecondsOf(settings),
      ...Object.assign({}, ...additions.map(({ ttl }) => ttl)),
    },
  };

  const provider = new Provider(issuer, configuration);
  // The library only sees addresses that `mount.ts` has written.
  provider.proxy = true;
  codeErrors(provider);
  patchLibrary(provider, {
    hintKeys: options.hintKeys,
    checkLink: (ctx) => checkLink(ctx, { clientOf, isTestNumber: subscribers.isTestNumber }),
  });
  for (const { prepare } of additions) prepare(provider);
  return provider;
};
