/** The demo of a login over HTTP, with the provider of the same server behind it. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultCodes } from '../../../packages/protocol/src/fault.ts';
import { manyPrompts } from '../../../test/oauth/sign-in.ts';
import { startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { createVisitor, wordsOf } from './visitor.ts';

const redis = testRedis();
let product: TestProduct;
/** All products of this file share a prefix, and so the keys under it. */
const masterKey = randomBytes(32);

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: { oidc: { limits: manyPrompts } },
    listen: true,
    masterKey,
  });
});
afterAll(() => product?.stop());

const visitor = () => createVisitor(product.url);

describe('a login with the demo', () => {
  it.each(['demo', 'demo-public', 'demo-201'])('shows every step of it (%s)', async (client) => {
    const { status, html } = await visitor().login({ client });
    expect(status).toBe(200);
    const words = wordsOf(html);
    expect(words).toContain('The login is complete');
    for (const number of [3, 4, 5, 6])
      expect(html).toContain(`<span class="number">${number}</span>`);
    expect(words).toContain('Steps 1 and 2');
    expect(words).toContain('"phone_number": "+41700092501"');
    expect(words).toContain(`"aud": "${client}"`);
    expect(words).not.toContain('✗');
    expect(words).not.toContain('not reached');
  });

  it('goes straight to the login page when asked to', async () => {
    const { status, headers } = await visitor().start({ straight: 'yes' });
    expect(status).toBe(303);
    expect(headers.get('location')).toMatch(
      `${product.url}/oidc/auth?client_id=demo&request_uri=urn%3Aietf`,
    );
  });

  it('gets the level, the scopes and the refresh token that were chosen', async () => {
    const words = wordsOf(
      (await visitor().login({ acr: 'mid_al3_simcard', scope: 'offline_access', language: 'de' }))
        .html,
    );
    expect(words).toContain('"acr": "mid_al3_simcard"');
    expect(words).toContain('"refresh_token"');
    expect(words).toContain('ui_locales=de');
    expect(words).toContain('those that were asked for: openid offline_access.');
  });

  const explained = new Map([
    [401, ['access_denied', 'auth_3010', 'The person cancelled']],
    [402, ['access_denied', 'auth_3900', 'could not be authenticated']],
    [404, ['access_denied', 'auth_3060', 'has to be activated']],
    [406, ['access_denied', 'auth_3310', 'busy with another request']],
    [900, ['server_error', 'sys_9900', 'The service itself failed']],
  ]);

  it.each(faultCodes)('explains what fault %i came back as', async (fault) => {
    const words = wordsOf((await visitor().login({ number: `+41000092${fault}` })).html);
    for (const text of ['Not logged in', ...(explained.get(fault) ?? [])])
      expect(words).toContain(text);
    expect(words).toMatch(/(access_denied|server_error), code (auth_3\d{3}|sys_9900): mid_/);
  });

  it('shows what becomes of a code that is none', async () => {
    const someone = visitor();
    const page = await someone.toLoginPage();
    const end = await someone.browser.settle(
      await someone.browser.submit(page, 'number', { msisdn: '+41700092501' }),
    );
    const callback = new URL(end.left ?? '');
    callback.searchParams.set('code', 'x'.repeat(43));
    const words = wordsOf((await someone.open(callback.href)).html);
    for (const text of [
      'Not logged in',
      'The provider gave no tokens',
      '"error": "invalid_grant"',
    ]) {
      expect(words).toContain(text);
    }
    expect(words).not.toContain('Check the ID token');
  });

  it('shows why the provider did not take a request', async () => {
    const { status, html } = await visitor().start({ other: '12' });
    expect(status).toBe(400);
    expect(wordsOf(html)).toContain('The request was refused');
    expect(wordsOf(html)).toContain('req_1070');
  });
});

describe('what the demo keeps to itself', () => {
  it('shows neither secret nor code nor tokens', async () => {
    const someone = visitor();
    const pushed = await someone.start();
    const { html, callback } = await someone.login();
    const pages = pushed.html + html;
    expect(pages).not.toContain('demo-secret');
    expect(pages).not.toContain(Buffer.from('demo:demo-secret').toString('base64'));
    expect(html).not.toContain(callback.searchParams.get('code') ?? 'no code');
    // Three segments of any length are a token.
    expect(pages).not.toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/);
    expect(product.logged.join('')).not.toContain(callback.searchParams.get('code') ?? 'no code');
  });

  it('remembers a login where no script and no other site reaches it', async () => {
    const { headers } = await visitor().start();
    const [cookie = ''] = headers.getSetCookie();
    expect(cookie).toMatch(/; Path=\/demo\b/);
    expect(cookie).toMatch(/; HttpOnly\b/);
    expect(cookie).toMatch(/; SameSite=Lax\b/);
    expect(cookie).not.toMatch(/Secure/);
    expect(cookie.length).toBeLessThan(4000);
  });

  it('answers every page under a policy that lets in nothing from outside', async () => {
    const someone = visitor();
    for (const page of [
      await someone.open('/demo'),
      await someone.start(),
      await someone.open('/demo/callback'),
    ]) {
      expect(page.headers.get('content-security-policy')).toBe(
        `default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' ${product.url}; frame-ancestors 'none'; base-uri 'none'`,
      );
      expect(page.headers.get('cache-control')).toBe('no-store');
      expect(page.headers.get('x-frame-options')).toBe('DENY');
      expect(page.html).not.toMatch(/<script|<style|\sstyle=|\son\w+=|javascript:/i);
    }
  });
});

