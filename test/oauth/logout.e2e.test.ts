/** A person who wants to log out can, and a page says what has become of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSigningKeys } from '../../src/oauth/signing-keys.ts';
import type { Json, TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { type Browser, type BrowserPage, createBrowser } from './browser-client.ts';
import {
  callback,
  clientEntry,
  relyingParty,
  robot,
  secret,
  startProvider,
} from './interoperability/stage.ts';

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startProvider(redis, [clientEntry('shop'), clientEntry('branch')], {
    singleSignOnSeconds: 3600,
    idTokenSeconds: 1,
    keys: { publishSeconds: 0, keepSeconds: 1 },
  });
});
afterAll(() => product.stop());

const shop = () => relyingParty(product, { id: 'shop', secret });
const newBrowser = (): Browser => createBrowser({ origin: product.url });
const endSession = (
  browser: Browser,
  fields: Readonly<Record<string, string>>,
): Promise<BrowserPage> => browser.open(`/oidc/session/end?${new URLSearchParams(fields)}`);
const isLoggedIn = async (browser: Browser): Promise<boolean> =>
  (await shop().visit({ prompt: 'none' }, browser)).page.left?.searchParams.has('code') === true;

const publishedKids = async (): Promise<readonly string[]> =>
  ((await (await fetch(`${product.url}/oidc/jwks.json`)).json()) as Json).keys.map(
    ({ kid }: Json) => kid,
  );

/** As `paraph keys rotate` does. */
const rotate = async (): Promise<void> => {
  const { oidc, queue } = product.configuration;
  const keys = createSigningKeys({
    redis: product.core.commands,
    prefix: queue.prefix,
    tenant: 'main',
    serviceKey: product.core.serviceKey,
    settings: oidc,
    now: Date.now,
  });
  const before = await publishedKids();
  await keys.rotate(0);
  const isWithdrawn = async () => (await publishedKids()).some((kid) => before.includes(kid));
  await expect.poll(isWithdrawn, { timeout: 20_000, interval: 100 }).toBe(false);
};

describe('a logout', () => {
  it('goes on after the key that signed its hint was withdrawn, and after the next rotation', async () => {
    const [first, second] = [newBrowser(), newBrowser()];
    const hints = [
      (await shop().tokens(robot, {}, first)).id_token,
      (await shop().tokens(robot, {}, second)).id_token,
    ];
    for (const [index, browser] of [first, second].entries()) {
      await rotate();
      const page = await endSession(browser, {
        id_token_hint: hints[index] ?? '',
        post_logout_redirect_uri: 'https://client.example/goodbye',
      });
      expect(page.status).toBe(200);
      const { left } = await browser.submit(page, 'confirm', { logout: 'yes' });
      expect(left?.href).toBe('https://client.example/goodbye');
      expect(await isLoggedIn(browser)).toBe(false);
    }
  });

  it('by a hint that another client got, that was changed, or that nobody has signed goes nowhere', async () => {
    const browser = newBrowser();
    const { id_token: hint } = await shop().tokens(robot, {}, browser);
    await rotate();
    const [header = '', payload = '', signature = ''] = hint.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const encode = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    const forged = [
      `${header}.${encode({ ...claims, sub: 'x' })}.${signature}`,
      `${header}.${encode({ ...claims, aud: 'branch' })}.${signature}`,
      `${encode({ alg: 'none' })}.${payload}.`,
      `${encode({ alg: 'HS256', kid: 'x' })}.${payload}.${signature}`,
    ];
    for (const id_token_hint of forged) {
      expect((await endSession(browser, { id_token_hint })).status).toBe(400);
    }
    expect((await endSession(browser, { id_token_hint: hint, client_id: 'branch' })).status).toBe(
      400,
    );
    expect(await isLoggedIn(browser)).toBe(true);
  });

  it('that fails has a page of its own, from which the person can log out all the same', async () => {
    const browser = newBrowser();
    await shop().tokens(robot, {}, browser);
    const failures = [
      await endSession(browser, { id_token_hint: 'nonsense' }),
      await endSession(browser, { client_id: 'shop', post_logout_redirect_uri: callback }),
      await browser.open('/oidc/session/end/success?client_id=nobody'),
    ];
    for (const page of failures) {
      expect([page.status, page.left]).toEqual([400, undefined]);
      expect(page.html).toContain('<h1>You could not be logged out</h1>');
      expect(page.html).not.toContain('login cannot start');
      expect(page.html).toMatch(/req_1900_[\w-]{8}/);
    }
    const [link] = /href="[^"]*\/session\/end"/.exec(failures[0]?.html ?? '') ?? [];
    expect(link).toBe('href="/oidc/session/end"');
    const asked = await browser.open('/oidc/session/end');
    const end = await browser.submit(asked, 'confirm', { logout: 'yes' });
    expect(end.html).toContain('<h1>You are logged out</h1>');
    expect(await isLoggedIn(browser)).toBe(false);
  });

  it('that fails at its form says so, too', async () => {
    const browser = newBrowser();
    await shop().tokens(robot, {}, browser);
    await endSession(browser, {});
    const form = {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    } as const;
    const forged = await browser.request('/oidc/session/end/confirm', {
      ...form,
      body: 'logout=yes&xsrf=x',
    });
    expect(forged.status).toBe(400);
    expect(await forged.text()).toContain('<h1>You could not be logged out</h1>');
    const wrong = await browser.request('/oidc/session/end', { method: 'POST', body: '{}' });
    expect(wrong.status).toBe(400);
    expect(await wrong.text()).toContain('<h1>You could not be logged out</h1>');
  });

  it.each([
    ['somebody says who asks', { client_id: 'shop' }],
    ['nobody says who asks', {}],
  ] as const)(
    'that the person does not want leads to a page that says so: %s',
    async (_case, fields) => {
      const browser = newBrowser();
      await shop().tokens(robot, {}, browser);
      const asked = await endSession(browser, fields);
      const end = await browser.submit(asked, 'confirm');
      expect(end.status).toBe(200);
      expect(end.html).toContain('<h1>You are still logged in</h1>');
      expect(end.html).not.toContain('You are logged out');
      expect(await isLoggedIn(browser)).toBe(true);
    },
  );
});

describe('a request to log in', () => {
  it('takes an id_token_hint whose key was withdrawn, pushed and in a link', async () => {
    const { id_token: hint } = await shop().tokens();
    await rotate();
    expect((await shop().push({ id_token_hint: hint })).status).toBe(201);
    const link = new URLSearchParams({
      client_id: 'shop',
      response_type: 'code',
      scope: 'openid',
      redirect_uri: callback,
      id_token_hint: hint,
    });
    const { left, status } = await newBrowser().open(`/oidc/auth?${link}`);
    expect([status, left]).toEqual([200, undefined]);
  });
});
