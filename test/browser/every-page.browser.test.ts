/**
 * What axe says of every page, wide and narrow, in light and dark: pages of the console, which are
 * found by their links, its lists empty and filled, details, plans, reports and questions; pages of
 * people who log in or sign; the reference, the phone, the demo, the first page and errors.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { everyTaskPage } from '../../parts/processes/test/tasks/every-task-page.ts';
import { defineWorkflow } from '../../parts/workflows/charts/index.ts';
import { type ConsoleStage, startConsoleStage } from '../console/pages/console-stage.ts';
import { everyPage } from '../oauth/pages/every-page.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';
import { complaintsOfAxe } from './axe.ts';
import { launchChromium, leave, withContext } from './chromium.ts';
import { widths } from './in-page.mjs';
import { type PageServer, servePages } from './page-server.ts';

const redis = testRedis();
const apId = 'http://bank.example';

const contract = defineWorkflow({
  name: 'contract',
  version: 1,
  chart: setup({
    types: { events: {} as { type: 'SPOIL' } | { type: 'CANCEL' } | { type: 'REPLAY' } },
  }).createMachine({
    id: 'contract',
    initial: 'deciding',
    states: {
      deciding: { on: { SPOIL: 'spoiled', CANCEL: 'cancelled' } },
      spoiled: { meta: { job: 'failed' }, on: { REPLAY: 'deciding' } },
      cancelled: { type: 'final' },
    },
  }),
});

let stage: ConsoleStage;
let browser: Browser;
let context: BrowserContext;
/** Somebody who has used a login link. */
let page: Page;
let failed: string;

const api = async (method: string, path: string, body?: object) =>
  (await stage.ask('admin', method, `/admin/api${path}`, body)).body;

beforeAll(async () => {
  stage = await startConsoleStage(redis, [contract]);
  failed = await stage.failed(401);
  const replayed = await stage.failed(208);
  // Refused, and so first on the overview.
  await stage.product.post('/rest/service/sign', signRequest({ msisdn: '+41790000077' }));
  await soon(async () =>
    expect((await stage.history.search({}, { limit: 2 }))?.rows).toHaveLength(2),
  );
  await soon(async () => expect(await stage.history.refusedByFault()).toHaveLength(1));
  const { workflows } = stage.product;
  for (const id of ['open', 'spoiled', 'replayed']) await workflows.start(apId, 'contract', {}, id);
  const is = (id: string, status: string) =>
    soon(async () => {
      const { rows } = await api('GET', '/workflows?limit=50');
      expect(rows.find((row: { id: string }) => row.id === id)?.status).toBe(status);
    });
  for (const id of ['spoiled', 'replayed']) {
    await is(id, 'open');
    await workflows.send(apId, 'contract', id, { type: 'SPOIL' });
    await is(id, 'failed');
  }
  const order = { perSecond: 1000, reason: 'Again' };
  // It runs until its person has answered; the other is soon over.
  await api('POST', '/replays', { ...order, ids: [replayed] });
  const filter = { text: 'replayed' };
  const { bulkId } = await api('POST', '/replays/workflows', { ...order, filter });
  await soon(async () => expect((await api('GET', `/replays/${bulkId}`)).state).toBe('done'));
  await api('POST', '/tokens', { label: 'Nightly', days: 1 });
  browser = await launchChromium();
  context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce' });
  page = await context.newPage();
  await page.goto(`${stage.url}${await stage.newLink()}`);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL(`${stage.url}/admin`);
});
afterAll(async () => {
  if (context !== undefined) await leave(context);
  await browser?.close();
  await stage?.close();
});

/** Until nothing fades in or out any more: half of a colour has half of its contrast. */
const settled = `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
  .then(() => Promise.all(document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().iterations !== Infinity)
    .map(({ finished }) => finished.catch(() => undefined))))`;
const openDetails =
  "document.querySelectorAll('main details').forEach((each) => { each.open = true })";

/** The style sheets of the dark change nothing but colours. */
const rulesOfColours = ['color-contrast', 'link-in-text-block'];

