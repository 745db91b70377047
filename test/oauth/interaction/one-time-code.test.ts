/** Logging in with a one-time password, for people whose number can sign nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeFor, isCode } from '../../../src/oauth/interaction/one-time-code.ts';
import { readOutbox } from '../../../src/sscd/text-gateway.ts';
import { startTestProduct, type TestProduct } from '../../support/product.ts';
import { testRedis } from '../../support/redis.ts';
import { type BrowserPage, formIn } from '../browser-client.ts';
import { askForLogin, claimsIn, pathOf, returned } from './stage.ts';

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  const plenty = { requests: 10_000, perSeconds: 1 };
  product = await startTestProduct(redis, {
    configuration: { oidc: { limits: { promptsPerNumber: plenty, promptsPerAddress: plenty } } },
    listen: true,
  });
});
afterAll(() => product.stop());

/** Nobody's number: nothing signs there, and a text arrives all the same. */
const unregistered = '41791112233';

const ask = async (acrValues: string) => {
  const login = await askForLogin(product, { parameters: { acr_values: acrValues } });
  const failed = await login.browser.settle(
    await login.browser.submit(login.page, 'number', { msisdn: `+${unregistered}` }),
  );
  return { ...login, failed };
};

const sentCode = async (): Promise<string> => {
  const { commands } = product.core;
  const texts = await readOutbox(commands, product.configuration.queue.prefix, unregistered, Date.now());
  return /\b\d{6}\b/.exec(texts.at(-1)?.text ?? '')?.[0] ?? '';
};

const wrong = (code: string): string => (code === '000000' ? '000001' : '000000');

describe('a one-time password', () => {
  it('lets somebody in whose number cannot sign, at the lowest level', async () => {
    const { browser, failed, redeem } = await ask('mid_al3_any mid_al2_any');
    const asked = await browser.submit(failed, 'text');
    expect(formIn(asked.html, 'code')).toBeDefined();
    await expect.poll(sentCode).not.toBe('');
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

  it('is not believed merely because the text was delivered', async () => {
    const { browser, page, failed } = await ask('mid_al2_any');
    await browser.submit(failed, 'text');
    await expect.poll(sentCode).not.toBe('');
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
    const answers = await Promise.all(tabs.map((tab) => tab.submit(asked, 'code', { code: wrong(code) })));
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
