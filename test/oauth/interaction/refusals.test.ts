/**
 * Strangers, forged forms, too many prompts and too late: what the login's pages refuse, and how
 * they say so.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../../support/product.ts';
import { testRedis } from '../../support/redis.ts';
import { type BrowserPage, createBrowser, formIn, isWaiting } from '../browser-client.ts';
import { askForLogin, hintFor, pathOf, returned, robot, sleeper } from './stage.ts';

const redis = testRedis();
let product: TestProduct;
/** No test number: those are not limited. */
const person = '41790000077';

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: {
      subscribers: [
        { msisdn: `+${person}`, sim: { device: { kind: 'robot', thinkSeconds: 300 } } },
      ],
      oidc: {
        tenants: [
          { id: 'first', name: 'First' },
          {
            id: 'second',
            name: 'Second',
            clients: [
              {
                id: 'shop',
                name: 'Shop',
                authentication: 'none',
                redirectUris: ['http://127.0.0.1/callback'],
              },
            ],
          },
        ],
        promptSeconds: 2,
        limits: {
          promptsPerNumber: { requests: 2, perSeconds: 3600 },
          promptsPerAddress: { requests: 1000, perSeconds: 1 },
        },
      },
    },
    listen: true,
  });
});
afterAll(() => product.stop());

const post = (page: BrowserPage, cookie: string, fields: Record<string, string>, headers = {}) =>
  fetch(`${product.url}${pathOf(page)}/number`, {
    method: 'POST',
    headers: {
      accept: 'text/html',
      cookie,
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    },
    body: new URLSearchParams(fields).toString(),
    redirect: 'manual',
  });

const begun = (): number => product.logged.filter((line) => line.includes('login begun')).length;

describe('a page of a login', () => {
  it('needs its cookie', async () => {
    const { page } = await askForLogin(product);
    const stranger = createBrowser({ origin: product.url });
    for (const path of ['', '/events', '/state', '/finish', '/return']) {
      const shown = await stranger.open(`${pathOf(page)}${path}`);
      expect([shown.status, shown.left]).toEqual([400, undefined]);
      expect(formIn(shown.html, 'number')).toBeUndefined();
    }
  });

  it('is not shown to the cookie of another login', async () => {
    const [mine, other] = [await askForLogin(product), await askForLogin(product)];
    const cookie = mine.browser.cookiesFor(pathOf(mine.page));
    for (const path of ['', '/events', '/state', '/finish', '/return']) {
      const answer = await fetch(`${product.url}${pathOf(other.page)}${path}`, {
        headers: { cookie },
      });
      expect(answer.status).toBe(404);
      expect(answer.headers.get('content-type')).toBe('text/html;charset=UTF-8');
    }
  });

  it('says that a login is over when it is unknown', async () => {
    const { browser, page } = await askForLogin(product);
    const cookie = browser.cookiesFor(pathOf(page));
    const gone = await fetch(`${product.url}/oidc/interaction/none`, { headers: { cookie } });
    expect(gone.status).toBe(404);
  });

  it('is not found under the path of another tenant, of none, or of the first one’s id', async () => {
    const { browser, page } = await askForLogin(product);
    const uid = pathOf(page).split('/').at(-1) ?? '';
    const first = browser.cookiesFor(pathOf(page));
    for (const tenant of ['second', 'none', 'first']) {
      const cookie = first.replaceAll('_first_', `_${tenant}_`);
      const answer = await fetch(`${product.url}/oidc/t/${tenant}/interaction/${uid}`, {
        headers: { cookie },
      });
      expect(answer.status).toBe(404);
    }
  });
});

