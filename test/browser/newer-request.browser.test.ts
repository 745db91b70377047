/**
 * A view that changes under the finger: a press that was meant for what was there before must not
 * sign, decline or delete what is there now. The clock of the page stands still, so that no test
 * depends on how fast this machine is.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BrowserStage,
  button,
  heading,
  pin,
  startBrowserStage,
} from '../../parts/phone/test/browser-stage.ts';
import { testRedis } from '../support/redis.ts';
import { withContext } from './chromium.ts';

const redis = testRedis();
let stage: BrowserStage;

beforeAll(async () => {
  stage = await startBrowserStage(redis);
});

afterAll(() => stage?.stop());

/** From now on the page's time passes only by {@link pass}. */
const stopClock = async (page: Page): Promise<void> => {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1000);
};
const pass = (page: Page, ms: number): Promise<void> => page.clock.runFor(ms);

const placeOf = async (page: Page, name: string) => {
  const box = await button(page, name).boundingBox();
  if (box === null) throw new Error(`${name} is not shown`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
};

const shows = (page: Page, text: string): Promise<void> =>
  page.locator('[data-part="text"]').getByText(text, { exact: true }).waitFor();

/** What is asked later takes the place of what was asked before. */
const replace = async (page: Page, msisdn: string): Promise<string> => {
  await stage.ask(msisdn, { text: 'Pay CHF 10?' });
  await shows(page, 'Pay CHF 10?');
  const second = await stage.ask(msisdn, { text: 'Pay CHF 90?' });
  await shows(page, 'Pay CHF 90?');
  return second;
};

describe('a newer request in the place of another one', () => {
  it('is not signed by a press that was meant for the one before: with a PIN', async () => {
    await stage.withPhone({}, async (page, { msisdn }) => {
      await stopClock(page);
      const second = await replace(page, msisdn);
      const first = await placeOf(page, 'Sign');
      await page.mouse.click(first.x, first.y);
      expect(await page.getByLabel('Enter your PIN to sign').isVisible()).toBe(false);
      // A key presses as a finger does.
      await button(page, 'Sign').press('Enter');
      await button(page, 'Cancel').press('Space');
      // The focus has brought it wholly into sight.
      const { x, y } = await placeOf(page, 'Sign');
      await pass(page, 900);
      await page.mouse.click(x, y);
      expect(await page.getByLabel('Enter your PIN to sign').isVisible()).toBe(false);
      expect(await stage.product.statusOf(second)).toBe('504');
      await pass(page, 400);
      await page.mouse.click(x, y);
      await page.getByLabel('Enter your PIN to sign').fill(pin);
      await page.keyboard.press('Enter');
      await stage.ended(second, '500');
    });
  });

  it('is not signed either by a press that begins too early, or while the content moves', async () => {
    await stage.withPhone({}, async (page, { msisdn }) => {
      await stopClock(page);
      const second = await replace(page, msisdn);
      const { x, y } = await placeOf(page, 'Sign');
      await pass(page, 900);
      await page.evaluate(`document.querySelector('main').style.paddingTop = '3rem'`);
      await pass(page, 900);
      const moved = await placeOf(page, 'Sign');
      expect(moved.y).not.toBe(y);
      await page.mouse.click(moved.x, moved.y);
      await page.mouse.move(x, moved.y);
      await page.mouse.down();
      await pass(page, 400);
      await page.mouse.up();
      expect(await page.getByLabel('Enter your PIN to sign').isVisible()).toBe(false);
      await page.mouse.click(moved.x, moved.y);
      expect(await page.getByLabel('Enter your PIN to sign').isVisible()).toBe(true);
      expect(await stage.product.statusOf(second)).toBe('504');
    });
  });

  it('is not signed by a press that was meant for the one before: with a passkey', async () => {
    await withContext(
      stage.browser,
      { locale: 'en-GB', reducedMotion: 'reduce' },
      async (context) => {
        const page = await context.newPage();
        const session = await context.newCDPSession(page);
        await session.send('WebAuthn.enable');
        await session.send('WebAuthn.addVirtualAuthenticator', {
          options: {
            protocol: 'ctap2',
            transport: 'internal',
            hasResidentKey: true,
            hasUserVerification: true,
            isUserVerified: true,
            automaticPresenceSimulation: true,
          },
        });
        const { msisdn, link } = await stage.invite();
        await page.goto(link);
        await button(page, 'Use the lock of this device').click();
        await heading(page, 'Your phone is ready');
        const sent: string[] = [];
        page.on('request', (request) => sent.push(new URL(request.url()).pathname));
        await stopClock(page);
        const second = await replace(page, msisdn);
        const { x, y } = await placeOf(page, 'Sign');
        await page.mouse.click(x, y);
        await pass(page, 900);
        await page.mouse.click(x, y);
        await pass(page, 400);
        expect(sent.filter((path) => path.endsWith('/signature'))).toEqual([]);
        await page.mouse.click(x, y);
        await heading(page, 'Signed');
        await stage.ended(second, '500');
      },
    );
  });

  it('says that it is another one', async () => {
    await stage.withPhone({}, async (page, { msisdn }) => {
      await replace(page, msisdn);
      const alert = page.getByRole('alert');
      expect(await alert.textContent()).toBe(
        'The request before is no longer open. This is another one.',
      );
      await button(page, 'Cancel').click();
      await heading(page, 'Cancelled');
    });
  });
});
