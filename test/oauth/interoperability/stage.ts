/**
 * Clients that a configuration file describes, and what each of them sends, spelled out: for
 * everything that is not about how a library spells it.
 */
import { generateKeyPairSync, hash, type KeyObject, randomBytes } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';
import type { OauthLimits, OauthSettings } from '../../../src/registry/oauth-client.ts';
import { type Json, startTestProduct, type TestProduct } from '../../support/product.ts';
import type { TestRedis } from '../../support/redis.ts';
import { type Browser, type BrowserPage, createBrowser } from '../browser-client.ts';

/** Signs everything at once, and any number of requests at a time. */
export const robot = '41700092501';
export const rsaRobot = '41700092502';
/** Has an app and no SIM. */
export const appRobot = '41700092508';
/** Signs, but nobody can tell where. */
export const lostRobot = '41700092510';
/** Never looks at the phone. */
export const sleeper = '41700092507';

/** With characters that each encoding of a client's credentials writes differently. */
export const secret = 'Geheim-4f1b+/ %&=:~';
/** Of `secret`, cheap to verify. */
const secretHash =
  '$scrypt$ln=10,r=8,p=1$WSq+PUMkKR8xwxMo3TeowA$/xMA3cPAsGts2vYIayb/XRuvl5oi0yXJLkniKNRf6mU';

/**
 * Asks for a refresh token; that the user is asked is what OpenID Connect Core section 11 wants.
 */
export const offline = { scope: 'openid offline_access phone', prompt: 'consent' } as const;

export const callback = 'https://client.example/callback';

const loaded = parseConfiguration('{"sandbox":true}');
if (!loaded.ok) throw new Error(loaded.problems.join('; '));
/** Settings of the provider that nobody has configured. */
export const usualSettings: OauthSettings = loaded.value.oidc;

/** Many logins come from one address and go to few numbers here. */
export const roomyLimits = Object.fromEntries(
  Object.keys(usualSettings.limits).map((name) => [name, { requests: 1_000_000, perSeconds: 1 }]),
) as unknown as OauthLimits;

/**
 * A product on a socket, with such a provider and room for everything.
 *
 * @param clients Of its one tenant, unless there are others in `oidc`.
 * @param more Of the configuration file.
 */
export const startProvider = (
  redis: TestRedis,
  clients: readonly object[],
  oidc: object = {},
  more: object = {},
): Promise<TestProduct> => {
  const tenants = [{ id: 'main', name: 'Main', clients }];
  return startTestProduct(redis, {
    configuration: { oidc: { limits: roomyLimits, tenants, ...oidc }, ...more },
    listen: true,
  });
};

/** One element of a tenant's `clients` in the configuration file. */
export const clientEntry = (id: string, own: Readonly<Record<string, unknown>> = {}) => ({
  id,
  name: `The ${id}`,
  redirectUris: [callback],
  postLogoutRedirectUris: ['https://client.example/goodbye'],
  scopes: ['openid', 'phone', 'profile', 'mid_profile', 'mid_location', 'mid_cms'],
  refreshTokens: true,
  loginHintAllowed: true,
  dtbdAllowed: true,
  parSuccessStatus: 201,
  ...(own.authentication === 'none' || own.authentication === 'private_key_jwt'
    ? {}
    : { secretHash }),
  ...own,
});

export interface KeyOfClient {
  readonly privateKey: KeyObject;
  /** As the configuration file holds it. */
  readonly publicJwk: Readonly<Record<string, unknown>>;
  /** An assertion, a request object: whatever a client signs for a provider. */
  sign(
    clientId: string,
    audience: string,
    claims: JWTPayload,
    header?: { typ?: string },
  ): Promise<string>;
}

export const keyOfClient = (kid: string): KeyOfClient => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    privateKey,
    publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' },
    sign: (clientId, audience, claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', kid, ...header })
        .setIssuer(clientId)
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime('1 minute')
        .sign(privateKey),
  };
};

export const hintFor = (...msisdns: readonly string[]): string =>
  JSON.stringify({
    enableManualInput: false,
    hints: msisdns.map((msisdn, index) => ({ msisdn: `+${msisdn}`, default: index === 0 })),
  });

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

