/** Getting into the console and out of it, over HTTP. */
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConsole } from '../../src/console/console.ts';
import type { ConsoleDeps } from '../../src/console/deps.ts';
import { maxTokens } from '../../src/console/operators/tokens.ts';
import { nextPath } from '../../src/console/session/login.route.ts';
import { testRedis } from '../support/redis.ts';
import { type ApiStage, startApiStage } from './api-stage.ts';
import { logInAs } from './operators/stage.ts';

const redis = testRedis();
let stage: ApiStage;

beforeAll(async () => {
  stage = await startApiStage(redis);
});
afterAll(async () => {
  await stage.close();
  expect(stage.troubles).toEqual([]);
});

const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  stage.fetch(path, { method: 'POST', body: new URLSearchParams(fields), headers });

const linkFor = async (): Promise<{ token: string }> => ({
  token: (await stage.operators.issueLinkFor(by, 'the-operator'))?.secret ?? '',
});
const by = { name: 'test', role: 'admin', via: 'cli' } as const;

describe('a login by link', () => {
  it('sets a cookie for the console alone', async () => {
    const answer = await send('/admin/login/link', await linkFor());
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/admin']);
    const cookie = answer.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^paraph_admin=[\w-]{43}; Path=\/admin; HttpOnly; SameSite=Strict$/);
    const session = await stage.fetch('/admin/api/session', {
      headers: { cookie: cookie.split(';')[0] ?? '' },
    });
    expect(await session.json()).toMatchObject({
      name: 'the-operator',
      role: 'operator',
      via: 'link',
    });
  });

  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ])('is not begun by pages of others (%o)', async (headers) => {
    expect((await send('/admin/login/link', await linkFor(), headers)).status).toBe(403);
  });

  it('is the only form of the login: there is none with a password', async () => {
    expect((await send('/admin/login', { name: 'the-operator', password: 'x' })).status).toBe(404);
    expect(await (await stage.fetch('/admin/login')).text()).not.toContain('<input');
  });
});

describe('the page after a login', () => {
  it.each([
    ['/admin', '/admin'],
    ['/admin/replays/1?x=1', '/admin/replays/1?x=1'],
    ['https://evil.example/admin', '/admin'],
    ['//evil.example/admin', '/admin'],
    ['/admin/../oidc', '/admin'],
    ['/admin\\..\\..\\evil', '/admin'],
    ['/administrator', '/admin'],
    ['/admin@evil.example', '/admin'],
    ['/admin/logout', '/admin'],
    ['/admin/%0d%0aset-cookie:x', '/admin/%0d%0aset-cookie:x'],
    ['/admin/\r\nx', '/admin'],
    [undefined, '/admin'],
  ])('leads from %j to %j', (wanted, path) => {
    expect(nextPath(wanted)).toBe(path);
  });
});

it('says in a sandbox how to get in without a user, and where a phone is that of none', async () => {
  for (const path of ['/admin/login', '/admin/login?phone=over']) {
    expect(await (await stage.fetch(path)).text()).toContain('npx paraph users link local');
  }
  const used = await send('/admin/login/link', { token: 'x'.repeat(43) });
  expect(await used.text()).toContain('npx paraph users link local');
});

describe('a token', () => {
  const mine = '/admin/api/users/the-operator/tokens';
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  it('makes no other tokens', async () => {
    const { token } = (await stage.ask('operator', 'POST', mine, { days: 0.01 })).body;
    const made = await stage.fetch(mine, { ...bearer(token), method: 'POST' });
    expect([made.status, await made.json()]).toEqual([
      403,
      { error: 'forbidden', message: 'A token makes no tokens: log in to make one' },
    ]);
  });

  it('that somebody has found ends when it is given for its id', async () => {
    const { token, id } = (await stage.ask('operator', 'POST', mine, {})).body;
    expect((await stage.fetch('/admin/api/session', bearer(token))).status).toBe(200);
    expect((await stage.ask('admin', 'DELETE', `/admin/api/tokens/${token}`)).body).toEqual({
      result: 'revoked',
    });
    expect((await stage.fetch('/admin/api/session', bearer(token))).status).toBe(401);
    const audited = await stage.ask('admin', 'GET', '/admin/api/audit?action=token-revoke');
    expect(audited.body.entries[0].target).toBe(id);
    expect(audited.text).not.toContain(token.slice(7));
  });

  it('is one of few', async () => {
    let last = await stage.ask('admin', 'POST', mine, {});
    for (let each = 0; each < maxTokens && last.status === 201; each += 1) {
      last = await stage.ask('admin', 'POST', mine, {});
    }
    expect(last).toMatchObject({ status: 409, body: { error: 'too-many' } });
    const fields = { name: 'the-operator', label: 'x', days: '1' };
    const page = await stage.post('operator', '/admin/tokens', fields);
    expect(page.status).toBe(422);
    expect(await page.text()).toContain('The user has 20 tokens. End one first.');
  });
});

it('does not read much from people who are not logged in', async () => {
  expect((await send('/admin/login/link', { token: 'x'.repeat(9000) })).status).toBe(413);
});

