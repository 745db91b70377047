/** The key `operations` of the configuration file, and that this room takes it as it is. */
import { describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';
import { defaultReplayPolicy, replayPolicy } from '../../../src/console/operators/replay-policy.ts';

const loaded = (operations: unknown) => parseConfiguration(JSON.stringify({ operations }));

const value = (operations: unknown) => {
  const result = loaded(operations);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.value.operations;
};

const problems = (operations: unknown): readonly string[] => {
  const result = loaded(operations);
  return result.ok ? [] : result.problems;
};

describe('operations', () => {
  it('has a default for every key', () => {
    expect(value({})).toEqual({
      users: [],
      sessions: { idleSeconds: 1800, absoluteSeconds: 43_200 },
      logins: { perAddress: { requests: 20, perSeconds: 60 } },
      openid: { enabled: true, tenant: 'default', acrValues: ['mid_al4_any'] },
      replay: { policy: {} },
      metricsOpen: false,
      tracing: { enabled: false, serviceName: 'paraph' },
      callbackHosts: [],
      links: {},
      index: true,
    });
  });

  it('is what the room asks for', () => {
    const { replay, users } = value({
      users: [
        { name: 'vera', role: 'viewer' },
        { name: 'olga', role: 'operator', oidcSubject: 'sub-1' },
      ],
      replay: { policy: { 401: 'admin', 105: 'operator' } },
    });
    expect(users.map(({ name, role }) => [name, role])).toEqual([
      ['vera', 'viewer'],
      ['olga', 'operator'],
    ]);
    expect(replayPolicy(replay.policy)).toEqual({
      ...defaultReplayPolicy,
      401: 'admin',
      105: 'operator',
    });
  });

  it.each([
    [
      { alerts: [{ url: 'secret' }] },
      'operations.alerts: was removed: let Prometheus and its Alertmanager',
    ],
    [
      { replay: { automatic: [{ apId: 'secret' }] } },
      'operations.replay.automatic: was removed: the service no longer replays by itself. Take the key out, and order a bulk replay',
    ],
    [{ users: [{ name: 'Vera', role: 'viewer' }] }, 'operations.users[0].name: must be 1 to 64'],
    [{ users: [{ name: 'local', role: 'admin' }] }, 'operations.users[0].name: is a name that'],
    [{ users: [{ name: 'vera', role: 'boss' }] }, 'operations.users[0].role: '],
    [
      { users: [{ name: 'vera', role: 'viewer', passwordHash: 'secret' }] },
      'operations.users[0].passwordHash: was removed: operators have no passwords any more. Take the key out. People log in at the OpenID provider of your organisation (operations.openidProvider), with their phone (oidcSubject), or by a link',
    ],
    [
      { users: ['a', 'b'].map((name) => ({ name, role: 'viewer', oidcSubject: 'same' })) },
      'operations.users[1].oidcSubject: is the same as operations.users[0].oidcSubject',
    ],
    [
      { users: ['a', 'a'].map((name) => ({ name, role: 'viewer' })) },
      'operations.users[1].name: is the same as operations.users[0].name',
    ],
    [
      { sessions: { idleSeconds: 7200, absoluteSeconds: 3600 } },
      'operations.sessions.absoluteSeconds: must not',
    ],
    [
      { logins: { perName: { requests: 1, perSeconds: 1 } } },
      'operations.logins.perName: was removed: operators have no passwords',
    ],
    [{ replay: { policy: { 999: 'never' } } }, 'operations.replay.policy.999: unknown key'],
    [{ replay: { policy: { 401: 'anybody' } } }, 'operations.replay.policy.401: '],
    [{ replays: {} }, 'operations.replays: unknown key'],
  ])('says what is wrong and never the value: %j', (operations, problem) => {
    const found = problems(operations);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(problem);
    expect(found[0]).not.toContain('secret');
  });
});
