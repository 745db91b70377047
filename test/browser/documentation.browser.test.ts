/**
 * The reference in a real browser: it stands alone, fits a phone, can be read in the dark and
 * without a mouse.
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { launchChromium, withContext } from './chromium.ts';
import {
  background,
  brokenLinks,
  focused,
  openAll,
  poorContrasts,
  repeatedIds,
  widths,
} from './in-page.mjs';

const redis = testRedis();
let product: TestProduct;
let browser: Browser;

beforeAll(async () => {
  product = await startTestProduct(redis, { workers: false, listen: true });
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await product?.stop();
});

/**
 * Opens the page in a browser that knows nothing yet; it is closed when the test is done with it.
 */
const withPage = async (
  options: BrowserContextOptions,
  use: (page: Page) => Promise<void>,
): Promise<void> => {
  await withContext(browser, options, async (context) => {
    const page = await context.newPage();
    await use(page);
  });
};

const open = (page: Page) => page.goto(`${product.url}/docs`);

describe('the reference in a browser', () => {
  it('asks nobody but the service itself, and has nothing to complain about', async () => {
    await withPage({}, async (page) => {
      const requested: string[] = [];
      const complaints: string[] = [];
      page.on('request', (request) => requested.push(request.url()));
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      await open(page);
      await page.waitForLoadState('networkidle');
      const outside = requested.filter(
        (url) => !url.startsWith(`${product.url}/`) && !url.startsWith('data:'),
      );
      expect(outside).toEqual([]);
      expect(requested).toContain(`${product.url}/docs`);
      expect(complaints).toEqual([]);
    });
  });

  it('fits windows of 320, 360, 768 and 1280 pixels without moving sideways', async () => {
    await withPage({}, async (page) => {
      await open(page);
      await page.evaluate(openAll);
      for (const width of [320, 360, 768, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        const { content, window } = await page.evaluate(widths);
        expect(window).toBe(width);
        expect(content).toBeLessThanOrEqual(window);
      }
    });
  });

  it('lets a wide table move in its own box, by keyboard too', async () => {
    await withPage({ viewport: { width: 360, height: 740 } }, async (page) => {
      await open(page);
      const box = page.getByRole('region', { name: 'Fault codes' });
      await box.focus();
      await page.keyboard.press('ArrowRight');
      await expect.poll(() => box.evaluate((element) => element.scrollLeft)).toBeGreaterThan(0);
    });
  });

  it('has enough contrast in the light and in the dark, each in its own colours', async () => {
    const backgrounds: string[] = [];
    await withPage({}, async (page) => {
      await open(page);
      await page.evaluate(openAll);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await page.evaluate(poorContrasts)).toEqual([]);
        backgrounds.push(await page.evaluate(background));
      }
    });
    // Transparent would mean that the style sheet was not let in.
    expect(backgrounds).not.toContain('rgba(0, 0, 0, 0)');
    expect(new Set(backgrounds).size).toBe(2);
  });

  it('offers the keyboard a way past the contents, and shows where it is', async () => {
    await withPage({}, async (page) => {
      await open(page);
      await page.keyboard.press('Tab');
      expect((await page.evaluate(focused)).text).toBe('Skip to content');
      const skip = page.getByRole('link', { name: 'Skip to content' });
      expect((await skip.boundingBox())?.y).toBeGreaterThanOrEqual(0);
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expect(await page.evaluate(focused)).toMatchObject({ inMain: true, outline: 'solid' });
    });
  });

  it('has landmarks, and links within the page that lead somewhere', async () => {
    await withPage({}, async (page) => {
      await open(page);
      for (const role of ['banner', 'navigation', 'main', 'contentinfo'] as const) {
        expect(await page.getByRole(role).count()).toBe(1);
      }
      expect(await page.evaluate(brokenLinks)).toEqual([]);
      expect(await page.evaluate(repeatedIds)).toEqual([]);
    });
  });

  it('works without JavaScript', async () => {
    await withPage({ javaScriptEnabled: false }, async (page) => {
      await open(page);
      await page.getByRole('navigation').getByRole('link', { name: 'Faults' }).click();
      expect(page.url()).toBe(`${product.url}/docs#faults`);
      const example = page
        .locator('details', { hasText: 'Approve a transaction in the App' })
        .first();
      await example.locator('summary').click();
      expect(await example.locator('pre').isVisible()).toBe(true);
    });
  });

  it('shows a first signature that can be pasted into a shell', async () => {
    await withPage({}, async (page) => {
      await open(page);
      const command = await page
        .locator('section[aria-labelledby="first-signature"] pre')
        .textContent();
      const body = /<<'END'\n(.*)\nEND/s.exec(command ?? '')?.[1] ?? '';
      expect(Object.keys(JSON.parse(body))).toEqual(['MSS_SignatureReq']);
    });
  });
});
