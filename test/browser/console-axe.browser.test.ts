/** What axe says of the console's pages and of the queue board, empty and filled. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleStage, startConsoleStage } from '../console/pages/console-stage.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';
import { complaintsOfAxe } from './axe.ts';
import { launchChromium, leave, withContext } from './chromium.ts';
import { widths } from './in-page.mjs';

const redis = testRedis();
let stage: ConsoleStage;
let browser: Browser;
let failed: string;

beforeAll(async () => {
  stage = await startConsoleStage(redis);
  failed = await stage.failed(401);
  // Refused, and so first on the overview.
  await stage.product.post('/rest/service/sign', signRequest({ msisdn: '+41790000077' }));
  await soon(async () =>
    expect((await stage.history.search({}, { limit: 1 }))?.rows).toHaveLength(1),
  );
  await soon(async () => expect(await stage.history.refusedByFault()).toHaveLength(1));
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await stage?.close();
});

/** Until nothing fades in any more: half of a colour has half of its contrast. */
const settled = `Promise.all(document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().iterations !== Infinity)
  .map(({ finished }) => finished.catch(() => undefined)))`;

/** Looks at a page in light and dark, wide and narrow. @param ready What it has when it is whole. */
const looksAt = async (page: Page, path: string, ready: string): Promise<void> => {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${stage.url}${path}`);
      await page.locator(ready).first().waitFor();
      await page.evaluate(settled);
      const found = [path, width, colorScheme, await complaintsOfAxe(page)];
      expect(found).toEqual([path, width, colorScheme, []]);
    }
    const { content, window } = await page.evaluate(widths);
    expect([path, width, content]).toEqual([path, width, window]);
  }
};

const logIn = async (page: Page): Promise<void> => {
  await page.goto(`${stage.url}${await stage.newLink()}`);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL(`${stage.url}/admin`);
};

describe('axe has no complaint', () => {
  it('about the pages of the console', async () => {
    await withContext(browser, { locale: 'en-GB' }, async (context) => {
      const page = await context.newPage();
      await logIn(page);
      for (const path of [
        '/admin',
        '/admin?range=30d',
        '/admin/transactions',
        '/admin/transactions?text=none',
        `/admin/transactions/${failed}`,
        '/admin/refusals',
        '/admin/refusals?fault=105',
        '/admin/replays',
        '/admin/callbacks',
        '/admin/workflows',
        '/admin/audit',
        '/admin/audit?from=yesterday',
        '/admin/certificates',
        '/admin/subscribers',
        '/admin/users',
        '/admin/tokens',
      ])
        await looksAt(page, path, 'h1');
    });
  });

  it('about the queue board, whose pages lead back to the console', async () => {
    await withContext(browser, { locale: 'en-GB' }, async (context) => {
      const page = await context.newPage();
      await logIn(page);
      const queue = `/admin/queues/queue/${failed.slice(1, 3) === '01' ? '1' : '0'}-signatures`;
      await looksAt(page, '/admin/queues', 'main a[href*="/queue/"]');
      await looksAt(page, `${queue}?status=failed`, 'main h5');
      expect(await page.title()).toMatch(/^[01]-signatures · Queues · Paraph$/);
      await looksAt(page, `${queue}/${failed}`, 'main h5');
      await page.getByRole('link', { name: 'Back to the console' }).click();
      await page.waitForURL(`${stage.url}/admin`);
      await leave(context);
    });
  });
});
