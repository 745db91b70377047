/** The console in a real browser, as the people who run the service use it. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { duration } from '../../src/console/pages/markup.ts';
import type { HistoryFilter } from '../../src/transactions/history/filter.ts';
import { admin } from '../console/operators/stage.ts';
import { type ConsoleStage, startConsoleStage } from '../console/pages/console-stage.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';
import { launchChromium, leave, withContext } from './chromium.ts';
import {
  background,
  brokenLinks,
  openAll,
  poorContrasts,
  repeatedIds,
  widths,
} from './in-page.mjs';

const redis = testRedis();
let stage: ConsoleStage;
let browser: Browser;
/** Failed by the person's own no. */
let cancelled: string;

beforeAll(async () => {
  stage = await startConsoleStage(redis);
  // The last one has the longest of all reasons.
  for (const msisdn of [
    '+41700092501',
    '+41700092502',
    '+41000092402',
    '+41000092209',
    '+41000092450',
  ]) {
    await stage.product.post('/rest/service/sign', signRequest({ msisdn }));
  }
  // Names that a narrow window cannot show in one line.
  const apId = `http://${'e-government.'.repeat(6)}example/services/${'identity'.repeat(6)}`;
  cancelled = await stage.failed(401, stage.somebody(), apId);
  await stage.replays.replay(cancelled, { ...admin, via: 'oidc' }, 'Again');
  await stage.answer(cancelled, 2, 401);
  await soon(async () =>
    expect(await stage.history.find(cancelled)).toMatchObject({ state: 'failed', attempt: 2 }),
  );
  await listed([cancelled], { state: ['failed'] });
  await listed([await stage.submit(stage.somebody())]);
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await stage?.close();
});

/** The index is a moment behind, and has the row of an open transaction before it has its end. */
const listed = (ids: readonly string[], filter: HistoryFilter = {}): Promise<void> =>
  soon(async () => {
    const page = await stage.history.search(filter, { limit: 100 });
    expect(page?.rows.map(({ msspTransId }) => msspTransId)).toEqual(
      expect.arrayContaining([...ids]),
    );
  });

interface Person {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly complaints: string[];
  readonly outside: string[];
}

/** Somebody who has used a login link. */
const logIn = async (context: BrowserContext): Promise<Person> => {
  const complaints: string[] = [];
  context.on('console', (message) => complaints.push(message.text()));
  context.on('weberror', (error) => complaints.push(error.error().message));
  const outside: string[] = [];
  context.on('request', (request) => {
    if (!request.url().startsWith(stage.url)) outside.push(request.url());
  });
  const page = await context.newPage();
  await page.goto(`${stage.url}${await stage.newLink()}`);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL(`${stage.url}/admin`);
  return { context, page, complaints, outside };
};

/** Of the usual browser. A new one, with a login, costs more than most of these tests. */
let usual: Person | undefined;

/**
 * The browser must have nothing to complain about in the end. Without options, one browser serves
 * one test after the other.
 */
const withPerson = async (
  options: BrowserContextOptions | undefined,
  use: (page: Page) => Promise<void>,
): Promise<void> => {
  const goOn = async ({ page, complaints, outside }: Person): Promise<void> => {
    await use(page);
    expect(complaints).toEqual([]);
    expect(outside).toEqual([]);
  };
  const inEnglish = { locale: 'en-GB', ...options };
  if (options !== undefined)
    return withContext(browser, inEnglish, async (context) => goOn(await logIn(context)));
  const person = usual ?? (await logIn(await browser.newContext(inEnglish)));
  // Whatever a test leaves behind when it fails, the next one does not find it.
  usual = undefined;
  try {
    await person.page.setViewportSize({ width: 1280, height: 720 });
    await person.page.emulateMedia({ colorScheme: null });
    await goOn(person);
    await leave(person.context);
    usual = person;
  } finally {
    if (usual === undefined) await person.context.close();
  }
};

/** By the navigation: the group that has the section, and then the section. */
const go = async (page: Page, name: string): Promise<void> => {
  const navigation = page.getByRole('navigation', { name: 'Console' });
  const link = page.getByRole('link', { name, exact: true, includeHidden: true });
  const group = navigation.locator('details', { has: link });
  if ((await group.count()) > 0) await group.locator('summary').click();
  await navigation.getByRole('link', { name, exact: true }).click();
};

const heading = (page: Page) => page.getByRole('heading', { level: 1 });

