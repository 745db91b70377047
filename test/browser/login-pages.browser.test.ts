/** The login's pages in a real browser, behind the policy that they are served with. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { renderSVG } from 'uqr';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { serveAsset } from '../../src/http/pages/assets.ts';
import { pageHeaders } from '../../src/http/pages/headers.ts';
import type { PageLanguage } from '../../src/http/pages/languages.ts';
import { frameOf } from '../http/pages/page-contract.ts';
import { everyPage } from '../oauth/pages/every-page.ts';
import { launchChromium, withContext } from './chromium.ts';
import { background, focused, poorContrasts, repeatedIds, widths } from './in-page.mjs';

const branding = {
  color: '#ffd400',
  logoSvg:
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 30"><rect width="90" height="30"/></svg>',
};

let server: Server;
let origin: string;
let browser: Browser;

/**
 * What the server does when the waiting page asks; each test begins with a stream that stays
 * silent.
 */
let streams: ServerResponse[] = [];
let refuseStreams = false;
let state: 'open' | 'ended' = 'open';
let loads = 0;
let asked = 0;

const answer = (response: ServerResponse, type: string, body: string): void => {
  response.writeHead(200, { ...pageHeaders, 'content-type': type }).end(body);
};

/** Without the reload that leaves at once: such a page could not be looked at. */
const pageOf = (query: URLSearchParams): string => {
  const language = (query.get('language') ?? 'en') as PageLanguage;
  const shown = everyPage.get(query.get('name') ?? '');
  return (
    shown?.(frameOf(language, { branding })).replace(
      /<meta http-equiv="refresh" content="0[^>]*>/,
      '',
    ) ?? ''
  );
};

const serve = async (url: URL, response: ServerResponse): Promise<void> => {
  switch (url.pathname) {
    case '/oidc/interaction/abc/events':
      if (refuseStreams) {
        response.writeHead(503, pageHeaders).end();
      } else {
        response.writeHead(200, { ...pageHeaders, 'content-type': 'text/event-stream' });
        response.write('retry: 50\n\n');
        streams.push(response);
      }
      break;
    case '/oidc/interaction/abc/state':
      asked += 1;
      answer(response, 'application/json', JSON.stringify({ state }));
      break;
    case '/oidc/interaction/abc/code.svg':
      answer(response, 'image/svg+xml', renderSVG('https://example.com/phone#login=code'));
      break;
    case '/page':
      loads += 1;
      answer(response, 'text/html;charset=UTF-8', pageOf(url.searchParams));
      break;
    default: {
      const name = url.pathname.replace('/oidc/assets/', '');
      const asset = serveAsset(name, branding, { query: '', ifNoneMatch: undefined });
      if (asset === undefined) response.writeHead(404).end();
      else answer(response, asset.headers.get('content-type') ?? '', await asset.text());
    }
  }
};

