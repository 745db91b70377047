/** Logging in through the browser, against a real product on a socket. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../../support/product.ts';
import { testRedis } from '../../support/redis.ts';
import { createBrowser, formIn, isWaiting } from '../browser-client.ts';
import { askForLogin, claimsIn, hintFor, pathOf, returned, robot, sleeper } from './stage.ts';

const redis = testRedis();
let product: TestProduct;

/** Many logins come from one address and go to few numbers here. */
const manyPrompts = Object.fromEntries(
  ['promptsPerNumber', 'promptsPerClient', 'promptsPerAddress'].map((name) => [
    name,
    { requests: 10_000, perSeconds: 1 },
  ]),
);

const shop = {
  id: 'shop',
  name: 'Shop',
  authentication: 'none',
  redirectUris: ['http://127.0.0.1/callback'],
};

const configuration = {
  // A person with a number that no test user has, who signs at once.
  subscribers: [{ msisdn: '41791234567', sim: { device: { kind: 'robot' } } }],
  oidc: {
    limits: manyPrompts,
    tenants: [
      { id: 'first', name: 'First' },
      { id: 'second', name: 'Second', clients: [shop] },
    ],
  },
};

beforeAll(async () => {
  product = await startTestProduct(redis, { configuration, listen: true });
});
afterAll(() => product.stop());

/** What the phone shows that was asked last. */
const lastPhoneText = async (): Promise<string> => {
  const begun = product.logged.findLast((line) => line.includes('login begun')) ?? '{}';
  const transaction = await product.api.transactions.find(JSON.parse(begun).msspTransId);
  return transaction?.request.data.text ?? '';
};