describe('what strangers try with the demo', () => {
  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    [
      'a site of the same domain',
      { 'sec-fetch-site': 'same-site', origin: 'http://evil.127.0.0.1' },
    ],
    ['an old browser at another site', { origin: 'https://evil.example' }],
    ['a page without an origin', { origin: 'null' }],
    ['something that does not say where it is', {}],
  ])('begins no login for the form of %s, and asks instead', async (_who, headers) => {
    const page = await visitor().start({ acr: 'mid_al4_any' }, headers);
    expect(page.status).toBe(403);
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(wordsOf(page.html)).toContain('Please send it once more');
    // What was chosen is still chosen.
    expect(page.html).toContain('<option value="mid_al4_any" selected>');
  });

  it('takes the form of an old browser that says where it is', async () => {
    const page = await visitor().start({}, { origin: product.url });
    expect(page.status).toBe(200);
  });

  it('escapes what is typed and what comes back', async () => {
    const someone = visitor();
    const evil = '"><img src=x onerror=alert(1)>';
    expect((await someone.start({ other: evil })).html).not.toContain('<img');
    expect((await someone.start({ other: evil }, {})).html).not.toContain('<img');
    await someone.toLoginPage();
    const query = new URLSearchParams({ state: evil, error: evil, error_description: evil });
    expect((await someone.open(`/demo/callback?${query}`)).html).not.toContain('<img');
  });

  it.each([
    ['without a login', false, { state: 'x', code: 'x' }, 'has no login under way'],
    ['of another login', true, { state: 'x', code: 'x' }, 'state is not the one'],
  ])('takes no answer %s', async (_words, begun, query, sentence) => {
    const someone = visitor();
    if (begun) await someone.start();
    const page = await someone.open(`/demo/callback?${new URLSearchParams(query)}`);
    expect(page.status).toBe(400);
    expect(wordsOf(page.html)).toContain(sentence);
  });

  it('takes an answer once', async () => {
    const someone = visitor();
    const { callback } = await someone.login();
    const again = await someone.open(callback.href);
    expect(again.status).toBe(400);
    expect(wordsOf(again.html)).toContain('has no login under way');
  });

  it('takes no cookie that it has not made', async () => {
    const someone = visitor();
    const { headers } = await someone.start();
    const [cookie = ''] = headers.getSetCookie();
    const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split('=');
    const altered = `${name}=${value.slice(0, -3)}AAA`;
    const response = await someone.browser.request('/demo/callback?state=x', {
      headers: { cookie: altered },
    });
    expect(await response.text()).toContain('no login under way');
  });

  it('sends people nowhere but to this server', async () => {
    const someone = visitor();
    const { html } = await someone.start({
      straight: 'yes',
      redirect_uri: 'https://evil.example',
      publicUrl: 'https://evil.example',
      client: 'https://evil.example',
    });
    expect(html).not.toContain('evil.example');
    const forged = await someone.browser.request('/demo', {
      headers: { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
    });
    const text = await forged.text();
    expect(text).toContain(`action="${product.url}/demo/start"`);
    expect(text).not.toContain('evil.example');
  });

  it('reads no more of a form than a form has', async () => {
    const page = await visitor().start({ other: 'x'.repeat(20_000) });
    expect(page.status).toBe(413);
  });
});

describe('where the demo is', () => {
  it('is nowhere but in a sandbox', async () => {
    const serious = await startTestProduct(redis, {
      configuration: { sandbox: false },
      workers: false,
      listen: true,
      masterKey,
    });
    try {
      for (const path of ['/demo', '/demo/callback', '/demo/demo.css']) {
        expect((await fetch(`${serious.url}${path}`)).status).toBe(404);
      }
    } finally {
      await serious.stop();
    }
  });

  it('sends its form to the public address, and marks its cookie when that is https', async () => {
    const publicUrl = 'https://sign.example.com';
    const behind = await startTestProduct(redis, {
      configuration: { publicUrl },
      workers: false,
      listen: true,
      masterKey,
    });
    try {
      const page = await (await fetch(`${behind.url}/demo`)).text();
      expect(page).toContain(`action="${publicUrl}/demo/start"`);
      const response = await fetch(`${behind.url}/demo/start`, {
        method: 'POST',
        headers: { origin: publicUrl, 'content-type': 'application/x-www-form-urlencoded' },
        body: 'number=%2B41700092501',
      });
      const pageAfter = await response.text();
      expect(wordsOf(pageAfter)).toContain('Continue to the login page');
      expect(response.headers.getSetCookie()[0]).toContain('; Secure');
      expect(pageAfter).toContain(`href="${publicUrl}/oidc/auth?client_id=demo&amp;request_uri=`);
    } finally {
      await behind.stop();
    }
  });

  it('brings its style sheet and its icon itself', async () => {
    for (const [path, type] of [
      ['/demo/demo.css', 'text/css;charset=UTF-8'],
      ['/demo/icon.svg', 'image/svg+xml'],
    ] as const) {
      const response = await fetch(`${product.url}${path}`);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe(type);
      await response.text();
    }
  });

  it('is found with a slash at the end', async () => {
    expect((await fetch(`${product.url}/demo/`)).url).toBe(`${product.url}/demo`);
  });

  it('leads back to itself after a logout', async () => {
    const someone = visitor();
    const { html } = await someone.login();
    const [, link = ''] = /<a class="button" href="([^"]+)">Log out/.exec(html) ?? [];
    const url = new URL(link.replaceAll('&amp;', '&'));
    expect(url.origin).toBe(product.url);
    const page = await someone.browser.open(url.href);
    expect(page.status).toBe(200);
    const ended = await someone.browser.submit(page, 'session/end/confirm', { logout: 'yes' });
    expect(ended.left?.href).toBe(`${product.url}/demo`);
  });
});
