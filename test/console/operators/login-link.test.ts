/** Logins by link: one of the service, or one of a user. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { LoginResult } from '../../../src/console/operators/logins.ts';
import { testRedis } from '../../support/redis.ts';
import { admin, type Stage, startStage } from './stage.ts';

const openidProvider = {
  name: 'Example',
  issuer: 'https://login.example',
  clientId: 'paraph',
  clientSecretFile: '/run/secrets/paraph',
  scopes: ['openid'],
  nameClaim: 'preferred_username',
  roleClaim: 'groups',
  roles: { ops: 'operator' as const },
};

const test = testRedis();
const redis = test.client();
let prefix = '';
let stage: Stage;
let count = 0;

beforeEach(() => {
  prefix = `${test.prefix}-${++count}`;
  stage = startStage(redis, prefix);
});

const address = { caller: '192.0.2.7' };
const minutes = (many: number): number => many * 60_000;

const entered = (result: LoginResult) => {
  if (result.kind !== 'in') throw new Error(`the login was ${result.kind}`);
  return result;
};

describe('a login link', () => {
  it('makes an admin session, for one of many who use it at once', async () => {
    const { secret } = await stage.operators.issueLink();
    const results = await Promise.all(
      Array.from({ length: 8 }, () => stage.operators.logInByLink(secret, address)),
    );
    expect(results.filter(({ kind }) => kind === 'in')).toHaveLength(1);
    const [winner] = results.filter((result) => result.kind === 'in');
    expect(winner?.session.operator).toEqual({ name: 'local', role: 'admin', via: 'link' });
    expect(await stage.operators.sessionOf(winner?.cookie)).toBeDefined();
  });

  it('makes one of a user, with the role of now, when it is theirs', async () => {
    await stage.operators.users.add(admin, { name: 'vera', role: 'viewer', oidcSubject: 'sub-1' });
    const link = await stage.operators.issueLinkFor(admin, 'vera');
    const { cookie, session } = entered(
      await stage.operators.logInByLink(link?.secret ?? '', address),
    );
    expect(session.operator).toEqual({ name: 'vera', role: 'viewer', via: 'link' });
    expect(await stage.operators.issueLinkFor(admin, 'nora')).toBeUndefined();
    const unused = await stage.operators.issueLinkFor(admin, 'vera');
    await stage.operators.users.setRole(admin, 'vera', 'operator');
    expect(await stage.operators.sessionOf(cookie)).toBeUndefined();
    expect(await stage.operators.logInByLink(unused?.secret ?? '', address)).toEqual({
      kind: 'refused',
    });
    const issued = (await stage.entries()).filter(({ action }) => action === 'link-issue');
    expect(issued).toMatchObject([
      { who: 'root', target: 'vera' },
      { who: 'root', target: 'vera' },
    ]);
  });

  it('is made for nobody whom the provider of the organisation vouches for', async () => {
    const { operators } = startStage(redis, prefix, { openidProvider });
    expect(await operators.issueLinkFor(admin, 'provider:olga')).toBeUndefined();
    expect(await stage.entries()).toEqual([]);
  });

  it('is refused after so many bad ones of one address, also when they come at once, and no other is', async () => {
    const few = { logins: { perAddress: { requests: 2, perSeconds: 60 } } };
    const { operators } = startStage(redis, prefix, few);
    const bad = () => operators.logInByLink('x'.repeat(43), address);
    const kinds = (await Promise.all(Array.from({ length: 8 }, bad))).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['refused', 'refused', ...Array(6).fill('too-many')]);
    const other = { caller: '192.0.2.8' };
    expect(await operators.logInByLink('x'.repeat(43), other)).toEqual({ kind: 'refused' });
    // However many bad ones came from there.
    const { secret } = await operators.issueLink();
    expect((await operators.logInByLink(secret, address)).kind).toBe('in');
  });

  it('of the service ends with its sessions when an admin says so', async () => {
    const { issueLink, logInByLink, sessionOf, endLocal } = stage.operators;
    const { cookie } = entered(await logInByLink((await issueLink()).secret, address));
    const unused = await issueLink();
    await endLocal(admin);
    expect(await sessionOf(cookie)).toBeUndefined();
    expect((await logInByLink(unused.secret, address)).kind).toBe('refused');
    expect((await logInByLink((await issueLink()).secret, address)).kind).toBe('in');
    expect(await stage.entries()).toContainEqual({
      who: 'root',
      via: 'cli',
      action: 'link-end',
      target: 'local',
    });
  });

  it('of local is made by whoever has Redis and the key', async () => {
    const link = await stage.operators.issueLinkFor(admin, 'local');
    const { session } = entered(await stage.operators.logInByLink(link?.secret ?? '', address));
    expect(session.operator).toEqual({ name: 'local', role: 'admin', via: 'link' });
    expect(await stage.entries()).toContainEqual({
      who: 'root',
      via: 'cli',
      action: 'link-issue',
      target: 'local',
    });
  });

  it('leads where the service says, not where Redis does', async () => {
    expect(await stage.operators.address()).toBeUndefined();
    await stage.operators.noteAddress('https://sign.example');
    expect(await stage.operators.address()).toBe('https://sign.example');
    await redis.set(`${prefix}:operators:address`, 'https://evil.example');
    expect(await stage.operators.address()).toBeUndefined();
  });

  it('is over after a quarter of an hour', async () => {
    const { secret, expiresAt } = await stage.operators.issueLink();
    expect(
      await redis.pttl((await redis.keys(`${prefix}:operators:link:*`))[0] ?? ''),
    ).toBeLessThanOrEqual(minutes(15));
    stage.wait(minutes(15));
    expect(expiresAt).toBeGreaterThan(0);
    expect(await stage.operators.logInByLink(secret, address)).toEqual({ kind: 'refused' });
  });

  it.each(['', 'x', 'A'.repeat(43)])('is not made up: %s', async (secret) => {
    expect(await stage.operators.logInByLink(secret, address)).toEqual({ kind: 'refused' });
  });
});
