/**
 * The pages of a signer in a real browser, over a real engine, behind the policy that they are
 * served with.
 */
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readAddress } from '../../packages/engine/src/record.ts';
import { createStage } from '../../packages/engine/test/stage.ts';
import { everyTaskPage } from '../../parts/processes/test/tasks/every-task-page.ts';
import {
  anna,
  failedWith,
  signedNow,
  startTaskStage,
  stepOf,
  type TaskStage,
} from '../../parts/processes/test/tasks/stage.ts';
import { serveAsset } from '../../src/http/pages/assets.ts';
import { pageHeaders } from '../../src/http/pages/headers.ts';
import type { PageLanguage } from '../../src/http/pages/languages.ts';
import { frameOf } from '../http/pages/page-contract.ts';
import { testRedis } from '../support/redis.ts';
import { complaintsOfAxe } from './axe.ts';
import { launchChromium, withContext } from './chromium.ts';
import { focused, poorContrasts, repeatedIds, widths } from './in-page.mjs';

const redis = testRedis();
const stage = createStage(redis);
const branding = { color: '#1f5fbf', logoSvg: undefined };

let browser: Browser;
let origin: string;
let server: ReturnType<typeof createAdaptorServer>;
let s: TaskStage;

const serve = (request: Request, bindings: object): Response | Promise<Response> => {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname.startsWith('/oidc/assets/')) {
    const name = pathname.slice('/oidc/assets/'.length);
    return (
      serveAsset(name, branding, { query: '', ifNoneMatch: undefined }) ??
      new Response('', { status: 404 })
    );
  }
  // Of the page that waits, when it is only looked at.
  if (pathname.startsWith('/tasks/token-of-the-link/')) return new Response(null, { status: 204 });
  if (pathname !== '/page') return s.routes.fetch(request, bindings);
  const language = (searchParams.get('language') ?? 'en') as PageLanguage;
  const page = everyTaskPage.get(searchParams.get('name') ?? '')?.(frameOf(language));
  return new Response(page, {
    headers: { ...pageHeaders, 'content-type': 'text/html;charset=UTF-8' },
  });
};

beforeAll(async () => {
  server = createAdaptorServer({ fetch: serve });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await launchChromium();
});

beforeEach(async () => {
  s = await startTaskStage(redis, stage(), { publicUrl: () => origin });
});

afterAll(async () => {
  await browser?.close();
  server?.close();
});

const withPage = (
  options: BrowserContextOptions,
  use: (page: Page) => Promise<void>,
): Promise<void> =>
  withContext(browser, { reducedMotion: 'reduce', ...options }, async (context) => {
    await use(await context.newPage());
  });

const openAnna = async (page: Page) => {
  const instance = await s.signerOf(await s.begin([stepOf('board', [anna])]), anna.name);
  await page.goto(`${origin}/tasks/${s.tokenOf(instance)}`);
  return instance;
};

/** One page of each layout; the others differ in words. */
const layouts = [
  'open',
  'open expired',
  'open reason too long',
  'asking',
  'ended signed',
  'notice gone',
];

