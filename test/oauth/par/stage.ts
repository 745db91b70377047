/**
 * Two tenants on the run's Redis with the library's real providers, clients of every kind, and a
 * clock.
 */
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';
import { createSecretCheck } from '../../../src/oauth/client-authentication.ts';
import { createLimits } from '../../../src/oauth/limits.ts';
import type { OauthEntry } from '../../../src/oauth/log.ts';
import { openTenants } from '../../../src/oauth/open-tenants.ts';
import type { PushAnswer } from '../../../src/oauth/par/answers.ts';
import { createPar, type Par } from '../../../src/oauth/par/par.ts';
import type { Tenant, Tenants } from '../../../src/oauth/tenant.ts';
import type {
  OauthClient,
  OauthLimits,
  OauthSettings,
  PublicJwk,
} from '../../../src/registry/oauth-client.ts';
import {
  createPasswordVerifier,
  type PasswordVerifier,
} from '../../../src/registry/password-verifier.ts';
import { hashPassword } from '../../../src/registry/passwords.ts';
import { createRateLimiter } from '../../../src/registry/rate-limiter.ts';
import type { Json } from '../../support/product.ts';
import type { TestRedis } from '../../support/redis.ts';
import { testVault } from '../../support/test-keys.ts';
import {
  basicOf,
  encoded,
  type Fields,
  roomyLimits,
  usualSettings,
} from '../interoperability/stage.ts';

export { encoded, type Fields } from '../interoperability/stage.ts';

/** One for all stages of a file: they share what is in Redis, as processes do. */
const serviceKey = randomBytes(32);

const publicUrl = 'https://sign.example';
export const mainIssuer = `${publicUrl}/oidc`;
export const otherIssuer = `${publicUrl}/oidc/t/other`;
export const callback = 'https://shop.example/callback';
export const secret = 'a secret: with + and % and colons';
export const testNumber = '41700092501';
export const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeGDPTKqcVJ2mrJsiGH0';

export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicJwk: PublicJwk;
}

export const newKey = (kid?: string): KeyPair => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  return { privateKey, publicJwk: { ...jwk, kty: 'EC', ...(kid !== undefined && { kid }) } };
};

export const client = (id: string, own: Partial<OauthClient> = {}): OauthClient => ({
  id,
  name: `The ${id}`,
  authentication: 'client_secret_basic',
  secretHash: undefined,
  keys: [],
  redirectUris: [callback],
  postLogoutRedirectUris: [],
  scopes: ['openid', 'phone', 'offline_access'],
  refreshTokens: true,
  idTokenAlgorithm: 'RS256',
  responseAlgorithm: 'RS256',
  parRequired: false,
  parSuccessStatus: 200,
  strictParameters: true,
  loginHintAllowed: false,
  dtbdAllowed: false,
  textMessageLogin: false,
  numberMatching: false,
  phoneStart: 'off',
  loginText: {},
  signedRequestRequired: false,
  dpopRequired: false,
  sector: 'shop.example',
  ...own,
});

export interface Pushing {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: 'other' | undefined;
  readonly contentType?: string | undefined;
  readonly address?: string;
}

export const basic = (id: string, password: string = secret): string => basicOf(id, password);

/** What every request needs. */
export const usual: Fields = {
  response_type: 'code',
  redirect_uri: callback,
  scope: 'openid phone',
  state: 'a state',
  nonce: 'a nonce',
};

export interface Stage {
  readonly par: Par;
  readonly tenants: Tenants;
  readonly key: KeyPair;
  readonly logged: readonly OauthEntry[];
  readonly now: () => number;
  /** Sends a form as it is. */
  send(body: string | Uint8Array, pushing?: Pushing): Promise<PushAnswer & { readonly body: Json }>;
  /** Sends the usual request of a client with a secret, with changes; `undefined` leaves out. */
  push(
    fields?: Fields,
    id?: string,
    pushing?: Pushing,
  ): Promise<PushAnswer & { readonly body: Json }>;
  sign(
    claims: JWTPayload,
    header?: Readonly<Record<string, string>>,
    key?: KeyObject,
  ): Promise<string>;
  /** What the library finds under a handle. */
  stored(answer: PushAnswer & { readonly body: Json }, tenant?: Tenant): Promise<Json>;
}

