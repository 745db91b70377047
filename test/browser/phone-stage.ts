/** A phone in a real browser, at a product whose address has a name: passkeys belong to names. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { freePort } from '../support/free-ports.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import type { TestRedis } from '../support/redis.ts';
import type { SignOptions } from '../support/requests.ts';
import { launchChromium, withContext } from './chromium.ts';

export const pin = '280464';

export const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name }).waitFor();
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

export const signWithPin = async (page: Page): Promise<void> => {
  await button(page, 'Sign').click();
  await page.getByLabel('Enter your PIN to sign').fill(pin);
  await page.keyboard.press('Enter');
};

interface Enrolled {
  readonly msisdn: string;
  readonly recoveryCode: string;
}

/**
 * Answers that the page asks for and understands; the browser reports them all the same. The demo knows nothing of logins
 * that a test has begun.
 */
const expected =
  /status of (?:401|403|409)|ERR_INTERNET_DISCONNECTED|ERR_FAILED|ERR_INCOMPLETE_CHUNKED_ENCODING|^\[DOM\] Password forms|status of 400 \(Bad Request\) \S*\/demo\/callback/;

export interface BrowserStage {
  readonly url: string;
  readonly product: TestProduct;
  readonly browser: Browser;
  /** @returns A link for a number that nobody else has. */
  invite(): Promise<{ readonly msisdn: string; readonly link: string }>;
  enrol(page: Page): Promise<Enrolled>;
  /** In a browser of its own, which must have nothing to complain about in the end. */
  withPhone(
    options: BrowserContextOptions,
    use: (page: Page, phone: Enrolled) => Promise<void>,
  ): Promise<void>;
  /** @returns The id of a request of an application. */
  ask(msisdn: string, options?: SignOptions): Promise<string>;
  ended(id: string, as: string): Promise<void>;
  stop(): Promise<void>;
}

export const startBrowserStage = async (redis: TestRedis, configuration = {}): Promise<BrowserStage> => {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const product = await startTestProduct(redis, {
    ...{ listen: true, port },
    configuration: { ...configuration, publicUrl: url },
  });
  const browser = await launchChromium();
  let last = 41_790_700_000;

  const invite: BrowserStage['invite'] = async () => {
    last += 1;
    const invited = await product.api.phoneAdmin.invite(String(last));
    if (invited.kind !== 'invited') throw new Error(invited.kind);
    return { msisdn: `+${last}`, link: invited.link };
  };

  const enrol: BrowserStage['enrol'] = async (page) => {
    const { msisdn, link } = await invite();
    await page.goto(link);
    await heading(page, 'Set up your phone');
    await page.getByLabel('PIN', { exact: true }).fill(pin);
    await page.getByLabel('PIN once more').fill(pin);
    await button(page, 'Set up with PIN').click();
    await heading(page, 'Write down your recovery code');
    const recoveryCode = (await page.locator('code').textContent()) ?? '';
    await button(page, 'I have written it down').click();
    await heading(page, 'Your phone is ready');
    return { msisdn, recoveryCode };
  };

  return {
    ...{ url, product, browser, invite, enrol },
    withPhone: (options, use) =>
      withContext(browser, { locale: 'en-GB', reducedMotion: 'reduce', ...options }, async (context) => {
        const complaints: string[] = [];
        const note = (text: string): void => {
          if (!expected.test(text)) complaints.push(text);
        };
        context.on('weberror', (error) => note(error.error().message));
        context.on('console', (message) => note(`${message.text()} ${message.location().url}`));
        const page = await context.newPage();
        try {
          await use(page, await enrol(page));
        } catch (error) {
          // What a person would have seen says more than what was waited for.
          const shown = await page.locator('#view').textContent({ timeout: 1000 }).catch(String);
          const logged = product.logged.slice(-10).join('\n');
          throw new Error([`The page says: ${shown}`, ...complaints, logged].join('\n\n'), { cause: error });
        }
        expect(complaints).toEqual([]);
      }),
    ask: (msisdn, options = {}) => product.submit({ msisdn, ...options }),
    ended: (id, as) => expect.poll(() => product.statusOf(id)).toBe(as),
    stop: async () => {
      await browser.close();
      await product.stop();
    },
  };
};
