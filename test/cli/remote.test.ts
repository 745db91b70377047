/** The operators' commands from another machine: over HTTP, with a token. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Role } from '../../src/console/operators/operator.ts';
import { shardKeys } from '../../src/transactions/history/keys.ts';
import { createLease } from '../../src/transactions/history/leader-task.ts';
import { testRedis } from '../support/redis.ts';
import { soon } from '../support/soon.ts';
import { useOperations } from './operations-stage.ts';
import { piped, type RunOptions, run } from './terminal.ts';

const redis = testRedis();
const apId = 'mid://hooks.example';
const applicationProviders = [{ id: apId, callback: { url: 'https://hooks.example/ends' } }];
const stage = useOperations(redis, { applicationProviders }, { listen: true });
const { json, submit, failed, answer } = stage;

const tokens = new Map<Role, string>();
beforeAll(async () => {
  for (const role of ['viewer', 'operator', 'admin'] as const) {
    await json(['users', 'add', role, '--role', role, '--oidc-subject', role]);
    tokens.set(role, (await json(['users', 'token', role])).token);
  }
});

const from = (role: Role, args: readonly string[], options: RunOptions = {}) => {
  const env = { PARAPH_URL: stage.product().url, PARAPH_TOKEN: tokens.get(role) };
  return run(args, { ...options, env: { ...env, ...options.env } });
};

describe('paraph completion-ids', () => {
  it('prints the AP_IDs of the service', async () => {
    const ids = ['completion-ids', 'aps'];
    expect(await from('admin', ids)).toMatchObject({
      exitCode: 0,
      stdout: `${apId}\n`,
      stderr: '',
    });
    expect((await from('admin', [...ids, '--json'])).json()).toEqual({
      outcome: 'ok',
      ids: [apId],
    });
  });

  it.each<readonly [string, readonly string[], Record<string, string>]>([
    ['is away', ['--url', 'http://127.0.0.1:9'], { PARAPH_TOKEN: 'x' }],
    ['refuses the token', [], { PARAPH_TOKEN: 'x' }],
    ['would get the token unencrypted', ['--url', 'http://away.invalid'], { PARAPH_TOKEN: 'x' }],
    ['has no Redis that answers', [], { REDIS_URL: 'redis://127.0.0.1:9' }],
    ['is not here', [], { PARAPH_DATA: '/nowhere' }],
    ['has no token', ['--url', 'http://127.0.0.1:9'], {}],
  ])('prints nothing for a service that %s', async (_, options, more) => {
    const env = { PARAPH_URL: stage.product().url, ...more };
    const ran = await run(['completion-ids', 'aps', ...options], { env });
    expect(ran).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
  });

  it('does not wait for a service that is silent', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    await new Promise((resolve) => silent.once('listening', resolve));
    const PARAPH_URL = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const ran = await run(['completion-ids', 'aps'], { env: { PARAPH_URL, PARAPH_TOKEN: 'x' } });
    expect(ran).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
  });
});

describe('with a token, from elsewhere', () => {
  it('an operator looks, replays and cancels by their own name', async () => {
    const msisdn = stage.somebody();
    const apId = 'http://remote.example';
    const id = await failed(208, { apId, msisdn });
    const listed = (await from('operator', ['ls', '--msisdn', msisdn, '--json'])).json();
    expect(listed).toMatchObject({
      outcome: 'ok',
      transactions: [{ msspTransId: id, fault: { code: 208 } }],
    });
    expect(listed.transactions[0].msisdn).toBe(`…${msisdn.slice(-3)}`);

    expect((await from('operator', ['replay', id])).stdout).toContain('Replayed.');
    const again = await from('operator', ['replay', id, '--json']);
    expect(again).toMatchObject({ exitCode: 7 });
    expect(again.json()).toMatchObject({ outcome: 'refused', refused: 'not-failed' });
    const watching = from('operator', ['watch', id, '--json']);
    expect((await from('operator', ['cancel', id, '--reason', 'Wrong customer'])).exitCode).toBe(0);
    expect((await watching).exitCode).toBe(3);

    const shown = await from('operator', ['show', id, '--json']);
    expect(shown.stdout).not.toContain(msisdn.slice(1));
    expect(shown.json().attempts).toMatchObject([
      { startedBy: 'application' },
      { startedBy: 'operator' },
    ]);
    expect(
      (await from('operator', ['show', id, '--reveal', '--json'])).json().request,
    ).toMatchObject({
      msisdn,
    });
    const { entries } = (await from('operator', ['audit', '--target', id, '--json'])).json();
    expect(entries).toMatchObject([
      { action: 'view-sensitive', who: 'operator', via: 'token' },
      { action: 'cancel', who: 'operator', via: 'token', reason: 'Wrong customer' },
      { action: 'replay', who: 'operator', via: 'token', details: { outcome: 'not-failed' } },
      { action: 'replay', who: 'operator', via: 'token' },
    ]);
    expect((await from('operator', ['stats', '--json'])).json().failed).toBeGreaterThan(0);
  });

  it('a bulk is ordered and followed, and changes are seen as they happen', async () => {
    const interrupt = new AbortController();
    let written = '';
    const watching = from('viewer', ['watch'], {
      signal: interrupt.signal,
      onOutput: (text) => {
        written += text;
      },
    });
    await soon(async () => {
      await submit();
      expect(written).not.toBe('');
    });
    const apId = 'http://remote-bulk.example';
    const id = await failed(209, { apId });
    const order = ['replay', '--ap', apId, '--reason', 'Was down', '--yes', '--json'];
    const following = from('operator', order);
    await answer(id, 2, 402);
    expect((await following).json()).toMatchObject({ bulk: { state: 'done', failed: { 402: 1 } } });
    await soon(() => expect(written).toContain(`${id}  failed 402  attempt 2`));
    interrupt.abort();
    expect(await watching).toMatchObject({ exitCode: 130, stderr: '' });
  });

  it('a viewer sees nobody and replays nothing', async () => {
    const id = await failed(208, { text: 'Pay 10 CHF?' });
    const shown = await from('viewer', ['show', id, '--reveal']);
    expect(shown).toMatchObject({ exitCode: 0, stderr: '' });
    expect(shown.stdout).not.toContain('Pay 10 CHF?');
    const refused = await from('viewer', ['replay', id, '--json']);
    expect(refused).toMatchObject({ exitCode: 7 });
    expect(refused.json()).toMatchObject({ outcome: 'refused', refused: 'forbidden' });
  });

  it('an admin has users, secrets, keys and the index', async () => {
    await stage.product().api.prepare();
    const asAdmin = async (...args: readonly string[]) => {
      const ran = await from('admin', [...args, '--json'], {
        stdin: piped('a password of some length\n'),
      });
      expect(ran, args.join(' ')).toMatchObject({ exitCode: 0, stderr: '' });
      return ran.json();
    };
    expect(await asAdmin('users', 'add', 'remi', '--role', 'viewer')).toMatchObject({
      result: 'added',
    });
    expect(await asAdmin('users', 'role', 'remi', 'operator')).toMatchObject({ result: 'changed' });
    const { oidcSubject } = await asAdmin('users', 'subject', '--msisdn', '+41790004711');
    await asAdmin('users', 'phone', 'remi', '--msisdn', '+41790004711');
    const { users } = await asAdmin('users', 'ls');
    expect(users).toContainEqual({
      name: 'remi',
      role: 'operator',
      oidcSubject,
      origin: 'stored',
    });
    await asAdmin('users', 'remove', 'remi');
    await asAdmin('users', 'end-local');
    const { entries } = await asAdmin('audit', '--target', 'remi');
    expect(
      entries.map(({ action, who }: { action: string; who: string }) => `${action} by ${who}`),
    ).toEqual([
      ...['user-remove', 'user-phone', 'user-role', 'user-add'].map((each) => `${each} by admin`),
    ]);

    expect(await asAdmin('aps', 'ls')).toEqual(await json(['aps', 'ls']));
    expect(await asAdmin('aps', 'secret', apId)).toEqual(await json(['aps', 'secret', apId]));
    const { secret } = await asAdmin('clients', 'rotate', 'demo');
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect((await asAdmin('clients', 'show', 'demo')).secrets).toEqual([null, expect.any(String)]);
    const { tenants } = await asAdmin('keys', 'rotate');
    expect(tenants[0].keys).toHaveLength(6);
    expect((await asAdmin('keys', 'list')).tenants).toEqual(tenants);
    expect(await asAdmin('audit', '--action', 'key-rotate')).toMatchObject({
      entries: [{ via: 'token' }],
    });
    await failed(208);
    expect((await asAdmin('index', 'rebuild')).indexed).toBeGreaterThan(0);
  });

  it.each([
    ['users', 'ls'],
    ['users', 'remove', 'admin'],
    ['aps', 'secret', apId],
    ['clients', 'rotate', 'demo'],
    ['clients', 'show', 'demo'],
    ['keys', 'rotate'],
    ['index', 'rebuild'],
  ])('others have not: %s %s', async (...args) => {
    const { stdout, ...ran } = await from('operator', [...args, '--json']);
    expect(ran).toMatchObject({ exitCode: 7 });
    expect(JSON.parse(stdout)).toEqual({
      outcome: 'refused',
      refused: 'forbidden',
      problem: 'This needs the role admin.',
    });
  });

  it('a token makes no token', async () => {
    const { exitCode, json } = await from('admin', ['users', 'token', 'admin', '--json']);
    expect(exitCode).toBe(7);
    expect(json()).toMatchObject({
      refused: 'forbidden',
      problem: expect.stringContaining('makes no tokens'),
    });
  });

  it('the index is rebuilt by one process at a time', async () => {
    const lease = createLease(
      redis.client(),
      shardKeys(redis.prefix.slice(-32), 0).rebuilding,
      30_000,
    );
    expect(await lease.hold()).toBe(true);
    for (const run of [stage.paraph, (args: readonly string[]) => from('admin', args)]) {
      const { exitCode, stderr } = await run(['index', 'rebuild']);
      expect([exitCode, stderr]).toEqual([6, 'paraph: Another process rebuilds the index.\n']);
    }
    await lease.release();
  });

  it('nothing is shown to a token that is not good, or without one', async () => {
    const env = { PARAPH_TOKEN: 'paraph_topsecret' };
    const wrong = await from('operator', ['ls', '--json'], { env });
    expect(wrong).toMatchObject({ exitCode: 7 });
    expect(wrong.json()).toMatchObject({ outcome: 'refused', refused: 'unauthorized' });
    expect(wrong.stdout + wrong.stderr).not.toContain('topsecret');
    const none = await run(['ls', '--url', stage.product().url]);
    expect(none).toMatchObject({ exitCode: 2 });
    expect(none.stderr).toContain('PARAPH_TOKEN');
  });

  const other = async (answer: RequestListener): Promise<string> => {
    const server = createServer(answer).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await soon(() => expect(server.listening).toBe(true));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  it('says when there is no service, or something else', async () => {
    const nobody = await from('viewer', ['ls', '--url', 'http://127.0.0.1:9']);
    expect(nobody).toMatchObject({ exitCode: 5, stdout: '' });
    const url = await other((_, answer) => void answer.end('<html>'));
    const { exitCode, stderr } = await from('viewer', ['stats', '--url', url]);
    expect(exitCode).toBe(5);
    expect(stderr).toContain('is not the admin API of a Paraph');
  });

  it('the token goes along no redirect, and has a warning when it would cross a network in clear', async () => {
    const location = `${stage.product().url}/admin/api/overview?hours=1`;
    const url = await other((_, answer) => void answer.writeHead(307, { location }).end());
    expect((await from('viewer', ['stats', '--url', url])).exitCode).toBe(5);
    const { stderr } = await from('viewer', ['stats', '--url', 'http://0.0.0.0:9']);
    expect(stderr).toContain('The token is sent without encryption, because the URL is not https.');
  });
});
