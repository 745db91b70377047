/**
 * The phone's page on screens of phones: what must be pressed is seen without scrolling, also above
 * the keypad of the system, which is the only one, and with text of twice the size.
 */
import { chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complaintsOfAxe } from '../../../test/browser/axe.ts';
import { chromiumOptions, withContext } from '../../../test/browser/chromium.ts';
import { phoneAdminOf } from '../../../test/support/phone-admin.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { signRequest } from '../../../test/support/requests.ts';
import { type BrowserStage, button, heading, pin, startBrowserStage } from './browser-stage.ts';

const redis = testRedis();
let stage: BrowserStage;

beforeAll(async () => {
  stage = await startBrowserStage(redis);
});

afterAll(() => stage?.stop());

const isOnScreen = (page: Page, name: string): Promise<unknown> =>
  page.evaluate(`(() => {
    const button = [...document.querySelectorAll('#view button')].find((each) => each.textContent === '${name}');
    const { left, top, right, bottom } = button.getBoundingClientRect();
    const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    // Not held any more, so that it is what a finger meets.
    return window.scrollY === 0 && top >= 0 && bottom <= innerHeight && button.contains(found);
  })()`);

const isReady = (page: Page): Promise<void> => page.locator('#view:not(.held)').waitFor();

/** Whether the first line of this element is what a finger meets. */
const isMet = (page: Page, selector: string): Promise<unknown> =>
  page.evaluate(`(() => {
    const met = document.querySelector('#view ${selector}');
    const { left, top, right } = met.getBoundingClientRect();
    return met.contains(document.elementFromPoint((left + right) / 2, top + 16));
  })()`);

/** The height of a phone's keypad of digits. */
const keypad = 260;

const longest =
  'Pay CHF 1250.00 to Wine and Cheese Ltd, Station Road 17, for invoice 2026-4711. '.repeat(3);
const texts = [
  ['a short text', 'Pay CHF 12.50?'],
  ['the longest text', longest.slice(0, 239)],
  ['a text of many lines', `${'Pay\n'.repeat(55)}CHF 9000`],
] as const;
const heights = [553, 667, 844] as const;