beforeAll(async () => {
  server = createServer((request, response) => {
    void serve(new URL(request.url ?? '', 'http://here'), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await launchChromium();
});

afterEach(() => {
  for (const stream of streams) stream.end();
  streams = [];
  refuseStreams = false;
  state = 'open';
  loads = 0;
  asked = 0;
});

afterAll(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
});

const withPage = async (
  options: BrowserContextOptions,
  use: (page: Page) => Promise<void>,
): Promise<void> => {
  await withContext(browser, { reducedMotion: 'reduce', ...options }, async (context) => {
    await use(await context.newPage());
  });
};

const open = (page: Page, name: string, language: PageLanguage = 'en') =>
  page.goto(`${origin}/page?${new URLSearchParams({ name, language })}`);

describe('the pages of a login in a browser', () => {
  it('can be read in the light and in the dark, fit a phone and give no cause for complaint', async () => {
    const backgrounds = { light: new Set<string>(), dark: new Set<string>() };
    await withPage({ viewport: { width: 320, height: 640 } }, async (page) => {
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      for (const name of everyPage.keys()) {
        await open(page, name, 'de');
        expect(await page.evaluate(repeatedIds), name).toEqual([]);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          expect(await page.evaluate(poorContrasts), `${name}, ${colorScheme}`).toEqual([]);
          const { content, window } = await page.evaluate(widths);
          expect(content, name).toBeLessThanOrEqual(window);
          backgrounds[colorScheme].add(await page.evaluate(background));
        }
      }
      expect(complaints).toEqual([]);
    });
    expect([...backgrounds.light]).toEqual(['rgb(243, 244, 246)']);
    expect([...backgrounds.dark]).toEqual(['rgb(15, 19, 25)']);
  });

  it('leads the keyboard from the mistake to the field and on', async () => {
    await withPage({}, async (page) => {
      await open(page, 'number malformed');
      expect((await page.evaluate(focused)).text).toContain('Enter a complete mobile number');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('msisdn');
      expect(await page.evaluate(focused)).toMatchObject({ outline: 'solid' });
      await page.keyboard.press('Tab');
      expect((await page.evaluate(focused)).text).toBe('Send request');
      await page.keyboard.press('Tab');
      expect((await page.evaluate(focused)).text).toBe('Cancel');
    });
  });

  it('says to a screen reader what it shows', async () => {
    await withPage({}, async (page) => {
      await open(page, 'number malformed');
      const field = page.getByRole('textbox', { name: 'Mobile number' });
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      await open(page, 'number choice');
      const group = page.getByRole('group', { name: 'Which number do you want to use?' });
      expect(await group.getByRole('radio').count()).toBe(3);
      expect(await group.getByRole('radio', { name: '+41 79 123 45 02' }).isChecked()).toBe(true);
      await open(page, 'waiting match');
      for (const role of ['banner', 'main', 'contentinfo', 'status', 'timer'] as const) {
        expect(await page.getByRole(role).count(), role).toBe(1);
      }
      expect(await page.getByRole('heading', { level: 1, name: 'Check your phone' }).count()).toBe(
        1,
      );
    });
  });

  it('holds still for those who want that', async () => {
    const animation = "getComputedStyle(document.querySelector('.wave')).animationName";
    await withPage({ reducedMotion: 'reduce' }, async (page) => {
      await open(page, 'waiting');
      expect(await page.evaluate(animation)).toBe('none');
    });
    await withPage({ reducedMotion: 'no-preference' }, async (page) => {
      await open(page, 'waiting');
      expect(await page.evaluate(animation)).toBe('ring');
    });
  });
});

describe('the page that waits, in a browser', () => {
  it('loads itself again when there is news', async () => {
    await withPage({}, async (page) => {
      await open(page, 'waiting');
      await expect.poll(() => streams.length).toBe(1);
      streams[0]?.write('event: changed\ndata: ended\n\n');
      await expect.poll(() => loads).toBe(2);
    });
  });

  it('asks where no stream is to be had', async () => {
    refuseStreams = true;
    await withPage({}, async (page) => {
      await open(page, 'waiting');
      await expect.poll(() => asked).toBeGreaterThan(0);
      expect(loads).toBe(1);
      state = 'ended';
      await expect.poll(() => loads).toBe(2);
    });
  });

  it('asks when a stream has been lost twice', async () => {
    await withPage({}, async (page) => {
      await open(page, 'waiting');
      await expect.poll(() => streams.length).toBe(1);
      streams[0]?.end();
      await expect.poll(() => streams.length).toBe(2);
      expect(asked).toBe(0);
      streams[1]?.end();
      await expect.poll(() => asked).toBeGreaterThan(0);
      expect(streams.length).toBe(2);
    });
  });

  it('counts the time down, and says once that it is nearly over', async () => {
    await withPage({}, async (page) => {
      const start = Date.now();
      await page.clock.install({ time: start });
      // Otherwise what the machine takes counts, too.
      await page.clock.pauseAt(start + 1000);
      await open(page, 'waiting');
      await page.clock.runFor(10_000);
      expect(await page.locator('#clock').textContent()).toBe('1:10');
      expect(await page.getByRole('status').textContent()).not.toContain('20 seconds');
      await page.clock.runFor(55_000);
      expect(await page.locator('#clock').textContent()).toBe('0:15');
      expect(
        (await page.getByRole('status').textContent())?.match(/20 seconds left/g),
      ).toHaveLength(1);
      await page.clock.runFor(60_000);
      expect(await page.locator('#clock').textContent()).toBe('0:00');
    });
  });

  it('loads itself again every few seconds without JavaScript', async () => {
    await withPage({ javaScriptEnabled: false }, async (page) => {
      await open(page, 'waiting');
      expect(streams).toEqual([]);
      await expect.poll(() => loads).toBeGreaterThan(1);
    });
  });
});
