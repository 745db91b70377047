/** Logging in to the console at the OpenID provider of the operator's organisation, over HTTP. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createBrowser } from '../oauth/browser-client.ts';
import {
  organisationClient,
  startOpenidProvider,
  type TestOpenidProvider,
} from '../support/openid-provider.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { type Stage, startStage } from './operators/stage.ts';

const redis = testRedis();
const folder = mkdtempSync(join(tmpdir(), 'paraph-provider-'));
const clientSecretFile = join(folder, 'secret');
writeFileSync(clientSecretFile, `${organisationClient.secret}\n`);
const masterKey = Buffer.alloc(32, 7);
const unlimited = { requests: 10_000, perSeconds: 1 };
let provider: TestOpenidProvider;
let product: TestProduct;
let stage: Stage;

const configurationOf = (changes: object = {}, prefix = 'in'): Record<string, unknown> => ({
  queue: { prefix: `${redis.prefix.slice(-24)}${prefix}` },
  operations: {
    logins: { perAddress: unlimited },
    users: [{ name: 'olga', role: 'viewer', oidcSubject: 'phone-of-olga' }],
    openidProvider: {
      name: 'Example Ltd',
      issuer: provider.issuer,
      clientId: organisationClient.id,
      clientSecretFile,
      roleClaim: 'groups',
      roles: { 'sign-viewers': 'viewer', 'sign-operators': 'operator', 'sign-admins': 'admin' },
      ...changes,
    },
  },
});

beforeAll(async () => {
  provider = await startOpenidProvider();
  const configuration = configurationOf();
  product = await startTestProduct(redis, {
    masterKey,
    listen: true,
    workers: false,
    configuration,
  });
  stage = startStage(
    redis.client(),
    product.configuration.queue.prefix,
    { openidProvider: product.configuration.operations.openidProvider },
    masterKey,
  );
});
afterAll(async () => {
  await product?.stop();
  await provider?.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  Object.assign(provider.behaviour, {
    claims: {},
    document: {},
    redirect: {},
    isAway: false,
    signs: undefined,
  });
});

type Browser = ReturnType<typeof createBrowser>;
const newBrowser = (): Browser => createBrowser({ origin: product.url });

const open = async (browser: Browser, address: string) => {
  const answer = await browser.request(address);
  const { status, headers } = answer;
  const to = headers.get('location') ?? headers.get('refresh')?.replace(/^0;url=/, '') ?? '';
  return { status, headers, to, html: await answer.text() };
};

/** To the provider, whose person is logged in already, and back to the callback's address. */
const begin = async (browser: Browser, wanted = '/admin') => {
  const begun = await open(browser, `/admin/login/provider?next=${encodeURIComponent(wanted)}`);
  const away = await fetch(begun.to, { redirect: 'manual' });
  return { begun, callback: away.headers.get('location') ?? '' };
};

const logIn = async (browser: Browser, wanted?: string) =>
  open(browser, (await begin(browser, wanted)).callback);

const whoIs = async (browser: Browser): Promise<unknown> => {
  const answer = await browser.request('/admin/api/session');
  return answer.status === 200 ? await answer.json() : undefined;
};

