/**
 * One login for several clients: what it satisfied decides whether it counts for the next one,
 * which learns of it what its own scopes ask. And what a second login leaves of the first one's
 * tokens.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readOutbox } from '../../src/sscd/text-gateway.ts';
import type { Json, TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { type Browser, createBrowser, formIn } from './browser-client.ts';
import {
  appRobot,
  claimsIn,
  clientEntry,
  hintFor,
  offline,
  type RelyingParty,
  relyingParty,
  robot,
  rsaRobot,
  secret,
  startProvider,
} from './interoperability/stage.ts';

const redis = testRedis();
const alwaysRedis = testRedis();
/** One login counts for a while. */
let signOn: TestProduct;
/** Each login asks the phone. */
let always: TestProduct;

const clients = [
  clientEntry('shop', { textMessageLogin: true }),
  clientEntry('branch', { textMessageLogin: true }),
  clientEntry('foreign', { redirectUris: ['https://foreign.example/callback'] }),
  clientEntry('careful', { phoneStart: 'required' }),
];

beforeAll(async () => {
  signOn = await startProvider(redis, clients, { singleSignOnSeconds: 600 });
  always = await startProvider(alwaysRedis, clients);
});
afterAll(() => Promise.all([signOn.stop(), always.stop()]));

const client = (id: string, at: TestProduct = signOn): RelyingParty =>
  relyingParty(at, {
    id,
    secret,
    ...(id === 'foreign' && { redirectUri: 'https://foreign.example/callback' }),
  });
const newBrowser = (at: TestProduct = signOn): Browser => createBrowser({ origin: at.url });

const everyScope = 'openid phone profile mid_profile mid_location mid_cms';

/** Whether a request is answered without asking the phone, and with which token. */
const silently = async (
  party: RelyingParty,
  browser: Browser,
  fields: Record<string, string> = {},
) => {
  const { page, ...request } = await party.visit(fields, browser);
  const code = page.left?.searchParams.get('code');
  if (code === null || code === undefined) {
    return { answered: false, error: page.left?.searchParams.get('error'), tokens: {} as Json };
  }
  const { body } = await party.redeem({ ...request, code });
  return { answered: true, error: null, tokens: body };
};

