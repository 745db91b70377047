/** Logging in with a one-time password, for people whose number can sign nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeFor, isCode } from '../../../src/oauth/interaction/begin.ts';
import { createLoginFacts } from '../../../src/oauth/interaction/facts.ts';
import { readOutbox } from '../../../src/sscd/text-gateway.ts';
import { startTestProduct, type TestProduct } from '../../support/product.ts';
import { testRedis } from '../../support/redis.ts';
import { type BrowserPage, formIn } from '../browser-client.ts';
import { askForLogin, claimsIn, pathOf, returned } from './stage.ts';

const redis = testRedis();
let product: TestProduct;

/** The public address, which is also that of the clients. */
const origin = 'http://127.0.0.1:9';
/** It may not use text messages, as no client may unless its entry says so. */
const shop = {
  id: 'shop',
  name: 'Shop',
  authentication: 'none',
  redirectUris: [`${origin}/demo/callback`],
  scopes: ['openid', 'phone'],
};

beforeAll(async () => {
  const plenty = { requests: 10_000, perSeconds: 1 };
  product = await startTestProduct(redis, {
    configuration: {
      publicUrl: origin,
      oidc: {
        limits: { promptsPerNumber: plenty, promptsPerAddress: plenty, guessesPerNumber: plenty },
        tenants: [{ id: 'first', name: 'First', clients: [shop] }],
      },
    },
    listen: true,
  });
});
afterAll(() => product.stop());

/** Nobody's number: nothing signs there, and a text arrives all the same. */
const unregistered = '41791112233';

const ask = async (acrValues: string, client: 'demo' | 'shop' = 'demo', at = product) => {
  const login = await askForLogin(
    at,
    { client, parameters: { acr_values: acrValues } },
    { origin },
  );
  const failed = await login.browser.settle(
    await login.browser.submit(login.page, 'number', { msisdn: `+${unregistered}` }),
  );
  return { ...login, failed };
};

const textsSent = (at = product) =>
  readOutbox(at.core.commands, at.configuration.queue.prefix, unregistered, Date.now());

const sentCode = async (at = product): Promise<string> => {
  const texts = await textsSent(at);
  return /\b\d{6}\b/.exec(texts.at(-1)?.text ?? '')?.[0] ?? '';
};

const wrong = (code: string): string => (code === '000000' ? '000001' : '000000');