/** Looks at the page that is open, in light and dark, wide and narrow. @param what Its name. */
const lookAt = async (shown: Page, what: string): Promise<void> => {
  for (const width of [1280, 390]) {
    await shown.setViewportSize({ width, height: 900 });
    // Where a button sticks to the lower edge, what is below it is measured whole at the end.
    await shown.evaluate('scrollTo(0, document.body.scrollHeight)');
    for (const colorScheme of ['light', 'dark'] as const) {
      await shown.emulateMedia({ colorScheme });
      await shown.evaluate(settled);
      const rules = colorScheme === 'dark' ? rulesOfColours : undefined;
      const found = [what, width, colorScheme, await complaintsOfAxe(shown, rules)];
      expect(found).toEqual([what, width, colorScheme, []]);
    }
    const { content, window } = await shown.evaluate(widths);
    expect([what, width, content]).toEqual([what, width, window]);
  }
};

/** @param ready What the page has when it is whole. */
const openAndLook = async (path: string, ready = 'h1'): Promise<void> => {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(`${stage.url}${path}`);
  await page.locator(ready).first().waitFor();
  await page.evaluate(openDetails);
  await lookAt(page, path);
};

/** One address for all that differ in an id or in their filter. */
const kindOf = (path: string): string => {
  const [name = ''] = path.split(/[?#]/);
  if (/^\/admin\/replays\/.*plan$/.test(name))
    return `${name} ${/kind=\w+/.exec(path)?.[0] ?? 'kind=replay'}`;
  return name.replace(/^\/admin\/(transactions|workflows|replays)\/[^/]+$/, '/admin/$1/:id');
};

const linksOf = `[...document.querySelectorAll('a[href^="/admin"]')].map((link) => link.getAttribute('href'))`;

describe('axe has no complaint about', () => {
  it('a page that a link of the console leads to', async () => {
    const seen = new Set<string>();
    const open = [
      '/admin',
      '/admin/replays/plan?kind=replay',
      '/admin/replays/plan?kind=cancel',
      '/admin/replays/workflows/plan?kind=replay',
      '/admin/replays/workflows/plan?kind=cancel',
      '/admin/replays/workflows/plan?kind=send',
      '/admin/callbacks/plan',
      '/admin/tokens',
    ];
    for (let path = open.shift(); path !== undefined; path = open.shift()) {
      const kind = kindOf(path);
      // The board has a test of its own, and an export is a file.
      if (seen.has(kind) || /^\/admin\/(queues|api)|\/export$/.test(kind)) continue;
      seen.add(kind);
      await openAndLook(path);
      open.push(...((await page.evaluate(linksOf)) as string[]));
    }
    expect([...seen].toSorted()).toEqual([
      '/admin',
      '/admin/audit',
      '/admin/callbacks',
      '/admin/callbacks/plan',
      '/admin/certificates',
      '/admin/refusals',
      '/admin/replays',
      '/admin/replays/:id',
      '/admin/replays/plan kind=cancel',
      '/admin/replays/plan kind=replay',
      '/admin/replays/workflows/plan kind=cancel',
      '/admin/replays/workflows/plan kind=replay',
      '/admin/replays/workflows/plan kind=send',
      '/admin/subscribers',
      '/admin/tokens',
      '/admin/transactions',
      '/admin/transactions/:id',
      '/admin/users',
      '/admin/workflows',
      '/admin/workflows/:id',
    ]);
  }, 300_000);

  it.each([
    '/admin?range=30d',
    '/admin/transactions?text=none',
    '/admin/transactions?from=yesterday',
    '/admin/workflows?text=none',
    '/admin/refusals?fault=105',
    '/admin/callbacks?state=retried',
    '/admin/audit?from=yesterday',
    '/admin/certificates?number=41790000077',
    '/admin/transactions/unknown',
    '/admin/nothing',
  ])('the page %s', (path) => openAndLook(path));

  it('the reports of both lists, and the workflow that has failed', async () => {
    await page.goto(`${stage.url}/admin/replays`);
    const reports = (await page.evaluate(linksOf)) as string[];
    const paths = reports.filter((path) => /^\/admin\/replays\/[^/]+$/.test(path));
    expect(new Set(paths).size).toBe(2);
    for (const path of new Set(paths)) await openAndLook(path);
    await page.goto(`${stage.url}/admin/workflows?text=spoiled`);
    await page.getByRole('link', { name: 'spoiled' }).first().click();
    await page.locator('h1').waitFor();
    await page.evaluate(openDetails);
    await lookAt(page, 'failed workflow');
  });

  it('what is asked before an order, and what is shown once after it', async () => {
    const look = async (what: string, press: () => Promise<void>): Promise<void> => {
      await page.setViewportSize({ width: 1280, height: 900 });
      await press();
      await page.locator('h1').waitFor();
      await lookAt(page, what);
    };
    await page.goto(`${stage.url}/admin/subscribers`);
    await page.getByLabel('Mobile number').fill('+41790000078');
    await look('invitation', () =>
      page.getByRole('button', { name: 'Invite, and show the link' }).click(),
    );
    await page.getByLabel('Mobile number').fill('+41');
    await look('wrong number', () => page.getByRole('button', { name: 'Show its phones' }).click());
    await page.goto(`${stage.url}/admin/users`);
    const orders = page.locator('main table button');
    const names = await orders.evaluateAll((all) => all.map((each) => each.textContent));
    for (const [index, name] of names.slice(0, 4).entries()) {
      await page.goto(`${stage.url}/admin/users`);
      await page.evaluate(openDetails);
      await look(`user, ${name}`, () => orders.nth(index).click());
    }
  });

  it('the login, and a link that is not good', async () => {
    await withContext(browser, { locale: 'en-GB' }, async (visitor) => {
      const shown = await visitor.newPage();
      for (const path of ['/admin/login', '/admin/login/link?token=none', '/admin/transactions']) {
        await shown.goto(`${stage.url}${path}`);
        await shown.locator('h1').waitFor();
        await lookAt(shown, path);
      }
      await shown.goto(`${stage.url}/admin/login/link?token=none`);
      await shown.getByRole('button').first().click();
      await shown.locator('h1').waitFor();
      await lookAt(shown, 'used link');
    });
  });

  it('the queue board, whose pages lead back to the console', async () => {
    const queue = `/admin/queues/queue/${Number(failed.slice(1, 3))}-signatures`;
    await openAndLook('/admin/queues', 'main a[href*="/queue/"]');
    await openAndLook(`${queue}?status=failed`, 'main h5');
    expect(await page.title()).toMatch(/^[01]-signatures · Queues · Paraph$/);
    await openAndLook(`${queue}/${failed}`, 'main h5');
    await page.getByRole('link', { name: 'Back to the console' }).click();
    await page.waitForURL(`${stage.url}/admin`);
  });
});

describe('axe has no complaint about pages for everybody:', () => {
  const own = testRedis();
  let server: PageServer;
  let product: TestProduct;
  const pages = new Map([...everyTaskPage, ...everyPage]);

  beforeAll(async () => {
    server = await servePages(pages);
    product = await startTestProduct(own, { listen: true });
  });
  afterAll(async () => {
    server?.close();
    await product?.stop();
  });

  it.each([
    ['the tasks of signers', everyTaskPage],
    ['logins', everyPage],
  ])(
    '%s',
    async (_, group) => {
      await withContext(browser, { reducedMotion: 'reduce' }, async (visitor) => {
        const shown = await visitor.newPage();
        for (const name of group.keys()) {
          await shown.goto(server.addressOf(name));
          await shown.evaluate(openDetails);
          await lookAt(shown, name);
        }
      });
    },
    300_000,
  );

  it.each([
    ['/', 'h1'],
    ['/docs', 'text=Test numbers'],
    ['/demo', 'h1'],
    ['/demo/start', 'h1'],
    ['/phone', 'h1'],
    ['/phone/offline', 'h1'],
    ['/oidc/auth', 'h1'],
    ['/oidc/interaction/none', 'h1'],
    ['/oidc/session/end', 'h1'],
    ['/tasks/none', 'h1'],
  ])('%s', async (path, ready) => {
    await withContext(browser, { locale: 'de-CH' }, async (visitor) => {
      const shown = await visitor.newPage();
      await shown.goto(`${product.url}${path}`);
      await shown.locator(ready).first().waitFor();
      await lookAt(shown, path);
    });
  });
});
