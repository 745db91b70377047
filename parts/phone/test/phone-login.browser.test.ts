/**
 * Logins that a phone begins, in real browsers: the QR code with two of them, and the button with
 * one.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withContext } from '../../../test/browser/chromium.ts';
import { claimsIn, relyingParty } from '../../../test/oauth/interoperability/stage.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { createStartCodes } from '../start-codes.ts';
import {
  type BrowserStage,
  button,
  heading,
  signWithPin,
  startBrowserStage,
} from './browser-stage.ts';

const redis = testRedis();
let stage: BrowserStage;

beforeAll(async () => {
  stage = await startBrowserStage(redis);
});

afterAll(() => stage?.stop());

/** An application sends a browser to the login page. */
const openLogin = async (page: Page) => {
  const { url, product } = stage;
  const redirectUri = `${url}/demo/callback`;
  const [id, secret] = ['demo', 'demo-secret'] as const;
  const party = relyingParty(product, {
    id,
    secret,
    origin: url,
    issuerPath: '/oidc',
    redirectUri,
  });
  const asked = await party.request({ login_hint: undefined });
  const query = new URLSearchParams({ client_id: id, request_uri: asked.requestUri });
  await page.goto(`${url}/oidc/auth?${query}`);
  await page.getByRole('heading', { name: 'With your phone in the browser' }).waitFor();
  return {
    claims: async () => {
      await page.waitForURL(/\/demo\/callback\?/);
      const code = new URL(page.url()).searchParams.get('code') ?? '';
      const { body } = await party.redeem({ ...asked, code });
      return claimsIn(body.id_token);
    },
  };
};

/** What a camera reads on the page now. `phone-start.test.ts` compares it with the picture. */
const scan = (page: Page): string => {
  const { api, core } = stage.product;
  const [tenant] = api.oauth.tenants.all;
  const uid = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const codes = createStartCodes(core.serviceKey, Date.now);
  return `${stage.url}/phone#login=${codes.forQr({ tenant: tenant?.id ?? '', uid, round: 0 })}`;
};

describe('a login that a phone begins', () => {
  it('goes on in the browser whose QR code was scanned', async () => {
    await stage.withPhone({}, (phone) =>
      withContext(stage.browser, { locale: 'en-GB' }, async (context) => {
        const page = await context.newPage();
        const login = await openLogin(page);
        const picture = page.locator('#qr');
        await picture.waitFor();
        await expect
          .poll(() => picture.evaluate((image) => 'naturalWidth' in image && image.naturalWidth))
          .not.toBe(0);
        const first = await picture.getAttribute('src');
        await expect.poll(() => picture.getAttribute('src'), { timeout: 20_000 }).not.toBe(first);
        await phone.goto(scan(page));
        await heading(phone, 'Do you want to sign?');
        expect(phone.url()).toBe(`${stage.url}/phone`);
        await signWithPin(phone);
        await heading(phone, 'Signed');
        expect(await login.claims()).toMatchObject({ amr: ['mid_app', 'mid_qr'] });
      }),
    );
  });

  it('comes back from the phone in the same browser', async () => {
    await stage.withPhone({}, async (phone) => {
      const login = await openLogin(phone);
      await button(phone, 'Open the phone on this device').click();
      await heading(phone, 'Do you want to sign?');
      await signWithPin(phone);
      expect(await login.claims()).toMatchObject({ amr: ['mid_app', 'mid_same_device'] });
    });
  });

  it('is not begun by a link of another website', async () => {
    await stage.withPhone({}, (phone) =>
      withContext(stage.browser, { locale: 'en-GB' }, async (context) => {
        const attacker = await context.newPage();
        await openLogin(attacker);
        const before = stage.product.logged.filter((line) => line.includes('login begun')).length;
        const website = createServer((_, response) =>
          response
            .writeHead(200, { 'content-type': 'text/html' })
            .end(`<!doctype html><title>Prize</title><a href="${scan(attacker)}">Your prize</a>`),
        );
        await new Promise<void>((resolve) => website.listen(0, '127.0.0.1', resolve));
        try {
          await phone.goto(`http://127.0.0.1:${(website.address() as AddressInfo).port}/`);
          await phone.getByRole('link').click();
          await phone.getByText('Another website has sent you here').waitFor();
          expect(phone.url()).toBe(`${stage.url}/phone`);
          await heading(phone, 'Your phone is ready');
          expect(stage.product.logged.filter((line) => line.includes('login begun'))).toHaveLength(
            before,
          );
        } finally {
          website.closeAllConnections();
          website.close();
        }
      }),
    );
  });
});
