/**
 * A browser is sent to addresses that the client has registered, letter by letter, and nowhere
 * else: not for an error, not after a logout, not with a handle that belongs to somebody else.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { createBrowser } from './browser-client.ts';
import {
  callback,
  clientEntry,
  type RelyingParty,
  relyingParty,
  returned,
  robot,
  secret,
  startProvider,
} from './interoperability/stage.ts';

const redis = testRedis();
let product: TestProduct;
let shop: RelyingParty;
let app: RelyingParty;

const clients = [
  clientEntry('shop'),
  clientEntry('app', {
    authentication: 'none',
    redirectUris: [callback, 'com.example.app:/callback'],
    postLogoutRedirectUris: ['com.example.app:/goodbye'],
  }),
  clientEntry('other', { redirectUris: ['https://other.example/callback'] }),
];

beforeAll(async () => {
  const tenants = ['main', 'second'].map((id) => ({ id, name: id, clients }));
  product = await startProvider(redis, [], { requestUriSeconds: 2, tenants });
  shop = relyingParty(product, { id: 'shop', secret });
  app = relyingParty(product, { id: 'app' });
});
afterAll(() => product.stop());

/** All of them look like `https://client.example/callback` to somebody, or to some program. */
const lookalikes: readonly (readonly [string, string])[] = [
  ['another host', 'https://evil.example/callback'],
  ['a fragment', `${callback}#fragment`],
  ['an empty fragment', `${callback}#`],
  ['a user before the host', 'https://client.example@evil.example/callback'],
  ['a user before its own host', 'https://user:password@client.example/callback'],
  ['a subdomain', 'https://sub.client.example/callback'],
  ['itself as a subdomain', 'https://client.example.evil.example/callback'],
  ['a longer host', 'https://myclient.example/callback'],
  ['a port', 'https://client.example:8443/callback'],
  ['the port that is the default', 'https://client.example:443/callback'],
  ['another scheme', 'http://client.example/callback'],
  ['a scheme that runs', 'javascript://client.example/%0aalert(1)'],
  ['data', 'data:text/html,callback'],
  ['no scheme', '//client.example/callback'],
  ['a path only', '/callback'],
  ['a path that goes up', 'https://client.example/callback/../evil'],
  ['a path that goes up and comes back', 'https://client.example/evil/../callback'],
  ['dots that are encoded', 'https://client.example/callback/%2e%2e/evil'],
  ['a longer path', `${callback}/evil`],
  ['a slash at the end', `${callback}/`],
  ['a query', `${callback}?next=evil`],
  ['an empty query', `${callback}?`],
  ['another case of the path', 'https://client.example/Callback'],
  ['another case of the host', 'https://CLIENT.example/callback'],
  ['another case of the scheme', 'HTTPS://client.example/callback'],
  ['a dot after the host', 'https://client.example./callback'],
  ['a backslash', 'https://client.example\\@evil.example/callback'],
  ['a backslash for a slash', 'https:\\\\client.example/callback'],
  ['one slash', 'https:/client.example/callback'],
  ['a space', `${callback} `],
  ['a space in front', ` ${callback}`],
  ['a line feed', `${callback}\n`],
  ['a tab in the host', 'https://client.exa\tmple/callback'],
  ['a letter that is encoded', 'https://client.example/%63allback'],
  ['a letter that looks the same', 'https://cliеnt.example/callback'],
  ['a wide full stop', 'https://client。example/callback'],
  ['a null', `${callback}\0`],
  ['the address of another client', 'https://other.example/callback'],
  ['itself twice', `${callback} ${callback}`],
  ['a very long one', `${callback}?${'a'.repeat(5000)}`],
];

const bare = (fields: Readonly<Record<string, string>>) => {
  const query = new URLSearchParams({
    client_id: 'app',
    response_type: 'code',
    scope: 'openid',
    redirect_uri: callback,
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    state: 'the-state',
    ...fields,
  });
  return `${product.url}/oidc/auth?${query}`;
};

/**
 * A refusal that goes nowhere: a page for a person, JSON for a program, and the same with each of
 * them.
 */
