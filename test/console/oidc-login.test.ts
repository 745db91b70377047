/**
 * Logging in to the console with the phone, over HTTP: a real product, its own provider, people and
 * a robot.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formIn } from '../oauth/browser-client.ts';
import { contentsOf } from '../security/redis-contents.ts';
import { startTestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { admin } from './operators/stage.ts';
import { type PhoneStage, phoneless, sleeper, startPhoneStage } from './phone-stage.ts';

const redis = testRedis();
let stage: PhoneStage;

beforeAll(async () => {
  // A login elsewhere would count here for an hour, if the console let it.
  stage = await startPhoneStage(redis, { oidc: { singleSignOnSeconds: 3600 } });
});
afterAll(async () => {
  await stage.product.stop();
});

/** Somebody with a phone; `name` is theirs alone. */
const newUser = async (name: string, role: 'viewer' | 'operator' = 'operator'): Promise<string> => {
  const msisdn = stage.somebody();
  const oidcSubject = stage.subjectOf(msisdn);
  expect(await stage.operators.users.add(admin, { name, role, oidcSubject })).toBe('added');
  return msisdn;
};

const over = '/admin/login?phone=over';

describe('a login with the phone', () => {
  it('leads from the login page over the provider to the page that was wanted', async () => {
    const msisdn = await newUser('anna');
    const browser = stage.newBrowser();
    const next = '/admin/transactions?state=failed';
    const login = await stage.open(browser, `/admin/login?next=${encodeURIComponent(next)}`);
    const [, button] = /href="([^"]+)">Log in with the phone/.exec(login.html) ?? [];
    expect(button).toBe(`${stage.product.url}/admin/login/oidc?next=${encodeURIComponent(next)}`);

    const begun = await stage.open(browser, button ?? '');
    expect(begun.status).toBe(303);
    const address = new URL(begun.to);
    expect(address.href).toMatch(`${stage.product.url}/oidc/auth?`);
    expect([...address.searchParams.keys()]).toEqual(['client_id', 'request_uri']);
    expect(begun.headers.get('set-cookie')).toMatch(
      /^paraph_login=[\w-]{43}; Max-Age=1800; Path=\/admin\/login; HttpOnly; SameSite=Lax$/,
    );

    const callback = await stage.sign(browser, await browser.open(begun.to), msisdn);
    const back = await stage.open(browser, callback);
    expect([back.status, back.to]).toEqual([200, next]);
    expect(back.html).toContain('You are in, anna');
    const [ended, session] = back.headers.getSetCookie();
    expect(ended).toMatch(/^paraph_login=; Max-Age=0/);
    expect(session).toMatch(/^paraph_admin=[\w-]{43}; Path=\/admin; HttpOnly; SameSite=Strict$/);
    expect(await stage.whoIs(browser)).toMatchObject({
      name: 'anna',
      role: 'operator',
      via: 'oidc',
    });
    expect(await stage.entries()).toContainEqual({
      who: 'anna',
      via: 'oidc',
      action: 'login',
      details: { role: 'operator' },
    });
  });

  it('offers the robot in the sandbox, whose number nobody can type', async () => {
    const robot = '+41700092501';
    const oidcSubject = stage.subjectOf(robot);
    await stage.operators.users.add(admin, { name: 'robot', role: 'viewer', oidcSubject });
    const browser = stage.newBrowser();
    expect((await stage.logIn(browser, robot)).to).toBe('/admin');
    expect(await stage.whoIs(browser)).toMatchObject({ name: 'robot' });
  });

  it('asks the phone each time, whatever the provider remembers of the browser', async () => {
    const msisdn = await newUser('berta');
    const browser = stage.newBrowser();
    await stage.logIn(browser, msisdn);
    const again = await stage.begin(browser);
    expect(again.left).toBeUndefined();
    expect(formIn(again.html, 'number')).toBeDefined();
  });

  // What else leads home is tried with the login by password.
  it('leads home in place of an address of others', async () => {
    const msisdn = await newUser('next');
    expect((await stage.logIn(stage.newBrowser(), msisdn, 'https://evil.example/')).to).toBe(
      '/admin',
    );
  });

  it('ends with its user, and with the phone of its user', async () => {
    const [removed, robbed] = [await newUser('carl'), await newUser('dora')];
    const browsers = [stage.newBrowser(), stage.newBrowser()] as const;
    await stage.logIn(browsers[0], removed);
    await stage.logIn(browsers[1], robbed);
    for (const browser of browsers) expect(await stage.whoIs(browser)).toBeDefined();
    await stage.operators.users.remove(admin, 'carl');
    expect(await stage.operators.users.setSubject(admin, 'dora', undefined)).toBe('changed');
    for (const browser of browsers) expect(await stage.whoIs(browser)).toBeUndefined();
    expect((await stage.logIn(stage.newBrowser(), robbed)).status).toBe(403);
  });

  it('is refused to somebody who is no user, with what an admin has to know', async () => {
    const stranger = stage.somebody();
    const browser = stage.newBrowser();
    const back = await stage.logIn(browser, stranger);
    const subject = stage.subjectOf(stranger);
    expect(back.status).toBe(403);
    expect(back.html).toContain(`<code class="secret">${subject}</code>`);
    expect(back.html).not.toContain(stranger.slice(1));
    expect(await stage.whoIs(browser)).toBeUndefined();
    expect(await stage.entries()).toContainEqual({
      who: 'nobody',
      via: 'none',
      action: 'login-failed',
      details: { via: 'oidc', subject },
    });
    // What the page shows is what makes them a user.
    await stage.operators.users.add(admin, { name: 'emil', role: 'viewer', oidcSubject: subject });
    expect((await stage.logIn(browser, stranger)).status).toBe(200);
  });
});