describe('the button that signs', () => {
  it.each(heights.flatMap((height) => texts.map(([what, text]) => [what, height, text] as const)))(
    'is seen without scrolling, and the whole text can be read: %s on %d px',
    async (_, height, text) => {
      const look = { viewport: { width: 390, height }, hasTouch: true, isMobile: true };
      await stage.withPhone(look, async (page, { msisdn }) => {
        const id = await stage.ask(msisdn, { text });
        await heading(page, 'Do you want to sign?');
        await isReady(page);
        expect(await isOnScreen(page, 'Sign')).toBe(true);
        const shown = page.locator('[data-part="text"]');
        const box = page.locator('.reading');
        // Its last line comes into view, in its box, by the keyboard as well.
        const endIsSeen = `(() => {
          const text = document.querySelector('[data-part="text"]');
          const frame = text.closest('.reading').getBoundingClientRect();
          const range = document.createRange();
          range.setStart(text.firstChild, text.firstChild.length - 1);
          range.setEnd(text.firstChild, text.firstChild.length);
          const { top, bottom } = range.getBoundingClientRect();
          return top >= frame.top && bottom <= frame.bottom && frame.bottom <= innerHeight;
        })()`;
        await expect
          .poll(async () => {
            // The page makes the box one that scrolls once it has measured the text.
            if ((await box.getAttribute('tabindex')) === '0') {
              await box.focus();
              await page.keyboard.press('End');
            }
            return page.evaluate(endIsSeen);
          })
          .toBe(true);
        await button(page, 'Sign').tap();
        expect(await isOnScreen(page, 'Sign with PIN')).toBe(true);
        const field = page.getByLabel('Enter your PIN to sign');
        expect(await field.getAttribute('inputmode')).toBe('numeric');
        await page.setViewportSize({ width: 390, height: height - keypad });
        await expect.poll(() => isOnScreen(page, 'Sign with PIN')).toBe(true);
        expect(await isMet(page, 'input')).toBe(true);
        expect(await shown.isVisible()).toBe(true);
        expect(await isMet(page, '.reading')).toBe(true);
        await page.keyboard.type(pin);
        await button(page, 'Sign with PIN').tap();
        await heading(page, 'Signed');
        await stage.ended(id, '500');
      });
    },
  );

  it('is seen above a keypad that the browser lays over the page', async () => {
    const look = { viewport: { width: 375, height: 667 }, hasTouch: true, isMobile: true };
    await stage.withPhone(look, async (page, { msisdn }) => {
      const id = await stage.ask(msisdn, { text: longest.slice(0, 239) });
      await heading(page, 'Do you want to sign?');
      await isReady(page);
      await button(page, 'Sign').tap();
      // What Safari says then: the page has its height, and less of it is seen.
      await page.evaluate(`{
        Object.defineProperty(visualViewport, 'height', { value: ${667 - keypad} });
        visualViewport.dispatchEvent(new Event('resize'));
      }`);
      const box = await button(page, 'Sign with PIN').boundingBox();
      expect((box?.y ?? 667) + (box?.height ?? 0)).toBeLessThanOrEqual(667 - keypad);
      expect(await isMet(page, '.reading')).toBe(true);
      await page.keyboard.type(pin);
      await button(page, 'Sign with PIN').tap();
      await heading(page, 'Signed');
      await stage.ended(id, '500');
    });
  });

  it.each([
    ['de-CH', 320, 568],
    ['fr-CH', 320, 568],
    ['it-CH', 375, 667],
  ] as const)(
    'is seen with text of twice the size: %s on %d × %d px',
    async (locale, width, height) => {
      const options = chromiumOptions();
      // What a person has chosen in the settings of the browser: 16 px are usual.
      const args = [...(options.args ?? []), '--blink-settings=defaultFontSize=32'];
      const largeText = await chromium.launch({ ...options, args });
      const look = { viewport: { width, height }, hasTouch: true, isMobile: true, locale };
      await withContext(largeText, look, async (context) => {
        const page = await context.newPage();
        const { msisdn, link } = await stage.invite();
        await page.goto(link);
        const primary = page.locator('#view .primary:visible');
        const fits = async (): Promise<void> => {
          const size = 'getComputedStyle(document.documentElement).fontSize';
          const wide = `[document.documentElement, document.querySelector('main')]
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length`;
          const found = [await page.title(), await page.evaluate(size), await page.evaluate(wide)];
          expect([...found, await complaintsOfAxe(page)]).toEqual([found[0], '32px', 0, []]);
        };
        await page.locator('#view input[name=again]').waitFor();
        await fits();
        for (const name of ['pin', 'again']) await page.locator(`#view [name=${name}]`).fill(pin);
        await primary.tap();
        await page.locator('#view code').waitFor();
        await fits();
        await primary.tap();
        await page.locator('#view [data-part=number]').waitFor();
        await fits();
        const id = await stage.ask(msisdn, { text: longest.slice(0, 239) });
        await page.locator('#view [data-part=sign]').waitFor();
        await isReady(page);
        await fits();
        expect(await isMet(page, '[data-part=sign]')).toBe(true);
        await primary.tap();
        await fits();
        expect(await isMet(page, '.typing .primary')).toBe(true);
        await page.locator('#view [name=pin]').fill(pin);
        await primary.tap();
        await stage.ended(id, '500');
      });
      await largeText.close();
    },
  );

  it('is seen without scrolling below an approval of twenty rows', async () => {
    const look = { viewport: { width: 390, height: 667 }, hasTouch: true, isMobile: true };
    await stage.withPhone(look, async (page, { msisdn }) => {
      const request = signRequest({
        msisdn,
        mode: 'asynch',
        profile: 'http://mid.vendor.ch/Device-LoA4',
      });
      const dtbd = Array.from({ length: 20 }, (_, index) => ({
        key: `Row ${index}`,
        value: 'CHF 1250.00',
      }));
      const Data = JSON.stringify({ format_version: 1, type: 'Payment', dtbd });
      const MimeType = 'application/vnd.mobileid.txn-approval';
      request.MSS_SignatureReq.DataToBeSigned = { MimeType, Encoding: 'UTF-8', Data };
      await stage.product.post('/rest/service/sign', request);
      await heading(page, 'Do you want to sign?');
      await isReady(page);
      expect(await isOnScreen(page, 'Sign')).toBe(true);
      await page.getByText('Row 19').scrollIntoViewIfNeeded();
      await button(page, 'Sign').tap();
      expect(await isOnScreen(page, 'Sign with PIN')).toBe(true);
    });
  });
});

it('a used activation link says that it is used, and asks for no PIN', async () => {
  const { msisdn, link } = await stage.invite();
  const open = async (page: Page): Promise<void> => {
    await page.goto(link);
    await heading(page, 'Set up your phone');
  };
  await withContext(stage.browser, { locale: 'en-GB' }, async (context) => {
    const page = await context.newPage();
    await open(page);
    for (const label of ['PIN', 'PIN once more'])
      await page.getByLabel(label, { exact: true }).fill(pin);
    await button(page, 'Set up with PIN').click();
    await heading(page, 'Write down your recovery code');
  });
  expect((await phoneAdminOf(stage.product).find(msisdn.slice(1)))?.phones).toHaveLength(1);
  await withContext(stage.browser, { locale: 'en-GB' }, async (context) => {
    const page = await context.newPage();
    await page.goto(link);
    await heading(page, 'This activation link has been used');
    expect(await page.getByRole('textbox').count()).toBe(0);
    await page.goto(`${stage.url}/phone#activate=AAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA`);
    await page.reload();
    await heading(page, 'This activation link is not valid');
  });
});
