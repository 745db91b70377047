/** A product that listens, and people who log in to its console with their phones. */
import { randomBytes } from 'node:crypto';
import { createSubjects } from '../../src/console/login/subjects.ts';
import { type Browser, type BrowserPage, createBrowser } from '../oauth/browser-client.ts';
import { manyPrompts, signIn } from '../oauth/sign-in.ts';
import { startTestProduct } from '../support/product.ts';
import type { TestRedis } from '../support/redis.ts';
import { startStage } from './operators/stage.ts';

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

export type PhoneStage = Awaited<ReturnType<typeof startPhoneStage>>;

const unlimited = { requests: 10_000, perSeconds: 1 };

export const startPhoneStage = async (
  redis: TestRedis,
  { oidc = {}, queue = {} }: { readonly oidc?: object; readonly queue?: object } = {},
) => {
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
  const subjects = createSubjects(
    masterKey,
    product.configuration.operations.openid.tenant,
    () => ({
      version: 1,
      since: 0,
    }),
  );
  let next = firstSigner;

  /** Opens an address of the console. */
  const open = async (browser: Browser, address: string): Promise<Back> => {
    const answer = await browser.request(address);
    const { status, headers } = answer;
    const to = headers.get('location') ?? headers.get('refresh')?.replace(/^0;url=/, '') ?? '';
    return { status, headers, to, html: await answer.text() };
  };

  /** From the console to the provider's page. */
  const begin = async (browser: Browser, wanted?: string): Promise<BrowserPage> => {
    const { to } = await open(
      browser,
      `/admin/login/oidc${wanted === undefined ? '' : `?next=${encodeURIComponent(wanted)}`}`,
    );
    return browser.open(to);
  };

  const sign = async (browser: Browser, page: BrowserPage, msisdn: string): Promise<string> =>
    (await signIn(browser, page, msisdn)).href;

  return {
    ...startStage(redis.client(), prefix, {}, masterKey),
    product,
    subjectOf: (msisdn: string) => subjects(msisdn) ?? '',
    /** A number that nobody else uses, whose phone signs at once. */
    somebody: () => `+${next++}`,
    newBrowser: () => createBrowser({ origin: product.url }),
    begin,
    sign,
    open,
    logIn: async (browser: Browser, msisdn: string, wanted?: string): Promise<Back> =>
      open(browser, await sign(browser, await begin(browser, wanted), msisdn)),
    /** Who the console takes the browser for; undefined without a session. */
    whoIs: async (browser: Browser): Promise<unknown> => {
      const answer = await browser.request('/admin/api/session');
      return answer.status === 200 ? await answer.json() : undefined;
    },
  };
};
