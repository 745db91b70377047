/**
 * openid-client, as it comes from the registry, through whole logins: what it accepts any certified
 * relying party does. Nothing of it is replaced; `http` on this machine is all that has to be
 * allowed.
 */
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestProduct } from '../../support/product.ts';
import { testRedis } from '../../support/redis.ts';
import { type BrowserPage, createBrowser } from '../browser-client.ts';
import {
  appRobot,
  callback,
  clientEntry,
  hintFor,
  keyOfClient,
  offline,
  robot,
  rsaRobot,
  secret,
  startProvider,
} from './stage.ts';

const redis = testRedis();
const key = keyOfClient('one');
let product: TestProduct;

const clients = [
  clientEntry('basic'),
  clientEntry('post', { authentication: 'client_secret_post' }),
  clientEntry('keyed', {
    authentication: 'private_key_jwt',
    keys: [key.publicJwk],
  }),
  clientEntry('signing', { keys: [key.publicJwk], signedRequestRequired: true }),
  clientEntry('app', { authentication: 'none', parRequired: true }),
  clientEntry('bound', { dpopRequired: true }),
  clientEntry('desktop', { authentication: 'none', redirectUris: ['http://127.0.0.1/callback'] }),
  ...['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'].map((algorithm) =>
    clientEntry(`signed-${algorithm}`, {
      idTokenAlgorithm: algorithm,
      responseAlgorithm: algorithm,
    }),
  ),
];

beforeAll(async () => {
  product = await startProvider(redis, clients);
});
afterAll(() => product.stop());

const discover = async (
  clientId: string,
  authentication: oidc.ClientAuth = oidc.ClientSecretBasic(secret),
  metadata: Partial<oidc.ClientMetadata> = {},
): Promise<oidc.Configuration> =>
  oidc.discovery(new URL(`${product.url}/oidc`), clientId, metadata, authentication, {
    // Marked as deprecated to stand out; this is the local testing that it is for.
    execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks],
  });

const signingKey = async (): Promise<oidc.PrivateKey> => ({
  kid: 'one',
  key: await crypto.subtle.importKey(
    'pkcs8',
    key.privateKey.export({ format: 'der', type: 'pkcs8' }),
    { name: 'ECDSA', namedCurve: 'P-256' },
    false,
    ['sign'],
  ),
});

/** What the person does: follows the link, confirms the number, waits. */
const goThrough = async (address: URL, msisdn = robot): Promise<BrowserPage> => {
  const browser = createBrowser({ origin: product.url });
  const page = await browser.open(address.href);
  return browser.settle(await browser.submit(page, 'number', { msisdn: `+${msisdn}` }));
};

interface Checks {
  readonly pkceCodeVerifier: string;
  readonly expectedState: string;
  readonly expectedNonce: string;
  readonly idTokenExpected: true;
}

interface Asking {
  readonly msisdn?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly options?: oidc.DPoPOptions;
  readonly signedWith?: oidc.PrivateKey;
}

const newRequest = async ({ msisdn = robot, parameters = {} }: Asking) => {
  const checks: Checks = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedState: oidc.randomState(),
    expectedNonce: oidc.randomNonce(),
    idTokenExpected: true,
  };
  const request = {
    redirect_uri: callback,
    scope: 'openid phone',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    login_hint: hintFor(msisdn),
    ...parameters,
  };
  return { checks, request };
};

const logIn = async (configuration: oidc.Configuration, asking: Asking = {}) => {
  const { msisdn, options, signedWith } = asking;
  const { checks, request } = await newRequest(asking);
  const pushed =
    signedWith === undefined
      ? request
      : (await oidc.buildAuthorizationUrlWithJAR(configuration, request, signedWith)).searchParams;
  const address = await oidc.buildAuthorizationUrlWithPAR(configuration, pushed, options);
  const { left } = await goThrough(address, msisdn);
  if (left === undefined) throw new Error('The browser did not come back');
  const tokens = await oidc.authorizationCodeGrant(configuration, left, checks, undefined, options);
  return { tokens, left, address };
};

