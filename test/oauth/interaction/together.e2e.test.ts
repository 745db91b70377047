/**
 * What many do at the same time, and what is left when a process dies: each login asks once and
 * ends once.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLoginFacts } from '../../../src/oauth/interaction/facts.ts';
import { startTestProduct, type TestProduct } from '../../support/product.ts';
import { testRedis } from '../../support/redis.ts';
import { createBrowser, formIn, isWaiting } from '../browser-client.ts';
import { askForLogin, hintFor, pathOf, returned, robot, sleeper } from './stage.ts';

const redis = testRedis();
const origin = 'http://login.test:8080';
const masterKey = randomBytes(32);
const plenty = { requests: 10_000, perSeconds: 1 };
const configuration = {
  publicUrl: origin,
  oidc: {
    limits: { promptsPerNumber: plenty, promptsPerClient: plenty, promptsPerAddress: plenty },
  },
};
let here: TestProduct;
let there: TestProduct;

beforeAll(async () => {
  here = await startTestProduct(redis, { configuration, masterKey, listen: true });
  there = await startTestProduct(redis, { configuration, masterKey, listen: true, workers: false });
});
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()]);
});

const ask = (hint: string) => askForLogin(here, { hint }, { origin });

/** Every second request goes to the other process. */
const balanced = (cookie: string) => {
  let requests = 0;
  return async (path: string, init: RequestInit = {}): Promise<Response> => {
    const server = requests++ % 2 === 0 ? here.url : there.url;
    return fetch(`${server}${path}`, {
      ...init,
      headers: { accept: 'text/html', cookie, ...init.headers },
      redirect: 'manual',
    });
  };
};

/** Jobs of signature requests that there are, finished ones among them. */
const countTransactions = async (): Promise<number> => {
  const keys = await redis.client().keys(`*${redis.prefix.slice(-32)}*`);
  return keys.filter((key) => /:H[0-9A-Za-z]{19}$/.test(key)).length;
};

const begunIn = (product: TestProduct, since: number): number =>
  product.logged.slice(since).filter((line) => line.includes('login begun')).length;

describe('a login that many act on', () => {
  it.each([robot, sleeper])('asks %s once, however often the button is pressed', async (msisdn) => {
    const { browser, page } = await ask(hintFor(msisdn));
    const form = formIn(page.html, 'number');
    const send = balanced(browser.cookiesFor(pathOf(page)));
    const before = await countTransactions();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        send(form?.action ?? '', {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ ...form?.fields, msisdn }).toString(),
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(303));
    expect((await countTransactions()) - before).toBe(1);
    if (msisdn === sleeper) await browser.submit(await browser.open(page.url), 'cancel');
  });

  it('gives one code to eight tabs that finish at once, and none of them an error', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { browser, page, redeem } = await ask(hintFor(robot));
      const signed = await browser.submit(page, 'number', { msisdn: robot });
      expect(signed.left).toBeUndefined();
      const tabs = Array.from({ length: 8 }, () => browser.clone());
      const ends = await Promise.all(tabs.map((tab) => tab.open(`${pathOf(page)}/finish`)));
      const settled = await Promise.all(ends.map((end, index) => tabs[index]?.settle(end) ?? end));
      const codes = settled.flatMap(({ left }) => left?.searchParams.get('code') ?? []);
      expect(codes).toHaveLength(1);
      expect(settled.filter(({ left }) => left === undefined).map(({ status }) => status)).toEqual(
        Array(7).fill(200),
      );
      // Whoever loads a page of it again is told that it is over, and nothing worse.
      for (const path of ['', '/finish']) {
        expect((await browser.open(`${pathOf(page)}${path}`)).status).toBe(200);
      }
      expect((await redeem(codes[0] ?? '')).status).toBe(200);
    }
  });

  it('shows in one tab what was done in another', async () => {
    const { browser, page } = await ask(hintFor(sleeper));
    const other = browser.clone();
    const waiting = await browser.submit(page, 'number', { msisdn: sleeper });
    const same = await other.open(page.url);
    expect(isWaiting(same.html)).toBe(true);
    await other.submit(same, 'cancel');
    const end = await browser.settle(await browser.open(waiting.url));
    expect(returned(end).error).toBe('access_denied');
  });

  it('does not ask again when an old form is sent once more', async () => {
    const msisdn = '41000092401';
    const { browser, page } = await ask(hintFor(msisdn));
    const failed = await browser.settle(await browser.submit(page, 'number', { msisdn }));
    await browser.settle(await browser.submit(failed, 'retry'));
    const before = here.logged.length;
    const stale = await browser.submit(failed, 'retry');
    expect(stale.status).toBe(200);
    expect(begunIn(here, before)).toBe(0);
  });

  it('says where it stands when the address of the end is opened too early', async () => {
    const { browser, page } = await ask(hintFor(robot));
    for (const name of ['finish', 'return', 'number', 'cancel']) {
      const shown = await browser.open(`${pathOf(page)}/${name}`);
      expect(formIn(shown.html, 'number')).toBeDefined();
    }
  });
});

describe('a login whose process dies', () => {
  it('is finished by another one with the same cookies', async () => {
    let server = here.url;
    const first = await ask(hintFor(sleeper));
    const browser = createBrowser({ origin, server: () => server });
    const cookie = first.browser.cookiesFor(pathOf(first.page));
    await first.browser.submit(first.page, 'number', { msisdn: sleeper });
    server = there.url;
    const page = await browser.request(pathOf(first.page), { headers: { cookie } });
    const html = await page.text();
    expect(isWaiting(html)).toBe(true);
    const form = formIn(html, 'cancel');
    await browser.request(form?.action ?? '', {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form?.fields).toString(),
    });
    const end = await browser.request(`${pathOf(first.page)}/return`, { headers: { cookie } });
    expect(end.status).toBe(303);
    expect(end.headers.get('location')).toMatch(new RegExp(`^${origin}/oidc/auth/`));
  });

  it('is started by the next visit when nobody has started what was written down', async () => {
    const { browser, page, redeem } = await ask(hintFor(robot));
    const uid = pathOf(page).split('/').at(-1) ?? '';
    await createLoginFacts(here.api.oauth.tenants.main.store).add(uid, 60, () => ({
      kind: 'begun',
      method: 'sign',
      msisdn: robot,
      reference: `L${randomBytes(16).toString('hex')}`,
      begunAt: Date.now() - 5000,
      sessionCode: 'B2CD',
      language: 'en',
    }));
    const waiting = await browser.open(page.url);
    const end = await browser.settle(waiting);
    expect((await redeem(returned(end).code ?? '')).status).toBe(200);
  });

  it('ends its event streams when it stops, without an event', async () => {
    const leaving = await startTestProduct(redis, {
      configuration,
      masterKey,
      listen: true,
      workers: false,
    });
    const { browser, page } = await ask(hintFor(sleeper));
    await browser.submit(page, 'number', { msisdn: sleeper });
    const cookie = browser.cookiesFor(pathOf(page));
    const stream = await fetch(`${leaving.url}${pathOf(page)}/events`, { headers: { cookie } });
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    const text = stream.text();
    leaving.api.oauth.endWaiting();
    expect(await text).toBe('retry: 2000\n\n');
    await leaving.stop();
    await browser.submit(await browser.open(page.url), 'cancel');
  });
});