describe('a login counts for another client by what it satisfied', () => {
  const ofSim = ['mid_al2_any', 'mid_al3_any', 'mid_al3_simcard', 'mid_al4_any'];
  const ofApp = ['mid_al2_any', 'mid_al3_any', 'mid_al3_mobileapp', 'mid_al4_any'];

  it.each([
    ['a SIM', robot, ofSim, 'mid_al3_mobileapp'],
    ['an app', appRobot, ofApp, 'mid_al3_simcard'],
  ])(
    'for all levels of %s, and the one that was asked for is told',
    async (_case, msisdn, levels, other) => {
      for (const first of levels) {
        const browser = newBrowser();
        const own = await client('shop').tokens(msisdn, { acr_values: first }, browser);
        expect(claimsIn(own.id_token).acr).toBe(first);
        for (const second of levels) {
          const fields = { acr_values: second, login_hint: hintFor(msisdn) };
          const { answered, tokens } = await silently(client('foreign'), browser, fields);
          expect([first, second, answered]).toEqual([first, second, true]);
          expect(claimsIn(tokens.id_token)).toMatchObject({ acr: second });
          expect(
            (await silently(client('foreign'), browser, { ...fields, prompt: 'none' })).answered,
          ).toBe(true);
        }
        const fields = { login_hint: hintFor(msisdn) };
        expect(
          claimsIn((await silently(client('foreign'), browser, fields)).tokens.id_token),
        ).toMatchObject({
          acr: 'mid_al3_any',
        });
        const preferred = { ...fields, acr_values: `${other} mid_al4_any` };
        expect(
          claimsIn((await silently(client('foreign'), browser, preferred)).tokens.id_token),
        ).toMatchObject({ acr: 'mid_al4_any' });
        expect(
          (await silently(client('foreign'), browser, { ...fields, acr_values: other })).answered,
        ).toBe(false);
      }
    },
  );

  it('a password by text message only where the client takes one and asks for that level', async () => {
    const nobody = '41791112233';
    const browser = newBrowser();
    const fields = { acr_values: 'mid_al2_any', login_hint: hintFor(nobody) };
    const visit = await client('shop').visit(fields, browser);
    const asked = await browser.submit(await client('shop').confirm(visit, nobody), 'text');
    const sent = async () =>
      (
        await readOutbox(
          signOn.core.commands,
          signOn.configuration.queue.prefix,
          nobody,
          Date.now(),
        )
      ).at(-1)?.text;
    await expect.poll(sent).toBeDefined();
    const code = /\b\d{6}\b/.exec((await sent()) ?? '')?.[0] ?? '';
    const { left } = await browser.settle(await browser.submit(asked, 'code', { code }));
    expect(left?.searchParams.has('code')).toBe(true);
    const again = await silently(client('branch'), browser, fields);
    expect(claimsIn(again.tokens.id_token)).toMatchObject({ acr: 'mid_al2_any', amr: ['mid_otp'] });
    expect((await silently(client('foreign'), browser, fields)).answered).toBe(false);
    expect(
      (await silently(client('branch'), browser, { login_hint: hintFor(nobody) })).answered,
    ).toBe(false);
    const more = { ...fields, acr_values: 'mid_al3_any' };
    expect((await silently(client('branch'), browser, more)).answered).toBe(false);
  });

  it('one that began with a number does not count where the phone has to begin it', async () => {
    const browser = newBrowser();
    await client('shop').tokens(robot, {}, browser);
    expect((await silently(client('careful'), browser)).answered).toBe(false);
    expect((await silently(client('careful'), browser, { prompt: 'none' })).error).toBe(
      'login_required',
    );
  });
});

describe('under an earlier login', () => {
  const about = async (party: RelyingParty, tokens: Json): Promise<Json> =>
    (await party.userinfo(tokens.access_token)).body;

  it('another client learns what its own scopes ask, and no more', async () => {
    const browser = newBrowser();
    const shop = client('shop');
    const own = await about(shop, await shop.tokens(robot, { scope: everyScope }, browser));
    const foreign = client('foreign');
    const all = await silently(foreign, browser, { scope: everyScope });
    expect(await about(foreign, all.tokens)).toEqual({
      ...own,
      sub: claimsIn(all.tokens.id_token).sub,
    });
    expect(own).toMatchObject({
      mid_serial_number: expect.stringMatching(/^MID/),
      mid_geo_country: 'CH',
    });
    const few = await silently(client('branch'), browser, { scope: 'openid mid_profile' });
    const told = await about(client('branch'), few.tokens);
    expect(told.mid_serial_number).toBe(own.mid_serial_number);
    for (const claim of ['mid_cms', 'updated_at', 'mid_geo_country'])
      expect(told).not.toHaveProperty(claim);
  });

  it('also of the last one of several, when it comes back itself', async () => {
    const browser = newBrowser();
    const [shop, foreign] = [client('shop'), client('foreign')];
    await shop.tokens(robot, { scope: everyScope }, browser);
    const second = await foreign.tokens(robot, { scope: everyScope, prompt: 'login' }, browser);
    const { mid_cms } = await about(foreign, second);
    const { tokens } = await silently(shop, browser, { scope: everyScope });
    expect((await about(shop, tokens)).mid_cms).toBe(mid_cms);
    expect(claimsIn(tokens.id_token).auth_time).toBe(claimsIn(second.id_token).auth_time);
  });

  it('the phone is asked for the place, when nobody has asked for it before', async () => {
    const browser = newBrowser();
    await client('shop').tokens(robot, { scope: 'openid' }, browser);
    const located = { scope: 'openid mid_location' };
    expect((await silently(client('foreign'), browser, located)).answered).toBe(false);
    await client('branch').tokens(robot, located, browser);
    const { tokens } = await silently(client('foreign'), browser, located);
    expect(await about(client('foreign'), tokens)).toMatchObject({ mid_geo_country: 'CH' });
  });
});

