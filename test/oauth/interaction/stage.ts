/** The sandbox's clients send people to a real product on a socket, and browsers log them in. */
import type { TestProduct } from '../../support/product.ts';
import type { Browser, BrowserPage } from '../browser-client.ts';
import { type Answer, relyingParty, type Visit } from '../interoperability/stage.ts';

export { claimsIn, hintFor, returned, robot, sleeper } from '../interoperability/stage.ts';

export interface Asking {
  /** `shop` is a public client that a test has configured. */
  readonly client?: 'demo' | 'demo-public' | 'shop';
  /** `login_hint`; without it the person types a number. */
  readonly hint?: string | undefined;
  readonly parameters?: Readonly<Record<string, string>>;
}

export interface Login extends Visit {
  /** Exchanges a code, as the client that asked. */
  redeem(code: string): Promise<Answer>;
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
  { origin = product.url, issuerPath = '/oidc', browser }: StageOptions = {},
): Promise<Login> => {
  const secret = client === 'demo' ? 'demo-secret' : undefined;
  const redirectUri = `${origin}/demo/callback`;
  const party = relyingParty(product, { id: client, secret, origin, issuerPath, redirectUri });
  const visit = await party.visit({ login_hint: hint, ...parameters }, browser);
  return { ...visit, redeem: (code) => party.redeem({ ...visit, code }) };
};

/** Path of the login's page. */
export const pathOf = (page: BrowserPage): string => new URL(page.url).pathname;
