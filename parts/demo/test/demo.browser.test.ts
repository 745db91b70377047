/**
 * A newcomer's first login in a real browser: from the demo's first page over the login page to the
 * claims, and each way in which it can end otherwise.
 */
import { randomBytes } from 'node:crypto';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withContext } from '../../../test/browser/chromium.ts';
import { background, poorContrasts, repeatedIds, widths } from '../../../test/browser/in-page.mjs';
import { manyPrompts } from '../../../test/oauth/sign-in.ts';
import { startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';

const robot = '+41700092501';
const sleeper = '+41700092507';

const redis = testRedis();
const masterKey = randomBytes(32);
let product: TestProduct;
let browser: Browser;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: { oidc: { limits: manyPrompts } },
    masterKey,
    listen: true,
  });
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await product?.stop();
});

/**
 * What the browser complains of, but for answers of the demo whose status says on purpose that
 * something is wrong.
 */
const complaintsIn = (context: BrowserContext): readonly string[] => {
  const complaints: string[] = [];
  context.on('console', (message) => {
    const { url } = message.location();
    const isStatus = /status of 4\d\d/.test(message.text()) && url.includes('/demo/');
    if (!isStatus) complaints.push(`${message.text()} ${url}`);
  });
  context.on('weberror', (error) => complaints.push(error.error().message));
  return complaints;
};

/**
 * A browser that knows nothing yet, at the first page; it must have nothing to complain about in
 * the end.
 */
const withVisitor = async (
  options: BrowserContextOptions,
  use: (page: Page) => Promise<void>,
  service = product,
): Promise<void> => {
  await withContext(browser, { locale: 'en-GB', ...options }, async (context) => {
    const complaints = complaintsIn(context);
    const outside: string[] = [];
    context.on('request', (request) => {
      const { port } = new URL(service.url);
      if (new URL(request.url()).port !== port) outside.push(request.url());
    });
    const page = await context.newPage();
    await page.goto(`${service.url}/demo`);
    await use(page);
    expect(complaints).toEqual([]);
    expect(outside).toEqual([]);
  });
};

