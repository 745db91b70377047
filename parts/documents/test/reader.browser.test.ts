/** The page on which a document is read, in a browser, behind the policy that it is served with. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complaintsOfAxe } from '../../../test/browser/axe.ts';
import { launchChromium, withContext } from '../../../test/browser/chromium.ts';
import { poorContrasts, repeatedIds, widths } from '../../../test/browser/in-page.mjs';
import { testRedis } from '../../../test/support/redis.ts';
import { type ReaderStage, startReaderStage } from './reader-stage.ts';
import { makePages } from './stage.ts';

const redis = testRedis();
let stage: ReaderStage;
let browser: Browser;
let path: string;

const lines = (page: number): readonly string[] => [
  `Lease of a flat, page ${page}`,
  'Between Anna Muster and Housing Ltd',
  `Paragraph ${page}: the rent is CHF 1250.00`,
];
const pages = 12;

beforeAll(async () => {
  [stage, browser] = await Promise.all([startReaderStage(redis), launchChromium()]);
  const numbers = Array.from({ length: pages }, (_, index) => index + 1);
  ({ path } = await stage.begin('read', makePages(numbers.map(lines))));
});
afterAll(async () => {
  await browser?.close();
  await stage?.product.stop();
});

const withReader = (
  options: BrowserContextOptions,
  use: (page: Page, complaints: readonly string[]) => Promise<void>,
): Promise<void> =>
  withContext(browser, { reducedMotion: 'reduce', ...options }, async (context) => {
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${stage.product.url}${path}/documents/1`);
    await use(page, complaints);
  });

const drawn = (page: Page, number: number) =>
  page.locator(`.page:nth-child(${number}) canvas`).waitFor({ state: 'attached' });
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const desk = { viewport: { width: 1280, height: 900 } };

/** How many dark pixels the picture of a page has: an empty one has none. */
const inkOf = (page: Page, number: number): Promise<number> =>
  page.evaluate(`(() => {
    const canvas = document.querySelector('.page:nth-child(${number}) canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let dark = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at] < 128 && data[at + 3] > 128) dark += 1;
    return dark;
  })()`);

describe('a document in a browser', () => {
  it.each([
    ['light', 'a phone', phone],
    ['dark', 'a phone', phone],
    ['light', 'a desk', desk],
    ['dark', 'a desk', desk],
  ] as const)(
    'can be read in the %s on %s, and gives axe no cause',
    async (colorScheme, _, look) => {
      await withReader({ ...look, colorScheme, locale: 'de' }, async (page, complaints) => {
        await drawn(page, 1);
        expect(await inkOf(page, 1)).toBeGreaterThan(200);
        expect(await complaintsOfAxe(page)).toEqual([]);
        expect(await page.evaluate(poorContrasts)).toEqual([]);
        expect(await page.evaluate(repeatedIds)).toEqual([]);
        const { content, window } = await page.evaluate(widths);
        expect(content).toBeLessThanOrEqual(window);
        expect(complaints).toEqual([]);
      });
    },
  );

  it('draws pages when they come near, and has the text of each above its picture', async () => {
    await withReader(desk, async (page, complaints) => {
      await drawn(page, 1);
      expect(await page.locator('.page').count()).toBe(pages);
      expect(await page.locator('.page:nth-child(12) canvas').count()).toBe(0);
      const first = page.getByRole('region', { name: 'Page 1 of 12' });
      await first.getByText('Paragraph 1: the rent is CHF 1250.00').waitFor();
      await page.locator('.page:nth-child(12)').scrollIntoViewIfNeeded();
      await drawn(page, 12);
      await page.getByText('Paragraph 12: the rent').waitFor();
      expect(await inkOf(page, 12)).toBeGreaterThan(200);
      await page.getByText('Page 12 of 12', { exact: true }).waitFor();
      // The picture of the first one was thrown away, and comes again.
      expect(await page.locator('.page:nth-child(1) canvas').count()).toBe(0);
      await page.locator('.page:nth-child(1)').scrollIntoViewIfNeeded();
      await drawn(page, 1);
      expect(complaints).toEqual([]);
    });
  });

  it('can be selected: the text is where its picture is', async () => {
    await withReader(desk, async (page) => {
      await drawn(page, 1);
      const first = page.locator('.page:nth-child(1)');
      const line = first.getByText('Between Anna Muster and Housing Ltd');
      await line.waitFor();
      const box = await line.boundingBox();
      const sheet = await first.boundingBox();
      if (box === null || sheet === null) throw new Error('It is not seen');
      const scale = sheet.width / 595;
      expect(box.x - sheet.x).toBeGreaterThan(70 * scale);
      expect(box.x - sheet.x).toBeLessThan(75 * scale);
      expect(box.width).toBeGreaterThan(300 * scale);
      await line.click({ clickCount: 3 });
      expect(await page.evaluate('String(getSelection())')).toContain('Between Anna Muster');
    });
  });

  it('is made larger and smaller with the keyboard and by buttons', async () => {
    await withReader(phone, async (page) => {
      await drawn(page, 1);
      const width = async () =>
        (await page.locator('.page:nth-child(1)').boundingBox())?.width ?? 0;
      const before = await width();
      expect(before).toBeLessThanOrEqual(390);
      await page.getByRole('button', { name: 'Larger' }).click();
      expect(await width()).toBeCloseTo(before * 1.25, 0);
      await page.keyboard.press('+');
      expect(await width()).toBeCloseTo(before * 1.5, 0);
      // What is wider than the phone moves within its box, and the page around it does not.
      const { content, window } = await page.evaluate(widths);
      expect(content).toBeLessThanOrEqual(window);
      await page.keyboard.press('0');
      expect(await width()).toBeCloseTo(before, 0);
      await page.getByRole('button', { name: 'Smaller' }).click();
      expect(await width()).toBeCloseTo(before * 0.8, 0);
    });
  });

  it('is reached from the page of the signer with the keyboard, and back', async () => {
    await withReader({ ...desk, locale: 'en' }, async (page) => {
      await page.getByRole('link', { name: 'Back to signing' }).click();
      await page.getByRole('button', { name: 'Sign' }).waitFor();
      await page.getByRole('link', { name: 'Read the document' }).focus();
      await page.keyboard.press('Enter');
      await drawn(page, 1);
    });
  });

  it('is a link to the PDF without scripts', async () => {
    await withReader({ ...desk, javaScriptEnabled: false }, async (page) => {
      const link = page.getByRole('link', { name: 'Download the PDF' });
      expect(await link.getAttribute('href')).toBe(`${path}/documents/1/content`);
      expect(await page.getByText('is being loaded').isVisible()).toBe(false);
    });
  });
});
