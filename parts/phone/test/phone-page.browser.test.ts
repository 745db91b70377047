/**
 * The page of the phone in a real browser: what attackers try, how it is used and looks, its
 * worker, its passkeys.
 */
import { createECDH } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complaintsOfAxe } from '../../../test/browser/axe.ts';
import { withContext } from '../../../test/browser/chromium.ts';
import { background, poorContrasts, repeatedIds, widths } from '../../../test/browser/in-page.mjs';
import { phoneAdminOf } from '../../../test/support/phone-admin.ts';
import { testRedis } from '../../../test/support/redis.ts';
import {
  type BrowserStage,
  button,
  heading,
  pin,
  signWithPin,
  startBrowserStage,
} from './browser-stage.ts';

const redis = testRedis();
let stage: BrowserStage;

beforeAll(async () => {
  stage = await startBrowserStage(redis);
});

afterAll(() => stage?.stop());

/** Rules that look at colours. The style sheet of the dark changes nothing else. */
const rulesOfColours = ['color-contrast', 'link-in-text-block'];

describe('the page of the phone, attacked,', () => {
  it('does not sign bytes that are about another text than it shows', async () => {
    await stage.withPhone({}, async (page, { msisdn }) => {
      await page.route('**/phone/api/state', async (route) => {
        const response = await route.fetch();
        const state = await response.json();
        for (const prompt of state.prompts) prompt.text = 'Another text';
        await route.fulfill({ response, json: state });
      });
      const id = await stage.ask(msisdn);
      await heading(page, 'Do you want to sign?');
      await page.reload();
      await page.getByText('What would be signed is not what is shown').waitFor();
      expect(await button(page, 'Sign').isVisible()).toBe(false);
      await button(page, 'Cancel').click();
      await stage.ended(id, '_401');
    });
  });

  it('shows no text turned around: what is signed and what is seen have one order', async () => {
    await stage.withPhone({}, async (page, { msisdn }) => {
      // With the overrides a browser shows: Pay CHF 100 to Bob.
      const id = await stage.ask(msisdn, { text: 'Pay \u202e001 FHC\u202c to \u061cBob\u200f' });
      await heading(page, 'Do you want to sign?');
      expect(await page.locator('[data-part="text"]').textContent()).toBe(
        'Pay [U+202E]001 FHC[U+202C] to [U+061C]Bob[U+200F]',
      );
      await signWithPin(page);
      await stage.ended(id, '500');
    });
  });

  it('keeps no key that can be read, and none that opens without the service', async () => {
    await stage.withUsualPhone(async (page) => {
      const kept = await page.evaluate(`new Promise((resolve) => {
        const request = indexedDB.open('paraph-phone');
        request.onsuccess = () => {
          const read = request.result.transaction('kept').objectStore('kept').get('phone');
          read.onsuccess = () => {
            request.result.close();
            resolve(JSON.stringify(read.result));
          };
        };
      })`);
      const phone = JSON.parse(String(kept));
      expect(Object.keys(phone).toSorted()).toEqual([
        'gate',
        'id',
        'key',
        'number',
        'recovery',
        'salt',
      ]);
      // Not even the beginning that every PKCS #8 has.
      for (const { bytes } of [phone.key, phone.recovery]) {
        expect(Object.values(bytes).slice(0, 3)).not.toEqual([0x30, 0x81, 0x87]);
      }
      expect(kept).not.toContain(pin);
      expect(await page.evaluate('document.cookie')).toBe('');
    });
  });

  it('keeps its key where the service knows it again when the person goes on', async () => {
    await withContext(stage.browser, { locale: 'en-GB' }, async (context) => {
      const page = await context.newPage();
      const { msisdn } = await stage.enrol(page);
      const [cookie] = await context.cookies();
      // An answer that is on its way would bring the cookie back.
      await page.goto('about:blank');
      await context.clearCookies();
      await page.goto(`${stage.url}/phone`);
      await heading(page, 'This browser is no longer your phone');
      if (cookie !== undefined) await context.addCookies([cookie]);
      await button(page, 'Continue').click();
      await heading(page, 'Your phone is ready');
      // A cookie of another host, of the path that browsers send first.
      const planted = {
        name: 'paraph-phone',
        value: 'AAAA',
        domain: 'localhost',
        path: '/phone/api',
      };
      await context.addCookies([planted]);
      await page.reload();
      await page.getByText('No connection. Trying again …').waitFor();
      await context.clearCookies({ path: '/phone/api' });
      const id = await stage.ask(msisdn);
      await heading(page, 'Do you want to sign?');
      await signWithPin(page);
      await stage.ended(id, '500');
    });
  });

  it('says that it is no phone any more when its storage was deleted, or when it was removed', async () => {
    await stage.withPhone({}, async (page) => {
      await page.evaluate(`new Promise((resolve) => {
        indexedDB.deleteDatabase('paraph-phone').onsuccess = resolve;
      })`);
      await page.reload();
      await heading(page, 'This browser is no longer your phone');
      await button(page, 'Continue').click();
      await heading(page, 'Your phone in the browser');
      await stage.enrol(page);
      await page.getByText('Remove this phone').click();
      await button(page, 'Remove it now').click();
      await heading(page, 'Your phone in the browser');
    });
  });

  it('takes no text as a script or as HTML, wherever it comes from', async () => {
    await withContext(stage.browser, { locale: 'en-GB' }, async (context) => {
      const page = await context.newPage();
      const { msisdn } = await stage.enrol(page);
      const text = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
      const id = await stage.ask(msisdn, { text });
      await heading(page, 'Do you want to sign?');
      expect(await page.locator('[data-part="text"]').textContent()).toBe(text);
      expect(await page.locator('[data-part="text"] *').count()).toBe(0);
      for (const attack of [
        `document.body.innerHTML = '<b>x</b>'`,
        `document.createElement('script').text = 'x'`,
        `trustedTypes.createPolicy('other', { createScript: (text) => text })`,
        `trustedTypes.createPolicy('paraph-phone', { createScript: (text) => text })`,
        `await navigator.serviceWorker.register('/phone/assets/other.js')`,
      ]) {
        const outcome = await page.evaluate(
          `(async () => { ${attack}; })().then(() => 'done', (error) => error.name)`,
        );
        expect([attack, outcome]).toEqual([attack, 'TypeError']);
      }
      await button(page, 'Cancel').click();
      await stage.ended(id, '_401');
    });
  });
});

