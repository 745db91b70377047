/** Logins that a phone begins: by the QR code of the page, and by the button on the same device. */
import { randomBytes } from 'node:crypto';
import { renderSVG } from 'uqr';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BrowserPage, formIn, isWaiting } from '../../../test/oauth/browser-client.ts';
import {
  askForLogin,
  claimsIn,
  hintFor,
  type Login,
  pathOf,
  returned,
  robot,
} from '../../../test/oauth/interaction/stage.ts';
import { roomyLimits } from '../../../test/oauth/interoperability/stage.ts';
import { enrolPhone, type ScriptedPhone } from '../../../test/support/phone.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { createStartCodes } from '../start-codes.ts';
import { type PhoneStage, soon, startPhoneStage } from './stage.ts';

const redis = testRedis();
const masterKey = randomBytes(32);
let stage: PhoneStage;
let url: string;

/** Logs in by phone alone. */
const strict = {
  id: 'shop',
  name: 'Shop',
  authentication: 'none',
  loginHintAllowed: true,
  redirectUris: ['http://127.0.0.1/demo/callback'],
  phoneStart: 'required',
};

beforeAll(async () => {
  const tenants = [{ id: 'first', name: 'First', clients: [strict] }];
  // Wrong codes are limited by address, so each request of a phone has its own.
  const trustedProxy = { addresses: ['127.0.0.1'] };
  const configuration = { oidc: { limits: roomyLimits, tenants }, trustedProxy };
  stage = await startPhoneStage(redis, { configuration, masterKey, listen: true });
  url = stage.product.url;
});
afterAll(() => stage?.product.stop());

let requests = 0;
const send = (request: Request): Promise<Response> => {
  requests += 1;
  request.headers.set('x-forwarded-for', `10.0.${requests >> 8}.${requests & 255}`);
  return fetch(request);
};

let last = 41_790_300_000;
const newNumber = (): string => `+${++last}`;

/** A person's phone. */
const newPhone = async (msisdn = newNumber()): Promise<ScriptedPhone> =>
  enrolPhone({ base: url, send }, await stage.invite(msisdn));

const join = (phone: ScriptedPhone, code: string) => phone.call('POST', 'logins', { code });

const uidOf = (page: BrowserPage): string => pathOf(page).split('/').at(-1) ?? '';
const codeAt = (page: BrowserPage, now: () => number): string =>
  createStartCodes(masterKey, now).forQr({ tenant: 'first', uid: uidOf(page), round: 0 });

/**
 * What a camera reads on the page. The image is compared with that of the code, because nothing
 * here reads images.
 */
const scan = ({ browser, page }: Login): Promise<string> =>
  soon(async () => {
    const code = codeAt(page, Date.now);
    const image = await browser.request(`${pathOf(page)}/code.svg`);
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(await image.text()).toBe(renderSVG(`${url}/phone#login=${code}`, { border: 4 }));
    return code;
  });

/** Presses the button. @returns What the phone is opened with; the browser has a cookie for it. */
const press = async ({ browser, page }: Login): Promise<string> => {
  const { left } = await browser.submit(page, 'phone');
  expect(left?.pathname).toBe('/phone');
  return left?.hash.replace('#login=', '') ?? '';
};

/** The phone runs in the browser of the login. */
const moveInto = (phone: ScriptedPhone, { browser }: Pick<Login, 'browser'>): void =>
  phone.calls.setCookie(`${phone.calls.cookie()}; ${browser.cookiesFor('/phone/api/logins')}`);

const begun = (): number =>
  stage.product.logged.filter((line) => line.includes('login begun')).length;