/** Goes from the first page to the login page. */
const begin = async (page: Page, number = robot): Promise<void> => {
  await page.getByLabel('Number', { exact: true }).selectOption(number);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('link', { name: 'Continue to the login page' }).click();
  await page.waitForURL(/\/oidc\/interaction\//);
};

/** The button that has the phone asked. */
const confirm = (page: Page): Promise<void> =>
  page.locator('form[action$="/number"]').getByRole('button').first().click();

const heading = (page: Page) => page.getByRole('heading', { level: 1 });

const callback = /\/demo\/callback\?/;

describe('the demo in a browser', () => {
  it.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('logs the robot in and shows the claims (%s)', async (_words, javaScriptEnabled) => {
    await withVisitor({ javaScriptEnabled }, async (page) => {
      await begin(page);
      await confirm(page);
      await page.waitForURL(callback);
      expect(await heading(page).textContent()).toBe('Logged in');
      const text = (await page.locator('main').textContent()) ?? '';
      expect(text).toContain(`"phone_number": "${robot}"`);
      expect(text).not.toContain('✗');
      expect(await page.getByText('✓ passed').count()).toBeGreaterThan(10);
    });
  });

  it('goes straight through to the login page, and shows the first steps afterwards', async () => {
    await withVisitor({}, async (page) => {
      await page.getByLabel(/Go straight to the login page/).check();
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.waitForURL(/\/oidc\/interaction\//);
      await confirm(page);
      await page.waitForURL(callback);
      await page.getByText('Steps 1 and 2').click();
      expect(await page.getByText('code_challenge_method').isVisible()).toBe(true);
    });
  });

  it('works by keyboard alone', async () => {
    await withVisitor({}, async (page) => {
      await page.getByLabel('Number', { exact: true }).focus();
      await page.getByRole('button', { name: 'Log in' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Continue to the login page' }).focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/oidc\/interaction\//);
      await page.locator('form[action$="/number"]').getByRole('button').first().focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(callback);
    });
  });

  it('logs out, and is back at the beginning', async () => {
    await withVisitor({}, async (page) => {
      await begin(page);
      await confirm(page);
      await page.waitForURL(callback);
      await page.getByRole('link', { name: 'Log out' }).click();
      await page.getByRole('button').first().click();
      await page.waitForURL(`${product.url}/demo`);
    });
  });

  // demo.test.ts has every fault, over HTTP. In a browser there are two kinds of pages that say
  // what went wrong.
  it.each([401, 900])('comes back with an explanation of fault %i', async (code) => {
    await withVisitor({}, async (page) => {
      await begin(page, `+41000092${code}`);
      await confirm(page);
      const back = page.locator('a[href$="/return"]');
      await back.click();
      await page.waitForURL(callback);
      expect(await heading(page).textContent()).toBe('Not logged in');
      const text = (await page.locator('main').textContent()) ?? '';
      expect(text).toMatch(/(access_denied|server_error), code (auth_3\d{3}|sys_9900): mid_/);
    });
  });

  it('comes back when a login that nobody answers is cancelled', async () => {
    await withVisitor({}, async (page) => {
      await begin(page, sleeper);
      await confirm(page);
      const cancel = page.locator('form[action$="/cancel"]').getByRole('button');
      await page.locator('[role="status"], [aria-live]').first().waitFor({ state: 'attached' });
      await cancel.click();
      await page.waitForURL(callback);
      expect(await heading(page).textContent()).toBe('Not logged in');
      expect(await page.locator('main').textContent()).toContain('code auth_3010');
    });
  });
});

describe('the demo when things are slow, or somewhere else', () => {
  it('comes back when nobody answers in time', async () => {
    const impatient = await startTestProduct(redis, {
      configuration: { oidc: { promptSeconds: 2 } },
      masterKey,
      listen: true,
    });
    try {
      await withVisitor(
        {},
        async (page) => {
          await begin(page, sleeper);
          await confirm(page);
          await page.locator('a[href$="/return"]').click();
          await page.waitForURL(callback);
          expect(await page.locator('main').textContent()).toContain('code auth_3300');
        },
        impatient,
      );
    } finally {
      await impatient.stop();
    }
  });

  it('asks once more when it was opened by another name, and then logs in', async () => {
    await withVisitor({}, async (page) => {
      await page.goto(`${product.url.replace('127.0.0.1', 'localhost')}/demo`);
      await page.getByLabel('Number', { exact: true }).selectOption('+41700092502');
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText('Please send it once more').waitFor();
      expect(page.url()).toBe(`${product.url}/demo/start`);
      expect(await page.getByLabel('Number', { exact: true }).inputValue()).toBe('+41700092502');
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('link', { name: 'Continue to the login page' }).click();
      await confirm(page);
      await page.waitForURL(callback);
      expect(await heading(page).textContent()).toBe('Logged in');
    });
  });
});

describe('the pages of the demo', () => {
  const states: readonly (readonly [string, (page: Page) => Promise<void>])[] = [
    ['the first page', async (page) => page.getByText('Options').click()],
    ['the pushed request', async (page) => page.getByRole('button', { name: 'Log in' }).click()],
    [
      'a refused request',
      async (page) => {
        await page.getByLabel('or another one').fill('12');
        await page.getByRole('button', { name: 'Log in' }).click();
      },
    ],
    [
      'a complete login',
      async (page) => {
        await begin(page);
        await confirm(page);
        await page.waitForURL(callback);
        await page.getByText('Steps 1 and 2').click();
      },
    ],
    [
      'an answer to nothing',
      async (page) => void (await page.goto(`${product.url}/demo/callback?code=x`)),
    ],
  ];

  it.each(states)(
    '%s fits a small phone and can be read, in the light and in the dark',
    async (_name, reach) => {
      await withVisitor({ viewport: { width: 320, height: 700 } }, async (page) => {
        await reach(page);
        await page.waitForLoadState();
        const backgrounds = new Set<string>();
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const { content, window } = await page.evaluate(widths);
          expect(content).toBeLessThanOrEqual(window);
          expect(await page.evaluate(poorContrasts)).toEqual([]);
          backgrounds.add(await page.evaluate(background));
        }
        // Each has its own colours.
        expect(backgrounds.size).toBe(2);
        expect(await page.evaluate(repeatedIds)).toEqual([]);
        expect(await heading(page).count()).toBe(1);
        for (const role of ['banner', 'main', 'contentinfo'] as const) {
          expect(await page.getByRole(role).count()).toBe(1);
        }
      });
    },
  );
});