describe('the console in a browser', () => {
  it.each([
    ['with scripts', true],
    ['without scripts', false],
  ])(
    'leads from a login link over the list to a replay, one and many, and to the audit log, %s',
    async (how, scripts) => {
      const id = await stage.failed(401);
      const apId = `http://${how.replace(' ', '-')}.example`;
      const ids: string[] = [];
      for (let count = 0; count < 3; count += 1)
        ids.push(await stage.failed(208, stage.somebody(), apId));
      await listed([...ids, id], { state: ['failed'] });
      await withPerson(scripts ? undefined : { javaScriptEnabled: false }, async (page) => {
        const filter = page.getByRole('search');
        await go(page, 'Transactions');
        await filter.getByLabel('Fault', { exact: true }).selectOption('401');
        await page.getByRole('button', { name: 'Show' }).click();
        await page.locator(`a[href="/admin/transactions/${id}"]`).click();
        expect(await heading(page).textContent()).toBe(id);
        expect(await page.getByRole('img', { name: /Statechart. Now failed/ }).count()).toBe(1);
        await page.getByText('Replay …').click();
        await page.getByLabel('Reason').fill('The person has called');
        await page.getByRole('button', { name: 'Replay: prompt the person again' }).click();
        await page.getByText('A new attempt has begun.').waitFor();
        await soon(() => expect(stage.asked()).toContain(`${id} 2`));

        await go(page, 'Transactions');
        await filter.getByLabel('State').selectOption('failed');
        await filter.getByLabel('Application').fill(apId);
        await page.getByRole('button', { name: 'Show' }).click();
        await page.getByRole('link', { name: 'Replay what this filter shows' }).click();
        await page.getByRole('heading', { name: 'Replay 3 transactions' }).waitFor();
        await page.getByLabel('Reason').fill(`The phones were away, ${how}`);
        await page.getByLabel('Replays in a second').fill('50');
        await page.getByRole('button', { name: 'Start the replay' }).click();
        await page.waitForURL(/\/admin\/replays\/B[0-9a-f]{16}$/);
        await page.getByRole('button', { name: 'Stop' }).waitFor();
        for (const each of ids) await stage.answer(each, 2, 208);
        // Without scripts news come by reloading.
        if (scripts) await page.locator('.state.done').waitFor();
        else {
          await soon(async () => {
            await page.reload();
            expect(await page.locator('.state.done').count()).toBe(1);
          });
        }
        for (const each of ids)
          expect(await page.getByRole('link', { name: each }).count()).toBe(1);

        await go(page, 'Audit');
        await page.getByLabel('Action', { exact: true }).selectOption('bulk-replay');
        await page.getByRole('button', { name: 'Show' }).click();
        const order = page.getByRole('row').filter({ hasText: `The phones were away, ${how}` });
        expect(await order.count()).toBe(1);
      });
      for (const each of ids)
        expect(stage.asked().filter((asked) => asked === `${each} 2`)).toHaveLength(1);
    },
  );

  it('counts what is new without pushing what is read away', async () => {
    await withPerson(undefined, async (page) => {
      await page.goto(`${stage.url}/admin/transactions`);
      const first = await page.getByRole('row').nth(1).textContent();
      await stage.product.post('/rest/service/sign', signRequest({}));
      const button = page.getByRole('button', { name: '1 new' });
      await button.waitFor({ timeout: 15_000 });
      expect(await page.getByRole('row').nth(1).textContent()).toBe(first);
      await button.click();
      expect(await page.getByRole('row').nth(1).textContent()).not.toBe(first);
      expect(await button.isVisible()).toBe(false);
    });
  });

  it('fills a list that was empty, by itself', async () => {
    await withPerson(undefined, async (page) => {
      const apId = 'http://first.example';
      await page.goto(`${stage.url}/admin/transactions?apId=${encodeURIComponent(apId)}`);
      await page.getByText('No transaction fits this filter.').waitFor();
      expect(await page.getByRole('table').count()).toBe(0);
      await stage.submit(stage.somebody(), { apId });
      await page.getByRole('row').filter({ hasText: apId }).waitFor({ timeout: 15_000 });
      expect(await page.getByRole('button', { name: 'Cancel …' }).count()).toBe(1);
    });
  });

  it('strikes out what does not fit the filter any more', async () => {
    const [older, newer] = [await stage.failed(402), await stage.failed(402)];
    await listed([older, newer], { state: ['failed'] });
    await withPerson(undefined, async (page) => {
      await page.goto(`${stage.url}/admin/transactions?state=failed&fault=402`);
      const operator = { name: 'olga', role: 'operator', via: 'cli' } as const;
      expect(await stage.replays.replay(newer, operator)).toBe('replayed');
      await page.locator(`tr.left[data-id="${newer}"]`).waitFor({ timeout: 15_000 });
      expect(await page.locator(`tr.left[data-id="${older}"]`).count()).toBe(0);
    });
  });

  it('shows the end of an open transaction by itself, and keeps what is being typed', async () => {
    const id = await stage.submit(stage.somebody());
    await soon(() => expect(stage.asked()).toContain(`${id} 1`));
    await withPerson(undefined, async (page) => {
      await page.goto(`${stage.url}/admin/transactions/${id}`);
      await page.getByText('Cancel …').click();
      await page.getByLabel('Reason').fill('A mist');
      await stage.answer(id, 1, 401);
      await page.locator('.tiles .state.failed').waitFor();
      expect(await page.getByLabel('Reason').inputValue()).toBe('A mist');
    });
  });

  it('fits wide and narrow windows in light and dark colours, and can be read', async () => {
    await withPerson(undefined, async (page) => {
      const [{ id: bulk } = { id: '' }] = await stage.replays.list(1);
      const backgrounds = new Set<string>();
      for (const path of [
        '/admin',
        '/admin?range=30d',
        '/admin/refusals',
        '/admin/login',
        '/admin/transactions',
        `/admin/transactions/${cancelled}`,
        '/admin/workflows',
        '/admin/replays/plan',
        '/admin/replays/plan?kind=cancel',
        `/admin/replays/plan?picked=1&id=${cancelled}`,
        '/admin/replays',
        ...(bulk === '' ? [] : [`/admin/replays/${bulk}`]),
        '/admin/callbacks',
        '/admin/callbacks?state=retried',
        '/admin/certificates?msisdn=41700092501',
        '/admin/callbacks/plan',
        '/admin/audit',
        '/admin/users',
        '/admin/tokens',
      ]) {
        await page.goto(`${stage.url}${path}`);
        await page.evaluate(openAll);
        expect([path, await page.evaluate(repeatedIds)]).toEqual([path, []]);
        expect([path, await page.evaluate(brokenLinks)]).toEqual([path, []]);
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 800 });
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme });
            const { content, window } = await page.evaluate(widths);
            expect([path, width, content]).toEqual([path, width, window]);
            const poor = await page.evaluate(poorContrasts);
            expect([path, width, colorScheme, poor]).toEqual([path, width, colorScheme, []]);
            backgrounds.add(await page.evaluate(background));
          }
        }
      }
      // Otherwise nobody has looked at the dark colours.
      expect(backgrounds.size).toBe(2);
    });
  });

  it('opens a row wherever it is clicked, but not when its text or its box is meant', async () => {
    await withPerson(undefined, async (page) => {
      const list = `${stage.url}/admin/transactions?text=${cancelled}`;
      await page.goto(list);
      const row = page.locator(`tr[data-id="${cancelled}"]`);
      await row.getByRole('checkbox').click();
      const { x = 0, y = 0 } =
        (await row.getByRole('cell', { name: 'USER_CANCEL' }).boundingBox()) ?? {};
      await page.mouse.move(x + 2, y + 8);
      await page.mouse.down();
      await page.mouse.move(x + 60, y + 8);
      await page.mouse.up();
      expect(page.url()).toBe(list);
      await page.evaluate('getSelection().removeAllRanges()');
      await row.getByRole('cell', { name: 'USER_CANCEL' }).click();
      await page.waitForURL(`${stage.url}/admin/transactions/${cancelled}`);
    });
  });

  it.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('cancels the rows that are selected, %s', async (_, javaScriptEnabled) => {
    const open = [await stage.submit(stage.somebody()), await stage.submit(stage.somebody())];
    await listed(open);
    await withPerson(javaScriptEnabled ? undefined : { javaScriptEnabled }, async (page) => {
      await page.goto(`${stage.url}/admin/transactions?state=open`);
      const cancel = page.getByRole('button', { name: 'Cancel …' });
      expect(await cancel.isDisabled()).toBe(javaScriptEnabled);
      for (const id of open) await page.getByLabel(`Select ${id}`).check();
      await cancel.click();
      await page.getByRole('heading', { name: 'Cancel 2 transactions' }).waitFor();
      await page.getByLabel('Reason').fill('A wrong campaign');
      await page.getByRole('button', { name: 'Start the cancels' }).click();
      await page.waitForURL(/\/admin\/replays\/B[0-9a-f]{16}$/);
      for (const id of open) await soon(async () => expect(await stage.status(id)).toBe('401'));
    });
  });

  it('keeps what is selected while the list changes, and selects all', async () => {
    const [first, other] = [
      await stage.submit(stage.somebody()),
      await stage.submit(stage.somebody()),
    ];
    await listed([first, other]);
    await withPerson(undefined, async (page) => {
      await page.goto(`${stage.url}/admin/transactions`);
      await page.getByLabel(`Select ${first}`).check();
      await stage.answer(first, 1, 401);
      await page.locator(`tr[data-id="${first}"] .state.failed`).waitFor({ timeout: 15_000 });
      expect(await page.getByLabel(`Select ${first}`).isChecked()).toBe(true);
      await page.getByLabel('Select all').check();
      expect(await page.getByLabel(`Select ${other}`).isChecked()).toBe(true);
      await page.getByLabel('Select all').uncheck();
      expect(await page.locator('#picked-count').textContent()).toBe('');
    });
    await stage.answer(other, 1, 401);
  });

  it.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('shows times in the time zone of the browser, %s', async (_, javaScriptEnabled) => {
    await withPerson({ javaScriptEnabled, timezoneId: 'Asia/Tehran' }, async (page) => {
      await page.goto(`${stage.url}/admin/transactions/${cancelled}`);
      const time = page.locator('.tiles time');
      const utc = (await time.textContent()) ?? '';
      await page.getByRole('button', { name: 'Local' }).click();
      if (!javaScriptEnabled) {
        await page.getByLabel('Your time zone').selectOption('Asia/Tehran');
        await page.getByRole('button', { name: 'Show times in this zone' }).click();
        await page.goto(`${stage.url}/admin/transactions/${cancelled}`);
      }
      await page.getByRole('button', { name: 'Asia/Tehran', pressed: true }).waitFor();
      expect(await time.textContent()).not.toBe(utc);
      await page.getByRole('button', { name: 'UTC' }).click();
      await page.getByRole('button', { name: 'UTC', pressed: true }).waitFor();
      expect(await time.textContent()).toBe(utc);
    });
  });

  it('says how long a bulk takes at the rate that is typed, and without scripts for which rate it says so', async () => {
    const id = await stage.failed(401, stage.somebody());
    await listed([id], { state: ['failed'] });
    const plan = `${stage.url}/admin/replays/plan?fault=401`;
    await withPerson(undefined, async (page) => {
      await page.goto(plan);
      const hint = page.locator('#rate-hint');
      const count = Number(await hint.locator('[data-count]').getAttribute('data-count'));
      const least = Number(await hint.locator('[data-count]').getAttribute('data-least'));
      expect(count).toBeGreaterThan(0);
      for (const rate of ['0.01', '0.03', '1', '250', '0.0001']) {
        await page.getByLabel('Replays in a second').fill(rate);
        const lasts = duration(Math.max(1000, least * 1000, (count * 1000) / Number(rate)));
        expect(await hint.textContent()).toContain(
          `At ${rate} in a second the prompting takes ${lasts} or more`,
        );
      }
      // What is no rate says nothing new.
      await page.getByLabel('Replays in a second').fill('');
      expect(await hint.textContent()).toContain('At 0.0001 in a second');
    });
    await withPerson({ javaScriptEnabled: false }, async (page) => {
      await page.goto(plan);
      await page.getByLabel('Replays in a second').fill('1');
      expect(await page.locator('#rate-hint').textContent()).toMatch(/^At \d+ in a second/);
    });
  });

  it('can be used with the keyboard alone', async () => {
    await withPerson(undefined, async (page) => {
      await page.goto(`${stage.url}/admin/transactions`);
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.id')).toBe('f-state');
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      const row = page.getByRole('row').nth(1).getByRole('link');
      await row.focus();
      await page.keyboard.press('ArrowDown');
      const second = await page.getByRole('row').nth(2).getByRole('link').textContent();
      expect(await page.evaluate('document.activeElement.textContent')).toBe(second);
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/admin\/transactions\/H/);
    });
  });
});