describe('a login that a phone begins', () => {
  it('asks the phone that scans the code of the page, and says so in the ID token', async () => {
    const login = await askForLogin(stage.product);
    const phone = await newPhone();
    const news = login.browser.waitOn(login.page);
    const joined = await join(phone, await scan(login));
    expect([joined.status, joined.body]).toEqual([200, { joined: true }]);
    const waiting = await news;
    expect(isWaiting(waiting.html)).toBe(true);
    expect((await phone.sign(await phone.prompted())).status).toBe(200);
    const end = await login.browser.settle(waiting);
    const { body } = await login.redeem(returned(end).code ?? '');
    expect(claimsIn(body.id_token)).toMatchObject({ amr: ['mid_app', 'mid_qr'] });
  });

  it('asks the phone in the same browser, and tells it the way back', async () => {
    const login = await askForLogin(stage.product);
    const phone = await newPhone();
    const code = await press(login);
    moveInto(phone, login);
    const { body: joined } = await join(phone, code);
    expect(joined).toEqual({ joined: true, returnTo: pathOf(login.page) });
    await phone.sign(await phone.prompted());
    const end = await login.browser.settle(await login.browser.open(joined.returnTo));
    const { body } = await login.redeem(returned(end).code ?? '');
    expect(claimsIn(body.id_token)).toMatchObject({ amr: ['mid_app', 'mid_same_device'] });
  });

  it('is refused 50 times of 50 when its code was passed on to somebody else', async () => {
    const victim = await newPhone();
    const before = begun();
    const other = await askForLogin(stage.product);
    const outcomes: number[] = [];
    for (let logins = 0; logins < 5; logins += 1) {
      const login = await askForLogin(stage.product);
      for (let times = 0; times < 5; times += 1) {
        // The link of the button, in the browser of the victim: without the cookie, and with that
        // of another login.
        victim.calls.setCookie(victim.kept.cookie);
        if (times % 2 === 1) {
          await press(other);
          moveInto(victim, other);
        }
        outcomes.push((await join(victim, await press(login))).status);
        // The picture of the QR code, sent on.
        outcomes.push(
          (
            await join(
              victim,
              codeAt(login.page, () => Date.now() - 18_000),
            )
          ).status,
        );
      }
    }
    expect(outcomes).toEqual(Array(50).fill(404));
    expect(begun()).toBe(before);
    expect(await victim.prompts()).toEqual([]);
  });

  it('takes one phone, once', async () => {
    const login = await askForLogin(stage.product);
    const [first, second] = [await newPhone(), await newPhone()];
    const code = await scan(login);
    const statuses = await Promise.all([join(first, code), join(second, code)]);
    expect(statuses.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    expect((await join(first, code)).status).toBe(404);
    await soon(async () =>
      expect([...(await first.prompts()), ...(await second.prompts())]).toHaveLength(1),
    );
  });

  it('does not count by another phone, not even one of the same number', async () => {
    const msisdn = newNumber();
    const [mine, other] = [await newPhone(msisdn), await newPhone(msisdn)];
    const login = await askForLogin(stage.product);
    await join(mine, await scan(login));
    await other.sign(await other.prompted());
    const end = await login.browser.settle(await login.browser.open(login.page.url));
    expect(end.left).toBeUndefined();
    expect(end.html).toContain('You are not logged in');
  });

  it('is for the people whom the application expects', async () => {
    const login = await askForLogin(stage.product, { hint: hintFor(robot) });
    expect((await join(await newPhone(), await scan(login))).status).toBe(403);
  });

  it('is refused to a code that is none, and to who has no phone', async () => {
    const login = await askForLogin(stage.product);
    const phone = await newPhone();
    const code = await scan(login);
    for (const wrong of [
      'x',
      `${code.slice(0, -1)}_`,
      code.replace('q.', 'd.'),
      code.replace('.0.', '.1.'),
    ])
      expect([wrong, (await join(phone, wrong)).status]).toEqual([wrong, 404]);
    phone.calls.setCookie('paraph-phone=x');
    expect((await join(phone, code)).status).toBe(401);
  });
});

describe('an application that wants a phone', () => {
  it('gets no login by a number alone', async () => {
    const login = await askForLogin(stage.product, {
      client: 'shop',
      hint: hintFor(robot),
      parameters: { scope: 'openid' },
    });
    expect(formIn(login.page.html, 'number')).toBeUndefined();
    const fields = { ...formIn(login.page.html, 'phone')?.fields, msisdn: robot };
    const before = begun();
    const answer = await login.browser.request(`${pathOf(login.page)}/number`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    });
    expect(answer.status).toBe(303);
    expect(begun()).toBe(before);
  });
});
