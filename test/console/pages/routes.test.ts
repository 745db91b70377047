import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transactionFilter } from '../../../src/console/filter.ts';
import type { HistoryFilter } from '../../../src/transactions/history/filter.ts';
import { testRedis } from '../../support/redis.ts';
import { soon } from '../../support/soon.ts';
import { roles, type Somebody } from '../api-stage.ts';
import { admin, logInAs } from '../operators/stage.ts';
import { type ConsoleStage, startConsoleStage } from './console-stage.ts';

const redis = testRedis();

let stage: ConsoleStage;

beforeAll(async () => {
  stage = await startConsoleStage(redis);
});

afterAll(async () => {
  await stage?.close();
});

const get = async (role: Somebody | 'nobody', path: string) => {
  const headers = role === 'nobody' ? {} : { cookie: stage.cookies[role] };
  const response = await fetch(`${stage.url}${path}`, { headers, redirect: 'manual' });
  return { status: response.status, text: await response.text(), headers: response.headers };
};

/** Fills in a form of a page and sends it, hidden fields and all. */
const send = async (
  role: Somebody,
  page: string,
  action: string,
  fields: Readonly<Record<string, string>>,
) => {
  const body = formOf((await get(role, page)).text, action);
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  return post(role, action, body);
};

/** The hidden fields of a form. */
const formOf = (text: string, action: string): URLSearchParams => {
  const form = text.split('<form').find((part) => part.includes(`action="${action}"`));
  if (form === undefined) throw new Error(`no form to ${action}`);
  const body = new URLSearchParams();
  for (const [, name = '', value = ''] of form
    .split('</form>')[0]
    ?.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g) ?? []) {
    body.set(name, value);
  }
  return body;
};

const post = async (role: Somebody, path: string, body: URLSearchParams) => {
  const response = await fetch(`${stage.url}${path}`, {
    method: 'POST',
    headers: { cookie: stage.cookies[role], origin: stage.url },
    body,
    redirect: 'manual',
  });
  return {
    status: response.status,
    text: await response.text(),
    to: response.headers.get('location') ?? '',
  };
};

const csrfOf = async (role: Somebody): Promise<string> =>
  /name="csrf" value="([^"]+)"/.exec((await get(role, '/admin')).text)?.[1] ?? '';

/** An open transaction has its row before its end is written there. */
const indexed = (id: string, filter: HistoryFilter = {}) =>
  soon(async () => {
    const page = await stage.history.search(filter, { limit: 100 });
    if (!page?.rows.some(({ msspTransId }) => msspTransId === id))
      throw new Error('not indexed yet');
  });

