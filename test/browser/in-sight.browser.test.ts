/**
 * The pages of people who sign, on a small phone (375 × 667): the button that signs or sends is in
 * sight, without a keyboard and above one, which leaves about 320 px; and all of it with text of
 * twice the size.
 */
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyTaskPage } from '../../parts/processes/test/tasks/every-task-page.ts';
import { everyPage } from '../oauth/pages/every-page.ts';
import { complaintsOfAxe } from './axe.ts';
import { chromiumOptions, launchChromium, withContext } from './chromium.ts';
import { widths } from './in-page.mjs';
import { type PageServer, servePages } from './page-server.ts';

const pages = new Map([...everyTaskPage, ...everyPage]);
const open = [...everyTaskPage.keys()].filter(
  (name) => name.startsWith('open') && name !== 'open exhausted',
);
/** A page that shows a code for another device is begun at the top. */
const numbers = [...everyPage.keys()].filter(
  (name) => name.startsWith('number') && !name.includes('phone'),
);
const codes = [...everyPage.keys()].filter((name) => name.startsWith('code'));

let server: PageServer;
let browser: Browser;
let largeText: Browser;

beforeAll(async () => {
  server = await servePages(pages);
  browser = await launchChromium();
  const options = chromiumOptions();
  // What a person has chosen in the settings of the browser: 16 px are usual.
  const args = [...(options.args ?? []), '--blink-settings=defaultFontSize=32'];
  largeText = await chromium.launch({ ...options, args });
});

afterAll(async () => {
  await browser?.close();
  await largeText?.close();
  server?.close();
});

const withPage = (
  of: Browser,
  height: number,
  name: string,
  use: (page: Page) => Promise<void>,
): Promise<void> => {
  const viewport = { width: 375, height };
  const look = { viewport, hasTouch: true, isMobile: true, reducedMotion: 'reduce' } as const;
  return withContext(of, look, async (context) => {
    const page = await context.newPage();
    await page.goto(server.addressOf(name));
    await use(page);
  });
};

/** Whether a finger meets this button of the page, without scrolling. */
const isInSight = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].some((button) => {
    const { left, top, right, bottom } = button.getBoundingClientRect();
    const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return top >= 0 && bottom <= innerHeight && button.contains(found);
  })`);

const openDetails = "document.querySelectorAll('details').forEach((each) => { each.open = true })";

describe('on a screen of 375 × 667', () => {
  it.each([...open, ...numbers, ...codes])('the button is in sight: %s', async (name) => {
    await withPage(browser, 667, name, async (page) => {
      expect(await isInSight(page, 'button.primary')).toBe(true);
      expect(await page.evaluate('scrollY')).toBe(0);
    });
  });

  it.each([
    ...open.map((name) => [name, 'textarea', '.other form .secondary'] as const),
    ...[...numbers, ...codes].map(
      (name) => [name, 'input[type=tel], .digits', '.primary'] as const,
    ),
  ])('it is in sight while a keyboard leaves 320 px: %s', async (name, field, button) => {
    await withPage(browser, 667, name, async (page) => {
      await page.evaluate(openDetails);
      const typed = page.locator(field);
      // Where a number is chosen, nothing is typed.
      if ((await typed.count()) === 0) return;
      await typed.last().tap();
      await page.setViewportSize({ width: 375, height: 320 });
      // A browser brings the field that has the focus back into sight.
      await page.evaluate('document.activeElement.scrollIntoView({ block: "nearest" })');
      expect(await isInSight(page, button)).toBe(true);
      expect(await page.evaluate('document.activeElement.matches("input, textarea")')).toBe(true);
    });
  });
});

describe('with text of twice the size', () => {
  it.each([
    ['of tasks', everyTaskPage],
    ['of logins', everyPage],
  ])(
    'every page %s fits the screen and gives axe no complaint',
    async (_, group) => {
      await withPage(largeText, 667, 'open', async (page) => {
        for (const name of group.keys()) {
          await page.goto(server.addressOf(name));
          const size = 'getComputedStyle(document.documentElement).fontSize';
          expect([name, await page.evaluate(size)]).toEqual([name, '32px']);
          await page.evaluate(openDetails);
          const { content, window } = await page.evaluate(widths);
          expect(content, name).toBeLessThanOrEqual(window);
          expect([name, await complaintsOfAxe(page)]).toEqual([name, []]);
        }
      });
    },
    300_000,
  );

  it.each(open)('Sign is in sight, and what has the focus is not behind it: %s', async (name) => {
    await withPage(largeText, 667, name, async (page) => {
      expect(await isInSight(page, '.reach button')).toBe(true);
      await page.evaluate(openDetails);
      const stops = await page.locator('main button, main summary, main textarea').count();
      for (let stop = 0; stop < stops; stop += 1) {
        await page.keyboard.press('Tab');
        const isSeen = `(() => {
          const { left, top, right, bottom } = document.activeElement.getBoundingClientRect();
          const y = Math.min(Math.max((top + bottom) / 2, 0), innerHeight - 1);
          const found = document.elementFromPoint((left + right) / 2, y);
          return document.activeElement.contains(found);
        })()`;
        await expect.poll(() => page.evaluate(isSeen)).toBe(true);
      }
    });
  });

  it('a screen reader meets the heading, the text, the button and the way to decline, in this order', async () => {
    await withPage(largeText, 667, 'open', async (page) => {
      await page.evaluate(openDetails);
      const tree = await page.locator('main').ariaSnapshot();
      const at = [
        'heading "Ihre Unterschrift',
        'Contract 4711: I agree',
        'button "Unterschreiben"',
        'textbox "Grund (freiwillig)"',
        'button "Nicht unterschreiben"',
      ].map((each) => tree.indexOf(each));
      expect(at).not.toContain(-1);
      expect(at).toEqual(at.toSorted((a, b) => a - b));
    });
  });
});
