/**
 * Whom a client expects: nobody else's code is issued in answer to its `id_token_hint`, and nobody
 * else's session stands in for a person that its `login_hint` names.
 *
 * Sources: OpenID Connect Core sections 3.1.2.1, 3.1.2.2 and 8.1; interface section 4.5.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { type Browser, type BrowserPage, createBrowser, formIn } from './browser-client.ts';
import {
  callback,
  claimsIn,
  clientEntry,
  hintFor,
  type RelyingParty,
  relyingParty,
  returned,
  robot,
  rsaRobot,
  secret,
  startProvider,
} from './interoperability/stage.ts';

const redis = testRedis();
const signOnRedis = testRedis();
/** Each login asks the phone. */
let product: TestProduct;
/** One login counts for a while. */
let signOn: TestProduct;

const one = robot;
const other = rsaRobot;
/** Numbers that a link may name. */
const [anna, berta] = ['41790000001', '41790000002'];

const tenants = [
  {
    id: 'main',
    name: 'Main',
    clients: [
      clientEntry('shop'),
      // The same `sub` for the same person as at the shop.
      clientEntry('branch', { sector: 'client.example' }),
      clientEntry('foreign', { sector: 'foreign.example' }),
      clientEntry('silent', { loginHintAllowed: false }),
    ],
  },
  { id: 'second', name: 'Second', clients: [clientEntry('shop')] },
];

beforeAll(async () => {
  const subscribers = [anna, berta].map((msisdn) => ({
    msisdn,
    sim: { device: { kind: 'robot' } },
  }));
  const start = (own: typeof redis, oidc: object, suffix: string) =>
    startProvider(
      own,
      [],
      { ...oidc, tenants },
      {
        subscribers,
        queue: { prefix: `${own.prefix.slice(-30)}-${suffix}` },
      },
    );
  product = await start(redis, { idTokenSeconds: 1 }, 'a');
  signOn = await start(signOnRedis, { singleSignOnSeconds: 600 }, 'b');
});
afterAll(async () => {
  await Promise.all([product.stop(), signOn.stop()]);
});

const client = (id: string, at: TestProduct = product, issuerPath = '/oidc'): RelyingParty =>
  relyingParty(at, { id, secret, issuerPath });

const idTokenOf = async (party: RelyingParty, msisdn: string): Promise<string> =>
  (await party.tokens(msisdn)).id_token;

const bare = (fields: Readonly<Record<string, string>>, id = 'shop'): string =>
  `/oidc/auth?${new URLSearchParams({
    client_id: id,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: callback,
    state: 'the-state',
    ...fields,
  })}`;

/** The page that asks for a number. */
const asks = (page: BrowserPage): boolean => formIn(page.html, 'number') !== undefined;

const expectLoginRequired = (page: BrowserPage): void => {
  const { error, error_description, ...rest } = returned(page);
  expect(error).toBe('login_required');
  expect(error_description).toMatch(/^mid_auth_3900_[\w-]{8} - /);
  expect(rest).not.toHaveProperty('code');
};

const audited = (at: TestProduct, event: string): readonly string[] =>
  at.logged.filter((line) => line.includes(event));

/** A browser in which this person has logged in. */
const browserOf = async (party: RelyingParty, msisdn: string): Promise<Browser> => {
  const browser = createBrowser({ origin: signOn.url });
  await party.logIn(msisdn, {}, browser);
  return browser;
};

/** Comes back to the authorisation endpoint without having done anything at the page. */
const skipPage = (browser: Browser, page: BrowserPage): Promise<BrowserPage> =>
  browser.open(page.url.replace('/interaction/', '/auth/'));

