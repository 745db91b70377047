/** A live page of the console while its Redis, or the service, is away: in a real browser. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { type RunningRedis, startRedisServer } from '../support/redis-server.ts';
import { launchChromium, withContext } from './chromium.ts';

const names = testRedis();
/** Less than the fifteen seconds after which these pages load themselves again. */
const soonMs = 10_000;

let browser: Browser;
let server: RunningRedis;
let product: TestProduct;

beforeAll(async () => {
  server = await startRedisServer();
  product = await startTestProduct(names, {
    redisUrl: `redis://127.0.0.1:${server.port}`,
    listen: true,
  });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await product?.stop();
  await server?.stop();
});

const withPage = (use: (page: Page) => Promise<void>): Promise<void> =>
  withContext(browser, { locale: 'en-GB' }, async (context) => {
    const page = await context.newPage();
    await page.goto(await product.api.consoleLink());
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL(`${product.url}/admin`);
    await use(page);
  });

describe('a live page of the console', () => {
  it('says at its top that Redis is away, with the age of what it shows, and is live again by itself', async () => {
    await withPage(async (page) => {
      await page.getByText('Live.').waitFor();
      const top = page.locator('#stale');
      expect(await top.isVisible()).toBe(false);
      const pid = Number(/process_id:(\d+)/.exec(await server.client().info('server'))?.[1]);
      process.kill(pid, 'SIGSTOP');
      try {
        await top.waitFor({ timeout: soonMs });
        expect(await top.textContent()).toMatch(
          /Redis is not available.*What is shown is \d+ s old/,
        );
        expect(await page.getByText('Live.').count()).toBe(0);
        const box = await top.boundingBox();
        const heading = await page.getByRole('heading', { level: 1 }).boundingBox();
        expect(box?.y).toBeLessThan(heading?.y ?? 0);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await top.waitFor({ state: 'hidden', timeout: 20_000 });
      await page.getByText('Live.').waitFor({ timeout: 20_000 });
    });
  });

  it('says so when the service cannot be reached, and when the session has ended', async () => {
    await withPage(async (page) => {
      const top = page.locator('#stale');
      await page.context().setOffline(true);
      await top.waitFor({ timeout: soonMs });
      expect(await top.textContent()).toContain('cannot be reached');
      await page.context().setOffline(false);
      await top.waitFor({ state: 'hidden', timeout: 20_000 });
      await page.context().clearCookies();
      await top.waitFor({ timeout: soonMs });
      expect(await top.textContent()).toMatch(/logged out.*What is shown is \d+ s old/);
    });
  });
});