const expectRefusedHere = async (
  address: string,
  values: readonly string[] = [],
): Promise<void> => {
  for (const [accept, type] of [
    ['text/html,application/xhtml+xml', 'text/html'],
    ['application/json', 'application/json'],
  ] as const) {
    const answer = await fetch(address, { redirect: 'manual', headers: { accept } });
    const text = await answer.text();
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    expect(answer.headers.get('content-type')).toContain(type);
    expect(text).not.toMatch(/http-equiv="?refresh/i);
    for (const value of values) expect(text).not.toContain(value);
    if (type === 'application/json') expect(JSON.parse(text).error).toMatch(/^[a-z_]+$/);
  }
};

describe('a redirect_uri with', () => {
  it.each(lookalikes)('%s is refused where it is pushed', async (_, address) => {
    for (const client of [shop, app]) {
      const { status, body, headers } = await client.push({
        redirect_uri: address,
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      });
      expect([status, body.error]).toEqual([400, 'invalid_request']);
      expect(headers.get('location')).toBeNull();
    }
  });

  it.each(lookalikes)('%s is not gone to from a link', async (_, address) => {
    await expectRefusedHere(bare({ redirect_uri: address }), ['evil.example']);
  });

  it.each(lookalikes)('%s is not gone to with an error either', async (_, address) => {
    await expectRefusedHere(
      bare({ redirect_uri: address, scope: 'nonsense', response_type: 'token' }),
      ['evil.example'],
    );
  });
});

describe('an error of a request', () => {
  it.each([
    ['no response type', { response_type: '' }],
    ['another response type', { response_type: 'token' }],
    ['no PKCE', { code_challenge: '', code_challenge_method: '' }],
    ['the plain method', { code_challenge_method: 'plain' }],
    ['prompt none without a session', { prompt: 'none' }],
  ])('goes back to the registered address, with state: %s', async (_, fields) => {
    const { left } = await createBrowser({ origin: product.url }).open(bare(fields));
    expect(`${left?.origin}${left?.pathname}`).toBe(callback);
    // What belongs into a fragment by its response type is told there, errors as well.
    const answer = new URLSearchParams(left?.hash.slice(1) || left?.search);
    expect(answer.get('error')).toMatch(/^[a-z_]+$/);
    expect(answer.get('state')).toBe('the-state');
    expect(answer.has('code')).toBe(false);
  });

  it('stays here when the client is unknown', async () => {
    await expectRefusedHere(
      bare({ client_id: 'stranger', redirect_uri: 'https://evil.example/' }),
      ['evil.example', 'stranger'],
    );
  });

  it('never goes to an address that is given beside the registered one', async () => {
    for (const twice of [
      'redirect_uri=https%3A%2F%2Fevil.example%2F',
      'redirect_uri%5B%5D=https%3A%2F%2Fevil.example%2F',
    ]) {
      for (const address of [`${bare({})}&${twice}`, bare({}).replace('?', `?${twice}&`)]) {
        const page = await createBrowser({ origin: product.url }).open(address);
        expect(['client.example', undefined]).toContain(page.left?.hostname);
        expect(`${page.left?.href} ${page.html}`).not.toContain('evil.example');
      }
    }
  });
});

describe('a request_uri that', () => {
  const addressOf = (
    requestUri: string,
    clientId = 'shop',
    issuerPath = '/oidc',
    more = '',
  ): string =>
    `${product.url}${issuerPath}/auth?${new URLSearchParams({ client_id: clientId, request_uri: requestUri })}${more}`;
  const redirect = `&redirect_uri=${encodeURIComponent('https://other.example/callback')}&state=x`;

  it.each([
    ['is unknown', `urn:ietf:params:oauth:request_uri:${'A'.repeat(22)}.${'B'.repeat(22)}`],
    ['is nothing', ''],
    ['is no handle', 'urn:ietf:params:oauth:request_uri:'],
    ['is an address to fetch', 'https://evil.example/request.jwt'],
    ['is an address of this server', 'http://127.0.0.1/oidc/jwks.json'],
    ['is very long', `urn:ietf:params:oauth:request_uri:${'A'.repeat(5000)}`],
    ['holds a colon and a brace', 'urn:ietf:params:oauth:request_uri:a:{b}:used'],
  ])('%s is refused here', async (_, requestUri) => {
    await expectRefusedHere(addressOf(requestUri), [requestUri || 'evil.example']);
    await expectRefusedHere(addressOf(requestUri, 'other', '/oidc', redirect), ['other.example']);
  });

  it('belongs to another client is refused here', async () => {
    const { requestUri } = await shop.request();
    await expectRefusedHere(addressOf(requestUri, 'other'), [
      requestUri,
      'client.example',
      'other.example',
    ]);
    await expectRefusedHere(addressOf(requestUri, 'app'));
    await expectRefusedHere(addressOf(requestUri, 'stranger'));
    // The owner can still come with it.
    const { status } = await createBrowser({ origin: product.url }).open(addressOf(requestUri));
    expect(status).toBe(200);
  });

  it('belongs to another tenant is refused here', async () => {
    const { requestUri } = await shop.request();
    await expectRefusedHere(addressOf(requestUri, 'shop', '/oidc/t/second'), [
      requestUri,
      'client.example',
    ]);
  });

  it('comes without a client, or with two, is refused here', async () => {
    const { requestUri } = await shop.request();
    const query = new URLSearchParams({ request_uri: requestUri });
    await expectRefusedHere(`${product.url}/oidc/auth?${query}`);
    await expectRefusedHere(addressOf(requestUri, 'shop', '/oidc', '&client_id=other'));
    await expectRefusedHere(addressOf(requestUri, 'shop', '/oidc', `&request_uri=${requestUri}`));
  });

  it('has been used is refused here', async () => {
    const login = await shop.logIn();
    await expectRefusedHere(addressOf(login.requestUri), [login.requestUri, 'client.example']);
  });

  it('has expired is refused here', async () => {
    const { requestUri } = await shop.request();
    await vi.waitFor(
      async () => {
        const { status } = await fetch(addressOf(requestUri), { redirect: 'manual' });
        expect(status).toBe(400);
      },
      { timeout: 20_000, interval: 200 },
    );
    await expectRefusedHere(addressOf(requestUri), [requestUri]);
  });
});

describe('after a logout', () => {
  const goodbye = 'https://client.example/goodbye';

  const loggedIn = async () => {
    const browser = createBrowser({ origin: product.url });
    const tokens = await shop.tokens(robot, {}, browser);
    return { browser, hint: tokens.id_token as string };
  };

  const endSession = (fields: Readonly<Record<string, string>>): string =>
    `/oidc/session/end?${new URLSearchParams(fields)}`;

  it('a browser goes to the registered address, with state', async () => {
    const { browser, hint } = await loggedIn();
    const fields = { id_token_hint: hint, post_logout_redirect_uri: goodbye, state: 's' };
    const page = await browser.open(endSession(fields));
    const end = await browser.submit(page, 'confirm', { logout: 'yes' });
    expect(end.left?.href).toBe(`${goodbye}?state=s`);
  });

  it.each([
    ['another host', 'https://evil.example/goodbye'],
    ['an address that is registered for logins only', callback],
    ['a longer path', `${goodbye}/more`],
    ['a fragment', `${goodbye}#x`],
    ['a user', 'https://client.example@evil.example/goodbye'],
    ['a scheme that runs', 'javascript:alert(1)'],
    ['no scheme', '//evil.example/goodbye'],
  ])('it does not go to %s', async (_, address) => {
    const { browser, hint } = await loggedIn();
    for (const fields of [
      { id_token_hint: hint, post_logout_redirect_uri: address },
      { client_id: 'shop', post_logout_redirect_uri: address },
    ]) {
      const page = await browser.open(endSession(fields));
      expect([page.status, page.left]).toEqual([400, undefined]);
      expect(page.html).not.toContain('evil.example');
    }
  });

  it('the policy of the page lets its form lead to that address and to no other', async () => {
    const policyFor = async (party: RelyingParty, address: string): Promise<string> => {
      const browser = createBrowser({ origin: product.url });
      const { id_token } = await party.tokens(robot, {}, browser);
      const fields = { id_token_hint: id_token, post_logout_redirect_uri: address };
      const policy =
        (await browser.open(endSession(fields))).headers.get('content-security-policy') ?? '';
      return /form-action ([^;]*)/.exec(policy)?.[1] ?? '';
    };
    expect(await policyFor(shop, goodbye)).toBe("'self' https://client.example");
    // An app has no origin that a policy could name.
    expect(await policyFor(app, 'com.example.app:/goodbye')).toBe("'self' com.example.app:");
  });

  it('it goes nowhere when nobody says whose address it is', async () => {
    const { browser } = await loggedIn();
    const page = await browser.open(endSession({ post_logout_redirect_uri: goodbye }));
    const end = await browser.submit(page, 'confirm', { logout: 'yes' });
    expect(end.left).toBeUndefined();
    expect(end.status).toBe(200);
  });

  it('it does not go to an address of the client that another client’s token names', async () => {
    const { browser, hint } = await loggedIn();
    const fields = { id_token_hint: hint, client_id: 'other', post_logout_redirect_uri: goodbye };
    const page = await browser.open(endSession(fields));
    expect([page.status, page.left]).toEqual([400, undefined]);
  });

  it('a forged form ends no session', async () => {
    const { browser } = await loggedIn();
    await browser.open(endSession({}));
    const forged = await browser.request('/oidc/session/end/confirm', {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: 'https://evil.example',
      },
      body: 'logout=yes&xsrf=guessed',
    });
    expect(forged.status).toBe(400);
    expect(forged.headers.get('location')).toBeNull();
  });
});

describe('whoever gave up', () => {
  it('comes back to the registered address and to no other', async () => {
    const visit = await shop.visit();
    const end = await visit.browser.settle(await visit.browser.submit(visit.page, 'cancel'));
    expect(`${end.left?.origin}${end.left?.pathname}`).toBe(callback);
    expect(returned(end)).toMatchObject({ error: 'access_denied', state: visit.state });
  });
});