describe('a link', () => {
  it('survives programs that look at the link, and is good once', async () => {
    const { secret } = await stage.operators.issueLink();
    for (let n = 0; n < 3; n += 1) {
      const page = await stage.fetch(`/admin/login/link?token=${secret}`);
      expect(page.status).toBe(200);
      expect(await page.text()).toContain(secret);
    }
    const first = await send('/admin/login/link', { token: secret });
    expect([first.status, first.headers.get('location')]).toEqual([303, '/admin']);
    expect(first.headers.get('set-cookie')).toContain('paraph_admin=');
    expect((await send('/admin/login/link', { token: secret })).status).toBe(401);
  });

  it('shows a token that is none as text', async () => {
    const page = await stage.fetch('/admin/login/link?token=%22%3E%3Cscript%3E');
    expect(await page.text()).not.toContain('"><script>');
  });
});

const openSession = async (): Promise<string> =>
  `paraph_admin=${(await logInAs(stage.operators, 'the-operator')).cookie}`;

const statusWith = async (headers: Record<string, string>): Promise<number> =>
  (await stage.fetch('/admin/api/session', { headers })).status;

describe('a session', () => {
  it('is over when its browser logs in anew', async () => {
    const cookie = await openSession();
    expect(await statusWith({ cookie })).toBe(200);
    expect((await send('/admin/login/link', { token: 'wrong' }, { cookie })).status).toBe(401);
    expect(await statusWith({ cookie })).toBe(200);
    const second =
      (await send('/admin/login/link', await linkFor(), { cookie })).headers.get('set-cookie') ??
      '';
    expect(await statusWith({ cookie })).toBe(401);
    expect(await statusWith({ cookie: second.split(';')[0] ?? '' })).toBe(200);
    const { secret } = await stage.operators.issueLink();
    await send('/admin/login/link', { token: secret }, { cookie: second });
    expect(await statusWith({ cookie: second.split(';')[0] ?? '' })).toBe(401);
  });

  it('is none when the browser has been given a second one', async () => {
    const cookies = [await openSession(), stage.cookies.admin];
    expect(await statusWith({ cookie: cookies.join('; ') })).toBe(401);
  });

  it('of a link of the service is ended by an admin', async () => {
    const link = await stage.operators.logInByLink((await stage.operators.issueLink()).secret, {
      caller: 'link',
    });
    const cookie = `paraph_admin=${link.kind === 'in' ? link.cookie : ''}`;
    expect(await statusWith({ cookie })).toBe(200);
    expect((await stage.post('operator', '/admin/links/end', {})).status).toBe(403);
    const ended = await stage.post('admin', '/admin/links/end', { confirmed: 'yes' });
    expect([ended.status, ended.headers.get('location')]).toEqual([
      303,
      '/admin/users?notice=links-ended',
    ]);
    expect(await statusWith({ cookie })).toBe(401);
  });

  it('is asked for by every page, which is where the login leads back', async () => {
    const page = await stage.fetch('/admin/transactions?state=failed');
    expect(page.status).toBe(303);
    expect(page.headers.get('location')).toBe(
      '/admin/login?next=%2Fadmin%2Ftransactions%3Fstate%3Dfailed',
    );
    expect((await stage.fetch('/admin')).headers.get('location')).toBe('/admin/login');
  });

  it('ends at logout, which needs its token', async () => {
    const login = await logInAs(stage.operators, 'the-operator');
    const headers = { cookie: `paraph_admin=${login.cookie}` };
    expect((await send('/admin/logout', {}, headers)).status).toBe(403);
    expect((await send('/admin/logout', { csrf: stage.csrf.admin }, headers)).status).toBe(403);
    const csrf = stage.operators.csrfTokenOf(login.session);
    const out = await send('/admin/logout', { csrf }, headers);
    expect([out.status, out.headers.get('location')]).toEqual([303, '/admin/login']);
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await stage.fetch('/admin/api/session', { headers })).status).toBe(401);
  });

  it.each(['/admin', '/admin/login', '/admin/nothing', '/admin/api/session', '/admin/queues'])(
    'has strict headers on %s',
    async (path) => {
      const { headers } = await stage.fetch(path, { headers: { cookie: stage.cookies.admin } });
      expect(headers.get('content-security-policy')).toMatch(
        /default-src 'none'.*frame-ancestors 'none'/,
      );
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toBe('same-origin');
    },
  );
});

it('answers what goes wrong inside in its own way, whatever the application around it would say', async () => {
  const troubles: string[] = [];
  const deps = {
    operators: { sessionOf: () => Promise.reject(new Error('Redis is away')) },
    parts: [],
    secretRoutes: [],
    replays: { transactions: {} },
    auditActions: ['login'],
    log: { trouble: ({ message }: Error) => void troubles.push(message) },
  };
  const around = new Hono().route('/', createConsole(deps as unknown as ConsoleDeps).routes);
  around.onError(() => new Response('something else'));
  const [api, page] = [await around.request('/admin/api/session'), await around.request('/admin')];
  expect([api.status, await api.json()]).toEqual([
    500,
    { error: 'trouble', message: 'Something went wrong' },
  ]);
  expect(page.status).toBe(500);
  expect(await page.text()).toContain('<h1>Something went wrong</h1>');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(troubles).toEqual(['Redis is away', 'Redis is away']);
});