describe('the pages of a signer in a browser', () => {
  it.each(['light', 'dark'] as const)(
    'can be read in the %s, fit a phone of 390 px and give axe no cause for complaint',
    async (colorScheme) => {
      await withPage({ colorScheme, viewport: { width: 390, height: 844 } }, async (page) => {
        const complaints: string[] = [];
        page.on('console', (message) => complaints.push(message.text()));
        page.on('pageerror', (error) => complaints.push(error.message));
        for (const name of layouts) {
          await page.goto(`${origin}/page?${new URLSearchParams({ name, language: 'de' })}`);
          await page.evaluate(
            "document.querySelectorAll('details').forEach((each) => { each.open = true })",
          );
          expect(await complaintsOfAxe(page), name).toEqual([]);
          expect(await page.evaluate(poorContrasts), name).toEqual([]);
          expect(await page.evaluate(repeatedIds), name).toEqual([]);
          const { content, window } = await page.evaluate(widths);
          expect(content, name).toBeLessThanOrEqual(window);
        }
        expect(complaints).toEqual([]);
      });
    },
  );

  it('signs with the keyboard: Sign, the phone, and the page says so by itself', async () => {
    await withPage({}, async (page) => {
      await openAnna(page);
      await page.keyboard.press('Tab');
      expect((await page.evaluate(focused)).text).toBe('Sign');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Check your phone' }).waitFor();
      expect(await page.getByRole('status').textContent()).toContain(
        'Waiting for your confirmation',
      );
      await (await s.promptOf(anna.msisdn)).answer(signedNow());
      await page.getByRole('heading', { name: 'You have signed' }).waitFor();
      expect(await page.getByRole('button').count()).toBe(0);
    });
  });

  it('asks the phone again only by a press that was meant for that: a page that has changed is held', async () => {
    await withPage({ viewport: { width: 390, height: 844 } }, async (page) => {
      await openAnna(page);
      await page.getByRole('button', { name: 'Sign', exact: true }).click();
      await page.getByRole('heading', { name: 'Check your phone' }).waitFor();
      const sent: string[] = [];
      page.on('request', (request) => {
        if (request.method() === 'POST') sent.push(new URL(request.url()).pathname);
      });
      // From now on the page's time passes only here, so that no slow machine presses too late.
      await page.clock.install();
      await page.clock.pauseAt(Date.now() + 1000);
      await (await s.promptOf(anna.msisdn)).answer(failedWith(208));
      const sign = page.getByRole('button', { name: 'Sign', exact: true });
      await sign.waitFor();
      await page.clock.runFor(100);
      const point = async (): Promise<[number, number]> => {
        const box = await sign.boundingBox();
        return [(box?.x ?? 0) + 20, (box?.y ?? 0) + 10];
      };
      await page.mouse.click(...(await point()));
      await page.clock.runFor(800);
      await page.mouse.click(...(await point()));
      await sign.press('Enter');
      await page.getByText('Decline', { exact: true }).press('Enter');
      expect(await page.getByRole('textbox').isVisible()).toBe(false);
      // The button moves with the lower edge of the screen, and the second begins anew.
      const [, before] = await point();
      await page.setViewportSize({ width: 390, height: 600 });
      await expect.poll(async () => (await point())[1]).toBeLessThan(before);
      await page.clock.runFor(800);
      await page.mouse.move(...(await point()));
      await page.mouse.down();
      await page.clock.runFor(500);
      await page.mouse.up();
      expect(sent).toEqual([]);
      await page.mouse.click(...(await point()));
      await page.getByRole('heading', { name: 'Check your phone' }).waitFor();
      expect(sent).toHaveLength(1);
    });
  });

  it('declines with a reason', async () => {
    await withPage({}, async (page) => {
      const instance = await openAnna(page);
      await page.getByText('Decline', { exact: true }).click();
      await page.getByRole('textbox', { name: 'Reason (optional)' }).fill('The price is wrong');
      await page.getByRole('button', { name: 'Do not sign' }).click();
      await page.getByRole('heading', { name: 'You have declined' }).waitFor();
      const { record } = await s.until(readAddress(instance).id, ({ ended }) => ended !== 'no');
      expect(JSON.stringify(record?.context)).toContain('The price is wrong');
    });
  });

  it('does the same without JavaScript', async () => {
    await withPage(
      { javaScriptEnabled: false, viewport: { width: 390, height: 844 } },
      async (page) => {
        const instance = await openAnna(page);
        await page.getByRole('button', { name: 'Sign', exact: true }).click();
        await page.getByRole('heading', { name: 'Check your phone' }).waitFor();
        await (await s.promptOf(anna.msisdn)).answer(failedWith(208));
        await s.until(readAddress(instance).id, ({ record }) =>
          JSON.stringify(record?.children).includes('unreached'),
        );
        await page.getByText('was not confirmed on your phone in time').waitFor();
        await page.getByText('Decline', { exact: true }).click();
        await page.getByRole('button', { name: 'Do not sign' }).click();
        await page.getByRole('heading', { name: 'You have declined' }).waitFor();
      },
    );
  });
});
