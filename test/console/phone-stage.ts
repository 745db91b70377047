/** A product that listens, and people who log in to its console with their phones. */
import { randomBytes } from 'node:crypto';
import { createSubjects } from '../../src/console-login/subjects.ts';
import { manyPrompts } from '../demo/visitor.ts';
import { type Browser, type BrowserPage, createBrowser } from '../oauth/browser-client.ts';
import { type Stage, startStage } from '../operators/stage.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import type { TestRedis } from '../support/redis.ts';

/** Signs at once. The first of a range of people who do. */
const firstSigner = 41_760_000_000;
/** Never looks at the phone. */
export const sleeper = '+41770000000';
/** Has nothing that signs. */
export const phoneless = '+41780000000';

export interface Back {
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
  /** Where it leads: `Location` or `Refresh`. */
  readonly to: string;
}

export interface PhoneStage extends Stage {
  readonly product: TestProduct;
  subjectOf(msisdn: string): string;
  /** A number that nobody else uses, whose phone signs at once. */
  somebody(): string;
  newBrowser(): Browser;
  /** From the console to the provider's page. */
  begin(browser: Browser, next?: string): Promise<BrowserPage>;
  /** To the address that the provider sends the browser back to, which is not opened. */
  sign(browser: Browser, page: BrowserPage, msisdn: string): Promise<string>;
  /** Opens an address of the console. */
  open(browser: Browser, address: string): Promise<Back>;
  logIn(browser: Browser, msisdn: string, next?: string): Promise<Back>;
  /** Who the console takes the browser for; undefined without a session. */
  whoIs(browser: Browser): Promise<unknown>;
}

const unlimited = { requests: 10_000, perSeconds: 1 };

export const startPhoneStage = async (
  redis: TestRedis,
  { oidc = {}, queue = {} }: { readonly oidc?: object; readonly queue?: object } = {},
): Promise<PhoneStage> => {
  const masterKey = randomBytes(32);
  const product = await startTestProduct(redis, {
    masterKey,
    listen: true,
    configuration: {
      subscribers: [
        { msisdn: String(firstSigner), through: String(firstSigner + 999), sim: {} },
        { msisdn: sleeper.slice(1), sim: { device: { kind: 'simulated', sign: 'never-answers' } } },
        { msisdn: phoneless.slice(1) },
      ],
      oidc: { limits: manyPrompts, ...oidc },
      operations: { logins: { perAddress: unlimited } },
      queue,
    },
  });
  const { prefix } = product.configuration.queue;
  const subjects = createSubjects(masterKey, product.configuration.operations.openid.tenant, () => ({
    version: 1,
    since: 0,
  }));
  let next = firstSigner;

  const open: PhoneStage['open'] = async (browser, address) => {
    const { status, headers, ...response } = await browser.request(address).then(async (answer) => ({
      status: answer.status,
      headers: answer.headers,
      html: await answer.text(),
    }));
    const to = headers.get('location') ?? headers.get('refresh')?.replace(/^0;url=/, '') ?? '';
    return { status, headers, to, html: response.html };
  };

  const begin: PhoneStage['begin'] = async (browser, wanted) => {
    const { to } = await open(
      browser,
      `/admin/login/oidc${wanted === undefined ? '' : `?next=${encodeURIComponent(wanted)}`}`,
    );
    return browser.open(to);
  };

  const sign: PhoneStage['sign'] = async (browser, page, msisdn) => {
    let end = await browser.settle(await browser.submit(page, 'number', { msisdn }));
    if (end.left === undefined) {
      // A page that says what went wrong, and leads back.
      const [, back] = /href="([^"]+\/return)"/.exec(end.html) ?? [];
      if (back === undefined) throw new Error(`the provider leads nowhere (${end.status})`);
      end = await browser.open(back);
    }
    if (end.left === undefined) throw new Error(`still at the provider (${end.status})`);
    return end.left.href;
  };

  return {
    ...startStage(redis.client(), prefix, {}, masterKey),
    product,
    subjectOf: (msisdn) => subjects(msisdn) ?? '',
    somebody: () => `+${next++}`,
    newBrowser: () => createBrowser({ origin: product.url }),
    begin,
    sign,
    open,
    logIn: async (browser, msisdn, wanted) =>
      open(browser, await sign(browser, await begin(browser, wanted), msisdn)),
    whoIs: async (browser) => {
      const answer = await browser.request('/admin/api/session');
      return answer.status === 200 ? await answer.json() : undefined;
    },
  };
};