describe('a login with an id_token_hint', () => {
  it('gives a code when it is of the person that the hint names', async () => {
    const shop = client('shop');
    const hint = await idTokenOf(shop, one);
    const tokens = await shop.tokens(one, { id_token_hint: hint });
    expect(claimsIn(tokens.id_token).sub).toBe(claimsIn(hint).sub);
  });

  it('gives login_required, and no code, when it is of somebody else', async () => {
    const shop = client('shop');
    const visit = await shop.visit({
      id_token_hint: await idTokenOf(shop, one),
      login_hint: hintFor(one, other),
    });
    const end = await shop.confirm(visit, other);
    expectLoginRequired(end);
    expect(returned(end).state).toBe(visit.state);
    const [, trace = 'none'] =
      /^mid_auth_3900_([\w-]{8})/.exec(returned(end).error_description ?? '') ?? [];
    const [ended = '{}'] = audited(product, 'login ended').filter((line) => line.includes(trace));
    expect(JSON.parse(ended)).toMatchObject({ error: 'login_required', code: 'auth_3900' });
  });

  it('that came in a link gives the same', async () => {
    const shop = client('shop');
    const hint = await idTokenOf(shop, anna);
    for (const [msisdn, name] of [
      [berta, 'error'],
      [anna, 'code'],
    ] as const) {
      const browser = createBrowser({ origin: product.url });
      const page = await browser.open(bare({ id_token_hint: hint }));
      const end = await browser.settle(
        await browser.submit(page, 'number', { msisdn: `+${msisdn}` }),
      );
      expect(Object.keys(returned(end))).toContain(name);
      if (msisdn === berta) expectLoginRequired(end);
    }
  });

  it('holds to a hint that has expired', async () => {
    const shop = client('shop');
    const hint = await idTokenOf(shop, one);
    await vi.waitFor(() => expect(Date.now() / 1000).toBeGreaterThan(claimsIn(hint).exp + 1), {
      timeout: 20_000,
    });
    const expected = { id_token_hint: hint, login_hint: hintFor(one, other) };
    expectLoginRequired(await shop.confirm(await shop.visit(expected), other));
    expect(returned(await shop.confirm(await shop.visit(expected), one))).toHaveProperty('code');
  });

  it('is not begun with a hint of another client, of another tenant, or of nobody', async () => {
    const shop = client('shop');
    const hints = [
      await idTokenOf(client('branch'), one),
      await idTokenOf(client('foreign'), one),
      await idTokenOf(client('shop', product, '/oidc/t/second'), one),
      'e30.e30.',
    ];
    for (const hint of hints) {
      const { status, body } = await shop.push({ id_token_hint: hint });
      expect([status, body.error]).toEqual([400, 'invalid_request']);
      const page = await createBrowser({ origin: product.url }).open(bare({ id_token_hint: hint }));
      expect(returned(page)).toMatchObject({ error: 'invalid_request', state: 'the-state' });
    }
  });

  it('leaves the browser logged in as before when it is refused', async () => {
    const shop = client('shop', signOn);
    const hint = await idTokenOf(shop, one);
    const browser = createBrowser({ origin: signOn.url });
    const visit = await shop.visit(
      { id_token_hint: hint, login_hint: hintFor(one, other) },
      browser,
    );
    expectLoginRequired(await shop.confirm(visit, other));
    const { page } = await shop.visit({ prompt: 'none', login_hint: undefined }, browser);
    expect(returned(page).error).toBe('login_required');
  });
});