describe('a form', () => {
  it.each<[string, (csrf: string) => Record<string, string>, Record<string, string>]>([
    ['without a token', () => ({}), {}],
    ['with an empty token', () => ({ csrf: '' }), {}],
    ['with a token of another round', (csrf) => ({ csrf: `1${csrf.slice(1)}` }), {}],
    ['with a changed token', (csrf) => ({ csrf: `${csrf.slice(0, -2)}AA` }), {}],
    ['from another origin', (csrf) => ({ csrf }), { origin: 'https://evil.example' }],
    ['from another site', (csrf) => ({ csrf }), { 'sec-fetch-site': 'cross-site' }],
  ])('%s is refused and asks no phone', async (_, fields, headers) => {
    const { browser, page } = await askForLogin(product, { hint: hintFor(robot) });
    const csrf = formIn(page.html, 'number')?.fields.csrf ?? '';
    const before = begun();
    const cookie = browser.cookiesFor(pathOf(page));
    const answer = await post(page, cookie, { ...fields(csrf), msisdn: robot }, headers);
    expect(answer.status).toBe(403);
    expect(begun()).toBe(before);
    expect(formIn((await browser.open(page.url)).html, 'number')).toBeDefined();
  });

  it('with the token of another login is refused', async () => {
    const [mine, other] = [await askForLogin(product), await askForLogin(product)];
    const csrf = formIn(other.page.html, 'number')?.fields.csrf ?? '';
    const cookie = mine.browser.cookiesFor(pathOf(mine.page));
    expect((await post(mine.page, cookie, { csrf, msisdn: robot })).status).toBe(403);
  });

  it('is taken with the origin that browsers write for pages without a referrer', async () => {
    const { browser, page } = await askForLogin(product);
    const csrf = formIn(page.html, 'number')?.fields.csrf ?? '';
    const cookie = browser.cookiesFor(pathOf(page));
    const answer = await post(page, cookie, { csrf, msisdn: '' }, { origin: 'null' });
    expect(answer.status).toBe(422);
  });

  it.each([
    [415, { 'content-type': 'application/json' }, '{}'],
    [413, {}, `csrf=${'x'.repeat(10_000)}`],
  ])('that is none is answered with %i', async (status, headers, body) => {
    const { browser, page } = await askForLogin(product);
    const answer = await fetch(`${product.url}${pathOf(page)}/number`, {
      method: 'POST',
      headers: {
        cookie: browser.cookiesFor(pathOf(page)),
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      },
      body,
    });
    expect(answer.status).toBe(status);
  });
});

describe('prompts', () => {
  it('on one phone are limited, whoever asks for them', async () => {
    const msisdn = person;
    for (const client of ['demo', 'demo-public'] as const) {
      const { browser, page } = await askForLogin(product, { client, hint: hintFor(msisdn) });
      expect((await browser.submit(page, 'number', { msisdn })).status).toBe(200);
    }
    const { browser, page } = await askForLogin(product, { hint: hintFor(msisdn) });
    const before = begun();
    const limited = await browser.submit(page, 'number', { msisdn });
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(begun()).toBe(before);
    expect(product.logged.some((line) => line.includes('login limited'))).toBe(true);
    // The page is still of use: another number, or back to the client.
    expect(formIn(limited.html, 'number')).toBeDefined();
    expect(returned(await browser.settle(await browser.submit(limited, 'cancel'))).error).toBe(
      'access_denied',
    );
  });

  it('that nobody answers end by themselves, and the page learns of it', async () => {
    const { browser, page } = await askForLogin(product, { hint: hintFor(sleeper) });
    const waiting = await browser.submit(page, 'number', { msisdn: sleeper });
    expect(isWaiting(waiting.html)).toBe(true);
    const failed = await browser.waitOn(waiting);
    expect(formIn(failed.html, 'retry')).toBeDefined();
    const answer = returned(await browser.open(`${pathOf(page)}/return`));
    expect(answer.error_description).toMatch(/^mid_auth_3300_/);
  });

  it('can be waited for on a few streams at a time', async () => {
    const { browser, page } = await askForLogin(product, { hint: hintFor(sleeper) });
    const waiting = await browser.submit(page, 'number', { msisdn: sleeper });
    // Asked for their headers alone there is nothing to be read, and nothing stays open.
    for (let head = 0; head < 6; head += 1) {
      expect((await browser.request(`${pathOf(waiting)}/events`, { method: 'HEAD' })).status).toBe(
        200,
      );
    }
    const streams = await Promise.all(
      Array.from({ length: 6 }, () => browser.request(`${pathOf(waiting)}/events`)),
    );
    expect(streams.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 429, 429]);
    await browser.submit(waiting, 'cancel');
    const texts = await Promise.all(streams.filter(({ ok }) => ok).map((stream) => stream.text()));
    expect(texts.every((text) => text.includes('event: changed'))).toBe(true);
  });
});
