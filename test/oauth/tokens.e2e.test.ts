/**
 * What is in the tokens, how long they live, and what ends them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimsOfScopes } from '../../src/oauth/claims.ts';
import { oauthScopes } from '../../src/registry/oauth-client.ts';
import type { Json, TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { createBrowser, formIn } from './browser-client.ts';
import {
  appRobot,
  claimsIn,
  clientEntry,
  lostRobot,
  offline,
  type RelyingParty,
  relyingParty,
  robot,
  rsaRobot,
  secret,
  startProvider,
} from './interoperability/stage.ts';

const redis = testRedis();
const signOnRedis = testRedis();
const briefRedis = testRedis();
const lifetimes = {
  codeSeconds: 30,
  accessTokenSeconds: 1234,
  idTokenSeconds: 777,
  refreshTokenDays: 2,
};
/**
 * Long enough for what comes next at once, however busy the machine is: a second may be nearly over
 * when it is counted.
 */
const shortLived = { codeSeconds: 3, accessTokenSeconds: 3, singleSignOnSeconds: 1 };
/** Each login asks the phone. */
let product: TestProduct;
/** One login counts for a while. */
let signOn: TestProduct;
/** Everything is soon over. */
let brief: TestProduct;

const tenants = [
  {
    id: 'main',
    name: 'Main',
    clients: [
      clientEntry('shop'),
      clientEntry('branch', { sector: 'client.example' }),
      clientEntry('foreign', { redirectUris: ['https://foreign.example/callback'] }),
      clientEntry('modest', { scopes: ['openid'], refreshTokens: false }),
      clientEntry('app', { authentication: 'none' }),
    ],
  },
  { id: 'second', name: 'Second', clients: [clientEntry('shop')] },
];

beforeAll(async () => {
  const start = (own: typeof redis, oidc: object, suffix: string): Promise<TestProduct> =>
    startProvider(
      own,
      [],
      { ...oidc, tenants },
      {
        queue: { prefix: `${own.prefix.slice(-30)}-${suffix}` },
      },
    );
  product = await start(redis, lifetimes, 'a');
  signOn = await start(signOnRedis, { ...lifetimes, singleSignOnSeconds: 600 }, 'b');
  brief = await start(briefRedis, shortLived, 'c');
});
afterAll(async () => {
  await Promise.all([product.stop(), signOn.stop(), brief.stop()]);
});

const client = (
  id: string,
  options: { readonly at?: TestProduct; readonly issuerPath?: string } = {},
): RelyingParty =>
  relyingParty(options.at ?? product, {
    id,
    ...(id === 'app' ? {} : { secret }),
    ...(id === 'foreign' && { redirectUri: 'https://foreign.example/callback' }),
    ...(options.issuerPath !== undefined && { issuerPath: options.issuerPath }),
  });

const everyScope = oauthScopes.filter((scope) => scope !== 'offline_access').join(' ');

const subOf = async (party: RelyingParty, msisdn = robot): Promise<string> =>
  claimsIn((await party.tokens(msisdn)).id_token).sub;

/** What only time can bring about. */
const inTime = { timeout: 20_000, interval: 100 };