describe('an answer of the provider', () => {
  it.each([
    ['with another state', (query: URLSearchParams) => query.set('state', 'x'.repeat(43))],
    ['without a state', (query: URLSearchParams) => query.delete('state')],
    [
      'of another issuer',
      (query: URLSearchParams) => query.set('iss', 'https://evil.example/oidc'),
    ],
    ['without an issuer', (query: URLSearchParams) => query.delete('iss')],
    ['with two codes', (query: URLSearchParams) => query.append('code', 'x')],
  ])('%s is not taken, and does not end the login', async (_, change) => {
    const msisdn = await newUser(`forged${stage.somebody().slice(-6)}`);
    const browser = stage.newBrowser();
    const callback = new URL(await stage.sign(browser, await stage.begin(browser), msisdn));
    const forged = new URL(callback);
    change(forged.searchParams);
    const refused = await stage.open(browser, forged.href);
    expect([refused.status, refused.to]).toEqual([303, over]);
    expect(await stage.whoIs(browser)).toBeUndefined();
    expect((await stage.open(browser, callback.href)).status).toBe(200);
  });

  it('lets nobody in at a browser that has not begun the login', async () => {
    const attacker = await newUser('fred');
    const own = stage.newBrowser();
    const callback = await stage.sign(own, await stage.begin(own), attacker);
    const strange = stage.newBrowser();
    expect((await stage.open(strange, callback)).to).toBe(over);
    // Nor at one that has begun another.
    await stage.begin(strange);
    expect((await stage.open(strange, callback)).to).toBe(over);
    expect(await stage.whoIs(strange)).toBeUndefined();
    expect((await stage.open(own, callback)).status).toBe(200);
  });

  it('counts once, of eight at the same moment and afterwards', async () => {
    const msisdn = await newUser('gina');
    const browser = stage.newBrowser();
    const callback = await stage.sign(browser, await stage.begin(browser), msisdn);
    const copies = Array.from({ length: 8 }, () => browser.clone());
    const backs = await Promise.all(copies.map((copy) => stage.open(copy, callback)));
    expect(backs.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(backs.filter(({ to }) => to === over)).toHaveLength(7);
    expect((await stage.open(browser, callback)).to).toBe(over);
  });

  it('that nobody has logged in is told in words', async () => {
    const browser = stage.newBrowser();
    const page = await stage.begin(browser, '/admin/audit');
    const waiting = await browser.submit(page, 'number', { msisdn: sleeper });
    const left = await browser.settle(await browser.submit(waiting, 'cancel'));
    const [, link = ''] = /href="([^"]+\/return)"/.exec(left.html) ?? [];
    const back = left.left ?? (await browser.open(link)).left;
    const { status, to } = await stage.open(browser, back?.href ?? '');
    expect([status, to]).toEqual([303, '/admin/login?phone=cancelled&next=%2Fadmin%2Faudit']);
    const told = await stage.open(browser, to);
    expect(told.html).toContain('The login was declined');
    expect(told.html).toContain('/admin/login/oidc?next=%2Fadmin%2Faudit"');

    const unable = await stage.logIn(stage.newBrowser(), phoneless);
    expect(unable.to).toBe('/admin/login?phone=no-method');
    expect((await stage.open(browser, unable.to)).html).toContain(
      'no method that this console accepts',
    );
    expect((await stage.open(browser, '/admin/login?phone=You+won')).html).not.toContain(
      'role="alert"',
    );
  });
});

