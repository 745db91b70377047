/** Clients that send people to a real product on a socket, and browsers that log them in. */
import { hash, randomBytes } from 'node:crypto';
import type { Json, TestProduct } from '../../support/product.ts';
import { type Browser, type BrowserPage, createBrowser } from '../browser-client.ts';

export interface Asking {
  /** `shop` is a public client that a test has configured. */
  readonly client?: 'demo' | 'demo-public' | 'demo-201' | 'shop';
  /** `login_hint`; without it the person types a number. */
  readonly hint?: string | undefined;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** The robot that signs everything at once. */
export const robot = '41700092501';
/** A person who never looks at the phone. */
export const sleeper = '41700092507';

export const hintFor = (...msisdns: readonly string[]): string =>
  JSON.stringify({
    enableManualInput: false,
    hints: msisdns.map((msisdn, index) => ({ msisdn: `+${msisdn}`, default: index === 0 })),
  });

const basic = `Basic ${Buffer.from('demo:demo-secret').toString('base64')}`;

export interface Login {
  readonly browser: Browser;
  /** What the browser shows when it has come from the client. */
  readonly page: BrowserPage;
  readonly state: string;
  /** Exchanges a code, as the client that asked. */
  redeem(code: string): Promise<{ readonly status: number; readonly body: Json }>;
}

export interface StageOptions {
  /** The public address, when it is not where the product listens. */
  readonly origin?: string;
  readonly issuerPath?: string;
  /** One that has been here before. */
  readonly browser?: Browser;
}

export const askForLogin = async (
  product: Pick<TestProduct, 'url'>,
  { client = 'demo', hint, parameters = {} }: Asking = {},
  {
    origin = product.url,
    issuerPath = '/oidc',
    browser = createBrowser({ origin, server: () => product.url }),
  }: StageOptions = {},
): Promise<Login> => {
  const isPublic = client === 'demo-public' || client === 'shop';
  const state = randomBytes(12).toString('base64url');
  const verifier = randomBytes(32).toString('base64url');
  const redirectUri = `${origin}/demo/callback`;
  const form = (fields: Readonly<Record<string, string>>) => ({
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(!isPublic && { authorization: basic }),
    },
    body: new URLSearchParams(fields).toString(),
  });
  const pushed = await fetch(
    `${product.url}${issuerPath}/par`,
    form({
      client_id: client,
      response_type: 'code',
      scope: 'openid phone',
      redirect_uri: redirectUri,
      state,
      nonce: randomBytes(12).toString('base64url'),
      code_challenge: hash('sha256', verifier, 'base64url'),
      code_challenge_method: 'S256',
      ...(hint !== undefined && { login_hint: hint }),
      ...parameters,
    }),
  );
  const answer = (await pushed.json()) as Json;
  if (answer.request_uri === undefined) throw new Error(`par: ${pushed.status} ${JSON.stringify(answer)}`);
  const query = new URLSearchParams({ client_id: client, request_uri: answer.request_uri });
  const page = await browser.open(`${issuerPath}/auth?${query}`);
  return {
    browser,
    page,
    state,
    redeem: async (code) => {
      const response = await fetch(
        `${product.url}${issuerPath}/token`,
        form({
          grant_type: 'authorization_code',
          code,
          redirect_uri: redirectUri,
          code_verifier: verifier,
          ...(isPublic && { client_id: client }),
        }),
      );
      return { status: response.status, body: await response.json() };
    },
  };
};

/** The claims of a token that came straight from the token endpoint. */
export const claimsIn = (jwt: string): Json =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());

/** `code`, `error` and the like at the client's address. */
export const returned = (page: BrowserPage): Readonly<Record<string, string>> => {
  if (page.left === undefined) throw new Error(`The browser is still at ${page.url} (${page.status})`);
  return Object.fromEntries(page.left.searchParams);
};

/** Path of the login's page. */
export const pathOf = (page: BrowserPage): string => new URL(page.url).pathname;