describe('a login at the provider of the organisation', () => {
  it('leads from the login page over the provider to the page that was wanted', async () => {
    const browser = newBrowser();
    const page = await open(browser, '/admin/login?next=%2Fadmin%2Faudit');
    const [, button] = /href="([^"]+)">Log in with Example Ltd</.exec(page.html) ?? [];
    expect(button).toBe(`${product.url}/admin/login/provider?next=%2Fadmin%2Faudit`);

    const { begun, callback } = await begin(browser, '/admin/audit');
    const asked = new URL(begun.to);
    expect(asked.origin + asked.pathname).toBe(`${provider.issuer}/auth`);
    expect(Object.fromEntries(asked.searchParams)).toEqual({
      kept: '1',
      client_id: organisationClient.id,
      response_type: 'code',
      redirect_uri: `${product.url}/admin/login/provider/callback`,
      scope: 'openid profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });

    const back = await open(browser, callback);
    expect([back.status, back.to]).toEqual([200, '/admin/audit']);
    // Not the user of the same name, who is a viewer.
    const session = { name: 'provider:olga', role: 'operator', via: 'provider' };
    expect(await whoIs(browser)).toMatchObject(session);
    expect((await stage.entries()).at(-1)).toEqual({
      who: 'provider:olga',
      via: 'provider',
      action: 'login',
      details: { role: 'operator', subject: 'f3c0-olga' },
    });
    // Counts once.
    expect((await open(browser, callback)).to).toBe('/admin/login?provider=over');
  });

  it('sends the secret in the form where the provider wants that', async () => {
    const document = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    Object.assign(provider.behaviour, { document });
    const prefix = `${redis.prefix.slice(-24)}post`;
    const second = await startTestProduct(redis, {
      listen: true,
      workers: false,
      configuration: { ...configurationOf(), queue: { prefix } },
    });
    const browser = createBrowser({ origin: second.url });
    const { to } = await open(browser, '/admin/login/provider');
    const { headers } = await fetch(to, { redirect: 'manual' });
    const back = await open(browser, headers.get('location') ?? '');
    await second.stop();
    expect(back.html).toContain('You are in, provider:olga');
  });

  it.each([
    ['the highest of several roles', { groups: ['sign-viewers', 'sign-admins'] }, 'admin'],
    ['a role that is one text', { groups: 'sign-viewers' }, 'viewer'],
  ])('gives %s', async (_, claims, role) => {
    Object.assign(provider.behaviour, { claims });
    const browser = newBrowser();
    await logIn(browser);
    expect(await whoIs(browser)).toMatchObject({ name: 'provider:olga', role });
  });

  it.each([
    ['none of the groups', { groups: ['staff'] }],
    ['no such claim', { groups: undefined }],
    ['a claim that is no text', { groups: { 'sign-admins': true } }],
    ['the name of a member of every object', { groups: ['constructor', '__proto__'] }],
    ['two groups in one text', { groups: 'sign-viewers sign-admins' }],
  ])('refuses somebody with %s, and says what to ask for', async (_, claims) => {
    Object.assign(provider.behaviour, { claims });
    const browser = newBrowser();
    const back = await logIn(browser);
    expect(back.status).toBe(403);
    const host = new URL(provider.issuer).host;
    for (const said of [
      `Ask those who manage accounts at ${host} to give yours one of these, in <code>groups</code>`,
      '<code>sign-operators</code> for the role operator',
      '<strong>olga</strong>',
    ]) {
      expect(back.html).toContain(said);
    }
    expect(await whoIs(browser)).toBeUndefined();
    expect((await stage.entries()).at(-1)).toEqual({
      who: 'nobody',
      via: 'none',
      action: 'login-failed',
      target: 'provider:olga',
      details: { via: 'provider', subject: 'f3c0-olga', outcome: 'no-role' },
    });
  });

  it.each([[undefined], [''], [' olga'], ['olga\u202e'], ['a\nb'], ['x'.repeat(129)], [['olga']]])(
    'refuses the name %j',
    async (name) => {
      Object.assign(provider.behaviour, { claims: { preferred_username: name } });
      const browser = newBrowser();
      const back = await logIn(browser);
      expect([back.status, back.html.includes('gave no name')]).toEqual([403, true]);
      expect(await whoIs(browser)).toBeUndefined();
    },
  );

  it('makes no tokens and changes no user of the same name', async () => {
    const browser = newBrowser();
    await logIn(browser);
    const session = (await whoIs(browser)) as { readonly csrf: string };
    const asked = (path: string) =>
      browser.request(`/admin/api${path}`, {
        method: 'POST',
        headers: { 'x-csrf-token': session.csrf, 'content-type': 'application/json' },
        body: '{}',
      });
    const page = await (await browser.request('/admin/tokens')).text();
    expect(page).toContain('Ask an admin for a user for your program');
    expect((await asked('/users/olga/tokens')).status).toBe(403);
    expect((await asked('/users/provider:olga/tokens')).status).toBe(404);
  });

  it('ends with all others of people who are no users, by one order', async () => {
    const browser = newBrowser();
    await logIn(browser);
    expect(await whoIs(browser)).toBeDefined();
    await stage.operators.endLocal({ name: 'root', role: 'admin', via: 'cli' });
    expect(await whoIs(browser)).toBeUndefined();
  });

  it('ends when the configuration gives roles in another way, or names no provider', async () => {
    const browser = newBrowser();
    await logIn(browser);
    const cookie = /paraph_admin=([\w-]+)/.exec(browser.cookiesFor('/admin'))?.[1];
    const settings = product.configuration.operations.openidProvider;
    const { prefix } = product.configuration.queue;
    const roles = { 'sign-operators': 'viewer' } as const;
    for (const openidProvider of [settings && { ...settings, roles }, undefined]) {
      // Finding a session that is over removes it, so each looks at one of its own.
      const login = await stage.operators.logInByProvider({
        sub: 'x',
        preferred_username: 'olga',
        groups: 'sign-admins',
      });
      const other = login.kind === 'in' ? login.cookie : '';
      expect(await stage.operators.sessionOf(other)).toBeDefined();
      const { operators } = startStage(redis.client(), prefix, { openidProvider }, masterKey);
      expect(await operators.sessionOf(other)).toBeUndefined();
    }
    expect(await stage.operators.sessionOf(cookie)).toBeDefined();
  });

  it('keeps how the person has set up the console, also when it starts again', async () => {
    const { users, views } = stage.operators;
    await views.change('provider:olga', { times: 'relative' });
    await users.forgetFormer();
    expect((await views.read('provider:olga')).times).toBe('relative');
    const without = startStage(redis.client(), product.configuration.queue.prefix, {}, masterKey);
    await without.operators.users.forgetFormer();
    expect((await views.read('provider:olga')).times).toBe('UTC');
  });
});

