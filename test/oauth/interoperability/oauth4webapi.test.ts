/**
 * oauth4webapi, as it comes from the registry: lower than openid-client, and strict about every answer that it is handed.
 */
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../../support/product.ts';
import { testRedis } from '../../support/redis.ts';
import { createBrowser } from '../browser-client.ts';
import { callback, clientEntry, hintFor, keyOfClient, offline, robot, roomyLimits, secret } from './stage.ts';

const redis = testRedis();
const key = keyOfClient('one');
let product: TestProduct;
let server: oauth.AuthorizationServer;

const clients = [
  clientEntry('basic'),
  clientEntry('post', { authentication: 'client_secret_post' }),
  clientEntry('keyed', {
    authentication: 'private_key_jwt',
    keys: [key.publicJwk],
    backchannel: { kind: 'poll' },
  }),
  clientEntry('app', { authentication: 'none', parRequired: true }),
  clientEntry('bound', { dpopRequired: true }),
  clientEntry('usual', { parSuccessStatus: 200 }),
  ...['RS256', 'PS256', 'ES256', 'EdDSA'].map((algorithm) =>
    clientEntry(`signed-${algorithm}`, { idTokenAlgorithm: algorithm, responseAlgorithm: algorithm }),
  ),
];

/** For an issuer on this machine. */
const insecure = { [oauth.allowInsecureRequests]: true };

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: { oidc: { limits: roomyLimits, tenants: [{ id: 'main', name: 'Main', clients }] } },
    listen: true,
  });
  const issuer = new URL(`${product.url}/oidc`);
  const response = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oidc' });
  server = await oauth.processDiscoveryResponse(issuer, response);
});
afterAll(() => product.stop());

const signingKey = async (): Promise<oauth.PrivateKey> => ({
  kid: 'one',
  key: await crypto.subtle.importKey(
    'pkcs8',
    key.privateKey.export({ format: 'der', type: 'pkcs8' }),
    { name: 'ECDSA', namedCurve: 'P-256' },
    false,
    ['sign'],
  ),
});

interface Asking {
  readonly client: oauth.Client;
  readonly authentication: oauth.ClientAuth;
  readonly DPoP?: oauth.DPoPHandle;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly signed?: true;
}

const push = async ({ client, authentication, DPoP, parameters = {}, signed }: Asking) => {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const nonce = oauth.generateRandomNonce();
  const request = {
    client_id: client.client_id,
    redirect_uri: callback,
    response_type: 'code',
    scope: 'openid phone',
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    login_hint: hintFor(robot),
    ...parameters,
  };
  const fields: Record<string, string> =
    signed === undefined
      ? request
      : { request: await oauth.issueRequestObject(server, client, request, await signingKey()) };
  const response = await oauth.pushedAuthorizationRequest(server, client, authentication, fields, {
    ...insecure,
    ...(DPoP !== undefined && { DPoP }),
  });
  return { verifier, state, nonce, response };
};

const logIn = async (asking: Asking) => {
  const { client, authentication, DPoP } = asking;
  const { verifier, state, nonce, response } = await push(asking);
  const { request_uri } = await oauth.processPushedAuthorizationResponse(server, client, response);
  const address = new URL(server.authorization_endpoint ?? '');
  address.searchParams.set('client_id', client.client_id);
  address.searchParams.set('request_uri', request_uri);
  const browser = createBrowser({ origin: product.url });
  const page = await browser.open(address.href);
  const { left } = await browser.settle(await browser.submit(page, 'number', { msisdn: `+${robot}` }));
  if (left === undefined) throw new Error('The browser did not come back');
  const parameters = left.searchParams.has('response')
    ? await oauth.validateJwtAuthResponse(server, client, left, state, insecure)
    : oauth.validateAuthResponse(server, client, left, state);
  const options = { ...insecure, ...(DPoP !== undefined && { DPoP }) };
  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    parameters,
    callback,
    verifier,
    options,
  );
  const signature = answer.clone();
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  await oauth.validateApplicationLevelSignature(server, answer, insecure);
  expect(signature.headers.get('cache-control')).toBe('no-store');
  return { tokens, claims: oauth.getValidatedIdTokenClaims(tokens), options };
};

const userinfo = async (client: oauth.Client, token: string, sub: string, options: object) =>
  oauth.processUserInfoResponse(
    server,
    client,
    sub,
    await oauth.userInfoRequest(server, client, token, { ...insecure, ...options }),
  );