describe('openid-client logs in', () => {
  it.each([
    ['client_secret_basic', 'basic', () => oidc.ClientSecretBasic(secret)],
    ['its own default, which is client_secret_post,', 'basic', () => oidc.ClientSecretPost(secret)],
    ['client_secret_post', 'post', () => oidc.ClientSecretPost(secret)],
    ['private_key_jwt', 'keyed', async () => oidc.PrivateKeyJwt(await signingKey())],
    ['no authentication and PKCE', 'app', () => oidc.None()],
  ])('with %s', async (_, id, authentication) => {
    const configuration = await discover(id, await authentication());
    const { tokens, address } = await logIn(configuration);
    expect([...address.searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri']);
    const claims = tokens.claims();
    expect(claims).toMatchObject({ aud: id, acr: 'mid_al3_any', amr: ['mid_sim'] });
    expect(tokens.token_type).toBe('bearer');
    const userinfo = await oidc.fetchUserInfo(
      configuration,
      tokens.access_token,
      claims?.sub ?? '',
    );
    expect(userinfo).toMatchObject({ sub: claims?.sub, phone_number: `+${robot}` });
  });

  it('on whatever port of its machine it listens, pushed or not', async () => {
    const configuration = await discover('desktop', oidc.None());
    const parameters = { redirect_uri: 'http://127.0.0.1:49152/callback' };
    const { left } = await logIn(configuration, { parameters });
    expect(left.host).toBe('127.0.0.1:49152');
    const { request } = await newRequest({ parameters });
    const { login_hint: _, ...link } = request;
    const page = await createBrowser({ origin: product.url }).open(
      oidc.buildAuthorizationUrl(configuration, link).href,
    );
    expect(page.status).toBe(200);
    for (const redirect_uri of ['http://127.0.0.1:49152/other', 'http://127.0.0.2:1/callback']) {
      const asked = oidc.buildAuthorizationUrlWithPAR(configuration, { ...request, redirect_uri });
      await expect(asked).rejects.toMatchObject({ error: 'invalid_request' });
    }
  });

  it('with a request that it has signed and pushed', async () => {
    const configuration = await discover('signing');
    const { tokens } = await logIn(configuration, { signedWith: await signingKey() });
    expect(tokens.claims()?.aud).toBe('signing');
  });

  it('with tokens that are bound to its key', async () => {
    const configuration = await discover('bound');
    const options = { DPoP: oidc.getDPoPHandle(configuration, await oidc.randomDPoPKeyPair()) };
    const { tokens } = await logIn(configuration, { options, parameters: offline });
    expect(tokens.token_type).toBe('dpop');
    const sub = tokens.claims()?.sub ?? '';
    expect(
      await oidc.fetchUserInfo(configuration, tokens.access_token, sub, options),
    ).toMatchObject({ sub });
    await expect(oidc.fetchUserInfo(configuration, tokens.access_token, sub)).rejects.toThrow();
    const other = { DPoP: oidc.getDPoPHandle(configuration, await oidc.randomDPoPKeyPair()) };
    await expect(
      oidc.fetchUserInfo(configuration, tokens.access_token, sub, other),
    ).rejects.toThrow();
    const renewed = await oidc.refreshTokenGrant(
      configuration,
      tokens.refresh_token ?? '',
      undefined,
      options,
    );
    expect(renewed.token_type).toBe('dpop');
  });

  it.each(['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'])(
    'with ID tokens and authorisation answers signed with %s',
    async (algorithm) => {
      const metadata = {
        id_token_signed_response_alg: algorithm,
        authorization_signed_response_alg: algorithm,
      };
      const configuration = await discover(`signed-${algorithm}`, undefined, metadata);
      oidc.useJwtResponseMode(configuration);
      const { left, tokens } = await logIn(configuration);
      expect([...left.searchParams.keys()]).toEqual(['response']);
      const header = JSON.parse(
        Buffer.from(tokens.id_token?.split('.')[0] ?? '', 'base64url').toString(),
      );
      expect(header).toMatchObject({ alg: algorithm, kid: expect.any(String) });
    },
  );

  it('with the response mode query.jwt by name', async () => {
    const configuration = await discover('basic');
    oidc.useJwtResponseMode(configuration);
    const { tokens, left } = await logIn(configuration, {
      parameters: { response_mode: 'query.jwt' },
    });
    expect(left.searchParams.get('response')?.split('.')).toHaveLength(3);
    expect(tokens.claims()?.aud).toBe('basic');
  });

  it.each([
    ['a SIM with an RSA key', rsaRobot, 'mid_sim'],
    ['an app', appRobot, 'mid_app'],
  ])('somebody with %s', async (_, msisdn, method) => {
    const { tokens } = await logIn(await discover('basic'), { msisdn });
    expect(tokens.claims()?.amr).toEqual([method]);
  });
});

describe('openid-client, afterwards,', () => {
  it('renews its tokens, and cannot use an old refresh token again', async () => {
    const configuration = await discover('basic');
    const { tokens } = await logIn(configuration, { parameters: offline });
    const first = tokens.refresh_token ?? '';
    const renewed = await oidc.refreshTokenGrant(configuration, first);
    expect(renewed.refresh_token).toBeDefined();
    expect(renewed.refresh_token).not.toBe(first);
    expect(renewed.claims()?.sub).toBe(tokens.claims()?.sub);
    await expect(oidc.refreshTokenGrant(configuration, first)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    // Somebody has a copy: nobody can tell whose the newer one is, so the family ends.
    await expect(
      oidc.refreshTokenGrant(configuration, renewed.refresh_token ?? ''),
    ).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    const sub = tokens.claims()?.sub ?? '';
    await expect(oidc.fetchUserInfo(configuration, renewed.access_token, sub)).rejects.toThrow();
  });

  it('asks about a token, and hears nothing good of it once it is revoked', async () => {
    const configuration = await discover('basic');
    const { tokens } = await logIn(configuration);
    const before = await oidc.tokenIntrospection(configuration, tokens.access_token);
    expect(before).toMatchObject({ active: true, client_id: 'basic', scope: 'openid phone' });
    await oidc.tokenRevocation(configuration, tokens.access_token);
    expect(await oidc.tokenIntrospection(configuration, tokens.access_token)).toEqual({
      active: false,
    });
  });

  it('logs the person out and gets them back', async () => {
    const configuration = await discover('basic');
    const { checks, request } = await newRequest({});
    const browser = createBrowser({ origin: product.url });
    const page = await browser.open(
      (await oidc.buildAuthorizationUrlWithPAR(configuration, request)).href,
    );
    const { left } = await browser.settle(
      await browser.submit(page, 'number', { msisdn: `+${robot}` }),
    );
    const tokens = await oidc.authorizationCodeGrant(
      configuration,
      left ?? new URL(callback),
      checks,
    );
    const logOut = oidc.buildEndSessionUrl(configuration, {
      id_token_hint: tokens.id_token ?? '',
      post_logout_redirect_uri: 'https://client.example/goodbye',
      state: 'where-we-were',
    });
    const asked = await browser.open(logOut.href);
    const end = await browser.submit(asked, 'confirm', { logout: 'yes' });
    expect(end.left?.href).toBe('https://client.example/goodbye?state=where-we-were');
  });

  it('learns from the error why somebody was not let in', async () => {
    const configuration = await discover('basic');
    const { checks, request } = await newRequest({ msisdn: '41000092401' });
    const browser = createBrowser({ origin: product.url });
    const page = await browser.open(
      (await oidc.buildAuthorizationUrlWithPAR(configuration, request)).href,
    );
    const failed = await browser.settle(
      await browser.submit(page, 'number', { msisdn: '+41000092401' }),
    );
    const { left } = await browser.open(`${new URL(failed.url).pathname}/return`);
    await expect(
      oidc.authorizationCodeGrant(configuration, left ?? new URL(callback), checks),
    ).rejects.toMatchObject({
      error: 'access_denied',
      error_description: expect.stringMatching(/^mid_auth_3010_/),
    });
  });
});