describe('the session of somebody else than the id_token_hint names', () => {
  it('does not count: the phone is asked, and the answer has to be of the right person', async () => {
    const shop = client('shop', signOn);
    const hint = await idTokenOf(shop, one);
    const fields = { id_token_hint: hint, login_hint: hintFor(one, other) };
    for (const msisdn of [other, one]) {
      const browser = await browserOf(shop, other);
      const visit = await shop.visit(fields, browser);
      expect(asks(visit.page)).toBe(true);
      const end = await shop.confirm(visit, msisdn);
      if (msisdn === other) expectLoginRequired(end);
      else {
        const { body } = await shop.redeem({ ...visit, code: returned(end).code ?? '' });
        expect(claimsIn(body.id_token).sub).toBe(claimsIn(hint).sub);
      }
    }
  });

  it('does not count when the browser comes back without having asked anybody', async () => {
    const shop = client('shop', signOn);
    const browser = await browserOf(shop, other);
    const { page } = await shop.visit(
      { id_token_hint: await idTokenOf(shop, one), login_hint: undefined },
      browser,
    );
    const again = await skipPage(browser, page);
    expect(again.left?.searchParams.get('code') ?? undefined).toBeUndefined();
    expect(asks(again)).toBe(true);
  });

  it('is login_required with prompt none, and that of the right person is a code', async () => {
    const shop = client('shop', signOn);
    const fields = {
      id_token_hint: await idTokenOf(shop, one),
      prompt: 'none',
      login_hint: undefined,
    };
    const nobody = await shop.visit(fields, createBrowser({ origin: signOn.url }));
    expect(returned(nobody.page)).toMatchObject({ error: 'login_required', state: nobody.state });
    const wrong = await shop.visit(fields, await browserOf(shop, other));
    expect(returned(wrong.page)).toMatchObject({ error: 'login_required', state: wrong.state });
    const right = await shop.visit(fields, await browserOf(shop, one));
    expect(returned(right.page)).toHaveProperty('code');
  });
});

describe('the session of somebody whom the login_hint does not name', () => {
  const manual = (...msisdns: readonly string[]): string =>
    JSON.stringify({ enableManualInput: true, hints: msisdns.map((msisdn) => ({ msisdn })) });

  it.each([
    ['as JSON', hintFor(one)],
    ['as a bare number', `+${one}`],
    ['among several', hintFor(one, '41700092508')],
  ])('does not count: the person of the hint is asked (%s)', async (_, hint) => {
    const shop = client('shop', signOn);
    const browser = await browserOf(shop, other);
    const visit = await shop.visit({ login_hint: hint }, browser);
    expect(asks(visit.page)).toBe(true);
    const code = returned(await shop.confirm(visit, one)).code ?? '';
    const { body } = await shop.redeem({ ...visit, code });
    const { sub } = claimsIn(await idTokenOf(shop, one));
    expect(claimsIn(body.id_token).sub).toBe(sub);
  });

  it('is login_required with prompt none', async () => {
    const shop = client('shop', signOn);
    const { page, state } = await shop.visit(
      { login_hint: hintFor(one), prompt: 'none' },
      await browserOf(shop, other),
    );
    expect(returned(page)).toMatchObject({ error: 'login_required', state });
  });

  it('does not count when the browser comes back without having asked anybody', async () => {
    const shop = client('shop', signOn);
    const browser = await browserOf(shop, other);
    const { page } = await shop.visit({ login_hint: hintFor(one) }, browser);
    const again = await skipPage(browser, page);
    expect(again.left?.searchParams.get('code') ?? undefined).toBeUndefined();
    expect(asks(again)).toBe(true);
  });

  it('does not count for a link either, where the person may then type any number', async () => {
    const shop = client('shop', signOn);
    const browser = await browserOf(shop, other);
    const page = await browser.open(bare({ login_hint: hintFor(anna) }));
    expect(asks(page)).toBe(true);
    const silent = await browser.open(bare({ login_hint: hintFor(anna), prompt: 'none' }));
    expect(returned(silent).error).toBe('login_required');
  });

  it.each([
    ['is one of several that the hint names', hintFor(one, other)],
    ['where the hint allows any number', manual(one)],
    ['where the hint names nobody', undefined],
  ])('counts when it %s', async (_, hint) => {
    const shop = client('shop', signOn);
    const { page } = await shop.visit({ login_hint: hint }, await browserOf(shop, other));
    expect(returned(page)).toHaveProperty('code');
  });

  it('counts at a client that may not name numbers', async () => {
    const browser = await browserOf(client('shop', signOn), other);
    const page = await browser.open(bare({ login_hint: hintFor(anna) }, 'silent'));
    expect(returned(page)).toHaveProperty('code');
  });
});
