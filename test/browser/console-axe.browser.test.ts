/** What axe says of the console's pages and of the queue board, empty and filled. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleStage, startConsoleStage } from '../console/pages/console-stage.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';
import { complaintsOfAxe } from './axe.ts';
import { launchChromium, leave } from './chromium.ts';
import { widths } from './in-page.mjs';

const redis = testRedis();
let stage: ConsoleStage;
let browser: Browser;
let context: BrowserContext;
/** Somebody who has used a login link. */
let page: Page;
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
  context = await browser.newContext({ locale: 'en-GB' });
  page = await context.newPage();
  await page.goto(`${stage.url}${await stage.newLink()}`);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL(`${stage.url}/admin`);
});
afterAll(async () => {
  if (context !== undefined) await leave(context);
  await browser?.close();
  await stage?.close();
});

/** Until nothing fades in any more: half of a colour has half of its contrast. */
const settled = `Promise.all(document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().iterations !== Infinity)
  .map(({ finished }) => finished.catch(() => undefined)))`;

/** Looks at a page in light and dark, wide and narrow. @param ready What it has when it is whole. */
const lookAt = async (path: string, ready: string): Promise<void> => {
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

describe('axe has no complaint about', () => {
  it.each([
    '/admin',
    '/admin?range=30d',
    '/admin/transactions',
    '/admin/transactions?text=none',
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
  ])('the page %s', (path) => lookAt(path, 'h1'));

  it('the page of a transaction', () => lookAt(`/admin/transactions/${failed}`, 'h1'));

  it('the queue board, whose pages lead back to the console', async () => {
    const queue = `/admin/queues/queue/${Number(failed.slice(1, 3))}-signatures`;
    await lookAt('/admin/queues', 'main a[href*="/queue/"]');
    await lookAt(`${queue}?status=failed`, 'main h5');
    expect(await page.title()).toMatch(/^[01]-signatures · Queues · Paraph$/);
    await lookAt(`${queue}/${failed}`, 'main h5');
    await page.getByRole('link', { name: 'Back to the console' }).click();
    await page.waitForURL(`${stage.url}/admin`);
  });
});
