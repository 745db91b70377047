/** The programs of docs/login/*.md log a robot in at a real product. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBrowser } from '../oauth/browser-client.ts';
import { manyPrompts } from '../oauth/sign-in.ts';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { openWorkshop, pageNames, type Running, type Workshop } from './login-programs.ts';

const redis = testRedis();
let product: TestProduct;
let workshop: Workshop;

beforeAll(async () => {
  workshop = await openWorkshop();
  await workshop.prepare();
  const configuration = workshop.configuration();
  const oidc = { ...(configuration.oidc as object), limits: manyPrompts };
  product = await startTestProduct(redis, {
    configuration: { ...configuration, oidc },
    listen: true,
  });
});

afterAll(async () => {
  await product?.stop();
  workshop?.remove();
});

const robot = '+41700092501';

/** Runs a program for as long as a test needs it. */
const withProgram = async <T>(
  page: string,
  program: string,
  use: (running: Running) => Promise<T>,
): Promise<T> => {
  const running = await workshop.start(page, program, product.url);
  try {
    return await use(running);
  } finally {
    await running.stop();
  }
};

/** Logs the robot in where a program has sent the browser; returns the address of the callback. */
const logIn = async (authorisationUrl: string): Promise<string> => {
  const browser = createBrowser({ origin: product.url });
  const page = await browser.open(authorisationUrl);
  const end = await browser.settle(await browser.submit(page, 'number', { msisdn: robot }));
  if (end.left === undefined) throw new Error(`still at the provider (${end.status})`);
  return end.left.href;
};

/** What a program with a server of its own says in the end. */
const visit = async (page: string, program: string): Promise<Json> =>
  withProgram(page, program, async (running) => {
    await running.line(/^Open /);
    const begun = await fetch(`${workshop.origin(page)}/`, { redirect: 'manual' });
    const [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';');
    const callback = await logIn(begun.headers.get('location') ?? '');
    expect(callback.startsWith(`${workshop.origin(page)}/callback?`)).toBe(true);
    const answer = await fetch(callback, { headers: { cookie } });
    expect(answer.status).toBe(200);
    return answer.json();
  });

/** What a program prints that has sent its user to the browser. */
const use = async (page: string, program: string): Promise<Json> =>
  withProgram(page, program, async (running) => {
    const callback = await logIn((await running.line(/^Open /)).slice('Open '.length));
    expect(await (await fetch(callback)).text()).toContain('You can close this window');
    return JSON.parse(await running.line(/^\{/));
  });

describe('the programs of docs/login', () => {
  it.each([
    ['confidential.md', 'shop.mjs', 'shop'],
    ['201-and-libraries.md', 'shop-openid-client.mjs', 'shop-lib'],
    ['201-and-libraries.md', 'shop-oauth4webapi.mjs', 'shop-lib'],
  ])(
    'log in for a web application (%s, %s)',
    async (page, program, clientId) => {
      const claims = await visit(page, program);
      expect(claims).toMatchObject({
        iss: `${product.url}/oidc`,
        aud: clientId,
        acr: 'mid_al3_any',
        amr: ['mid_sim'],
        phone_number: robot,
      });
    },
    30_000,
  );

  it('log in with a key (private-key-jwt.md)', async () => {
    const claims = await visit('private-key-jwt.md', 'shop-key.mjs');
    expect(claims).toMatchObject({ aud: 'shop-key', sub: expect.stringMatching(/^[\w-]{43}$/) });
  });

  it('log in for an app (public.md)', async () => {
    expect(await use('public.md', 'shop-app.mjs')).toMatchObject({
      aud: 'shop-app',
      acr: 'mid_al3_any',
    });
  });

  it('get tokens that nobody else can use (dpop.md)', async () => {
    expect(await use('dpop.md', 'shop-dpop.mjs')).toMatchObject({
      phone_number: robot,
      withoutKey: 401,
    });
  });

  it('log in without a browser (ciba.md)', async () => {
    const claims = await withProgram('ciba.md', 'counter.mjs', async (running) =>
      JSON.parse(await running.line(/^\{/)),
    );
    expect(claims).toMatchObject({ aud: 'counter', amr: ['mid_sim'] });
  });

  it('are on every page', () => {
    expect(pageNames.toSorted()).toEqual([
      '201-and-libraries.md',
      'ciba.md',
      'confidential.md',
      'dpop.md',
      'private-key-jwt.md',
      'public.md',
    ]);
  });
});