export interface StageOptions {
  readonly limits?: Partial<OauthLimits>;
  readonly passwords?: PasswordVerifier;
  readonly clients?: readonly OauthClient[];
}

export const openStage = async (
  redis: TestRedis,
  { limits = {}, passwords = createPasswordVerifier(), clients = [] }: StageOptions = {},
): Promise<Stage> => {
  const key = newKey('k1');
  const secretHash = await hashPassword(secret, { ln: 10, r: 8, p: 1 });
  const withKey = { keys: [key.publicJwk] };
  const all: readonly OauthClient[] = [
    client('shop', { secretHash, ...withKey }),
    client('post', { secretHash, authentication: 'client_secret_post' }),
    client('created', { secretHash, parSuccessStatus: 201 }),
    client('app', {
      authentication: 'none',
      redirectUris: [callback, 'com.example.app:/callback'],
    }),
    client('page', { authentication: 'none', redirectUris: ['https://page.example/callback'] }),
    client('keyed', { authentication: 'private_key_jwt', ...withKey }),
    client('lenient', { secretHash, strictParameters: false }),
    client('knowing', { secretHash, loginHintAllowed: true, dtbdAllowed: true }),
    client('signing', { secretHash, signedRequestRequired: true, ...withKey }),
    client('several', { secretHash, redirectUris: [callback, 'https://shop.example/second'] }),
    ...clients,
  ];
  const logged: OauthEntry[] = [];
  const log = {
    audit: (entry: OauthEntry) => void logged.push(entry),
    trouble: (error: Error) => {
      throw error;
    },
  };
  const branding = { color: '#123456', logoSvg: undefined };
  const now = Date.now;
  const connection = redis.client();
  const settings: OauthSettings = {
    ...usualSettings,
    requestUriSeconds: 90,
    limits: { ...roomyLimits, ...limits },
    tenants: [
      { id: 'first', name: 'First', branding, loginText: {}, clients: all },
      {
        id: 'other',
        name: 'Other',
        branding,
        loginText: {},
        clients: [client('shop', { secretHash }), client('elsewhere', { secretHash })],
      },
    ],
  };
  const tenants = openTenants(() => ({
    settings,
    templates: settings.tenants,
    publicUrl,
    redis: connection,
    prefix: redis.prefix,
    serviceKey,
    vault: testVault,
    ownerOf: () => ({ version: 1, since: 0 }),
    subscribers: {
      find: () => undefined,
      isTestNumber: (msisdn) => msisdn === testNumber,
    },
    onSuspicious: () => undefined,
    now,
    log,
  }));
  const allowances = createLimits({
    limiter: createRateLimiter({ redis: connection, prefix: redis.prefix }),
    limits: settings.limits,
    tenants,
    isTestNumber: (msisdn) => msisdn === testNumber,
    now,
  });
  const par = createPar({
    tenants,
    checkSecret: createSecretCheck(passwords, allowances),
    limits: allowances,
    settings,
    isTestNumber: (msisdn) => msisdn === testNumber,
    now,
    log,
  });

  const send: Stage['send'] = async (body, pushing = {}) => {
    const { headers = {}, path, address = '192.0.2.1' } = pushing;
    const tenantFromPath = path === undefined ? undefined : tenants.find(path);
    const form = 'application/x-www-form-urlencoded';
    const contentType = 'contentType' in pushing ? pushing.contentType : form;
    return par.push({
      tenantFromPath,
      header: (name) => (name === 'content-type' ? contentType : headers[name]),
      address: { caller: address },
      body: typeof body === 'string' ? Buffer.from(body) : body,
    });
  };

  return {
    par,
    tenants,
    key,
    logged,
    now,
    send,
    push: (fields = {}, id = 'shop', pushing = {}) =>
      send(encoded({ ...usual, client_id: id, ...fields }), {
        ...pushing,
        headers: { authorization: basic(id), ...pushing.headers },
      }),
    sign: (claims, header = {}, signer = key.privateKey) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header }).sign(signer),
    stored: async ({ body }, tenant = tenants.main) => {
      const { PushedAuthorizationRequest } = await tenant.provider();
      const found = await PushedAuthorizationRequest.find(
        String(body.request_uri).split(':').at(-1) ?? '',
      );
      if (found === undefined) return undefined;
      const [, payload = ''] = found.request.split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
      return { claims, trusted: found.trusted, dpopJkt: found.dpopJkt };
    },
  };
};