describe('what a login with the phone leaves behind', () => {
  it('is neither in the log nor readable in Redis', async () => {
    const msisdn = await newUser('hans');
    const browser = stage.newBrowser();
    const page = await stage.begin(browser);
    const begun = /paraph_login=([\w-]+)/.exec(browser.cookiesFor('/admin/login/oidc'))?.[1] ?? '';
    const callback = await stage.sign(browser, page, msisdn);
    const { code = '', state = '' } = Object.fromEntries(new URL(callback).searchParams);
    const before = await contentsOf(redis.client(), stage.product.configuration.queue.prefix);
    await stage.open(browser, callback);
    const session = /paraph_admin=([\w-]+)/.exec(browser.cookiesFor('/admin'))?.[1] ?? '';
    const after = await contentsOf(redis.client(), stage.product.configuration.queue.prefix);
    const stored = [...before, ...after].map(([key, value]) => `${key} ${value}`).join('\n');
    const log = stage.product.logged.join('\n');
    for (const secret of [begun, code, state, session]) {
      expect(secret).toMatch(/^[\w-]{43,}$/);
      expect(stored).not.toContain(secret);
      expect(log).not.toContain(secret);
    }
    // No trouble in any of the logins of this file.
    expect(stage.product.logged.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  });
});

describe('the offer of the login with the phone', () => {
  const offered = async (
    configuration: Record<string, unknown>,
  ): Promise<readonly [boolean, number]> => {
    const product = await startTestProduct(redis, {
      workers: false,
      configuration: { ...configuration, queue: { prefix: `${redis.prefix.slice(-24)}offer` } },
    });
    try {
      const ask = (path: string) => product.api.fetch(new Request(`http://test${path}`));
      const page = await (await ask('/admin/login')).text();
      return [page.includes('Log in with the phone'), (await ask('/admin/login/oidc')).status];
    } finally {
      await product.stop();
    }
  };
  const user = { name: 'olga', role: 'operator', oidcSubject: 'somebody' };

  it.each([
    ['in a sandbox', {}, true],
    ['where somebody is known by a phone', { sandbox: false, operations: { users: [user] } }, true],
    ['not where nobody is', { sandbox: false }, false],
    ['not where it is off', { operations: { openid: { enabled: false } } }, false],
  ])('is made %s', async (_, configuration, expected) => {
    expect(await offered(configuration)).toEqual([expected, expected ? 303 : 404]);
  });

  it('is limited by address, with the other tries of that address', async () => {
    const limited = { logins: { perAddress: { requests: 2, perSeconds: 3600 } } };
    const product = await startTestProduct(redis, {
      workers: false,
      configuration: { operations: limited, queue: { prefix: `${redis.prefix.slice(-24)}few` } },
    });
    const ask = async () =>
      (await product.api.fetch(new Request('http://test/admin/login/oidc'))).headers.get(
        'location',
      );
    const answers = [await ask(), await ask(), await ask()];
    await product.stop();
    expect(answers.map((to) => to?.split('?')[0])).toEqual([
      'http://test/oidc/auth',
      'http://test/oidc/auth',
      '/admin/login',
    ]);
    expect(answers[2]).toContain('phone=limited');
  });

  it('has a cookie behind https that no other host can set, and another tenant if so configured', async () => {
    const product = await startTestProduct(redis, {
      workers: false,
      configuration: {
        publicUrl: 'https://sign.example',
        oidc: {
          tenants: [
            { id: 'default', name: 'Shop' },
            { id: 'staff', name: 'Staff' },
          ],
        },
        operations: { openid: { tenant: 'staff' } },
        queue: { prefix: `${redis.prefix.slice(-24)}tls` },
      },
    });
    const begun = await product.api.fetch(new Request('http://test/admin/login/oidc'));
    await product.stop();
    expect(begun.headers.get('location')).toMatch(
      /^https:\/\/sign\.example\/oidc\/t\/staff\/auth\?/,
    );
    expect(begun.headers.get('set-cookie')).toMatch(
      /^__Host-paraph_login=[\w-]{43}; Max-Age=1800; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
  });
});