describe('the page of the phone', () => {
  it('can be used with the keyboard, in an order that makes sense', async () => {
    await stage.withUsualPhone(async (page, { msisdn }) => {
      const id = await stage.ask(msisdn);
      await heading(page, 'Do you want to sign?');
      const focused = (what: string) => page.evaluate(`document.activeElement.${what}`);
      expect(await focused('tagName')).toBe('H1');
      // What a screen reader says, in this order.
      const read = async (...said: readonly string[]): Promise<void> => {
        const tree = await page.locator('main').ariaSnapshot();
        const at = said.map((each) => tree.indexOf(each));
        expect([tree, ...at]).toEqual([tree, ...at.toSorted((a, b) => a - b)]);
        expect([tree, at.includes(-1)]).toEqual([tree, false]);
      };
      const shown = [
        'heading "Do you want to sign?"',
        'Asked by',
        'group "What you sign"',
        'timer',
      ];
      await read(...shown, 'button "Sign"', 'button "Cancel"');
      await page.keyboard.press('Tab');
      expect(await focused('textContent')).toBe('Sign');
      // It has just appeared, and cannot be pressed at once.
      await page.locator('#view:not(.held)').waitFor();
      await page.keyboard.press('Enter');
      expect(await focused('name')).toBe('pin');
      await read(...shown, 'textbox "Enter your PIN to sign"', 'button "Sign with PIN"');
      await page.keyboard.type(pin);
      await page.keyboard.press('Tab');
      expect(await focused('textContent')).toBe('Sign with PIN');
      await page.keyboard.press('Enter');
      await heading(page, 'Signed');
      await stage.ended(id, '500');
    });
  });

  it('is set up by ear: each field and button has its name, and what is new is read out first', async () => {
    await withContext(stage.browser, { locale: 'en-GB' }, async (context) => {
      const page = await context.newPage();
      const { link } = await stage.invite();
      await page.goto(link);
      await heading(page, 'Set up your phone');
      const tree = (): Promise<string> => page.locator('main').ariaSnapshot();
      for (const said of ['textbox "PIN"', 'textbox "PIN once more"', 'button "Set up with PIN"'])
        expect(await tree()).toContain(said);
      const described = page.getByLabel('PIN', { exact: true });
      expect(await described.getAttribute('aria-describedby')).toBe('pin-hint');
      await described.fill('123');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText('Enter 6 to 12 digits.').waitFor();
      for (const label of ['PIN', 'PIN once more'])
        await page.getByLabel(label, { exact: true }).fill(pin);
      await page.keyboard.press('Enter');
      const focused = 'document.activeElement.textContent';
      for (const [title, next] of [
        ['Write down your recovery code', 'I have written it down'],
        ['Your phone is ready', undefined],
      ] as const) {
        await heading(page, title);
        expect(await page.evaluate(focused)).toBe(title);
        if (next === undefined) break;
        await page.keyboard.press('Tab');
        expect(await page.evaluate(focused)).toBe(next);
        await page.keyboard.press('Enter');
      }
    });
  });

  it('can be read in the light and in the dark, fits 1280 and 390 px and gives axe no cause for complaint', async () => {
    const look = { viewport: { width: 390, height: 844 }, locale: 'de-CH' } as const;
    await withContext(stage.browser, { ...look, reducedMotion: 'reduce' }, async (context) => {
      const page = await context.newPage();
      await page.goto(`${stage.url}/phone`);
      await heading(page, 'Ihr Telefon im Browser');
      const backgrounds = new Set<string>();
      const names = await page.evaluate(
        `[...document.querySelectorAll('template[id^="view-"]')].map(({ id }) => id)`,
      );
      for (const name of names as string[]) {
        await page.evaluate(`(() => {
          document.getElementById('view').replaceChildren(document.getElementById('${name}').content.cloneNode(true));
          for (const each of document.querySelectorAll('#view [hidden]:not([data-part="problem"])')) each.hidden = false;
          for (const each of document.querySelectorAll('#view details')) each.open = true;
        })()`);
        expect(await page.evaluate(repeatedIds), name).toEqual([]);
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 844 });
          for (const colorScheme of ['light', 'dark'] as const) {
            const what = `${name}, ${width}, ${colorScheme}`;
            await page.emulateMedia({ colorScheme });
            const rules = colorScheme === 'dark' ? rulesOfColours : undefined;
            expect(await complaintsOfAxe(page, rules), what).toEqual([]);
            expect(await page.evaluate(poorContrasts), what).toEqual([]);
            const { content, window } = await page.evaluate(widths);
            expect(content, what).toBeLessThanOrEqual(window);
            backgrounds.add(await page.evaluate(background));
          }
        }
      }
      // Otherwise nobody has looked at the dark colours.
      expect(backgrounds.size).toBe(2);
    });
  }, 300_000);

  it('can be installed, and has a page for when there is no connection', async () => {
    await withContext(stage.browser, { locale: 'de-CH' }, async (context) => {
      const page = await context.newPage();
      await page.goto(`${stage.url}/phone`);
      await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)');
      const session = await context.newCDPSession(page);
      const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
      // A test's browser keeps nothing, which is the same for every page.
      expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([]);
      await context.setOffline(true);
      await page.goto(`${stage.url}/phone`);
      await heading(page, 'Keine Verbindung');
      await context.setOffline(false);
      await page.getByRole('link', { name: 'Noch einmal versuchen' }).click();
      await heading(page, 'Ihr Telefon im Browser');
    });
  });

  it('is brought by a push message that says nothing about the request', async () => {
    await withContext(
      stage.browser,
      { locale: 'de-CH', permissions: ['notifications'] },
      async (context) => {
        const page = await context.newPage();
        await page.goto(`${stage.url}/phone`);
        await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)');
        const session = await context.newCDPSession(page);
        const registered = new Promise<string>((resolve) => {
          session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [first] }) => {
            if (first !== undefined) resolve(first.registrationId);
          });
        });
        await session.send('ServiceWorker.enable');
        const registrationId = await registered;
        const shown = () =>
          page.evaluate(`navigator.serviceWorker.ready.then((registration) => registration.getNotifications())
          .then((all) => [...new Set(all.map(({ title, body }) => title + ': ' + body))])`);
        // A browser that is busy may drop a message; a push service sends it again.
        const shownAfter = (message: object) => async () => {
          const data = JSON.stringify(message);
          const to = { origin: stage.url, registrationId };
          await session.send('ServiceWorker.deliverPushMessage', { ...to, data });
          return shown();
        };
        await expect
          .poll(shownAfter({ kind: 'prompt', id: 'x' }), { interval: 1000 })
          .toEqual([
            'Paraph: Ihre Unterschrift wird gewünscht. Öffnen Sie die App, um die Anfrage zu lesen.',
          ]);
        await expect
          .poll(shownAfter({ kind: 'enrolled' }), { interval: 1000 })
          .toContain(
            'Paraph: Für Ihre Nummer wurde ein weiteres Telefon eingerichtet. Öffnen Sie die App, um zu sehen, welches.',
          );
      },
    );
  });

  it('is notified after it was set up anew in the same browser, too', async () => {
    const keys = createECDH('prime256v1');
    const publicKey = keys.generateKeys('base64url');
    const privateKey = keys.getPrivateKey().toString('hex').padStart(64, '0');
    const withPush = await startBrowserStage(redis, {
      phone: {
        push: {
          subject: 'mailto:ops@example.com',
          publicKey,
          privateKey: Buffer.from(privateKey, 'hex').toString('base64url'),
        },
      },
    });
    await withPush.withPhone({ permissions: ['notifications'] }, async (page, { msisdn }) => {
      // A test's browser has no push service. Browsers keep a subscription until the page ends it.
      await page.addInitScript(`{
        const kept = () => localStorage.getItem('kept') && {
          toJSON: () => ({ endpoint: 'https://push.example/1', keys: { p256dh: '${publicKey}', auth: 'AAAA' } }),
          options: { applicationServerKey: new Uint8Array([${[...keys.getPublicKey()]}]).buffer },
          unsubscribe: async () => localStorage.removeItem('kept'),
        };
        PushManager.prototype.getSubscription = async () => kept();
        PushManager.prototype.subscribe = async () => {
          localStorage.setItem('kept', '1');
          return kept();
        };
      }`);
      await page.reload();
      await button(page, 'Notify me when the app is closed').click();
      await page.getByText('You are notified of requests').waitFor();
      const isSubscribed = async (number: string) =>
        (await phoneAdminOf(withPush.product).find(number.slice(1)))?.phones.at(-1)
          ?.subscription !== undefined;
      expect(await isSubscribed(msisdn)).toBe(true);
      await page.reload();
      await page.getByText('You are notified of requests').waitFor();
      await page.getByText('Remove this phone').click();
      await button(page, 'Remove it now').click();
      await heading(page, 'Your phone in the browser');
      const next = await withPush.enrol(page);
      await button(page, 'Notify me when the app is closed').click();
      await page.getByText('You are notified of requests').waitFor();
      expect(await isSubscribed(next.msisdn)).toBe(true);
    });
    await withPush.stop();
  });

  it('uses the passkey of a device that has one, and asks it for each signature', async () => {
    await withContext(stage.browser, { locale: 'en-GB' }, async (context) => {
      const page = await context.newPage();
      const session = await context.newCDPSession(page);
      await session.send('WebAuthn.enable');
      const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      });
      const { msisdn, link } = await stage.invite();
      // A passkey is of the public name of the service; it could not be made under another one.
      await page.goto(link.replace('localhost', 'other.localhost'));
      await heading(page, 'Set up your phone');
      expect(await button(page, 'Use the lock of this device').isVisible()).toBe(false);
      await page.goto(link);
      await button(page, 'Use the lock of this device').click();
      await heading(page, 'Your phone is ready');
      const id = await stage.ask(msisdn);
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
      await button(page, 'Sign').click();
      await page.getByText('The device did not confirm that it is you').waitFor();
      expect(await stage.product.statusOf(id)).toBe('504');
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
      await button(page, 'Sign').click();
      await heading(page, 'Signed');
      await stage.ended(id, '500');
    });
  });

  it('becomes the phone of the sandbox by a button', async () => {
    await withContext(stage.browser, { locale: 'en-GB' }, async (context) => {
      const page = await context.newPage();
      await page.goto(`${stage.url}/phone`);
      await button(page, 'Use this browser as its phone').click();
      await heading(page, 'Set up your phone');
      for (const label of ['PIN', 'PIN once more'])
        await page.getByLabel(label, { exact: true }).fill('123456');
      await button(page, 'Set up with PIN').click();
      await page.getByText('This PIN is too easy to guess').waitFor();
      for (const label of ['PIN', 'PIN once more'])
        await page.getByLabel(label, { exact: true }).fill(pin);
      await button(page, 'Set up with PIN').click();
      await button(page, 'I have written it down').click();
      const id = await stage.ask('+41700092600');
      await heading(page, 'Do you want to sign?');
      await signWithPin(page);
      await stage.ended(id, '500');
    });
  });
});
