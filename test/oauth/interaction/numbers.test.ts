/**
 * Which numbers the page offers: what a client may say about it, and what a link that anybody can
 * write may.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toOffer } from '../../../src/oauth/login-hint.ts';
import { startTestProduct, type TestProduct } from '../../support/product.ts';
import { testRedis } from '../../support/redis.ts';
import { createBrowser } from '../browser-client.ts';
import { askForLogin, hintFor, robot } from './stage.ts';

const redis = testRedis();
const origin = 'http://127.0.0.1:9';
const somebody = '41791234567';
let product: TestProduct;

beforeAll(async () => {
  const shop = {
    id: 'shop',
    name: 'Shop',
    authentication: 'none',
    redirectUris: [`${origin}/demo/callback`],
    scopes: ['openid', 'phone'],
  };
  product = await startTestProduct(redis, {
    configuration: {
      publicUrl: origin,
      oidc: { tenants: [{ id: 'first', name: 'First', clients: [shop] }] },
    },
    listen: true,
    workers: false,
  });
});
afterAll(() => product.stop());

const typedField = (html: string): string | undefined => /<input id="msisdn"[^>]*>/.exec(html)?.[0];

describe('the page for the number', () => {
  it('shows nothing of a hint by a client that may not name numbers', async () => {
    const { page } = await askForLogin(
      product,
      { client: 'shop', hint: hintFor(somebody) },
      { origin },
    );
    expect(typedField(page.html)).toContain('value=""');
    expect(page.html).not.toContain('123 45 67');
  });

  it('is there for people whose user name came as a hint of such a client, as from a broker', async () => {
    const { page } = await askForLogin(
      product,
      { client: 'shop', hint: 'anna@example.org' },
      { origin },
    );
    expect(page.status).toBe(200);
    expect(typedField(page.html)).toContain('value=""');
    const browser = createBrowser({ origin, server: () => product.url });
    const query = new URLSearchParams({
      client_id: 'shop',
      response_type: 'code',
      scope: 'openid',
      redirect_uri: `${origin}/demo/callback`,
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      login_hint: 'anna',
    });
    const linked = await browser.open(`/oidc/auth?${query}`);
    expect([linked.status, linked.left]).toEqual([200, undefined]);
    expect(typedField(linked.html)).toContain('value=""');
  });

  it('lets people type another number when the hint stood in a link', async () => {
    const browser = createBrowser({ origin, server: () => product.url });
    const query = new URLSearchParams({
      client_id: 'demo',
      response_type: 'code',
      scope: 'openid',
      redirect_uri: `${origin}/demo/callback`,
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      login_hint: hintFor(somebody),
    });
    const page = await browser.open(`/oidc/auth?${query}`);
    expect(page.status).toBe(200);
    expect(typedField(page.html)).toMatch(/value="[^"]*123/);
  });

  it('keeps to the number of a pushed request', async () => {
    const { page } = await askForLogin(product, { hint: hintFor(somebody) }, { origin });
    expect(typedField(page.html)).toBeUndefined();
  });
});

describe('an offer', () => {
  const offer = (allowed: boolean, pushed: boolean) =>
    toOffer(hintFor(robot, somebody), { allowed, pushed }, (msisdn) => msisdn === robot);

  it('has test numbers only out of pushed requests', () => {
    expect(offer(true, true)).toMatchObject({
      hints: [{ msisdn: robot }, { msisdn: somebody }],
      manualInput: false,
    });
    expect(offer(true, false)).toMatchObject({ hints: [{ msisdn: somebody }], manualInput: true });
  });

  it('is empty for a client that may not name numbers', () => {
    for (const pushed of [true, false]) {
      expect(offer(false, pushed)).toEqual({ hints: [], manualInput: true });
    }
  });
});
