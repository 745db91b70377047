/**
 * What a person sees of the text that is signed, on the phone in a real browser: every character,
 * in its order.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BrowserStage,
  heading,
  signWithPin,
  startBrowserStage,
} from '../../parts/phone/test/browser-stage.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
let stage: BrowserStage;

beforeAll(async () => {
  stage = await startBrowserStage(redis);
});

afterAll(() => stage?.stop());

const text = '[data-part="text"]';

/**
 * The digits of the text, and signs of Hebrew, as they are seen: line by line, from left to right.
 */
const digitsSeen = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const found = [];
    const node = document.querySelector('${text}').firstChild;
    for (const { index, 0: digit } of node.data.matchAll(/[\\p{Nd}\u05be\u05c0\u05f3]/gu)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + digit.length);
      const { left, top } = range.getBoundingClientRect();
      found.push({ digit, left, top: Math.round(top / 10) });
    }
    found.sort((one, other) => one.top - other.top || one.left - other.left);
    return found.map(({ digit }) => digit).join('');
  })()`);

const digitsIn = (signed: string): string =>
  signed.match(/[\p{Nd}\u05be\u05c0\u05f3]/gu)?.join('') ?? '';

describe('the text that is signed', () => {
  it('has every character that nobody would see by its name, and none that is struck out', async () => {
    await stage.withUsualPhone(async (page, { msisdn }) => {
      const id = await stage.ask(msisdn, {
        text: 'Pay 10 CHF?\u00ad\u206a\ufff9\u034f\u3164\ufe0f 9\u03380\u20d20 a\u0301\u0301\u0301\u0301',
      });
      await heading(page, 'Do you want to sign?');
      expect(await page.locator(text).textContent()).toBe(
        'Pay 10 CHF?[U+00AD][U+206A][U+FFF9][U+034F][U+3164][U+FE0F] 9[U+0338]0[U+20D2]0 a\u0301\u0301\u0301[U+0301]',
      );
      await signWithPin(page);
      await stage.ended(id, '500');
    });
  });

  it.each([
    ['Hebrew letters', 'Pay \u05d0 1 \u05d1 2 \u05d2 34 \u05d3 CHF to Bob'],
    ['Hebrew letters alone', '\u05d0 1 \u05d1 2 \u05d2 34 \u05d3'],
    ['signs of Hebrew that look like others', 'Pay 1\u05f3234 or 5\u05be67 or 8\u05c09 CHF'],
    ['Arabic letters', 'Pay \u0627 1-2 \u0628 3 400 5 \u0629 CHF'],
    ['Arabic letters first', '\u0627\u0628 12 345 \u0629'],
    ['Arabic digits', 'Pay \u0627 \u0661\u0662 \u0663 \u0628 \u0664'],
    ['letters of more than one language', '\u0712 1 \u05d0 2 \u0780 3 \u{1e900} 4'],
  ])('shows the numbers between %s in the order in which they are signed', async (_, signed) => {
    await stage.withUsualPhone(async (page, { msisdn }) => {
      const id = await stage.ask(msisdn, { text: signed });
      await heading(page, 'Do you want to sign?');
      expect(await digitsSeen(page)).toBe(digitsIn(signed));
      await signWithPin(page);
      await stage.ended(id, '500');
    });
  });
});