describe('the pages of the console', () => {
  it.each([
    ['/admin', 'viewer'],
    ['/admin/transactions', 'viewer'],
    ['/admin/replays', 'viewer'],
    ['/admin/callbacks', 'viewer'],
    ['/admin/callbacks/plan', 'operator'],
    ['/admin/audit', 'operator'],
    ['/admin/replays/plan', 'operator'],
    ['/admin/users', 'admin'],
  ] as const)('%s is for %s and above', async (path, least) => {
    for (const role of roles) {
      const allowed = roles.indexOf(role) >= roles.indexOf(least);
      expect((await get(role, path)).status).toBe(allowed ? 200 : 403);
    }
    const { status, headers } = await get('nobody', path);
    expect(status).toBe(303);
    expect(headers.get('location')).toMatch(/^\/admin\/login/);
  });

  it.each([
    '/admin/transactions/none/replay',
    '/admin/transactions/none/cancel',
    '/admin/replays',
    '/admin/replays/none/stop',
    '/admin/users',
    '/admin/users/vera/remove',
    '/admin/users/vera/role',
  ])('a viewer may not POST to %s, and nobody without the token', async (path) => {
    const body = new URLSearchParams({ csrf: await csrfOf('viewer') });
    expect((await post('viewer', path, body)).status).toBe(403);
    expect((await post('admin', path, new URLSearchParams())).status).toBe(403);
  });

  it('serve their assets to anybody, for ever, and nothing else', async () => {
    const { text } = await get('admin', '/admin');
    for (const [, path = ''] of text.matchAll(/"(\/admin\/assets\/[^"]+)"/g)) {
      const asset = await get('nobody', path);
      expect(asset.status).toBe(200);
      expect(asset.headers.get('cache-control')).toContain('immutable');
      expect(asset.headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect((await get('nobody', '/admin/assets/../users')).status).not.toBe(200);
    expect((await get('admin', '/admin')).headers.get('cache-control')).toBe('no-store');
    expect((await get('admin', '/admin')).headers.get('content-security-policy')).toContain(
      "script-src 'self'",
    );
  });

  it('hide number, text and reason from a viewer, and show them to an operator', async () => {
    const number = stage.somebody();
    const id = await stage.failed(401, number);
    await send('operator', `/admin/transactions/${id}`, `/admin/transactions/${id}/replay`, {
      reason: 'Called and asked',
    });
    await indexed(id);
    const secrets = [number.slice(1), 'Sign in to Example?', 'Called and asked'];
    for (const path of ['/admin', '/admin/transactions', `/admin/transactions/${id}`]) {
      const { status, text } = await get('viewer', path);
      expect(status).toBe(200);
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
    const { text } = await get('operator', `/admin/transactions/${id}`);
    for (const secret of secrets) expect(text).toContain(secret);
    const { entries = [] } =
      (await stage.audit.read({ target: id, action: 'view-sensitive' })) ?? {};
    expect(entries.map(({ who }) => who)).toEqual(['the-operator']);
    expect((await get('viewer', `/admin/transactions?msisdn=${number.slice(1)}`)).status).toBe(422);
  });

  it('replay one, with a reason where a person has said no', async () => {
    const [id, other] = [await stage.failed(401), await stage.failed(208)];
    const path = `/admin/transactions/${id}`;
    expect((await get('operator', path)).text).toMatch(/<textarea[^>]*required/);
    expect((await get('operator', `/admin/transactions/${other}`)).text).not.toMatch(
      /<textarea[^>]*required/,
    );
    expect((await send('operator', path, `${path}/replay`, { reason: ' ' })).to).toBe(
      `${path}?notice=reason`,
    );
    expect(await stage.status(id)).toBe('401');
    const sent = await send('operator', path, `${path}/replay`, { reason: 'Asked for it' });
    expect([sent.status, sent.to]).toEqual([303, `${path}?notice=replayed`]);
    expect((await get('operator', sent.to)).text).toContain('A new attempt has begun.');
    expect(await stage.status(id)).toBe('504');
    await soon(() => expect(stage.asked()).toContain(`${id} 2`));
  });

  it('offer no replay of a login, and refuse one that is sent all the same', async () => {
    const id = await stage.failedLogin(208);
    const path = `/admin/transactions/${id}`;
    const { text } = await get('admin', path);
    expect(text).not.toContain(`action="${path}/replay"`);
    expect(text).toContain('A login is never replayed');
    const sent = await post(
      'admin',
      `${path}/replay`,
      new URLSearchParams({ csrf: await csrfOf('admin'), reason: 'Please' }),
    );
    expect(sent.to).toBe(`${path}?notice=login`);
    expect((await get('admin', sent.to)).text).toContain('its session has ended');
    expect((await stage.history.find(id))?.attempt).toBe(1);
  });

  it('cancel one that is open, with a reason', async () => {
    const id = await stage.submit(stage.somebody());
    const path = `/admin/transactions/${id}`;
    const sent = await send('operator', path, `${path}/cancel`, { reason: 'By mistake' });
    expect(sent.to).toBe(`${path}?notice=cancelled`);
    await soon(async () => expect(await stage.status(id)).toBe('401'));
    expect((await get('operator', path)).text).toContain('Cancel ordered');
  });

  it('offer every filter that programs have', async () => {
    const { text } = await get('operator', '/admin/transactions');
    for (const field of Object.keys(transactionFilter.shape))
      expect(text).toMatch(`name="${field}"`);
  });

  it('replay many, after saying how many, and report on each', async () => {
    const apId = 'http://bulk.example';
    const ids = await Promise.all(
      Array.from({ length: 4 }, () => stage.failed(208, stage.somebody(), apId)),
    );
    for (const id of ids) await indexed(id, { state: ['failed'] });
    const page = `/admin/replays/plan?apId=${encodeURIComponent(apId)}`;
    const plan = (await get('operator', page)).text;
    expect(plan).toContain('Replay 4 transactions');
    for (const id of ids) {
      expect(plan).toContain(`href="/admin/transactions/${id}"`);
      expect(plan).toContain(`+${(await stage.history.find(id))?.msisdn}`);
    }
    expect(plan).not.toContain(' more.</p>');
    const wrong = await send('operator', page, '/admin/replays', { reason: '', perSecond: '50' });
    expect([wrong.status, wrong.text.includes('A reason is needed')]).toEqual([422, true]);
    const odd = await send('operator', page, '/admin/replays', { reason: 'x', perSecond: 'fast' });
    expect(odd.text).toContain('The rate cannot be read');
    const fewer = { reason: 'x', perSecond: '50', expected: '3' };
    expect((await send('operator', page, '/admin/replays', fewer)).text).toContain(
      'There are more now',
    );
    expect(await stage.replays.list()).toEqual([]);

    const sent = await send('operator', page, '/admin/replays', {
      reason: 'Phones were off',
      perSecond: '50',
    });
    expect([sent.status, sent.to]).toEqual([
      303,
      expect.stringMatching(/^\/admin\/replays\/B[0-9a-f]{16}$/),
    ]);
    await soon(() => {
      for (const id of ids)
        expect(stage.asked().filter((each) => each === `${id} 2`)).toHaveLength(1);
    });
    for (const id of ids) await stage.sign(id, 2);
    await soon(async () => {
      const { text } = await get('operator', sent.to);
      expect(text).toContain('<span class="state done">done</span>');
    });
    const { text } = await get('operator', sent.to);
    for (const id of ids) expect(text).toContain(id);
    expect(text).not.toContain(`${sent.to}/stop`);
    expect((await get('viewer', sent.to)).text).not.toContain('Phones were off');
    expect((await get('operator', '/admin/audit?action=bulk-replay')).text).toContain(
      'Phones were off',
    );
  });

  it('add a user who logs in by a link, change the role, remove', async () => {
    const added = await send('admin', '/admin/users', '/admin/users', {
      name: 'nora',
      role: 'operator',
    });
    expect(added.to).toBe('/admin/users?notice=user-by-link');
    expect((await logInAs(stage.operators, 'nora')).session.operator.role).toBe('operator');
    const twice = await send('admin', '/admin/users', '/admin/users', {
      name: 'nora',
      role: 'viewer',
    });
    expect([twice.status, twice.text.includes('There is a user of this name')]).toEqual([
      422,
      true,
    ]);
    await send('admin', '/admin/users', '/admin/users/nora/role', {
      role: 'viewer',
      confirmed: 'yes',
    });
    expect((await stage.operators.users.find('nora'))?.role).toBe('viewer');
    const removed = await send('admin', '/admin/users', '/admin/users/nora/remove', {
      confirmed: 'yes',
    });
    expect(removed.to).toBe('/admin/users?notice=user-removed');
    expect(await stage.operators.users.find('nora')).toBeUndefined();
  });

  it.each([
    ['remove', {}, 'Remove the user'],
    ['role', { role: 'admin' }, 'Make olga-role an admin?'],
  ])(
    'change no user by the button %s: a page says first whom, and what ends with it',
    async (what, fields, title) => {
      const name = `olga-${what}`;
      const users = stage.operators.users;
      await users.add(admin, { name, role: 'viewer' });
      const days = { name, label: `Nightly report of ${name}`, days: 1 };
      const issued = await stage.operators.tokens.issue(admin, days);
      const token = 'token' in issued ? issued.token : '';
      const path = `/admin/users/${name}/${what}`;
      const between = await send('admin', '/admin/users', path, fields);
      expect(between.status).toBe(200);
      for (const said of [
        title,
        name,
        `Nightly report of ${name}`,
        'cannot be undone',
        'class="danger"',
      ]) {
        expect(between.text).toContain(said);
      }
      expect(await stage.operators.tokens.verify(token)).toMatchObject({ name, role: 'viewer' });
      await post('admin', path, formOf(between.text, path));
      expect(await stage.operators.tokens.verify(token)).toBeUndefined();
      await users.remove(admin, name);
    },
  );

  it('end no token, and no session of local, by one click', async () => {
    const issued = await stage.operators.tokens.issue(admin, {
      name: 'the-admin',
      label: 'Report',
      days: 1,
    });
    const token = 'token' in issued ? issued.token : '';
    const { searchParams } = new URL(await stage.newLink(), stage.url);
    const login = await fetch(`${stage.url}/admin/login/link`, {
      method: 'POST',
      body: searchParams,
      redirect: 'manual',
    });
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
    const statusOfLocal = async () =>
      (await fetch(`${stage.url}/admin/api/session`, { headers: { cookie } })).status;
    const page = (await get('admin', '/admin/tokens')).text;
    const end = /action="(\/admin\/tokens\/[^"]+\/revoke)"/.exec(page)?.[1] ?? '';
    for (const [from, path, said] of [
      ['/admin/tokens', end, 'Report'],
      ['/admin/users', '/admin/links/end', 'every login link of local'],
    ] as const) {
      const between = await send('admin', from, path, {});
      expect([between.status, between.text.includes(said)]).toEqual([200, true]);
      expect(await stage.operators.tokens.verify(token)).toBeDefined();
      expect(await statusOfLocal()).toBe(200);
    }
    for (const [from, path] of [
      ['/admin/tokens', end],
      ['/admin/users', '/admin/links/end'],
    ] as const) {
      expect((await send('admin', from, path, { confirmed: 'yes' })).status).toBe(303);
    }
    expect(await statusOfLocal()).toBe(401);
    expect(await stage.operators.tokens.verify(token)).toBeUndefined();
    const over = '/admin/tokens/none/revoke';
    const csrf = new URLSearchParams({ csrf: await csrfOf('admin') });
    expect((await post('admin', over, csrf)).to).toBe('/admin/tokens?notice=token-unknown');
  });

  it('do not let an admin remove their own user', async () => {
    const body = new URLSearchParams({ csrf: await csrfOf('admin') });
    expect((await post('admin', '/admin/users/the-admin/remove', body)).to).toBe(
      '/admin/users?notice=oneself',
    );
    expect(await stage.operators.users.find('the-admin')).toBeDefined();
  });

  it.each([
    '/admin/transactions/H00unknown',
    '/admin/transactions?cursor=none',
    '/admin/replays/B0000000000000000',
    '/admin/audit?cursor=none',
    '/admin/nothing',
  ])('answer 404 for %s', async (path) => {
    expect((await get('admin', path)).status).toBe(404);
  });

  it('have met no trouble', () => {
    expect(stage.troubles).toEqual([]);
  });
});