describe('tokens', () => {
  it('live as long as the configuration says', async () => {
    const tokens = await client('shop').tokens(robot, offline);
    expect(tokens.expires_in).toBe(lifetimes.accessTokenSeconds);
    const { exp, iat } = claimsIn(tokens.id_token);
    expect(exp - iat).toBe(lifetimes.idTokenSeconds);
    const access = (await client('shop').introspect(tokens.access_token)).body;
    expect(access.exp - access.iat).toBe(lifetimes.accessTokenSeconds);
    const refresh = (await client('shop').introspect(tokens.refresh_token)).body;
    expect(refresh.exp - refresh.iat).toBe(lifetimes.refreshTokenDays * 86_400);
  });

  it('are refused when their time is over', async () => {
    const shop = client('shop', { at: brief });
    const tokens = await shop.tokens();
    expect((await shop.userinfo(tokens.access_token)).status).toBe(200);
    const statusOf = async () => (await shop.userinfo(tokens.access_token)).status;
    const login = await shop.logIn();
    const codeIsOver = new Promise((resolve) => setTimeout(resolve, 3100));
    await expect.poll(statusOf, inTime).toBe(401);
    expect((await shop.introspect(tokens.access_token)).body).toEqual({ active: false });
    await codeIsOver;
    expect((await shop.redeem(login)).body.error).toBe('invalid_grant');
  });

  it('of an answer are kept by nobody on the way', async () => {
    const shop = client('shop');
    const { headers } = await shop.redeem(await shop.logIn());
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('have no refresh token among them, unless the client may have one and asks for it', async () => {
    expect((await client('shop').tokens()).refresh_token).toBeUndefined();
    expect((await client('shop').tokens(robot, offline)).refresh_token).toEqual(expect.any(String));
    const { body } = await client('modest').push({ scope: 'openid offline_access' });
    expect(body.error).toBe('invalid_scope');
  });

  it('come for the code of the client that asked, with its verifier and address only', async () => {
    const shop = client('shop');
    const attempts: readonly ((login: Json) => Promise<{ body: Json }>)[] = [
      (login) => client('branch').redeem(login),
      (login) => client('app').redeem(login),
      (login) => shop.redeem({ ...login, verifier: 'A'.repeat(43) }),
      (login) =>
        shop.send('/token', {
          grant_type: 'authorization_code',
          code: login.code,
          code_verifier: login.verifier,
          redirect_uri: 'https://client.example/callback/',
        }),
    ];
    for (const attempt of attempts) {
      expect((await attempt(await shop.logIn())).body.error).toMatch(/^invalid_(grant|request)$/);
    }
  });

  it('that are refused are told and logged under the same code', async () => {
    const shop = client('shop');
    const { code, ...login } = await shop.logIn();
    const refusals = [
      await shop.redeem({ ...login, code: `${code}x` }),
      await shop.send('/token', { grant_type: 'password' }),
      await relyingParty(product, { id: 'shop', secret: 'wrong' }).refresh('none'),
      await shop.userinfo('none'),
    ];
    const codes = refusals.map(
      ({ body }) =>
        /^mid_(req_1900)_([\w-]{8}) - [\x20\x21\x23-\x5b\x5d-\x7e]+$/.exec(
          body.error_description,
        ) ?? [],
    );
    expect(codes.map(([, stable]) => stable)).toEqual(Array(refusals.length).fill('req_1900'));
    const entries = product.logged.map((line) => JSON.parse(line));
    const events = ['token refused', 'token refused', 'client refused'];
    for (const [index, msg] of events.entries()) {
      const [, code, trace] = codes[index] ?? [];
      expect(entries).toContainEqual(expect.objectContaining({ msg, code, trace }));
    }
  });

  it('that nobody may be asked for are refused back at the client, under a code as well', async () => {
    const { left } = (await client('shop').visit({ prompt: 'none' })).page;
    expect(left?.searchParams.get('error')).toBe('login_required');
    expect(left?.searchParams.get('error_description')).toMatch(/^mid_req_1900_[\w-]{8} - /);
  });

  it('end when their code comes a second time: somebody has a copy of it', async () => {
    const shop = client('shop');
    const login = await shop.logIn(robot, offline);
    const { body } = await shop.redeem(login);
    expect((await shop.redeem(login)).body.error).toBe('invalid_grant');
    expect((await shop.userinfo(body.access_token)).status).toBe(401);
    expect((await shop.refresh(body.refresh_token)).body.error).toBe('invalid_grant');
  });
});

describe('sub', () => {
  it('is the same for a person within a sector, and different for each person', async () => {
    const subs = [
      await subOf(client('shop')),
      await subOf(client('shop')),
      await subOf(client('branch')),
    ];
    expect(new Set(subs).size).toBe(1);
    expect(await subOf(client('shop'), rsaRobot)).not.toBe(subs[0]);
  });

  it('is different in another sector and at another tenant', async () => {
    const subs = [
      await subOf(client('shop')),
      await subOf(client('foreign')),
      await subOf(client('shop', { issuerPath: '/oidc/t/second' })),
    ];
    expect(new Set(subs).size).toBe(3);
    for (const sub of subs) expect(sub).toMatch(/^[\w-]{43}$/);
  });

  it('is the same in the ID token, at userinfo and at introspection, and never the number', async () => {
    const shop = client('shop');
    const tokens = await shop.tokens(robot, offline);
    const { sub } = claimsIn(tokens.id_token);
    expect((await shop.userinfo(tokens.access_token)).body.sub).toBe(sub);
    expect((await shop.introspect(tokens.access_token)).body.sub).toBe(sub);
    const renewed = (await shop.refresh(tokens.refresh_token)).body;
    expect(claimsIn(renewed.id_token).sub).toBe(sub);
    expect(JSON.stringify(claimsIn(tokens.id_token))).not.toContain(robot);
    expect(JSON.stringify((await shop.introspect(tokens.access_token)).body)).not.toContain(robot);
  });
});

describe('acr and amr', () => {
  it.each([
    ['nothing asked for, a SIM', robot, undefined, 'mid_al3_any', 'mid_sim'],
    ['nothing asked for, an app', appRobot, undefined, 'mid_al3_any', 'mid_app'],
    ['any of level 2', robot, 'mid_al2_any', 'mid_al2_any', 'mid_sim'],
    ['any of level 3', appRobot, 'mid_al3_any', 'mid_al3_any', 'mid_app'],
    ['any of level 4', robot, 'mid_al4_any', 'mid_al4_any', 'mid_sim'],
    ['a SIM', robot, 'mid_al3_simcard', 'mid_al3_simcard', 'mid_sim'],
    ['an app', appRobot, 'mid_al3_mobileapp', 'mid_al3_mobileapp', 'mid_app'],
    [
      'an app, else a SIM, with a SIM',
      robot,
      'mid_al3_mobileapp mid_al3_simcard',
      'mid_al3_simcard',
      'mid_sim',
    ],
    ['level 4 before level 3', appRobot, 'mid_al4_any mid_al3_any', 'mid_al4_any', 'mid_app'],
  ])('tell what was asked for and what signed: %s', async (_, msisdn, asked, acr, method) => {
    const tokens = await client('shop').tokens(
      msisdn,
      asked === undefined ? {} : { acr_values: asked },
    );
    expect(claimsIn(tokens.id_token)).toMatchObject({ acr, amr: [method] });
  });

  it.each([
    ['an app of somebody with a SIM', robot, 'mid_al3_mobileapp'],
    ['a SIM of somebody with an app', appRobot, 'mid_al3_simcard'],
  ])('do not come with less: %s', async (_, msisdn, asked) => {
    const shop = client('shop');
    const visit = await shop.visit({
      acr_values: asked,
      login_hint: JSON.stringify({ hints: [{ msisdn }] }),
    });
    const end = await shop.confirm(visit, msisdn);
    expect(end.left).toBeUndefined();
    const { left } = await visit.browser.open(`${new URL(visit.page.url).pathname}/return`);
    expect(left?.searchParams.get('error')).toBe('access_denied');
    expect(left?.searchParams.get('error_description')).toMatch(/^mid_auth_3080_/);
  });

  it('name the place as a further method where it is known', async () => {
    const scope = { scope: 'openid mid_location' };
    expect(claimsIn((await client('shop').tokens(robot, scope)).id_token).amr).toEqual([
      'mid_sim',
      'mid_geo',
    ]);
    expect(claimsIn((await client('shop').tokens(lostRobot, scope)).id_token).amr).toEqual([
      'mid_sim',
    ]);
  });

  it('and the time of the login stay the same when tokens are renewed', async () => {
    const shop = client('shop');
    const tokens = await shop.tokens(robot, { ...offline, acr_values: 'mid_al4_any' });
    const first = claimsIn(tokens.id_token);
    const renewed = claimsIn((await shop.refresh(tokens.refresh_token)).body.id_token);
    expect(first.auth_time).toEqual(expect.any(Number));
    for (const claim of ['acr', 'amr', 'auth_time', 'aud', 'iss', 'nonce']) {
      expect(renewed[claim], claim).toEqual(first[claim]);
    }
  });
});

describe('claims', () => {
  const about = async (scope: string, msisdn = robot): Promise<Json> => {
    const shop = client('shop');
    const { access_token } = await shop.tokens(msisdn, { scope });
    return (await shop.userinfo(access_token)).body;
  };

  it.each(Object.keys(claimsOfScopes).filter((scope) => scope !== 'openid'))(
    'of the scope %s are told with it and not without it',
    async (scope) => {
      const mine: readonly string[] = claimsOfScopes[scope as keyof typeof claimsOfScopes];
      const told = Object.keys(await about(`openid ${scope}`)).filter((name) => name !== 'sub');
      expect(told.length).toBeGreaterThan(0);
      for (const name of told) expect(mine).toContain(name);
      const others = everyScope.split(' ').filter((other) => other !== scope);
      const withoutIt = Object.keys(await about(others.join(' ')));
      for (const name of mine) expect(withoutIt).not.toContain(name);
    },
  );

  it('of openid alone are sub and nothing else, and the ID token has none of userinfo', async () => {
    expect(Object.keys(await about('openid'))).toEqual(['sub']);
    const tokens = await client('shop').tokens(robot, { scope: everyScope });
    expect(Object.keys(claimsIn(tokens.id_token)).toSorted()).toEqual(
      ['acr', 'amr', 'at_hash', 'aud', 'auth_time', 'exp', 'iat', 'iss', 'nonce', 'sub'].toSorted(),
    );
  });

  it('are those of the person', async () => {
    const everything = await about(everyScope);
    expect(everything).toMatchObject({
      phone_number: `+${robot}`,
      phone_number_verified: true,
      mid_methods: ['mid_sim'],
      mid_serial_number: expect.stringMatching(/^MID/),
      mid_geo_country: 'CH',
      mid_cms: expect.stringMatching(/^MII/),
      updated_at: expect.any(Number),
    });
    // The service knows nobody's name.
    expect(everything).not.toHaveProperty('name');
    expect(await about('openid mid_location', lostRobot)).toMatchObject({
      mid_geo_error_code: '200',
      mid_geo_error_message: expect.any(String),
    });
  });

  it('stay the same after the tokens were renewed', async () => {
    const shop = client('shop');
    const tokens = await shop.tokens(robot, {
      scope: `${everyScope} offline_access`,
      prompt: 'consent',
    });
    const before = (await shop.userinfo(tokens.access_token)).body;
    const { body } = await shop.refresh(tokens.refresh_token);
    expect((await shop.userinfo(body.access_token)).body).toEqual(before);
  });

  it('of scopes that the client may not have cannot be asked for', async () => {
    const { status, body } = await client('modest').push({ scope: 'openid phone' });
    expect([status, body.error]).toEqual([400, 'invalid_scope']);
    expect(body.error_description).toMatch(/^mid_sec_2010_/);
  });

  it('are for those with the token in the header only', async () => {
    const shop = client('shop');
    const { access_token } = await shop.tokens();
    for (const token of ['', 'nonsense', `${access_token}x`, access_token.slice(1)]) {
      const answer = await shop.userinfo(token);
      expect([400, 401]).toContain(answer.status);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
    const query = await fetch(`${shop.issuer}/userinfo?access_token=${access_token}`);
    expect(query.status).toBe(400);
  });
});

describe('what ends tokens', () => {
  it('revoking an access token ends it at once', async () => {
    const shop = client('shop');
    const { access_token } = await shop.tokens();
    expect((await shop.revoke(access_token)).status).toBe(200);
    expect((await shop.userinfo(access_token)).status).toBe(401);
    expect((await shop.introspect(access_token)).body).toEqual({ active: false });
  });

  it('revoking a refresh token ends everything that came of it', async () => {
    const shop = client('shop');
    const tokens = await shop.tokens(robot, offline);
    const renewed = (await shop.refresh(tokens.refresh_token)).body;
    await shop.revoke(renewed.refresh_token);
    for (const token of [tokens.access_token, renewed.access_token]) {
      expect((await shop.userinfo(token)).status).toBe(401);
    }
    expect((await shop.refresh(renewed.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('another client cannot revoke them', async () => {
    const shop = client('shop');
    const { access_token } = await shop.tokens();
    await client('branch').revoke(access_token);
    await client('app').revoke(access_token);
    expect((await shop.userinfo(access_token)).status).toBe(200);
  });

  it('a public client may ask about its own only', async () => {
    const app = client('app');
    const own = (await app.tokens()).access_token;
    const { access_token } = await client('shop').tokens();
    expect((await app.introspect(own)).body.active).toBe(true);
    expect((await app.introspect(access_token)).body.active).not.toBe(true);
  });

  it('a logout ends those of the session, and not those for which the user need not be there', async () => {
    const shop = client('shop', { at: signOn });
    const browser = createBrowser({ origin: signOn.url });
    const online = await shop.tokens(robot, {}, browser);
    const offlineTokens = await shop.tokens(robot, offline, createBrowser({ origin: signOn.url }));
    const page = await browser.open(
      `/oidc/session/end?${new URLSearchParams({ id_token_hint: online.id_token })}`,
    );
    const end = await browser.submit(page, 'confirm', { logout: 'yes' });
    expect(end.status).toBe(200);
    expect((await shop.userinfo(online.access_token)).status).toBe(401);
    expect((await shop.refresh(offlineTokens.refresh_token)).status).toBe(200);
    const again = await shop.visit({}, browser);
    expect(formIn(again.page.html, 'number')).toBeDefined();
  });
});

describe('a number that is given to another person', () => {
  it('is another account: another sub, and nothing of the former one goes on', async () => {
    const shop = client('shop', { at: signOn });
    const browser = createBrowser({ origin: signOn.url });
    const former = await shop.tokens(rsaRobot, offline, browser);
    const other = await shop.tokens(robot, offline);
    const { core } = signOn;
    const digits = rsaRobot.replace('+', '');
    // By another process, which has a custody of its own.
    await core.custodyOver(core.blocking).reassignNumber(digits);
    await expect
      .poll(() => core.custodyOver(core.commands).ownerOf(digits).version, inTime)
      .toBe(2);
    expect((await shop.userinfo(former.access_token)).status).toBe(401);
    expect((await shop.refresh(former.refresh_token)).body.error).toBe('invalid_grant');
    // The browser of the former owner is not logged in any more.
    expect(formIn((await shop.visit({}, browser)).page.html, 'number')).toBeDefined();
    const hint = { id_token_hint: former.id_token, prompt: 'none' };
    expect((await shop.visit(hint, browser)).page.left?.searchParams.get('error')).toBe(
      'login_required',
    );
    const subject = (token: string): string => claimsIn(token).sub;
    // Logins have the time in whole seconds: one in the second of the change does not count.
    const changed = Math.floor(Date.now() / 1000);
    await expect.poll(() => Math.floor(Date.now() / 1000), { interval: 20 }).not.toBe(changed);
    const next = await subOf(shop, rsaRobot);
    expect(next).not.toBe(subject(former.id_token));
    expect(await subOf(shop, rsaRobot)).toBe(next);
    expect((await shop.userinfo(other.access_token)).body.sub).toBe(subject(other.id_token));
  });
});

describe('a second login of the same browser', () => {
  it('asks the phone again when logins do not count for others', async () => {
    const browser = createBrowser({ origin: product.url });
    const shop = client('shop');
    await shop.logIn(robot, {}, browser);
    const again = await shop.visit({}, browser);
    expect(formIn(again.page.html, 'number')).toBeDefined();
    const { page } = await client('branch').visit({}, browser);
    expect(formIn(page.html, 'number')).toBeDefined();
  });

  it('asks nobody while the last one counts, for another client as well, and says when it was', async () => {
    const browser = createBrowser({ origin: signOn.url });
    const shop = client('shop', { at: signOn });
    const foreign = client('foreign', { at: signOn });
    const first = claimsIn((await shop.tokens(robot, {}, browser)).id_token);
    const { code, ...visit } = await foreign.logIn(robot, {}, browser);
    expect(formIn(visit.page.html, 'number')).toBeUndefined();
    const { body } = await foreign.redeem({ ...visit, code });
    const second = claimsIn(body.id_token);
    expect(second).toMatchObject({
      aud: 'foreign',
      auth_time: first.auth_time,
      acr: first.acr,
      amr: first.amr,
    });
    expect(second.sub).not.toBe(first.sub);
    // The phone's word of the first login is not the second client's to read.
    expect((await foreign.userinfo(body.access_token)).body).toMatchObject({
      phone_number: `+${robot}`,
    });
  });

  it('asks the phone when the last one is too old', async () => {
    const browser = createBrowser({ origin: brief.url });
    const shop = client('shop', { at: brief });
    await shop.logIn(robot, {}, browser);
    const form = async () => formIn((await shop.visit({}, browser.clone())).page.html, 'number');
    await expect.poll(form, inTime).toBeDefined();
  });

  it.each([
    ['prompt is login', { prompt: 'login' }],
    ['max_age is 0', { max_age: '0' }],
    ['a class is asked for that the last one was not of', { acr_values: 'mid_al3_mobileapp' }],
  ])('asks the phone when %s', async (_, fields) => {
    const browser = createBrowser({ origin: signOn.url });
    const shop = client('shop', { at: signOn });
    await shop.logIn(robot, {}, browser);
    const { page } = await shop.visit(fields, browser);
    expect(formIn(page.html, 'number')).toBeDefined();
  });

  it('with prompt none gets a code without a page, or login_required', async () => {
    const browser = createBrowser({ origin: signOn.url });
    const shop = client('shop', { at: signOn });
    const none = { prompt: 'none' };
    const without = await shop.visit(none, browser);
    expect(without.page.left?.searchParams.get('error')).toBe('login_required');
    expect(without.page.left?.searchParams.get('state')).toBe(without.state);
    await shop.logIn(robot, {}, browser);
    const withSession = await shop.visit(none, browser);
    expect(withSession.page.left?.searchParams.has('code')).toBe(true);
  });

  it('with prompt none gets login_required where each login asks the phone', async () => {
    const browser = createBrowser({ origin: product.url });
    const shop = client('shop');
    await shop.logIn(robot, {}, browser);
    const { page } = await shop.visit({ prompt: 'none' }, browser);
    expect(page.left?.searchParams.get('error')).toBe('login_required');
  });

  it('may be somebody else’s, and the tokens are then about them', async () => {
    const browser = createBrowser({ origin: product.url });
    const shop = client('shop');
    const one = claimsIn((await shop.tokens(robot, {}, browser)).id_token);
    const other = claimsIn((await shop.tokens(rsaRobot, {}, browser)).id_token);
    expect(other.sub).not.toBe(one.sub);
    expect(other.sub).toBe(await subOf(shop, rsaRobot));
  });
});