describe('oauth4webapi logs in', () => {
  it.each([
    ['client_secret_basic', 'basic', () => oauth.ClientSecretBasic(secret)],
    ['client_secret_post', 'post', () => oauth.ClientSecretPost(secret)],
    ['private_key_jwt', 'keyed', async () => oauth.PrivateKeyJwt(await signingKey())],
    ['no authentication and PKCE', 'app', () => oauth.None()],
  ])('with %s', async (_, id, authentication) => {
    const client = { client_id: id };
    const { tokens, claims } = await logIn({ client, authentication: await authentication() });
    expect(claims).toMatchObject({ aud: id, acr: 'mid_al3_any', amr: ['mid_sim'] });
    const about = await userinfo(client, tokens.access_token, claims?.sub ?? '', {});
    expect(about.phone_number).toBe(`+${robot}`);
  });

  it('with a request that it has signed and pushed', async () => {
    const client = { client_id: 'keyed' };
    const authentication = oauth.PrivateKeyJwt(await signingKey());
    const { claims } = await logIn({ client, authentication, signed: true });
    expect(claims?.aud).toBe('keyed');
  });

  it('with tokens that are bound to its key', async () => {
    const client: oauth.Client = { client_id: 'bound' };
    const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('ES256'));
    const authentication = oauth.ClientSecretBasic(secret);
    const { tokens, claims, options } = await logIn({ client, authentication, DPoP });
    expect(tokens.token_type).toBe('dpop');
    const about = await userinfo(client, tokens.access_token, claims?.sub ?? '', options);
    expect(about.sub).toBe(claims?.sub);
    await expect(userinfo(client, tokens.access_token, claims?.sub ?? '', {})).rejects.toThrow();
  });

  it.each(['RS256', 'PS256', 'ES256', 'EdDSA'])(
    'with ID tokens and authorisation answers signed with %s',
    async (algorithm) => {
      const client = {
        client_id: `signed-${algorithm}`,
        id_token_signed_response_alg: algorithm,
        authorization_signed_response_alg: algorithm,
      };
      const authentication = oauth.ClientSecretBasic(secret);
      const { claims } = await logIn({ client, authentication, parameters: { response_mode: 'jwt' } });
      expect(claims?.aud).toBe(client.client_id);
    },
  );

  it('without a browser, by polling', async () => {
    const client = { client_id: 'keyed' };
    const authentication = oauth.PrivateKeyJwt(await signingKey());
    const parameters = { scope: 'openid', login_hint: hintFor(robot) };
    const begun = await oauth.processBackchannelAuthenticationResponse(
      server,
      client,
      await oauth.backchannelAuthenticationRequest(server, client, authentication, parameters, insecure),
    );
    const poll = async () =>
      oauth.processBackchannelAuthenticationGrantResponse(
        server,
        client,
        await oauth.backchannelAuthenticationGrantRequest(
          server,
          client,
          authentication,
          begun.auth_req_id,
          insecure,
        ),
      );
    const until = Date.now() + 12_000;
    for (;;) {
      try {
        const tokens = await poll();
        expect(oauth.getValidatedIdTokenClaims(tokens)?.aud).toBe('keyed');
        break;
      } catch (error) {
        // The robot needs a moment; the protocol says how long to wait.
        if (!(error instanceof oauth.ResponseBodyError) || Date.now() > until) throw error;
        expect(error.error).toBe('authorization_pending');
        await new Promise((resolve) => setTimeout(resolve, (begun.interval ?? 5) * 1000));
      }
    }
  });
});

describe('oauth4webapi, otherwise,', () => {
  it('does not take the status 200 of the interface for a pushed request', async () => {
    const client = { client_id: 'usual' };
    const { response } = await push({ client, authentication: oauth.ClientSecretBasic(secret) });
    expect(response.status).toBe(200);
    await expect(oauth.processPushedAuthorizationResponse(server, client, response)).rejects.toThrow();
  });

  it('renews, asks about and revokes its tokens', async () => {
    const client = { client_id: 'basic' };
    const authentication = oauth.ClientSecretBasic(secret);
    const { tokens } = await logIn({ client, authentication, parameters: offline });
    const renew = async (token: string) =>
      oauth.processRefreshTokenResponse(
        server,
        client,
        await oauth.refreshTokenGrantRequest(server, client, authentication, token, insecure),
      );
    const introspect = async (token: string) =>
      oauth.processIntrospectionResponse(
        server,
        client,
        await oauth.introspectionRequest(server, client, authentication, token, insecure),
      );
    const renewed = await renew(tokens.refresh_token ?? '');
    expect(await introspect(renewed.access_token)).toMatchObject({ active: true, client_id: 'basic' });
    const revoked = await oauth.revocationRequest(
      server,
      client,
      authentication,
      renewed.refresh_token ?? '',
      insecure,
    );
    await oauth.processRevocationResponse(revoked);
    expect(await introspect(renewed.access_token)).toEqual({ active: false });
    await expect(renew(renewed.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
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
      backchannel_authentication_endpoint: `${product.url}/oidc/backchannel`,
      authorization_response_iss_parameter_supported: true,
      subject_types_supported: ['pairwise'],
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    });
    expect(server.id_token_signing_alg_values_supported?.toSorted()).toEqual(
      ['RS256', 'PS256', 'ES256', 'EdDSA'].toSorted(),
    );
    expect(server.backchannel_token_delivery_modes_supported).toContain('poll');
    expect(server.scopes_supported).toEqual(expect.arrayContaining(['openid', 'offline_access', 'mid_cms']));
  });
});
