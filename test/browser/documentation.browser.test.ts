/**
 * The reference in a real browser: it asks nobody else, sends requests to the service, fits a phone
 * and can be read in the dark.
 */
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { launchChromium, withContext } from './chromium.ts';
import { background, widths } from './in-page.mjs';

const redis = testRedis();
let product: TestProduct;
let browser: Browser;

beforeAll(async () => {
  product = await startTestProduct(redis, { listen: true });
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await product?.stop();
});

const withPage = (
  options: BrowserContextOptions,
  use: (page: Page) => Promise<void>,
): Promise<void> =>
  withContext(browser, options, async (context) => {
    await use(await context.newPage());
  });

/** Opens the page; the last chapter of the description is there when it is drawn. */
const open = async (page: Page): Promise<void> => {
  await page.goto(`${product.url}/docs`);
  await page.getByRole('heading', { name: 'Test numbers' }).waitFor();
};

const openOperation = async (page: Page): Promise<void> => {
  await open(page);
  await page.getByRole('link', { name: /^Ask a person to sign/ }).click();
  await page.getByRole('button', { name: /^Test Request.*service\/sign/ }).waitFor();
};

const complaintsOfAxe = async (page: Page): Promise<readonly string[]> => {
  // The policy of the page lets no inline script in, and the debugger's own scripts pass.
  await page.evaluate(axe.source);
  return page.evaluate(`axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
    .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, any }) => html.slice(0, 150) + any.map(({ message }) => message)).join(' ')))`);
};

describe('the reference in a browser', () => {
  it('asks nobody but the service itself, and breaks no rule of its policy that it tells about', async () => {
    await withPage({}, async (page) => {
      const requested: string[] = [];
      const complaints: string[] = [];
      page.on('request', (request) => requested.push(request.url()));
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      await openOperation(page);
      expect(requested.filter((url) => !url.startsWith('data:')).toSorted()).toEqual([
        `${product.url}/docs`,
        `${product.url}/docs/reference.js`,
        `${product.url}/openapi.json`,
      ]);
      expect(complaints.filter((text) => !text.startsWith('@scalar/api-reference@'))).toEqual([]);
    });
  });

  it('sends an example to the service and shows the signature', async () => {
    await withPage({ viewport: { width: 1280, height: 900 } }, async (page) => {
      await openOperation(page);
      await page.getByRole('button', { name: /^Test Request.*service\/sign/ }).click();
      const answer = page.waitForResponse(`${product.url}/rest/service/sign`);
      await page.getByRole('dialog').getByRole('button', { name: /^Send/ }).first().click();
      expect((await answer).status()).toBe(200);
      await page.getByRole('dialog').getByText('Base64Signature').first().waitFor();
    });
  });

  it('finds an operation by a word', async () => {
    await withPage({ viewport: { width: 1280, height: 900 } }, async (page) => {
      await open(page);
      await page.getByRole('button', { name: /Search/ }).click();
      await page.keyboard.type('receipt');
      await page
        .getByRole('dialog')
        .getByText('Show a receipt after a signature')
        .first()
        .waitFor();
    });
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('can be read in the %s at %i pixels', async (colorScheme, width) => {
    await withPage({ colorScheme, viewport: { width, height: 844 } }, async (page) => {
      await open(page);
      expect(await complaintsOfAxe(page)).toEqual([]);
      const { content, window } = await page.evaluate(widths);
      expect(content).toBeLessThanOrEqual(window);
      expect(await page.evaluate(background)).toBe(
        colorScheme === 'light' ? 'rgb(252, 251, 248)' : 'rgb(18, 21, 27)',
      );
      if (width === 390) {
        await page.getByRole('heading', { name: 'Signature profiles' }).scrollIntoViewIfNeeded();
        return;
      }
      await page.getByRole('link', { name: /^Ask a person to sign/ }).click();
      await page.getByRole('button', { name: /^Test Request.*service\/sign/ }).waitFor();
      expect(await complaintsOfAxe(page)).toEqual([]);
    });
  });

  it('says where the interface is described to a browser without JavaScript', async () => {
    await withPage({ javaScriptEnabled: false }, async (page) => {
      await page.goto(`${product.url}/docs`);
      await page.getByRole('link', { name: '/openapi.json' }).click();
      expect(page.url()).toBe(`${product.url}/openapi.json`);
    });
  });
});
