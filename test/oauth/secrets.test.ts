/**
 * After whole logins of every kind, nothing that would let somebody in is in the log or in Redis:
 * whoever reads either cannot become anybody.
 *
 * What is searched for are the very values of this run, in every form in which one is carelessly
 * written down, hashes included.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentsOf } from '../security/redis-contents.ts';
import { createSecretScan, type Secret } from '../security/secret-scan.ts';
import type { TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { createBrowser, formIn } from './browser-client.ts';
import {
  callback,
  claimsIn,
  clientEntry,
  hintFor,
  keyOfClient,
  offline,
  relyingParty,
  robot,
  secret,
  startProvider,
} from './interoperability/stage.ts';

const redis = testRedis();
const key = keyOfClient('one');
const failing = '41000092401';
let product: TestProduct;
let contents: ReadonlyMap<string, Buffer>;
const answered: string[] = [];
/** Name and value of everything that nobody else may know. */
const collected: [string, string][] = [];

const keep = (name: string, value: unknown): string => {
  if (typeof value !== 'string' || value === '') throw new Error(`There is no ${name}`);
  collected.push([name, value]);
  return value;
};

const keepCookies = (cookies: string): void => {
  for (const pair of cookies.split('; ').filter((text) => text !== '')) {
    keep(`cookie ${pair.split('=')[0]}`, pair.slice(pair.indexOf('=') + 1));
  }
};

/** The values that a client makes up for one login, long enough that none is there by chance. */
const fields = (name: string) => ({
  state: keep(`${name}: state`, randomUUID()),
  nonce: keep(`${name}: nonce`, randomUUID()),
});

