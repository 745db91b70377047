/** The login to the console with the phone, in a real browser. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../console/operators/stage.ts';
import { type PhoneStage, startPhoneStage } from '../console/phone-stage.ts';
import { testRedis } from '../support/redis.ts';
import { launchChromium, withContext } from './chromium.ts';
import { poorContrasts, widths } from './in-page.mjs';

const redis = testRedis();
let phones: PhoneStage;
let browser: Browser;

beforeAll(async () => {
  phones = await startPhoneStage(redis);
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await phones?.product.stop();
});

describe('a login to the console with the phone', () => {
  it.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('leads in from a link on a page of others, %s', async (how, javaScriptEnabled) => {
    const msisdn = phones.somebody();
    const name = how.replace(' ', '-');
    const oidcSubject = phones.subjectOf(msisdn);
    await phones.operators.users.add(admin, { name, role: 'admin', oidcSubject });
    await withContext(browser, { locale: 'en-GB', javaScriptEnabled }, async (context) => {
      const complaints: string[] = [];
      context.on('console', (message) => complaints.push(message.text()));
      context.on('weberror', (error) => complaints.push(error.error().message));
      await context.route('http://wiki.example/', (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: `<link rel="icon" href="data:,"><a href="${phones.product.url}/admin/tokens">The console</a>`,
        }),
      );
      const page = await context.newPage();
      await page.goto('http://wiki.example/');
      await page.getByRole('link', { name: 'The console' }).click();
      await page.getByRole('link', { name: 'Log in with the phone' }).click();
      await page.getByLabel('Mobile number').fill(msisdn);
      await page.getByRole('button', { name: 'Send request' }).click();
      await page.waitForURL(`${phones.product.url}/admin/tokens`);
      expect(await page.locator('.who').textContent()).toContain(`${name} admin`);

      await page.getByLabel('What it is for').fill('Nightly report');
      await page.getByRole('button', { name: 'Make a token' }).click();
      const token = (await page.locator('code.secret').textContent()) ?? '';
      expect(await phones.operators.tokens.verify(token)).toMatchObject({ name });
      await page.getByRole('button', { name: `End the token Nightly report of ${name}` }).click();
      await page.getByRole('button', { name: 'End the token', exact: true }).click();
      await page.getByText('The token is not valid any more.').waitFor();
      expect(await phones.operators.tokens.verify(token)).toBeUndefined();
      expect(complaints).toEqual([]);
    });
  });

  it('shows somebody who is no user what to tell an admin', async () => {
    const msisdn = phones.somebody();
    await withContext(browser, { viewport: { width: 390, height: 800 } }, async (context) => {
      const page = await context.newPage();
      await page.goto(`${phones.product.url}/admin/login/oidc`);
      await page.getByLabel('Mobile number').fill(msisdn);
      await page.getByRole('button', { name: 'Send request' }).click();
      await page.getByRole('heading', { name: 'No user of this console' }).waitFor();
      expect(await page.locator('code.secret').textContent()).toBe(phones.subjectOf(msisdn));
      const { content, window } = await page.evaluate(widths);
      expect(content).toBe(window);
      expect(await page.evaluate(poorContrasts)).toEqual([]);
      await page.getByRole('link', { name: 'Log in another way' }).click();
      await page.getByRole('link', { name: 'Log in with the phone' }).waitFor();
    });
  });
});
