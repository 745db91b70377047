/**
 * The pages of people who sign, on a small phone (375 × 667): the button that signs or sends is in
 * sight, without a keyboard and above one, which leaves about 320 px; and all of it with text of
 * twice the size.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyTaskPage } from '../../parts/processes/test/tasks/every-task-page.ts';
import { serveAsset } from '../../src/http/pages/assets.ts';
import { pageHeaders } from '../../src/http/pages/headers.ts';
import { frameOf } from '../http/pages/page-contract.ts';
import { everyPage } from '../oauth/pages/every-page.ts';
import { chromiumOptions, launchChromium, withContext } from './chromium.ts';
import { widths } from './in-page.mjs';

const branding = { color: '#1f5fbf', logoSvg: undefined };
const pages = new Map([...everyTaskPage, ...everyPage]);
const open = [...everyTaskPage.keys()].filter(
  (name) => name.startsWith('open') && name !== 'open exhausted',
);
/** A page that shows a code for another device is begun at the top. */
const numbers = [...everyPage.keys()].filter(
  (name) => name.startsWith('number') && !name.includes('phone'),
);
const codes = [...everyPage.keys()].filter((name) => name.startsWith('code'));

let server: Server;
let origin: string;
let browser: Browser;
let largeText: Browser;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://here');
    if (pathname === '/page') {
      const page = pages.get(searchParams.get('name') ?? '')?.(frameOf('de')) ?? '';
      response.writeHead(200, { ...pageHeaders, 'content-type': 'text/html;charset=UTF-8' });
      // Without the reload that leaves at once: such a page could not be looked at.
      response.end(page.replace(/<meta http-equiv="refresh" content="0[^>]*>/, ''));
      return;
    }
    const name = pathname.replace('/oidc/assets/', '');
    const asset = serveAsset(name, branding, { query: '', ifNoneMatch: undefined });
    const type = asset?.headers.get('content-type') ?? 'text/plain';
    response.writeHead(asset === undefined ? 404 : 200, { ...pageHeaders, 'content-type': type });
    response.end(await asset?.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await launchChromium();
  const options = chromiumOptions();
  // What a person has chosen in the settings of the browser: 16 px are usual.
  const args = [...(options.args ?? []), '--blink-settings=defaultFontSize=32'];
  largeText = await chromium.launch({ ...options, args });
});

afterAll(async () => {
  await browser?.close();
  await largeText?.close();
  server?.closeAllConnections();
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
    await page.goto(`${origin}/page?${new URLSearchParams({ name })}`);
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
  it.each([...pages.keys()])('%s fits the screen and gives axe no complaint', async (name) => {
    await withPage(largeText, 667, name, async (page) => {
      expect(
        await page.evaluate('parseFloat(getComputedStyle(document.documentElement).fontSize)'),
      ).toBe(32);
      await page.evaluate(openDetails);
      const { content, window } = await page.evaluate(widths);
      expect(content).toBeLessThanOrEqual(window);
      await page.evaluate(axe.source);
      const complaints =
        await page.evaluate(`axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
        .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);
      expect(complaints).toEqual([]);
    });
  });

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