beforeAll(async () => {
  const keyed = {
    authentication: 'private_key_jwt',
    keys: [key.publicJwk],
    backchannel: { kind: 'poll' },
  };
  const clients = [
    clientEntry('shop'),
    clientEntry('app', { authentication: 'none' }),
    clientEntry('keyed', keyed),
  ];
  product = await startProvider(redis, clients, { singleSignOnSeconds: 60 });

  const assertion = async (): Promise<string> =>
    key.sign('keyed', `${product.url}/oidc`, {
      sub: 'keyed',
      jti: keep('assertion: jti', randomUUID()),
    });

  const useConfidential = async (id: 'shop' | 'app'): Promise<void> => {
    const party = relyingParty(product, { id, ...(id === 'shop' && { secret }) });
    const browser = createBrowser({ origin: product.url });
    const login = await party.logIn(robot, { ...offline, ...fields(id) }, browser);
    const interaction = new URL(login.page.url).pathname.split('/').at(-1);
    keep(`${id}: interaction`, interaction);
    keep(`${id}: form token`, formIn(login.page.html, 'number')?.fields.csrf);
    keep(`${id}: handle`, login.requestUri.split(':').at(-1));
    keep(`${id}: verifier`, login.verifier);
    keep(`${id}: code`, login.code);
    keepCookies(browser.cookiesFor('/oidc/auth'));
    keepCookies(browser.cookiesFor(login.page.url));
    keepCookies(login.browser.cookiesFor(`/oidc/auth/${interaction}`));
    const { body } = await party.redeem(login);
    const tokens = [body.access_token, body.refresh_token, body.id_token];
    for (const [index, token] of tokens.entries()) keep(`${id}: token ${index}`, token);
    keep(`${id}: signature of the ID token`, body.id_token.split('.')[2]);
    keep(`${id}: sub`, claimsIn(body.id_token).sub);
    answered.push(JSON.stringify((await party.userinfo(body.access_token)).body));
    answered.push(JSON.stringify((await party.introspect(body.access_token)).body));
    const renewed = (await party.refresh(body.refresh_token)).body;
    keep(`${id}: renewed access token`, renewed.access_token);
    keep(`${id}: renewed refresh token`, renewed.refresh_token);
    const second = await party.logIn(robot, fields(`${id} again`), browser);
    keep(`${id}: second code`, second.code);
    // And everything that goes wrong with them.
    await party.redeem({
      ...login,
      code: keep('a guessed code', randomBytes(32).toString('base64url')),
    });
    await party.userinfo(keep('a guessed access token', randomBytes(32).toString('base64url')));
    await party.refresh(keep('a guessed refresh token', randomBytes(32).toString('base64url')));
    await party.introspect(keep('a token to ask about', randomBytes(32).toString('base64url')));
    await party.redeem(second);
    await party.revoke(renewed.refresh_token);
    const query = new URLSearchParams({
      id_token_hint: body.id_token,
      state: keep('logout state', randomUUID()),
    });
    const page = await browser.open(`/oidc/session/end?${query}`);
    keep(`${id}: logout token`, formIn(page.html, 'confirm')?.fields.xsrf);
    answered.push(page.html, (await browser.submit(page, 'confirm', { logout: 'yes' })).html);
  };

  const misplace = async (): Promise<void> => {
    const value = keep('a misplaced secret', `Verirrt-${randomBytes(9).toString('hex')}`);
    const party = relyingParty(product, { id: 'shop', secret });
    const wrong = relyingParty(product, { id: 'shop', secret: value });
    const attempts = [
      wrong.push(),
      wrong.send('/token', { grant_type: 'authorization_code', code: value, redirect_uri: value }),
      wrong.send('/token', { grant_type: value }),
      wrong.revoke(value),
      relyingParty(product, { id: value, secret: value }).push(),
      ...[
        'scope',
        'acr_values',
        'login_hint',
        'redirect_uri',
        'response_type',
        'response_mode',
        'request',
        'request_uri',
        'code_challenge',
        'code_challenge_method',
        'prompt',
        'max_age',
        'ui_locales',
        'dtbd',
        'id_token_hint',
        'claims',
        'dpop_jkt',
        'client_assertion',
        'client_secret',
        'unknown',
      ].map((name) => party.push({ [name]: value })),
      party.push({}, { dpop: value }),
      party.push({}, { 'tenant-id': value }),
      party.push({}, { issuer: value }),
      party.push({}, { authorization: `Bearer ${value}` }),
      party.push({}, { authorization: `Basic ${value}` }),
      party.push({}, { 'content-type': value }),
      party.push({}, { cookie: `paraph_main_session=${value}` }),
      party.send('/backchannel', { scope: 'openid', login_hint: value, binding_message: value }),
    ];
    // What was taken is nobody's mistake; what was refused must not say why with the value.
    for (const { status, body } of await Promise.all(attempts)) {
      if (status >= 400) answered.push(JSON.stringify(body));
    }
    const links = [
      `/oidc/auth?client_id=shop&client_secret=${value}&request_uri=${value}`,
      `/oidc/auth?client_id=${value}&state=${value}`,
      `/oidc/interaction/${value}`,
      `/oidc/auth/${value}`,
      `/oidc/session/end?id_token_hint=${value}`,
      `/oidc/${value}`,
      `/oidc/t/${value}/jwks.json`,
    ];
    const browser = createBrowser({ origin: product.url });
    for (const link of links) answered.push((await browser.open(link)).html);
  };

  const useKeys = async (): Promise<void> => {
    const party = relyingParty(product, { id: 'keyed' });
    const authenticated = async () => ({
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: keep('assertion', await assertion()),
    });
    const request = await key.sign('keyed', `${product.url}/oidc`, {
      client_id: 'keyed',
      response_type: 'code',
      scope: 'openid',
      redirect_uri: callback,
      ...fields('request object'),
    });
    const pushed = await party.send('/par', {
      ...(await authenticated()),
      request: keep('request object', request),
    });
    keep('handle of the request object', pushed.body.request_uri);
    const begun = await party.send('/backchannel', {
      ...(await authenticated()),
      scope: 'openid phone',
      login_hint: hintFor(robot),
    });
    const authReqId = keep('auth_req_id', begun.body.auth_req_id);
    for (let polls = 0; polls < 100; polls += 1) {
      const answer = await party.send('/token', {
        ...(await authenticated()),
        grant_type: 'urn:openid:params:grant-type:ciba',
        auth_req_id: authReqId,
      });
      if (answer.status === 200) {
        keep('access token without a browser', answer.body.access_token);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('The backchannel login does not end');
  };

  const fail = async (): Promise<void> => {
    const party = relyingParty(product, { id: 'shop', secret });
    const visit = await party.visit({ login_hint: hintFor(failing), ...fields('failure') });
    await party.confirm(visit, failing);
    const end = await visit.browser.open(`${new URL(visit.page.url).pathname}/return`);
    expect(end.left?.searchParams.get('error')).toBe('access_denied');
  };

  keep('the secret of the client', secret);
  await Promise.all([
    useConfidential('shop'),
    useConfidential('app'),
    misplace(),
    useKeys(),
    fail(),
  ]);
  contents = await contentsOf(redis.client(), product.configuration.queue.prefix);
});
afterAll(() => product.stop());

const secretsOf = (): readonly Secret[] =>
  collected.map(([name, value]) => ({ name, bytes: Buffer.from(value), guessable: true }));

describe('what would let somebody in', () => {
  it('is known to the search: codes, tokens, handles, cookies, secrets, of each kind of client', () => {
    const names = collected.map(([name]) => name);
    for (const part of [
      'code',
      'access token',
      'refresh',
      'handle',
      'cookie paraph_main_session',
      'nonce',
      'jti',
    ]) {
      expect(
        names.some((name) => name.includes(part)),
        part,
      ).toBe(true);
    }
    for (const [name, value] of collected) expect(value.length, name).toBeGreaterThanOrEqual(8);
    const scan = createSecretScan(secretsOf());
    for (const [name, value] of collected) expect(scan(`{"x":"${value}"}`)).toContain(name);
  });

  it('is in no line of the log', () => {
    const lines = product.logged.join('\n');
    expect(lines).toContain('tokens issued');
    expect(lines).toContain('request pushed');
    expect(lines).toContain('token refused');
    expect(createSecretScan(secretsOf())(lines)).toEqual([]);
  });

  it('is in no key and no value of Redis', () => {
    expect([...contents.keys()].some((name) => name.includes(':oidc:main:'))).toBe(true);
    const scan = createSecretScan(secretsOf());
    const found = [...contents].flatMap(([name, value]) =>
      scan(Buffer.concat([Buffer.from(`${name}\n`), value])).map((what) => `${what} in ${name}`),
    );
    expect(found).toEqual([]);
  });

  it('is in no answer that refuses something, and on no page', () => {
    const wanted = ['the secret of the client', 'a misplaced secret'];
    const scan = createSecretScan(secretsOf().filter(({ name }) => wanted.includes(name)));
    expect(answered.length).toBeGreaterThan(30);
    expect([
      ...new Set(answered.flatMap((text) => scan(text).map((what) => `${what} in ${text}`))),
    ]).toEqual([]);
  });
});

describe('the number of a person', () => {
  const numbers = [robot, failing];

  it('is in no line of the log', () => {
    for (const number of numbers) {
      expect(product.logged.filter((line) => line.includes(number))).toEqual([]);
      // Nor as it is shown to people, grouped.
      expect(product.logged.filter((line) => line.includes(number.slice(2)))).toEqual([]);
    }
  });

  it('is in Redis with the transaction that asks its phone, and nowhere among what the provider keeps', () => {
    const withNumber = [...contents]
      .filter(([name, value]) =>
        numbers.some((number) => `${name}\n${value.toString('latin1')}`.includes(number)),
      )
      .map(([name]) => name);
    expect(withNumber.some((name) => name.includes(':signatures:'))).toBe(true);
    for (const name of withNumber) expect(name).toMatch(/:(signatures|custody)(:|$)/);
    const scan = createSecretScan(
      numbers.map((number) => ({ name: number, bytes: Buffer.from(number), guessable: true })),
    );
    const provider = [...contents].filter(
      ([name]) => name.includes(':oidc:') || name.includes('rate'),
    );
    expect(provider.length).toBeGreaterThan(10);
    for (const [name, value] of provider) {
      expect(scan(Buffer.concat([Buffer.from(`${name}\n`), value])), name).toEqual([]);
    }
  });
});

describe('the log', () => {
  it('says of each login who asked and what became of it, so that it can be followed', () => {
    const events = product.logged.flatMap((line) => {
      const entry = JSON.parse(line);
      return typeof entry.clientId === 'string'
        ? [`${entry.clientId} ${entry.msg ?? entry.event}`]
        : [];
    });
    for (const event of [
      'login begun',
      'login ended',
      'tokens issued',
      'code issued',
      'logged out',
    ]) {
      expect(
        events.some((text) => text.startsWith('shop') && text.includes(event)),
        event,
      ).toBe(true);
    }
  });

  it('names no client that is not registered', () => {
    const clientIds = product.logged
      .map((line) => JSON.parse(line).clientId)
      .filter((id) => id !== undefined);
    expect(new Set(clientIds)).toEqual(new Set(['shop', 'app', 'keyed']));
  });
});