describe('the tokens of a login go on', () => {
  it('when the same person logs in once more at the same client and browser', async () => {
    const shop = client('shop', always);
    const browser = newBrowser(always);
    const first = await shop.tokens(robot, {}, browser);
    // Only looks at the page of the next login.
    await shop.visit({}, browser);
    expect((await shop.userinfo(first.access_token)).status).toBe(200);
    const second = await shop.tokens(robot, { acr_values: 'mid_al4_any' }, browser);
    const third = await shop.tokens(robot, offline, browser);
    for (const { access_token } of [first, second, third]) {
      expect((await shop.userinfo(access_token)).status).toBe(200);
      expect((await shop.introspect(access_token)).body.active).toBe(true);
    }
    expect((await shop.userinfo(first.access_token)).body.sub).toBe(claimsIn(third.id_token).sub);
  });

  it('when two tabs log in side by side', async () => {
    const shop = client('shop', always);
    const browser = newBrowser(always);
    await shop.tokens(robot, {}, browser);
    const [one, other] = [await shop.visit({}, browser), await shop.visit({}, browser)];
    const ends = [await shop.confirm(one), await shop.confirm(other)];
    const tokens = await Promise.all(
      ends.map(async ({ left }, index) => {
        const code = left?.searchParams.get('code') ?? '';
        return (await shop.redeem({ ...(index === 0 ? one : other), code })).body;
      }),
    );
    for (const { access_token } of tokens)
      expect((await shop.userinfo(access_token)).status).toBe(200);
  });

  it('and end all together at a logout, and when somebody else logs in there', async () => {
    const shop = client('shop', always);
    const browser = newBrowser(always);
    const first = await shop.tokens(robot, {}, browser);
    const second = await shop.tokens(robot, {}, browser);
    const query = new URLSearchParams({ id_token_hint: first.id_token });
    const page = await browser.open(`/oidc/session/end?${query}`);
    await browser.submit(page, 'confirm', { logout: 'yes' });
    for (const { access_token } of [first, second]) {
      expect((await shop.userinfo(access_token)).status).toBe(401);
    }
    const mine = [await shop.tokens(robot, {}, browser), await shop.tokens(robot, {}, browser)];
    const theirs = await shop.tokens(rsaRobot, {}, browser);
    for (const { access_token } of mine)
      expect((await shop.userinfo(access_token)).status).toBe(401);
    expect((await shop.userinfo(theirs.access_token)).status).toBe(200);
  });

  it('and a code that comes twice ends those of its own login alone', async () => {
    const shop = client('shop', always);
    const browser = newBrowser(always);
    const first = await shop.tokens(robot, {}, browser);
    const login = await shop.logIn(robot, {}, browser);
    const { body } = await shop.redeem(login);
    expect((await shop.redeem(login)).body.error).toBe('invalid_grant');
    expect((await shop.userinfo(body.access_token)).status).toBe(401);
    expect((await shop.userinfo(first.access_token)).status).toBe(200);
  });

  it('under one login for several clients, too', async () => {
    const browser = newBrowser();
    const shop = client('shop');
    const first = await shop.tokens(robot, {}, browser);
    const up = await shop.tokens(robot, { prompt: 'login', acr_values: 'mid_al4_any' }, browser);
    const silent = await silently(shop, browser);
    for (const { access_token } of [first, up, silent.tokens]) {
      expect((await shop.userinfo(access_token)).status).toBe(200);
    }
    expect(formIn((await shop.visit({ max_age: '0' }, browser)).page.html, 'number')).toBeDefined();
    expect((await shop.userinfo(first.access_token)).status).toBe(200);
  });
});