describe('an answer of the provider of the organisation', () => {
  it.each([
    ['with another state', { state: 'x'.repeat(43) }],
    ['without a state', { state: undefined }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['without the issuer that it has promised', { iss: undefined }],
  ])('%s is not taken, and does not end the login', async (_, redirect) => {
    const browser = newBrowser();
    Object.assign(provider.behaviour, { redirect });
    const forged = await begin(browser);
    expect((await open(browser, forged.callback)).to).toBe('/admin/login?provider=over');
    const right = new URL(forged.callback);
    right.searchParams.set('iss', provider.issuer);
    right.searchParams.set('state', new URL(forged.begun.to).searchParams.get('state') ?? '');
    expect((await open(browser, right.href)).html).toContain('You are in, provider:olga');
  });

  it('is not taken by another browser, nor where the login with the phone comes back', async () => {
    const browser = newBrowser();
    const { callback } = await begin(browser);
    expect((await open(newBrowser(), callback)).to).toBe('/admin/login?provider=over');
    const { search } = new URL(callback);
    expect((await open(browser, `/admin/login/oidc/callback${search}`)).to).toBe(
      '/admin/login?phone=over',
    );
    expect((await open(browser, callback)).html).toContain('You are in');
  });

  it.each([
    ['for another login', { nonce: 'another' }],
    ['for another client', { aud: 'shop' }],
    ['for us and others', { aud: [organisationClient.id, 'shop'], azp: organisationClient.id }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['that has ended', { exp: Math.floor(Date.now() / 1000) - 120 }],
  ])('with an ID token %s lets nobody in', async (_, claims) => {
    Object.assign(provider.behaviour, { claims });
    const browser = newBrowser();
    const back = await logIn(browser);
    expect(back.to).toBe('/admin/login?provider=failed');
    expect((await open(browser, back.to)).html).toContain(
      'gave no answer that this console accepts',
    );
    expect(await whoIs(browser)).toBeUndefined();
  });

  it.each([
    ['by another key', 'another-key'],
    ['by the secret of the client', 'secret'],
    ['by nobody', 'none'],
  ] as const)('with an ID token that is signed %s lets nobody in', async (_, signs) => {
    Object.assign(provider.behaviour, { signs });
    const browser = newBrowser();
    expect((await logIn(browser)).to).toBe('/admin/login?provider=failed');
    expect(await whoIs(browser)).toBeUndefined();
  });

  it.each([
    ['access_denied', 'declined', 'declined by your organisation'],
    ['temporarily_unavailable', 'away', 'does not answer'],
    ['invalid_scope', 'failed', 'That did not work'],
  ])('that the login has failed with %s is told in words', async (error, problem, words) => {
    Object.assign(provider.behaviour, { redirect: { error, code: undefined } });
    const browser = newBrowser();
    const back = await logIn(browser, '/admin/audit');
    expect(back.to).toBe(`/admin/login?provider=${problem}&next=%2Fadmin%2Faudit`);
    expect((await open(browser, back.to)).html).toContain(words);
  });
});

describe('a provider of the organisation that is away', () => {
  const withProvider = async (
    prefix: string,
    behaviour: object,
    act: (at: TestProduct) => Promise<void>,
  ): Promise<void> => {
    Object.assign(provider.behaviour, behaviour);
    const configuration = {
      ...configurationOf(),
      queue: { prefix: `${redis.prefix.slice(-24)}${prefix}` },
    };
    const at = await startTestProduct(redis, { listen: true, workers: false, configuration });
    try {
      await act(at);
    } finally {
      await at.stop();
    }
  };

  it.each([
    ['does not answer', { isAway: true }],
    ['has the document of another issuer', { document: { issuer: 'https://evil.example' } }],
    ['has no token endpoint', { document: { token_endpoint: undefined } }],
    ['has one without TLS', { document: { token_endpoint: 'http://192.0.2.1/token' } }],
    ['signs by a secret alone', { document: { id_token_signing_alg_values_supported: ['HS256'] } }],
  ])('or %s leads back to the login page, where a link still works', async (what, behaviour) => {
    await withProvider(`a${what.length}`, behaviour, async (at) => {
      const browser = createBrowser({ origin: at.url });
      const begun = await open(browser, '/admin/login/provider');
      expect([begun.status, begun.to]).toEqual([303, '/admin/login?provider=away']);
      const page = await open(browser, begun.to);
      expect(page.html).toContain('The login of your organisation does not answer');
      const { searchParams } = new URL(await at.api.consoleLink());
      const entered = await fetch(`${at.url}/admin/login/link`, {
        method: 'POST',
        body: searchParams,
        redirect: 'manual',
        headers: { origin: at.url },
      });
      expect(entered.headers.get('set-cookie')).toMatch(/paraph/i);
      expect(at.logged.some((line) => line.includes('did not take a login of the console'))).toBe(
        true,
      );
    });
  });

  it('is asked once in five seconds, however many want to log in, and its document is kept', async () => {
    await withProvider('few', { isAway: true }, async (at) => {
      const begin = () => open(createBrowser({ origin: at.url }), '/admin/login/provider');
      const before = provider.asked.length;
      await Promise.all([begin(), begin(), begin()]);
      await begin();
      expect(provider.asked.length - before).toBe(1);
    });
    await newBrowserRound();
    const before = provider.asked.filter((path) => path.endsWith('openid-configuration')).length;
    await newBrowserRound();
    expect(provider.asked.filter((path) => path.endsWith('openid-configuration'))).toHaveLength(
      before,
    );
  });

  const newBrowserRound = async (): Promise<void> => {
    provider.behaviour.isAway = false;
    expect((await logIn(newBrowser())).html).toContain('You are in');
  };
});

it('has its secret in no log, page or key of Redis', async () => {
  const browser = newBrowser();
  await logIn(browser);
  const pages = await Promise.all(
    ['/admin', '/admin/login', '/admin/users', '/admin/audit'].map((path) => open(browser, path)),
  );
  const begun = await open(newBrowser(), '/admin/login/provider');
  const client = redis.client();
  const keys = await client.keys(`*${product.configuration.queue.prefix}*`);
  // As Redis keeps them, of every type.
  const dumps = await Promise.all(
    keys.map(async (key) => (await client.dumpBuffer(key))?.toString('latin1')),
  );
  const texts = [...dumps, ...product.logged, ...pages.map(({ html }) => html), begun.to];
  const all = texts.join('\n');
  expect(all).toContain('provider:olga');
  const { secret } = organisationClient;
  for (const written of [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
  ])
    expect(all).not.toContain(written);
});

it('does not start with a file for the secret that cannot be read', async () => {
  const missing = configurationOf({ clientSecretFile: join(folder, 'none') }, 'none');
  await expect(startTestProduct(redis, { workers: false, configuration: missing })).rejects.toThrow(
    'operations.openidProvider.clientSecretFile: the file cannot be read (ENOENT)',
  );
});