describe('a login at the browser', () => {
  it('goes from the client to the phone and back, and gives tokens about the person', async () => {
    const { browser, page, state, redeem } = await askForLogin(product, { hint: hintFor(robot) });
    expect(page.status).toBe(200);
    const end = await browser.settle(await browser.submit(page, 'number', { msisdn: `+${robot}` }));
    expect(end.left?.pathname).toBe('/demo/callback');
    const { code = '', ...rest } = returned(end);
    expect(rest).toEqual({ state, iss: `${product.url}/oidc` });
    const { status, body } = await redeem(code);
    expect(status).toBe(200);
    expect(claimsIn(body.id_token)).toMatchObject({
      acr: 'mid_al3_any',
      amr: ['mid_sim'],
      aud: 'demo',
    });
    expect(body.scope).toBe('openid phone');
    const userinfo = await fetch(`${product.url}/oidc/userinfo`, {
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    expect(await userinfo.json()).toMatchObject({
      phone_number: `+${robot}`,
      phone_number_verified: true,
    });
  });

  it('begins with a link as well, at each tenant, for clients that need not push', async () => {
    const browser = createBrowser({ origin: product.url });
    const query = new URLSearchParams({
      client_id: 'shop',
      response_type: 'code',
      scope: 'openid profile',
      redirect_uri: 'http://127.0.0.1/callback',
      state: 'abc',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    const page = await browser.open(`/oidc/t/second/auth?${query}`);
    expect(pathOf(page)).toMatch(/^\/oidc\/t\/second\/interaction\//);
    const end = await browser.settle(
      await browser.submit(page, 'number', { msisdn: '+41 79 123 45 67' }),
    );
    expect(end.left?.origin).toBe('http://127.0.0.1');
    expect(returned(end)).toMatchObject({ state: 'abc', iss: `${product.url}/oidc/t/second` });
  });

  it('asks the phone again in a browser in which somebody has logged in before, whoever that was', async () => {
    const first = await askForLogin(product, { hint: hintFor(robot) });
    await first.browser.settle(await first.browser.submit(first.page, 'number', { msisdn: robot }));
    for (const msisdn of [robot, '41700092508']) {
      const { browser, page, redeem } = await askForLogin(
        product,
        { hint: hintFor(msisdn), parameters: { scope: 'openid phone profile' } },
        { browser: first.browser },
      );
      const end = await browser.settle(await browser.submit(page, 'number', { msisdn }));
      const { body } = await redeem(returned(end).code ?? '');
      const userinfo = await fetch(`${product.url}/oidc/userinfo`, {
        headers: { authorization: `Bearer ${body.access_token}` },
      });
      expect(await userinfo.json()).toMatchObject({ phone_number: `+${msisdn}` });
    }
  });

  it('asks no phone before the person has pressed the button', async () => {
    const { browser, page } = await askForLogin(product, { hint: hintFor(robot) });
    const again = await browser.open(page.url);
    expect(formIn(again.html, 'number')).toBeDefined();
    expect(isWaiting(again.html)).toBe(false);
  });

  it('shows the same code and number as the phone', async () => {
    const { browser, page } = await askForLogin(product, { hint: hintFor(sleeper) });
    const waiting = await browser.submit(page, 'number', { msisdn: sleeper });
    expect(isWaiting(waiting.html)).toBe(true);
    const text = await lastPhoneText();
    expect(text).toContain('Demo');
    const code = /\b[A-Z2-9]{4}\b/.exec(text)?.[0] ?? 'none';
    const number = /\b[1-9]\d\b/.exec(text)?.[0] ?? 'none';
    const shown = waiting.html.replaceAll(/<[^>]*>/g, ' ');
    expect(shown).toMatch(new RegExp(`\\b${code}\\b`));
    expect(shown).toMatch(new RegExp(`\\b${number}\\b`));
    expect(shown).not.toContain(sleeper);
    await browser.submit(waiting, 'cancel');
  });

  it('shows the client’s own text on the phone, and no code on the page that the text has no place for', async () => {
    const { browser, page } = await askForLogin(product, {
      hint: hintFor(sleeper),
      parameters: { dtbd: 'Open the gate of #CLIENT#?' },
    });
    const waiting = await browser.submit(page, 'number', { msisdn: sleeper });
    expect(await lastPhoneText()).toMatch(/^Open the gate of Demo\?\W+\d\d\W*$/);
    expect(waiting.html.replaceAll(/<[^>]*>/g, ' ')).not.toMatch(/\b[B-DF-HJ-NP-TV-XZ2-9]{4}\b/);
    await browser.submit(waiting, 'cancel');
  });

  it('brings a cancellation to the phone and to the client', async () => {
    const { browser, page, state } = await askForLogin(product, { hint: hintFor(sleeper) });
    const waiting = await browser.submit(page, 'number', { msisdn: sleeper });
    const end = await browser.settle(await browser.submit(waiting, 'cancel'));
    const answer = returned(end);
    expect(answer).toMatchObject({ error: 'access_denied', state });
    const [, trace = 'none'] =
      /^mid_auth_3010_([\w-]{8}) - /.exec(answer.error_description ?? '') ?? [];
    expect(
      product.logged.some((line) => line.includes('login begun') && line.includes(trace)),
    ).toBe(true);
    expect(
      product.logged.some((line) => line.includes('login cancelled') && line.includes(trace)),
    ).toBe(true);
    // The phone is free again: the next login is not refused as busy.
    const next = await askForLogin(product, { hint: hintFor(sleeper) });
    const free = await next.browser.submit(next.page, 'number', { msisdn: sleeper });
    expect(isWaiting(free.html)).toBe(true);
    await next.browser.submit(free, 'cancel');
  });

  it('can be cancelled before a number is given', async () => {
    const { browser, page } = await askForLogin(product);
    const end = await browser.settle(await browser.submit(page, 'cancel'));
    expect(returned(end).error).toBe('access_denied');
  });

  it('tells the open page of a phone that has been answered, by event and by polling', async () => {
    const { browser, page } = await askForLogin(product, { hint: hintFor(sleeper) });
    const waiting = await browser.submit(page, 'number', { msisdn: sleeper });
    const state = async () => (await browser.request(`${pathOf(waiting)}/state`)).json();
    expect(await state()).toEqual({ state: 'open' });
    const changed = browser.waitOn(waiting);
    const other = browser.clone();
    await other.submit(waiting, 'cancel');
    const after = await changed;
    expect(isWaiting(after.html)).toBe(false);
    expect(await state()).toEqual({ state: 'ended' });
  });

  it('sends pages that cannot be framed, kept or scripted from outside', async () => {
    const { page } = await askForLogin(product);
    const headers = Object.fromEntries(page.headers);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).toContain("form-action 'self'");
    expect(headers['permissions-policy']).toBeDefined();
  });

  it('speaks the language that the client asks for, else the browser’s', async () => {
    const asked = await askForLogin(product, { parameters: { ui_locales: 'fr' } });
    expect(asked.page.html).toContain('<html lang="fr"');
    const german = await asked.browser.request(pathOf(asked.page), {
      headers: { 'accept-language': 'de-CH' },
    });
    expect(await german.text()).toContain('<html lang="fr"');
    const free = await askForLogin(product);
    const italian = await free.browser.request(pathOf(free.page), {
      headers: { 'accept-language': 'it' },
    });
    expect(await italian.text()).toContain('<html lang="it"');
  });
});

describe('the number', () => {
  it.each([
    ['nothing', ''],
    ['words', 'my phone'],
    ['too few digits', '+41 7'],
    ['a hint instead of a number', hintFor(robot)],
    ['a test number, which only clients may name', robot],
  ])('is asked for again after %s', async (_, msisdn) => {
    const { browser, page } = await askForLogin(product);
    const again = await browser.submit(page, 'number', { msisdn });
    expect(again.status).toBe(422);
    expect(formIn(again.html, 'number')).toBeDefined();
  });

  it('must be one that the client has named, where typing is not allowed', async () => {
    const { browser, page } = await askForLogin(product, { hint: hintFor(robot) });
    const again = await browser.submit(page, 'number', { msisdn: '+41791234567' });
    expect(again.status).toBe(422);
  });

  it('is understood with spaces and dashes', async () => {
    const { browser, page } = await askForLogin(product, { hint: hintFor(robot) });
    const end = await browser.settle(
      await browser.submit(page, 'number', { msisdn: '+41 70-009 25 01' }),
    );
    expect(returned(end).code).toBeDefined();
  });

  it('may be another one of several', async () => {
    const hint = hintFor('41000092402', robot);
    const { browser, page } = await askForLogin(product, { hint });
    const failed = await browser.settle(
      await browser.submit(page, 'number', { msisdn: '+41000092402' }),
    );
    const choice = await browser.submit(failed, 'other');
    const end = await browser.settle(await browser.submit(choice, 'number', { msisdn: robot }));
    expect(returned(end).code).toBeDefined();
  });
});

describe('a login that fails', () => {
  it.each([
    ['401', 'access_denied', 'auth_3010'],
    ['402', 'access_denied', 'auth_3900'],
    ['403', 'access_denied', 'auth_3900'],
    ['404', 'access_denied', 'auth_3060'],
    ['406', 'access_denied', 'auth_3310'],
    ['208', 'access_denied', 'auth_3300'],
    ['105', 'access_denied', 'auth_3080'],
    ['109', 'access_denied', 'auth_3080'],
    ['209', 'access_denied', 'auth_3900'],
    ['422', 'access_denied', 'auth_3900'],
    ['450', 'access_denied', 'auth_3900'],
    ['900', 'server_error', 'sys_9900'],
  ])('with %s tells the person why, and the client %s with %s', async (fault, error, code) => {
    const msisdn = `41000092${fault}`;
    const { browser, page, state } = await askForLogin(product, { hint: hintFor(msisdn) });
    const failed = await browser.settle(await browser.submit(page, 'number', { msisdn }));
    expect(failed.left).toBeUndefined();
    const end = await browser.open(`${pathOf(page)}/return`);
    const answer = returned(end);
    expect(answer).toMatchObject({ error, state });
    expect(answer.error_description).toMatch(new RegExp(`^mid_${code}_[\\w-]{8} - `));
    const trace = answer.error_description?.slice(`mid_${code}_`.length).split(' ')[0] ?? '';
    expect(failed.html).toContain(trace);
    expect(product.logged.some((line) => line.includes(trace) && line.includes(fault))).toBe(true);
  });

  it('can be tried again with one more prompt', async () => {
    const msisdn = '41000092401';
    const { browser, page } = await askForLogin(product, { hint: hintFor(msisdn) });
    const failed = await browser.settle(await browser.submit(page, 'number', { msisdn }));
    const again = await browser.settle(await browser.submit(failed, 'retry'));
    expect(formIn(again.html, 'retry')).toBeDefined();
    const transactions = new Set(
      product.logged.flatMap((line) =>
        /login begun/.test(line) ? /"msspTransId":"(\w+)"/.exec(line)?.[1] : [],
      ),
    );
    expect(transactions.size).toBeGreaterThan(1);
  });

  it('stops offering to try again after a few prompts', async () => {
    const msisdn = '41000092401';
    const { browser, page } = await askForLogin(product, { hint: hintFor(msisdn) });
    let failed = await browser.settle(await browser.submit(page, 'number', { msisdn }));
    for (let prompts = 1; prompts < 5; prompts += 1) {
      failed = await browser.settle(await browser.submit(failed, 'retry'));
    }
    expect(formIn(failed.html, 'retry')).toBeUndefined();
    expect(returned(await browser.open(`${pathOf(page)}/return`)).error).toBe('access_denied');
  });
});