export interface Request {
  readonly requestUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface Visit extends Request {
  readonly browser: Browser;
  readonly page: BrowserPage;
}

export type Fields = Readonly<Record<string, string | undefined>>;

/** Absent ones are left out. */
export const encoded = (fields: Fields): string =>
  new URLSearchParams(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  ).toString();

export interface RelyingParty {
  readonly id: string;
  readonly issuer: string;
  /** POSTs a form to an endpoint below the issuer, authenticated. */
  send(path: string, fields: Fields, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Pushes a request, whatever the answer is. */
  push(fields?: Fields, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Pushes a request that is taken. */
  request(fields?: Fields): Promise<Request>;
  /** Pushes a request and brings a browser to the page that it leads to. */
  visit(fields?: Fields, browser?: Browser): Promise<Visit>;
  /** Brings a browser to the page of a request. */
  follow(request: Request, browser?: Browser): Promise<Visit>;
  /**
   * Confirms the number of the hint, and waits until the browser leaves or the person has to do
   * something.
   */
  confirm(visit: Visit, msisdn?: string): Promise<BrowserPage>;
  /** All of it, up to the code. */
  logIn(
    msisdn?: string,
    fields?: Fields,
    browser?: Browser,
  ): Promise<Visit & { readonly code: string }>;
  redeem(login: Request & { readonly code: string }): Promise<Answer>;
  /** All of it, up to the tokens. */
  tokens(msisdn?: string, fields?: Fields, browser?: Browser): Promise<Json>;
  refresh(refreshToken: string): Promise<Answer>;
  userinfo(accessToken: string): Promise<Answer>;
  introspect(token: string): Promise<Answer>;
  revoke(token: string): Promise<Answer>;
}

export interface RelyingPartyOptions {
  readonly id: string;
  /** Absent for a public client. */
  readonly secret?: string | undefined;
  readonly issuerPath?: string;
  readonly redirectUri?: string;
  /** The public address, when it is not where the product listens. */
  readonly origin?: string;
}

const answerOf = async (response: Response): Promise<Answer> => {
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').includes('json');
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  };
};

/** RFC 6749 section 2.3.1. */
const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

export const basicOf = (id: string, password: string): string =>
  `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(password)}`).toString('base64')}`;

export const relyingParty = (
  product: Pick<TestProduct, 'url'>,
  {
    id,
    secret: password,
    issuerPath = '/oidc',
    redirectUri = callback,
    origin = product.url,
  }: RelyingPartyOptions,
): RelyingParty => {
  const newBrowser = (): Browser => createBrowser({ origin, server: () => product.url });

  const send: RelyingParty['send'] = async (path, fields, headers = {}) =>
    answerOf(
      await fetch(`${product.url}${issuerPath}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          ...(password !== undefined && { authorization: basicOf(id, password) }),
          ...headers,
        },
        body: encoded({ ...(password === undefined && { client_id: id }), ...fields }),
      }),
    );

  const push: RelyingParty['push'] = (fields = {}, headers = {}) =>
    send(
      '/par',
      {
        client_id: id,
        response_type: 'code',
        scope: 'openid phone',
        redirect_uri: redirectUri,
        ...fields,
      },
      headers,
    );

  const request: RelyingParty['request'] = async (fields = {}) => {
    const state = randomBytes(12).toString('base64url');
    const nonce = randomBytes(12).toString('base64url');
    const verifier = randomBytes(32).toString('base64url');
    const { status, body } = await push({
      state,
      nonce,
      code_challenge: hash('sha256', verifier, 'base64url'),
      code_challenge_method: 'S256',
      login_hint: hintFor(robot),
      ...fields,
    });
    if (typeof body.request_uri !== 'string')
      throw new Error(`par: ${status} ${JSON.stringify(body)}`);
    return { requestUri: body.request_uri, state, nonce, verifier };
  };

  const follow: RelyingParty['follow'] = async (made, browser = newBrowser()) => {
    const query = new URLSearchParams({ client_id: id, request_uri: made.requestUri });
    return { ...made, browser, page: await browser.open(`${issuerPath}/auth?${query}`) };
  };

  const visit: RelyingParty['visit'] = async (fields, browser) =>
    follow(await request(fields), browser);

  const confirm: RelyingParty['confirm'] = async ({ browser, page }, msisdn = robot) =>
    browser.settle(await browser.submit(page, 'number', { msisdn: `+${msisdn}` }));

  const logIn: RelyingParty['logIn'] = async (msisdn = robot, fields = {}, browser) => {
    const visited = await visit({ login_hint: hintFor(msisdn), ...fields }, browser);
    const { left, html, status } =
      visited.page.left === undefined ? await confirm(visited, msisdn) : visited.page;
    const code = left?.searchParams.get('code');
    if (code === null || code === undefined)
      throw new Error(`no code: ${status} ${left?.href ?? html}`);
    return { ...visited, code };
  };

  const redeem: RelyingParty['redeem'] = ({ code, verifier }) =>
    send('/token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    });

  return {
    id,
    issuer: `${origin}${issuerPath}`,
    send,
    push,
    request,
    visit,
    follow,
    confirm,
    logIn,
    redeem,
    tokens: async (msisdn, fields, browser) => {
      const { status, body } = await redeem(await logIn(msisdn, fields, browser));
      if (status !== 200) throw new Error(`token: ${status} ${JSON.stringify(body)}`);
      return body;
    },
    refresh: (token) => send('/token', { grant_type: 'refresh_token', refresh_token: token }),
    userinfo: async (token) =>
      answerOf(
        await fetch(`${product.url}${issuerPath}/userinfo`, {
          headers: { authorization: `Bearer ${token}` },
        }),
      ),
    introspect: (token) => send('/token/introspection', { token }),
    revoke: (token) => send('/token/revocation', { token }),
  };
};

/** The claims of a token that came straight from the token endpoint. */
export const claimsIn = (jwt: string): Json =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());

/** `code`, `error` and the like at the client's address. */
export const returned = (page: BrowserPage): Readonly<Record<string, string>> => {
  if (page.left === undefined)
    throw new Error(`The browser is still at ${page.url} (${page.status})`);
  return Object.fromEntries(page.left.searchParams);
};