describe('a one-time password', () => {
  it('lets somebody in whose number cannot sign, at the lowest level', async () => {
    const { browser, failed, redeem } = await ask('mid_al3_any mid_al2_any');
    const asked = await browser.submit(failed, 'text');
    expect(formIn(asked.html, 'code')).toBeDefined();
    await expect.poll(() => sentCode()).not.toBe('');
    const code = await sentCode();
    const end = await browser.settle(
      await browser.submit(asked, 'code', { code: `${code.slice(0, 3)} ${code.slice(3)}` }),
    );
    const { body } = await redeem(returned(end).code ?? '');
    expect(claimsIn(body.id_token)).toMatchObject({ acr: 'mid_al2_any', amr: ['mid_otp'] });
    expect(product.logged.join('\n')).not.toContain(code);
  });

  it('is not offered to clients that want more', async () => {
    const { failed } = await ask('mid_al3_any');
    expect(formIn(failed.html, 'text')).toBeUndefined();
  });

  it('is not offered by clients without text messages, nor sent to whoever asks all the same', async () => {
    const { browser, page, failed } = await ask('mid_al2_any', 'shop');
    expect(formIn(failed.html, 'text')).toBeUndefined();
    const before = await textsSent();
    const begun = product.logged.filter((line) => line.includes('login begun')).length;
    const answer = await browser.request(`${pathOf(page)}/text`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(formIn(failed.html, 'other')?.fields).toString(),
    });
    expect(answer.status).toBe(303);
    const still = await browser.open(pathOf(page));
    expect(formIn(still.html, 'code')).toBeUndefined();
    expect(formIn(still.html, 'other')).toBeDefined();
    expect(product.logged.filter((line) => line.includes('login begun'))).toHaveLength(begun);
    expect(await textsSent()).toEqual(before);
  });

  it('is not believed merely because the text was delivered', async () => {
    const { browser, page, failed } = await ask('mid_al2_any');
    await browser.submit(failed, 'text');
    await expect.poll(() => sentCode()).not.toBe('');
    const early = await browser.open(`${pathOf(page)}/finish`);
    expect(early.left).toBeUndefined();
    expect(formIn(early.html, 'code')).toBeDefined();
  });

  it('can be guessed at three times, however many try at once', async () => {
    const { browser, page, failed } = await ask('mid_al2_any');
    const known = await sentCode();
    const asked = await browser.submit(failed, 'text');
    await expect.poll(sentCode).not.toBe(known);
    const code = await sentCode();
    const tabs = Array.from({ length: 8 }, () => browser.clone());
    const answers = await Promise.all(
      tabs.map((tab) => tab.submit(asked, 'code', { code: wrong(code) })),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const tooLate = await browser.submit(asked, 'code', { code });
    expect(tooLate.left).toBeUndefined();
    expect(formIn(tooLate.html, 'code')).toBeUndefined();
    const answer = returned(await browser.open(`${pathOf(page)}/return`));
    expect(answer.error_description).toMatch(/^mid_auth_3900_/);
  });

  it('is taken after a wrong one', async () => {
    const { browser, failed } = await ask('mid_al2_any');
    const known = await sentCode();
    const asked = await browser.submit(failed, 'text');
    await expect.poll(sentCode).not.toBe(known);
    const code = await sentCode();
    const again: BrowserPage = await browser.submit(asked, 'code', { code: wrong(code) });
    const end = await browser.settle(await browser.submit(again, 'code', { code }));
    expect(returned(end).code).toBeDefined();
  });

  it('counts no more when too many were typed for the number, in whichever logins, not even the right one', async () => {
    const plenty = { requests: 10_000, perSeconds: 1 };
    const limits = {
      promptsPerNumber: plenty,
      guessesPerNumber: { requests: 3, perSeconds: 36_000 },
    };
    const strict = await startTestProduct(redis, {
      configuration: {
        publicUrl: origin,
        oidc: { limits },
        queue: { prefix: `${redis.prefix.slice(-28)}-few` },
      },
      listen: true,
    });
    try {
      const begin = async () => {
        const { browser, page, failed } = await ask('mid_al2_any', 'demo', strict);
        const known = await sentCode(strict);
        const asked = await browser.submit(failed, 'text');
        await expect.poll(() => sentCode(strict)).not.toBe(known);
        return { browser, page, asked, code: await sentCode(strict) };
      };
      const first = await begin();
      for (let guess = 0; guess < 2; guess += 1) {
        await first.browser.submit(first.asked, 'code', { code: wrong(first.code) });
      }
      const second = await begin();
      const again = await second.browser.submit(second.asked, 'code', { code: wrong(second.code) });
      expect(again.status).toBe(200);
      expect(formIn(again.html, 'code')).toBeDefined();
      // Nothing typed is no guess, and is never limited.
      expect((await second.browser.submit(again, 'code', { code: ' ' })).status).toBe(200);
      const limited = await second.browser.submit(again, 'code', { code: second.code });
      expect(limited.status).toBe(429);
      expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(formIn(limited.html, 'code')).toBeUndefined();
      const { tenants } = strict.api.oauth;
      const uid = pathOf(second.page).split('/').at(-1) ?? '';
      const facts = await createLoginFacts(tenants.main.store).read(uid);
      expect(facts).not.toContainEqual({ kind: 'guessed', right: true });
      expect(facts).toContainEqual({ kind: 'barred' });
      // It stays that way in each tab, and the person can go back to the client.
      expect(formIn((await second.browser.open(second.page.url)).html, 'code')).toBeUndefined();
      const answer = returned(await second.browser.open(`${pathOf(second.page)}/return`));
      expect([answer.error, answer.code]).toEqual(['access_denied', undefined]);
    } finally {
      await strict.stop();
    }
  });

  it('is the same for one attempt and another one for the next', () => {
    const key = Buffer.alloc(32, 1);
    expect(codeFor(key, 'La')).toMatch(/^\d{6}$/);
    expect(codeFor(key, 'La')).toBe(codeFor(key, 'La'));
    expect(codeFor(key, 'La')).not.toBe(codeFor(key, 'Lb'));
    expect(isCode(key, 'La', ` ${codeFor(key, 'La')} `)).toBe(true);
    expect(isCode(key, 'La', codeFor(key, 'Lb'))).toBe(false);
    expect(isCode(key, 'La', '')).toBe(false);
  });
});
