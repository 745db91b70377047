/**
 * The phone in a real browser: the application asks over HTTP, the person reads, types a PIN and
 * signs.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fault } from '../../../packages/protocol/src/fault.ts';
import { chromiumOptions, withContext } from '../../../test/browser/chromium.ts';
import { enrolPhone } from '../../../test/support/phone.ts';
import { phoneAdminOf, phoneSettingsOf } from '../../../test/support/phone-admin.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { receiptRequest, signRequest, statusRequest } from '../../../test/support/requests.ts';
import {
  type BrowserStage,
  button,
  heading,
  pin,
  signWithPin,
  startBrowserStage,
} from './browser-stage.ts';

const redis = testRedis();
let stage: BrowserStage;

beforeAll(async () => {
  stage = await startBrowserStage(redis);
});

afterAll(() => stage?.stop());

describe('the phone in a browser', () => {
  it('is set up from an activation link, shows who asks for what, and signs it for openssl', async () => {
    const { product, url } = stage;
    await stage.withPhone({}, async (page, { msisdn }) => {
      expect(page.url()).toBe(`${url}/phone`);
      const text = 'Pay CHF 12.50 to "Müller & Söhne"?\nYes <b>now</b>';
      const id = await stage.ask(msisdn, { text, apId: 'http://shop.example' });
      await heading(page, 'Do you want to sign?');
      expect(await page.locator('[data-part="text"]').textContent()).toBe(text);
      expect(await page.locator('[data-part="from"]').textContent()).toBe('http://shop.example');
      expect(await page.getByRole('timer').textContent()).toMatch(/Time left: (1:00|0:5\d)$/);
      expect(await product.statusOf(id, 'http://shop.example')).toBe('504');
      await signWithPin(page);
      await heading(page, 'Signed');
      await expect.poll(() => product.statusOf(id, 'http://shop.example')).toBe('500');

      const { body } = await product.post(
        '/rest/service/status',
        statusRequest(id, 'http://shop.example'),
      );
      const folder = mkdtempSync(join(tmpdir(), 'paraph-phone-'));
      try {
        const [cms, root] = [join(folder, 'cms.der'), join(folder, 'root.pem')];
        writeFileSync(
          cms,
          Buffer.from(body.MSS_StatusResp.MSS_Signature.Base64Signature, 'base64'),
        );
        writeFileSync(root, await (await fetch(`${url}/pki/root.pem`)).text());
        const verify = ['cms', '-verify', '-inform', 'DER', '-in', cms, '-CAfile', root];
        const content = execFileSync('openssl', [...verify, '-purpose', 'sslclient'], {
          stdio: 'pipe',
        });
        expect(content.toString()).toBe(text);
      } finally {
        rmSync(folder, { recursive: true });
      }
      await button(page, 'Close').click();
      await heading(page, 'Your phone is ready');
    });
  });

  it('is set up at the next press where the service failed after it had used the code', async () => {
    await withContext(stage.browser, { locale: 'en-GB' }, async (context) => {
      const page = await context.newPage();
      let failed = 0;
      await page.route('**/phone/api/enrolments', async (route) => {
        await route.fetch();
        failed += 1;
        await route.fulfill({ status: 503, json: {} });
      });
      const { msisdn, link } = await stage.invite();
      await page.goto(link);
      const setUp = async (): Promise<void> => {
        for (const label of ['PIN', 'PIN once more'])
          await page.getByLabel(label, { exact: true }).fill(pin);
        await button(page, 'Set up with PIN').click();
      };
      await setUp();
      await page.getByText('Something went wrong. Try again.').waitFor();
      expect(failed).toBe(4);
      await page.unroute('**/phone/api/enrolments');
      await setUp();
      await button(page, 'I have written it down').click();
      await heading(page, 'Your phone is ready');
      const id = await stage.ask(msisdn);
      await heading(page, 'Do you want to sign?');
      await signWithPin(page);
      await stage.ended(id, '500');
    });
  });

  it('says that another phone was set up for its number, until the person knows it', async () => {
    await stage.withPhone({}, async (page, { msisdn }) => {
      const invited = await phoneAdminOf(stage.product).invite(msisdn.slice(1));
      if (invited.kind !== 'invited') throw new Error(invited.kind);
      const label = 'Chrome\u00ad on Linux';
      await enrolPhone({ base: stage.url, send: (request) => fetch(request) }, invited.link, {
        label,
      });
      const alert = page
        .getByRole('alert')
        .filter({ hasText: 'Another phone was set up for your number' });
      await alert.getByText('Chrome[U+00AD] on Linux, ').waitFor();
      await page.reload();
      await alert.waitFor();
      await button(page, 'It is mine').click();
      await alert.waitFor({ state: 'hidden' });
      await page.reload();
      await heading(page, 'Your phone is ready');
      expect(await alert.isVisible()).toBe(false);
    });
  });

  it('shows the pairs of an approval, and signs them', async () => {
    await stage.withUsualPhone(async (page, { msisdn }) => {
      const request = signRequest({
        msisdn,
        mode: 'asynch',
        profile: 'http://mid.vendor.ch/Device-LoA4',
      });
      const approval = {
        format_version: 1,
        type: 'Payment',
        dtbd: [{ key: 'Amount', value: 'CHF 12.50' }],
      };
      request.MSS_SignatureReq.DataToBeSigned = {
        MimeType: 'application/vnd.mobileid.txn-approval',
        Encoding: 'UTF-8',
        Data: JSON.stringify(approval),
      };
      const { body } = await stage.product.post('/rest/service/sign', request);
      await heading(page, 'Do you want to sign?');
      expect(await page.locator('section.document h2').textContent()).toBe(
        'About (not part of what you sign)',
      );
      expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toContain(
        'Details, which you sign',
      );
      expect(await page.locator('[data-part="rows"] dt').allTextContents()).toEqual(['Amount']);
      expect(await page.locator('[data-part="rows"] dd').allTextContents()).toEqual(['CHF 12.50']);
      await signWithPin(page);
      await stage.ended(body.MSS_SignatureResp.MSSP_TransID, '500');
    });
  });

  it('cancels, and tells the application', async () => {
    await stage.withUsualPhone(async (page, { msisdn }) => {
      const id = await stage.ask(msisdn);
      await button(page, 'Cancel').click();
      await heading(page, 'Cancelled');
      await stage.ended(id, '_401');
    });
  });

  it('shows a receipt and passes the answer on', async () => {
    await stage.withUsualPhone(async (page, { msisdn }) => {
      const id = await stage.ask(msisdn);
      await heading(page, 'Do you want to sign?');
      await signWithPin(page);
      await stage.ended(id, '500');
      const receipt = stage.product.post('/rest/service/receipt', receiptRequest(id, { msisdn }));
      await heading(page, 'A message for you');
      expect(await page.locator('[data-part="text"]').textContent()).toBe('Signed in to Example.');
      await button(page, 'OK').click();
      await heading(page, 'Confirmed');
      expect(JSON.stringify((await receipt).body)).toContain(
        '"UserResponse":"{\\"status\\":\\"OK\\"}',
      );
    });
  });

  it('counts down from when a request came, also while it waits behind another one', async () => {
    await stage.withPhone({}, async (page, { msisdn }) => {
      const id = await stage.ask(msisdn);
      await heading(page, 'Do you want to sign?');
      await signWithPin(page);
      await stage.ended(id, '500');
      const receipt = stage.product.post('/rest/service/receipt', receiptRequest(id, { msisdn }));
      await heading(page, 'A message for you');
      const next = await stage.ask(msisdn, { timeoutSeconds: 50 });
      const asked = Date.now();
      await page.waitForTimeout(6000);
      const waited = Math.floor((Date.now() - asked) / 1000);
      await button(page, 'OK').click();
      await heading(page, 'Do you want to sign?');
      const [, seconds] = ((await page.locator('[data-part="clock"]').textContent()) ?? '').split(
        ':',
      );
      expect(Number(seconds)).toBeLessThanOrEqual(50 - waited + 1);
      await button(page, 'Cancel').click();
      await stage.ended(next, '_401');
      await receipt;
    });
  });

  it('shows an open prompt again after a reload in the middle, and says what ended meanwhile', async () => {
    await stage.withUsualPhone(async (page, { msisdn }) => {
      const id = await stage.ask(msisdn);
      await button(page, 'Sign').click();
      await page.getByLabel('Enter your PIN to sign').fill('1234');
      await page.reload();
      await heading(page, 'Do you want to sign?');
      await signWithPin(page);
      await stage.ended(id, '500');
      await heading(page, 'Signed');

      await stage.ask(msisdn);
      await heading(page, 'Do you want to sign?');
      await page.goto('about:blank');
      const newer = await stage.ask(msisdn, { text: 'A newer one takes its place' });
      await page.goto(`${stage.url}/phone`);
      await page.getByText('A newer one').waitFor();
      await page.goto('about:blank');
      await stage.product.api.transactions.answer(newer, 1, { kind: 'fault', fault: fault(401) });
      await stage.ended(newer, '_401');
      await page.goto(`${stage.url}/phone`);
      await heading(page, 'No longer open');
    });
  });

  it('is one phone in two tabs, of which either may close', async () => {
    await stage.withPhone({}, async (page, { msisdn }) => {
      const tab = await page.context().newPage();
      await tab.goto(`${stage.url}/phone`);
      await heading(tab, 'Your phone is ready');
      const first = await stage.ask(msisdn, { text: 'First?' });
      await tab.getByText('First?').waitFor();
      await page.getByText('First?').waitFor();
      await signWithPin(tab);
      await heading(tab, 'Signed');
      await heading(page, 'Signed');
      await stage.ended(first, '500');
      // The first tab has held the connection for both.
      await page.close();
      const second = await stage.ask(msisdn, { text: 'Second?' });
      await tab.getByText('Second?').waitFor();
      await button(tab, 'Cancel').click();
      await stage.ended(second, '_401');
    });
  });

  it('finds what came while the network was lost, and signs once', async () => {
    await stage.withPhone({}, async (page, { msisdn }) => {
      // An answer of before comes when the network is lost already.
      let release = (): void => {};
      const late = new Promise<void>((resolve) => {
        release = resolve;
      });
      const asked = page.waitForRequest('**/phone/api/state');
      await page.route(
        '**/phone/api/state',
        async (route) => {
          const response = await route.fetch();
          await late;
          await route.fulfill({ response });
        },
        { times: 1 },
      );
      await page.evaluate("dispatchEvent(new Event('online'))");
      await asked;
      await page.context().setOffline(true);
      await page.getByText('No connection. Trying again …').waitFor();
      const askedAgain = page.waitForEvent('requestfailed', (request) =>
        request.url().endsWith('/phone/api/state'),
      );
      release();
      await askedAgain;
      await page.getByText('No connection. Trying again …').waitFor();
      const id = await stage.ask(msisdn);
      await page.context().setOffline(false);
      await heading(page, 'Do you want to sign?');
      await page.context().setOffline(true);
      await signWithPin(page);
      await page.getByText('There is no connection. Try again in a moment.').waitFor();
      await page.context().setOffline(false);
      await page.getByLabel('Enter your PIN to sign').fill(pin);
      await page.keyboard.press('Enter');
      await heading(page, 'Signed');
      await stage.ended(id, '500');
    });
  });

  it('is blocked by wrong PINs with fault 402, and opened by the recovery code', async () => {
    await stage.withPhone({}, async (page, { msisdn, recoveryCode }) => {
      const id = await stage.ask(msisdn);
      await button(page, 'Sign').click();
      const { pinTries } = phoneSettingsOf(stage.product.configuration).phone;
      for (let tries = pinTries; tries > 0; tries -= 1) {
        await page.getByLabel('Enter your PIN to sign').fill('111222');
        await page.keyboard.press('Enter');
        if (tries > 1) await page.getByText(`Tries left: ${tries - 1}.`).waitFor();
      }
      await heading(page, 'Your PIN is blocked');
      await stage.ended(id, '_402');
      await page.getByLabel('Recovery code').fill('0000-0000-0000-0000-0000-0000');
      for (const label of ['PIN', 'PIN once more'])
        await page.getByLabel(label, { exact: true }).fill(pin);
      await button(page, 'Set the new PIN').click();
      await page.getByText('This recovery code is not correct.').waitFor();
      // The service has a new PIN, and the browser does not hear of it.
      let lost = 0;
      await page.route('**/phone/api/recovery', async (route) => {
        await route.fetch();
        lost += 1;
        await route.abort();
      });
      await page.getByLabel('Recovery code').fill(recoveryCode.toLowerCase());
      await button(page, 'Set the new PIN').click();
      await expect.poll(() => lost, { timeout: 20_000 }).toBe(4);
      await page.unroute('**/phone/api/recovery');
      await page.reload();
      await heading(page, 'Your PIN is blocked');
      await page.getByLabel('Recovery code').fill(recoveryCode.toLowerCase());
      for (const label of ['PIN', 'PIN once more'])
        await page.getByLabel(label, { exact: true }).fill(pin);
      await button(page, 'Set the new PIN').click();
      await heading(page, 'Write down your recovery code');
      expect(await page.locator('code').textContent()).not.toBe(recoveryCode);
      await button(page, 'I have written it down').click();
      await heading(page, 'Your phone is ready');
      const again = await stage.ask(msisdn);
      await heading(page, 'Do you want to sign?');
      await signWithPin(page);
      await stage.ended(again, '500');
    });
  });

  it('comes back with its key and the open prompt after the browser was killed', async () => {
    const profile = mkdtempSync(join(tmpdir(), 'paraph-profile-'));
    const start = (): Promise<BrowserContext> =>
      chromium.launchPersistentContext(profile, { ...chromiumOptions(), locale: 'en-GB' });
    try {
      const first = await start();
      const { msisdn } = await stage.enrol(await first.newPage());
      // Chromium writes new cookies to the disk within half a minute, or when it is closed.
      await first.close();
      const killed = await start();
      const page = await killed.newPage();
      await page.goto(`${stage.url}/phone`);
      await heading(page, 'Your phone is ready');
      const id = await stage.ask(msisdn);
      await heading(page, 'Do you want to sign?');
      const gone = new Promise((resolve) => killed.once('close', resolve));
      const session = await killed.newCDPSession(page);
      await Promise.all([session.send('Browser.crash').catch(() => undefined), gone]);

      const restarted = await start();
      try {
        const again = await restarted.newPage();
        await again.goto(`${stage.url}/phone`);
        await heading(again, 'Do you want to sign?');
        await signWithPin(again);
        await heading(again, 'Signed');
        await stage.ended(id, '500');
      } finally {
        await restarted.close();
      }
    } finally {
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    }
  });
});
