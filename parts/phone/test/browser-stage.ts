/** A phone in a real browser, at a product whose address has a name: passkeys belong to names. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { launchChromium, leave, withContext } from '../../../test/browser/chromium.ts';
import { freePort } from '../../../test/support/free-ports.ts';
import { phoneAdminOf } from '../../../test/support/phone-admin.ts';
import { startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import type { TestRedis } from '../../../test/support/redis.ts';
import type { SignOptions } from '../../../test/support/requests.ts';

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
 * Answers that the page asks for and understands; the browser reports them all the same. The demo
 * knows nothing of logins that a test has begun.
 */
const expected =
  /status of (?:401|403|409)|ERR_INTERNET_DISCONNECTED|ERR_FAILED|ERR_INCOMPLETE_CHUNKED_ENCODING|^\[DOM\] Password forms|status of 400 \(Bad Request\) \S*\/demo\/callback/;

interface UsedPhone {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly complaints: string[];
  enrolled?: Enrolled;
}

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
  /**
   * The same with a phone that tests use one after the other, because to set one up costs more than
   * most of them. It is ready, and so each of them leaves it: without an open prompt, with its PIN,
   * online.
   */
  withUsualPhone(use: (page: Page, phone: Enrolled) => Promise<void>): Promise<void>;
  /** @returns The id of a request of an application. */
  ask(msisdn: string, options?: SignOptions): Promise<string>;
  ended(id: string, as: string): Promise<void>;
  stop(): Promise<void>;
}

export const startBrowserStage = async (
  redis: TestRedis,
  configuration = {},
): Promise<BrowserStage> => {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const product = await startTestProduct(redis, {
    listen: true,
    port,
    configuration: { ...configuration, publicUrl: url },
  });
  const browser = await launchChromium();
  let last = 41_790_700_000;
  let usual: UsedPhone | undefined;

  const invite: BrowserStage['invite'] = async () => {
    last += 1;
    const invited = await phoneAdminOf(product).invite(String(last));
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

  /** A page that is no phone yet; it notes what the browser complains of. */
  const setUp = async (context: BrowserContext): Promise<UsedPhone> => {
    const complaints: string[] = [];
    const note = (text: string): void => {
      if (!expected.test(text)) complaints.push(text);
    };
    context.on('weberror', (error) => note(error.error().message));
    context.on('console', (message) => note(`${message.text()} ${message.location().url}`));
    return { context, page: await context.newPage(), complaints };
  };
  const useOne = async (
    { page, complaints }: UsedPhone,
    open: () => Promise<Enrolled>,
    use: (page: Page, phone: Enrolled) => Promise<void>,
  ): Promise<void> => {
    try {
      await use(page, await open());
    } catch (error) {
      // What a person would have seen says more than what was waited for.
      const shown = await page.locator('#view').textContent({ timeout: 1000 }).catch(String);
      const logged = product.logged.slice(-10).join('\n');
      throw new Error([`The page says: ${shown}`, ...complaints, logged].join('\n\n'), {
        cause: error,
      });
    }
    expect(complaints).toEqual([]);
  };
  const looks = { locale: 'en-GB', reducedMotion: 'reduce' } as const;

  const withUsualPhone: BrowserStage['withUsualPhone'] = async (use) => {
    const phone = usual ?? (await setUp(await browser.newContext(looks)));
    const open = async (): Promise<Enrolled> => {
      if (phone.enrolled === undefined) {
        phone.enrolled = await enrol(phone.page);
      } else {
        await phone.page.goto(`${url}/phone`);
        await heading(phone.page, 'Your phone is ready');
      }
      return phone.enrolled;
    };
    // Whatever a test leaves behind when it fails, the next one does not find it.
    usual = undefined;
    try {
      await useOne(phone, open, use);
      await leave(phone.context);
      usual = phone;
    } finally {
      if (usual === undefined) await phone.context.close();
    }
  };

  return {
    url,
    product,
    browser,
    invite,
    enrol,
    withUsualPhone,
    withPhone: (options, use) =>
      withContext(browser, { ...looks, ...options }, async (context) => {
        const phone = await setUp(context);
        await useOne(phone, () => enrol(phone.page), use);
      }),
    ask: (msisdn, options = {}) => product.submit({ msisdn, ...options }),
    ended: (id, as) => expect.poll(() => product.statusOf(id)).toBe(as),
    stop: async () => {
      await browser.close();
      await product.stop();
    },
  };
};
