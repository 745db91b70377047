/**
 * oauth4webapi, as it comes from the registry, and strict about every answer that it is handed.
 * openid-client makes all of its requests through it, so whole logins are in the tests of that, and
 * one with this alone in those of docs/login.
 */
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestProduct } from '../../support/product.ts';
import { testRedis } from '../../support/redis.ts';
import { callback, clientEntry, keyOfClient, secret, startProvider } from './stage.ts';

const redis = testRedis();
let product: TestProduct;
let server: oauth.AuthorizationServer;

const clients = [
  clientEntry('basic'),
  clientEntry('keyed', {
    authentication: 'private_key_jwt',
    keys: [keyOfClient('one').publicJwk],
  }),
  clientEntry('usual', { parSuccessStatus: 200 }),
  clientEntry('post-only', { authentication: 'client_secret_post' }),
  clientEntry('basic-only', { authentication: 'client_secret_basic' }),
];

const methods = {
  ClientSecretBasic: oauth.ClientSecretBasic,
  ClientSecretPost: oauth.ClientSecretPost,
};

/** For an issuer on this machine. */
const insecure = { [oauth.allowInsecureRequests]: true };

beforeAll(async () => {
  product = await startProvider(redis, clients);
  const issuer = new URL(`${product.url}/oidc`);
  const response = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oidc' });
  server = await oauth.processDiscoveryResponse(issuer, response);
});
afterAll(() => product.stop());

describe('oauth4webapi', () => {
  it('takes the status 201 for a pushed request, and not the 200 of the interface', async () => {
    const push = async (id: string) => {
      const client = { client_id: id };
      const parameters = { redirect_uri: callback, response_type: 'code', scope: 'openid' };
      const authentication = oauth.ClientSecretBasic(secret);
      const response = await oauth.pushedAuthorizationRequest(
        server,
        client,
        authentication,
        parameters,
        insecure,
      );
      const { status } = response;
      const processed = oauth.processPushedAuthorizationResponse(server, client, response);
      return { status, taken: await processed.then(() => true).catch(() => false) };
    };
    expect(await push('basic')).toEqual({ status: 201, taken: true });
    expect(await push('usual')).toEqual({ status: 200, taken: false });
  });

  it('finds in the discovery document what this server does', () => {
    expect(server).toMatchObject({
      issuer: `${product.url}/oidc`,
      authorization_endpoint: `${product.url}/oidc/auth`,
      token_endpoint: `${product.url}/oidc/token`,
      pushed_authorization_request_endpoint: `${product.url}/oidc/par`,
      jwks_uri: `${product.url}/oidc/jwks.json`,
      userinfo_endpoint: `${product.url}/oidc/userinfo`,
      revocation_endpoint: `${product.url}/oidc/token/revocation`,
      introspection_endpoint: `${product.url}/oidc/token/introspection`,
      end_session_endpoint: `${product.url}/oidc/session/end`,
      authorization_response_iss_parameter_supported: true,
      subject_types_supported: ['pairwise'],
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    });
    expect(server.id_token_signing_alg_values_supported?.toSorted()).toEqual(
      ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'].toSorted(),
    );
    expect(server.grant_types_supported?.toSorted()).toEqual([
      'authorization_code',
      'refresh_token',
    ]);
    expect(server.scopes_supported).toEqual(
      expect.arrayContaining(['openid', 'offline_access', 'mid_cms']),
    );
  });

  it('finds the document where RFC 8414 looks for it, too', async () => {
    const issuer = new URL(`${product.url}/oidc`);
    const response = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' });
    expect(new URL(response.url).pathname).toBe('/.well-known/oauth-authorization-server/oidc');
    expect(await oauth.processDiscoveryResponse(issuer, response)).toEqual(server);
  });

  it.each([
    ['basic', 'ClientSecretBasic', true],
    ['basic', 'ClientSecretPost', true],
    ['basic-only', 'ClientSecretBasic', true],
    ['basic-only', 'ClientSecretPost', false],
    ['post-only', 'ClientSecretPost', true],
    ['post-only', 'ClientSecretBasic', false],
  ] as const)(
    'is let in at every endpoint by the registered method only: %s with %s',
    async (id, method, allowed) => {
      const client = { client_id: id };
      const authentication = methods[method](secret);
      const parameters = { redirect_uri: callback, response_type: 'code', scope: 'openid' };
      const answers = await Promise.all([
        oauth.pushedAuthorizationRequest(server, client, authentication, parameters, insecure),
        oauth.refreshTokenGrantRequest(server, client, authentication, 'unknown', insecure),
        oauth.introspectionRequest(server, client, authentication, 'unknown', insecure),
        oauth.revocationRequest(server, client, authentication, 'unknown', insecure),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(
        allowed ? [201, 400, 200, 200] : [401, 401, 401, 401],
      );
      expect(answers[1]?.headers.get('pragma')).toBe('no-cache');
      expect(answers[1]?.headers.get('cache-control')).toBe('no-store');
    },
  );
});
