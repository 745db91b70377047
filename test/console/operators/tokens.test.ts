/** Bearer tokens: whom they act for, how many there are, and what ends them. */
import { beforeEach, describe, expect, it } from 'vitest';
import { createSealed } from '../../../src/console/operators/sealed.ts';
import { drawToken, maxTokens } from '../../../src/console/operators/tokens.ts';
import { contentsOf } from '../../security/redis-contents.ts';
import { testRedis } from '../../support/redis.ts';
import { admin, operator, type Stage, startStage, tokenOf, viewer } from './stage.ts';

const test = testRedis();
const redis = test.client();
const dayMs = 86_400_000;
let prefix = '';
let stage: Stage;
let count = 0;

beforeEach(async () => {
  prefix = `${test.prefix}-${++count}`;
  stage = startStage(redis, prefix);
  await stage.operators.users.add(admin, { name: 'olga', role: 'operator', oidcSubject: 'sub-1' });
});

const ask = (by = admin, name = 'olga', days = 30) =>
  stage.operators.tokens.issue(by, { name, label: 'deploy', days });
const issue = async (...args: Parameters<typeof ask>) => tokenOf(await ask(...args));

describe('tokens', () => {
  it('act for their user until they expire', async () => {
    const { token, view } = await issue();
    const { verify, list } = stage.operators.tokens;
    expect(await verify(token)).toEqual({
      name: 'olga',
      role: 'operator',
      via: 'token',
      token: view.id,
    });
    expect(await list(admin)).toEqual([view]);
    stage.wait(30 * dayMs);
    expect(await verify(token)).toBeUndefined();
    expect(await list(admin)).toEqual([]);
  });

  it('end when they are revoked, and when their user changes', async () => {
    const { verify, revoke, list } = stage.operators.tokens;
    const first = await issue();
    const second = await issue();
    expect(await revoke(admin, first.view.id)).toBe('revoked');
    expect(await revoke(admin, first.view.id)).toBe('unknown');
    expect(await verify(first.token)).toBeUndefined();
    const asker = { id: '', operator: (await verify(second.token)) ?? viewer };
    expect(await stage.operators.isStillIn(asker)).toBe(true);
    await stage.operators.users.setRole(admin, 'olga', 'viewer');
    expect(await verify(second.token)).toBeUndefined();
    expect(await stage.operators.isStillIn(asker)).toBe(false);
    expect(await list(admin)).toEqual([]);
    expect(await revoke(admin, second.view.id)).toBe('unknown');
  });

  it('are revoked by whoever has found one, and then stand nowhere', async () => {
    const { token, view } = await issue();
    expect(await stage.operators.tokens.revoke(admin, `${token}x`)).toBe('unknown');
    expect(await stage.operators.tokens.revoke(admin, token)).toBe('revoked');
    expect(await stage.operators.tokens.verify(token)).toBeUndefined();
    const entries = await stage.entries();
    expect(entries.at(-1)).toMatchObject({
      action: 'token-revoke',
      target: view.id,
      details: { of: 'olga' },
    });
    expect(JSON.stringify([entries, stage.told])).not.toContain(token.slice(7));
  });

  it('of others are seen and ended by admins alone', async () => {
    await stage.operators.users.add(admin, { name: 'vera', role: 'viewer', oidcSubject: 'sub-2' });
    const { list, revoke } = stage.operators.tokens;
    const own = await issue(viewer, 'vera');
    stage.wait(1);
    const foreign = await issue();
    expect(await list(viewer)).toEqual([own.view]);
    expect(await revoke(viewer, foreign.view.id)).toBe('unknown');
    expect(await revoke(viewer, foreign.token)).toBe('unknown');
    expect(await list(admin)).toEqual([own.view, foreign.view]);
  });

  it('are at most so many for a user, however many are asked for at once', async () => {
    await stage.operators.users.add(admin, { name: 'vera', role: 'viewer', oidcSubject: 'sub-2' });
    const results = await Promise.all(Array.from({ length: maxTokens + 8 }, () => ask()));
    const refused = results.filter((result) => 'refused' in result);
    expect(refused).toEqual(Array.from({ length: 8 }, () => ({ refused: 'too-many' })));
    const entries = (await stage.entries()).length;
    expect(await ask()).toEqual({ refused: 'too-many' });
    expect(await stage.entries()).toHaveLength(entries);
    expect(await ask(admin, 'vera')).toHaveProperty('token');
    const [first] = await stage.operators.tokens.list(admin);
    await stage.operators.tokens.revoke(admin, first?.id ?? '');
    expect(await ask(admin, 'olga', 1)).toHaveProperty('token');
    stage.wait(dayMs);
    expect(await ask()).toHaveProperty('token');
    expect(await ask()).toEqual({ refused: 'too-many' });
    await stage.operators.users.setRole(admin, 'olga', 'viewer');
    expect(await ask()).toHaveProperty('token');
  });

  it('are made slowly by who is not at Redis, and by no token', async () => {
    const made = tokenOf(await ask(operator));
    const bearer = await stage.operators.tokens.verify(made.token);
    expect(await ask(bearer)).toEqual({ refused: 'by-token' });
    const { tokens } = stage.operators;
    await tokens.revoke(operator, made.view.id);
    for (let each = 1; each < 20; each += 1)
      await tokens.revoke(operator, (await issue(operator)).view.id);
    expect(await ask(operator)).toEqual({ refused: 'too-often' });
    expect(await ask()).toHaveProperty('token');
  });

  it('are named by the audit log, when they are made and in all that is done with them', async () => {
    const { token, view } = await issue();
    const bearer = (await stage.operators.tokens.verify(token)) ?? viewer;
    await stage.operators.users.setRole({ ...bearer, role: 'admin' }, 'nora', 'viewer');
    expect((await stage.entries()).slice(1)).toEqual([
      {
        who: 'root',
        via: 'cli',
        action: 'token-issue',
        target: 'olga',
        details: { token: view.id, days: 30 },
      },
      {
        who: 'olga',
        via: 'token',
        action: 'user-role',
        target: 'nora',
        details: { role: 'viewer', token: view.id },
      },
      {
        who: 'olga',
        via: 'token',
        action: 'user-role',
        target: 'nora',
        details: { role: 'viewer', outcome: 'not-done', token: view.id },
      },
    ]);
  });

  it('are kept in a form that is none, and not for longer than they are good', async () => {
    const { token, view } = await issue();
    const kept = [...(await contentsOf(redis, prefix))].filter(([key]) =>
      key.includes(':operators:token'),
    );
    const text = kept.flat().join('\n');
    expect(text).toContain(view.id);
    for (const secret of [token.slice(7), 'olga', 'deploy']) expect(text).not.toContain(secret);
    for (const [key] of kept) expect(await redis.pttl(key)).toBeGreaterThan(0);
    expect(await stage.operators.tokens.verify(`paraph_${view.id}`)).toBeUndefined();
    for (const wrong of ['', 'paraph_', token.slice(7), view.id, 'x'.repeat(50)]) {
      expect(await stage.operators.tokens.verify(wrong)).toBeUndefined();
    }
  });

  it('have ids that no command line takes for options', () => {
    const sealed = createSealed(stage.serviceKey);
    const drawn = Array.from({ length: 1000 }, () => drawToken(sealed));
    expect(drawn.filter(({ id }) => !/^\w[\w-]{42}$/.test(id))).toEqual([]);
  });

  it('are not issued for users that do not exist', async () => {
    expect(await ask(admin, 'nora')).toEqual({ refused: 'unknown' });
    await expect(ask(admin, 'olga', 0)).rejects.toThrow(RangeError);
  });
});
