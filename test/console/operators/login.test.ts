/** Logins, sessions and what ends them. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  endedSessionCookie,
  readSessionCookie,
  sessionCookie,
} from '../../../src/console/operators/cookie.ts';
import type { LoginResult } from '../../../src/console/operators/logins.ts';
import { testRedis } from '../../support/redis.ts';
import { admin, logInAs, type Stage, settings, startStage, tokenOf } from './stage.ts';

const test = testRedis();
const redis = test.client();
let prefix = '';
let stage: Stage;
let count = 0;

beforeEach(() => {
  prefix = `${test.prefix}-${++count}`;
  stage = startStage(redis, prefix);
});

const logIn = (name: string) => logInAs(stage.operators, name);

const entered = (result: LoginResult) => {
  if (result.kind !== 'in') throw new Error(`the login was ${result.kind}`);
  return result;
};

const minutes = (many: number): number => many * 60_000;

describe('a user of the configuration file', () => {
  it('goes before a stored one of the same name and cannot be changed', async () => {
    await stage.operators.users.add(admin, { name: 'vera', role: 'admin' });
    const users = [{ name: 'vera', role: 'viewer' }] as const;
    stage = startStage(redis, prefix, { users }, stage.serviceKey);
    const { cookie } = await logIn('vera');
    expect(await stage.operators.sessionOf(cookie)).toMatchObject({
      operator: { name: 'vera', role: 'viewer', via: 'link' },
    });
    const { users: known } = stage.operators;
    expect(await known.add(admin, { name: 'vera', role: 'admin' })).toBe('exists');
    expect(await known.setRole(admin, 'vera', 'admin')).toBe('configured');
    expect(await known.setSubject(admin, 'vera', 'sub-1')).toBe('configured');
    expect(await known.remove(admin, 'vera')).toBe('configured');
    expect(await known.list()).toMatchObject([
      { name: 'vera', role: 'viewer', origin: 'configuration' },
    ]);
  });
});

describe('a login through the provider', () => {
  it('is for the user with that subject', async () => {
    await stage.operators.users.add(admin, {
      name: 'olga',
      role: 'operator',
      oidcSubject: 'sub-1',
    });
    const { session } = entered(await stage.operators.logInByOidc('sub-1'));
    expect(session.operator).toEqual({ name: 'olga', role: 'operator', via: 'oidc' });
    const again = { name: 'oleg', role: 'admin', oidcSubject: 'sub-1' } as const;
    expect(await stage.operators.users.add(admin, again)).toBe('exists');
    expect(await stage.operators.logInByOidc('sub-2')).toEqual({ kind: 'refused' });
    expect(await stage.operators.logInByOidc('')).toEqual({ kind: 'refused' });
  });
});

describe('a session', () => {
  const begin = async () => {
    await stage.operators.users.add(admin, { name: 'vera', role: 'viewer' });
    return await logIn('vera');
  };

  it('is over when nobody has used it for half an hour', async () => {
    const { cookie } = await begin();
    stage.wait(minutes(29));
    expect(await stage.operators.sessionOf(cookie)).toBeDefined();
    stage.wait(minutes(29));
    expect(await stage.operators.sessionOf(cookie)).toBeDefined();
    stage.wait(minutes(30));
    expect(await stage.operators.sessionOf(cookie)).toBeUndefined();
  });

  it('is over after twelve hours, however much it is used', async () => {
    const { cookie } = await begin();
    for (let time = 0; time < 12 * 60 - 20; time += 20) {
      stage.wait(minutes(20));
      expect(await stage.operators.sessionOf(cookie)).toBeDefined();
    }
    stage.wait(minutes(20));
    expect(await stage.operators.sessionOf(cookie)).toBeUndefined();
  });

  it('is not kept alive by being asked whether it still is', async () => {
    const { cookie, session } = await begin();
    for (let time = 0; time < 30; time += 10) {
      expect(await stage.operators.isStillIn(session)).toBe(true);
      stage.wait(minutes(10));
    }
    expect(await stage.operators.isStillIn(session)).toBe(false);
    expect(await stage.operators.sessionOf(cookie)).toBeUndefined();
  });

  it('ends at logout, and does not come back when its use is noted at that moment', async () => {
    const { cookie, session } = await begin();
    stage.wait(minutes(10));
    await Promise.all([stage.operators.logOut(session), stage.operators.sessionOf(cookie)]);
    expect(await stage.operators.isStillIn(session)).toBe(false);
    expect(await stage.operators.sessionOf(cookie)).toBeUndefined();
  });

  it.each([
    ['removed', (name: string) => stage.operators.users.remove(admin, name)],
    [
      'given another role',
      (name: string) => stage.operators.users.setRole(admin, name, 'operator'),
    ],
    ['given a phone', (name: string) => stage.operators.users.setSubject(admin, name, 'sub-1')],
  ])('ends with all others of a user who is %s', async (_, change) => {
    const { cookie } = await begin();
    const second = await logIn('vera');
    expect(await change('vera')).toBe('changed');
    expect(await stage.operators.sessionOf(cookie)).toBeUndefined();
    expect(await stage.operators.sessionOf(second.cookie)).toBeUndefined();
  });

  it('is not one of a user who was removed and added again', async () => {
    const { cookie } = await begin();
    await stage.operators.users.remove(admin, 'vera');
    await stage.operators.users.add(admin, { name: 'vera', role: 'viewer' });
    expect(await stage.operators.sessionOf(cookie)).toBeUndefined();
  });

  it('cannot be found, read or made by whoever has Redis alone', async () => {
    const { cookie, session } = await begin();
    const kept = await Promise.all(
      (await redis.keys(`${prefix}:operators:*`)).map(async (key) => {
        const type = await redis.type(key);
        return `${key} ${type === 'hash' ? JSON.stringify(await redis.hgetall(key)) : await redis.get(key)}`;
      }),
    );
    const text = kept.join('\n');
    expect(text).toContain(session.id);
    for (const secret of [cookie, 'viewer']) expect(text).not.toContain(secret);
    // A record in the place of another one is none.
    const other = await logIn('vera');
    const sessionKey = (id: string) => `${prefix}:operators:session:{${id}}`;
    await redis.copy(sessionKey(session.id), sessionKey(other.session.id), 'REPLACE');
    expect(await stage.operators.sessionOf(other.cookie)).toBeUndefined();
    const elsewhere = startStage(redis, prefix, {}, randomBytes(32));
    expect(await elsewhere.operators.sessionOf(cookie)).toBeUndefined();
  });

  it('has a token of its own for forms', async () => {
    const first = await begin();
    const second = await logIn('vera');
    const { csrfTokenOf, checkCsrf } = stage.operators;
    const token = csrfTokenOf(first.session);
    expect(checkCsrf(first.session, token)).toBe(true);
    expect(checkCsrf(second.session, token)).toBe(false);
    for (const wrong of [undefined, '', `${token}x`, first.session.id, first.cookie]) {
      expect(checkCsrf(first.session, wrong)).toBe(false);
    }
  });

  it.each(['', 'x', '../../etc', 'A'.repeat(43)])('is not made up: %s', async (cookie) => {
    expect(await stage.operators.sessionOf(cookie)).toBeUndefined();
    expect(await stage.operators.sessionOf(undefined)).toBeUndefined();
  });
});

describe('the cookie', () => {
  it('is for the console alone, hidden from scripts and other sites', () => {
    expect(sessionCookie('handle', true)).toBe(
      'paraph_admin=handle; Path=/admin; HttpOnly; SameSite=Strict; Secure',
    );
    expect(sessionCookie('handle', false)).not.toContain('Secure');
    expect(endedSessionCookie(true)).toMatch(/^paraph_admin=; Max-Age=0; Path=\/admin;/);
  });

  it('is found among others', () => {
    expect(readSessionCookie('a=b; paraph_admin=handle; c')).toBe('handle');
    expect(readSessionCookie('xparaph_admin=handle')).toBeUndefined();
    expect(readSessionCookie(undefined)).toBeUndefined();
  });

  it('is none when a neighbour has planted another one of its name', () => {
    expect(readSessionCookie('paraph_admin=planted; paraph_admin=handle')).toBeUndefined();
  });
});

describe('users', () => {
  it.each([
    [{ name: 'Vera', role: 'viewer' }, 'bad-name'],
    [{ name: 'local', role: 'admin' }, 'bad-name'],
    [{ name: 'vera', role: 'viewer', oidcSubject: '' }, 'bad-subject'],
  ] as const)('are not added like this: %o', async (user, objection) => {
    expect(await stage.operators.users.add(admin, user)).toBe(objection);
    expect(await stage.entries()).toEqual([]);
  });

  it('are added once by many at once, and the log says what was not done', async () => {
    const results = await Promise.all(
      (['viewer', 'operator', 'admin'] as const).map((role) =>
        stage.operators.users.add(admin, { name: 'vera', role }),
      ),
    );
    expect([...results].sort()).toEqual(['added', 'exists', 'exists']);
    const entries = await stage.entries();
    expect(entries.filter(({ details }) => details?.outcome === undefined)).toHaveLength(3);
    expect(entries.filter(({ details }) => details?.outcome === 'not-done')).toHaveLength(2);
    expect(await stage.operators.users.setRole(admin, 'nora', 'admin')).toBe('unknown');
  });
});

describe('what a user has set up', () => {
  it('is gone before the user is', async () => {
    const { users, views } = stage.operators;
    await users.add(admin, { name: 'vera', role: 'viewer' });
    await views.change('vera', { times: 'relative' });
    const reading = vi.spyOn(redis, 'hget').mockRejectedValueOnce(new Error('Redis is gone'));
    await expect(users.remove(admin, 'vera')).rejects.toThrow('Redis is gone');
    reading.mockRestore();
    expect((await views.read('vera')).times).toBe('UTC');
    expect((await users.list()).map(({ name }) => name)).toEqual(['vera']);
  });

  it('is forgotten when the user has left the configuration file', async () => {
    const configured = { name: 'nora', role: 'viewer', oidcSubject: 'sub' } as const;
    stage = startStage(redis, prefix, { users: [configured] });
    const { users, views } = stage.operators;
    await users.add(admin, { name: 'vera', role: 'viewer' });
    for (const name of ['carl', 'local', 'nora', 'vera'])
      await views.change(name, { times: 'relative' });
    expect(await users.remove(admin, 'nora')).toBe('configured');
    await users.forgetFormer();
    expect((await views.names()).sort()).toEqual(['local', 'nora', 'vera']);
  });
});

describe('the audit log', () => {
  it('does not have what was given for the name of a user and is none', async () => {
    const { users } = stage.operators;
    const secret = 'My password';
    expect(await users.remove(admin, secret)).toBe('unknown');
    expect(await users.setRole(admin, `${secret}\n`, 'admin')).toBe('unknown');
    expect(await users.setSubject(admin, secret, 'sub-1')).toBe('unknown');
    expect([await stage.entries(), stage.told]).toEqual([[], []]);
  });

  it('says who came, went and changed what, and no secrets', async () => {
    const { operators } = stage;
    await operators.users.add(admin, { name: 'vera', role: 'viewer' });
    const { session } = await logIn('vera');
    await operators.logOut(session);
    await operators.users.setRole(admin, 'vera', 'operator');
    const issued = await operators.tokens.issue(admin, { name: 'vera', label: 'x', days: 1 });
    await operators.users.remove(admin, 'vera');
    const entries = await stage.entries();
    expect(entries.map(({ who, action, target }) => [who, action, target])).toEqual([
      ['root', 'user-add', 'vera'],
      ['root', 'link-issue', 'vera'],
      ['vera', 'login', undefined],
      ['vera', 'logout', undefined],
      ['root', 'user-role', 'vera'],
      ['root', 'token-issue', 'vera'],
      ['root', 'user-remove', 'vera'],
    ]);
    const text = JSON.stringify(entries) + JSON.stringify(stage.told);
    expect(text).not.toContain(tokenOf(issued).token);
    expect(stage.told.map(({ action }) => action)).toEqual(entries.map(({ action }) => action));
  });

  it('keeps from being done what it cannot record', async () => {
    await redis.set(`{${prefix}}:audit`, 'not a stream');
    const { operators } = stage;
    await expect(operators.users.add(admin, { name: 'vera', role: 'viewer' })).rejects.toThrow();
    expect(await operators.users.list()).toEqual([]);
    stage = startStage(redis, prefix, {
      users: [{ name: 'vera', role: 'viewer', oidcSubject: 'sub-1' }],
    });
    await expect(stage.operators.logInByOidc('sub-1')).rejects.toThrow();
    expect(await redis.keys(`${prefix}:operators:session:*`)).toEqual([]);
  });
});

it('has sessions of half an hour and twelve hours unless the configuration says otherwise', () => {
  expect(settings.sessions).toEqual({ idleSeconds: 1800, absoluteSeconds: 43_200 });
});
