/** Acting: replays, cancels, users, and what the audit log has of them. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readKeyUse } from '../../src/app/key-use.ts';
import { maxTokens } from '../../src/console/operators/tokens.ts';
import { testRedis } from '../support/redis.ts';
import { soon } from '../support/soon.ts';
import { me, useOperations } from './operations-stage.ts';
import { keyboard } from './terminal.ts';

const redis = testRedis();
const stage = useOperations(redis, {
  operations: {
    users: [
      {
        name: 'olga',
        role: 'operator',
      },
    ],
  },
});
const { paraph, json, env, submit, failed, answer, status, asked } = stage;

const nowhere = 'H00aaaaaaaaaaaaaaaaa';

const codes = { usage: 2, refused: 7, unknown: 8 };

const endsAs = async (
  outcome: keyof typeof codes,
  args: readonly string[],
  refused: string,
): Promise<void> => {
  const ran = await paraph([...args, '--json']);
  expect(ran.json()).toMatchObject({ outcome, refused, problem: expect.any(String) });
  expect(ran.exitCode).toBe(codes[outcome]);
};
const refusedAs = (args: readonly string[], refused: string) => endsAs('refused', args, refused);
const unknownAs = (args: readonly string[], refused: string) => endsAs('unknown', args, refused);

describe('paraph cancel', () => {
  it('ends an open transaction, and is recorded with its reason', async () => {
    const id = await submit();
    expect((await paraph(['cancel', id, '--reason', 'Wrong customer'])).stdout).toContain(
      'Cancelled.',
    );
    await soon(async () => expect(await status(id)).toBe('401'));
    expect((await json(['audit', '--target', id])).entries).toMatchObject([
      { who: me, via: 'cli', action: 'cancel', reason: 'Wrong customer' },
    ]);
    await refusedAs(['cancel', id, '--reason', 'Again'], 'too-late');
  });

  it('needs a reason, and something to cancel', async () => {
    expect((await paraph(['cancel', nowhere])).exitCode).toBe(2);
    await refusedAs(['cancel', nowhere, '--reason', ' '], 'reason');
    await unknownAs(['cancel', nowhere, '--reason', 'Wrong customer'], 'unknown');
  });
});

describe('paraph replay of one', () => {
  it('runs it again as the policy allows', async () => {
    const id = await failed(401);
    await refusedAs(['replay', id], 'reason');
    expect(await status(id)).toBe('401');
    expect((await paraph(['replay', id, '--reason', 'Has called us'])).stdout).toContain(
      'Replayed.',
    );
    await soon(() => expect(asked()).toContain(`${id} 2`));
    expect(await status(id)).toBe('504');
    await refusedAs(['replay', id, '--reason', 'Again'], 'not-failed');
    await unknownAs(['replay', nowhere], 'unknown');
    const never = await failed(107);
    await refusedAs(['replay', never, '--reason', 'Please'], 'never');
    await refusedAs(['replay', await stage.failedLogin(208), '--reason', 'Please'], 'login');
  });

  it('prompts nobody with --dry-run', async () => {
    const id = await failed(208);
    const { plan } = await json(['replay', id, '--dry-run']);
    expect(plan).toMatchObject({ found: 1, replayable: 1, numbers: 1, byFault: { 208: 1 } });
    expect(await status(id)).toBe('208');
  });
});

describe('paraph replay of many', () => {
  it('plans, asks, replays each once, and reports', async () => {
    const apId = 'http://many.example';
    const ids = [
      await failed(208, { apId }),
      await failed(209, { apId }),
      await failed(401, { apId }),
    ];
    const never = await failed(107, { apId });
    const order = ['replay', '--ap', apId, '--reason', 'Was down', '--rate', '100'];

    const { plan } = await json([...order, '--dry-run']);
    expect(plan).toMatchObject({ found: 4, replayable: 3, numbers: 3, refused: { never: 1 } });
    expect(plan.first.map(({ msspTransId }: { msspTransId: string }) => msspTransId)).toEqual(
      ids.toReversed(),
    );
    expect(plan.first[0]).toMatchObject({
      apId,
      attempt: 1,
      fault: { code: 401, reason: 'USER_CANCEL' },
    });
    expect(plan.first[0].msisdn).toMatch(/^…\d{3}$/);
    const { stdout } = await paraph([...order, '--dry-run']);
    expect(stdout).toMatch(/people prompted {2}3/);
    for (const id of ids) expect(stdout).toContain(id);
    expect(stdout).not.toContain(' more');

    const script = await paraph(order);
    expect(script).toMatchObject({ exitCode: 2, stdout: '' });
    expect(script.stderr).toContain('say --yes');
    const no = await paraph(order, { tty: true, stdin: keyboard('n\n') });
    expect(no).toMatchObject({ exitCode: 0, stdout: 'Nothing was replayed.\n' });
    expect(no.stderr).toContain('Replay 3, and prompt 3 people? At 100 a second. [y/N]');
    for (const id of ids) expect(asked()).not.toContain(`${id} 2`);

    const following = paraph([...order, '--json'], { tty: true, stdin: keyboard('y', '\n') });
    for (const [index, id] of ids.entries()) await answer(id, 2, index === 0 ? 208 : 402);
    const ran = await following;
    expect(ran.exitCode).toBe(0);
    const { bulk, items } = ran.json();
    expect(bulk).toMatchObject({ state: 'done', by: me, total: 3, failed: { 208: 1, 402: 2 } });
    expect(items).toHaveLength(3);
    for (const id of ids) expect(asked().filter((entry) => entry === `${id} 2`)).toHaveLength(1);
    expect((await json(['show', never])).transaction.attempt).toBe(1);

    const { entries } = await json(['audit', '--target', bulk.id]);
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      'bulk-end',
      'bulk-replay',
    ]);
    expect((await json(['replay', '--list'])).bulks).toContainEqual(
      expect.objectContaining({ id: bulk.id }),
    );
    expect((await paraph(['replay', '--follow', bulk.id])).stdout).toContain('402: 2');
  });

  it('leaves out what has had its attempts', async () => {
    const apId = 'http://attempts.example';
    const id = await failed(208, { apId });
    await json(['replay', id]);
    await answer(id, 2, 208);
    await soon(async () => {
      const { plan } = await json(['replay', '--ap', apId, '--max-attempts', '2', '--dry-run']);
      expect(plan).toMatchObject({ found: 1, replayable: 0, refused: { attempts: 1 } });
    });
  });

  it('goes on without whoever ordered it, and is stopped by its name', async () => {
    const apId = 'http://slow.example';
    const ids = [
      await failed(208, { apId }),
      await failed(208, { apId }),
      await failed(208, { apId }),
    ];
    const order = [
      'replay',
      '--ap',
      apId,
      '--reason',
      'Was down',
      '--rate',
      '0.05',
      '--yes',
      '--detach',
    ];
    const { bulkId } = await json(order);
    const interrupt = new AbortController();
    const following = paraph(['replay', '--follow', bulkId], { signal: interrupt.signal });
    await soon(() =>
      expect(asked().filter((entry) => ids.includes(entry.slice(0, 20)))).toHaveLength(4),
    );
    interrupt.abort();
    const { exitCode, stderr } = await following;
    expect(exitCode).toBe(130);
    expect(stderr).toContain(`paraph replay --follow ${bulkId}`);

    expect(await json(['replay', '--stop', bulkId, '--reason', 'Enough'])).toMatchObject({
      result: 'stopping',
    });
    await refusedAs(['replay', '--stop', bulkId], 'not-running');
    const again =
      asked().find((entry) => ids.includes(entry.slice(0, 20)) && entry.endsWith(' 2')) ?? '';
    await answer(again.slice(0, 20), 2, 208);
    const { bulk } = await json(['replay', '--follow', bulkId]);
    expect(bulk).toMatchObject({ state: 'stopped', waiting: 2, failed: { 208: 1 } });
  });

  it.each([
    [[]],
    [[nowhere, '--fault', '208']],
    [['--all', '--list']],
    [['--follow', 'B0', '--stop', 'B0']],
  ])('with %j ends with 2, since it is not clear what is meant', async (args) => {
    const { exitCode, stderr } = await paraph(['replay', ...args]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Replay what?');
  });

  it('needs a reason, something to replay, and a bulk that there is', async () => {
    expect((await paraph(['replay', '--all'])).stderr).toContain('needs --reason');
    await refusedAs(
      ['replay', '--ap', 'http://nobody.example', '--reason', 'x', '--yes'],
      'nothing',
    );
    await unknownAs(['replay', '--follow', 'B0000000000000000'], 'unknown-bulk');
    await unknownAs(['replay', '--stop', 'B0000000000000000'], 'unknown-bulk');
    expect((await paraph(['replay', '--all', '--rate', '0'])).exitCode).toBe(2);
  });
});

describe('paraph audit', () => {
  it('shows who did what, narrowed, and nothing that a terminal would obey', async () => {
    const id = await failed(208);
    await json(['replay', id, '--reason', 'Red \u001b[31malert']);
    const { entries } = await json([
      'audit',
      '--action',
      'replay',
      '--who',
      me,
      '--target',
      id,
      '--from',
      '1h',
    ]);
    expect(entries).toMatchObject([
      { action: 'replay', who: me, details: { fault: 208, attempt: 2 } },
    ]);
    expect((await json(['audit', '--target', id, '--to', '1h'])).entries).toEqual([]);
    const { stdout } = await paraph(['audit', '--target', id]);
    expect(stdout).toContain('Red \u{fffd}[31malert');
    expect(stdout).toContain('fault=208 attempt=2');
    const first = await json(['audit', '--limit', '1']);
    expect(first.entries).toHaveLength(1);
    const second = await json(['audit', '--limit', '1', '--cursor', first.cursor]);
    expect(second.entries[0].id).not.toBe(first.entries[0].id);
    expect((await paraph(['audit', '--action', 'dance'])).exitCode).toBe(2);
    expect((await paraph(['audit', '--cursor', 'x'])).exitCode).toBe(2);
  });
});

describe('paraph users', () => {
  it('adds one, changes it, makes a token for it and removes it', async () => {
    const added = await paraph(['users', 'add', 'vera', '--role', 'viewer']);
    const stdout = 'Added as viewer. To let them in: paraph users link vera\n';
    expect(added).toMatchObject({ exitCode: 0, stdout, stderr: '' });
    await refusedAs(['users', 'add', 'vera', '--role', 'admin', '--oidc-subject', 's'], 'exists');
    expect((await json(['users', 'role', 'vera', 'operator'])).result).toBe('changed');

    const { token, id } = await json([
      'users',
      'token',
      'vera',
      '--label',
      'nightly',
      '--days',
      '7',
    ]);
    expect(token).toMatch(/^paraph_[\w-]{43}$/);
    const listed = await json(['users', 'ls']);
    expect(listed.users).toEqual([
      { name: 'olga', role: 'operator', oidcSubject: null, origin: 'configuration' },
      { name: 'vera', role: 'operator', oidcSubject: null, origin: 'stored' },
    ]);
    expect(listed.tokens).toMatchObject([{ id, name: 'vera', label: 'nightly' }]);
    const shown = (await paraph(['users', 'ls'])).stdout;
    expect(shown).toMatch(/^vera {2}operator {2}no +added$/m);
    expect(shown).not.toContain(token);

    expect((await json(['users', 'revoke', id])).result).toBe('revoked');
    await unknownAs(['users', 'revoke', id], 'unknown-token');
    expect((await json(['users', 'remove', 'vera'])).result).toBe('changed');
    await unknownAs(['users', 'remove', 'vera'], 'unknown-user');
    await unknownAs(['users', 'token', 'vera'], 'unknown-user');
    const { entries } = await json(['audit', '--target', 'vera']);
    expect(entries.map(({ action }: { action: string }) => action)).toContain('user-role');
  });

  it('ends a token by the token itself, and shows it to nobody', async () => {
    const { token, id } = await json(['users', 'token', 'olga']);
    const revoked = await paraph(['users', 'revoke', token, '--json']);
    expect(revoked.json()).toMatchObject({ outcome: 'ok', result: 'revoked' });
    const again = await paraph(['users', 'revoke', token, '--json']);
    expect(again.json()).toMatchObject({ outcome: 'unknown', refused: 'unknown-token' });
    const { entries } = await json(['audit', '--action', 'token-revoke', '--limit', '1']);
    expect(entries).toMatchObject([{ who: me, target: id }]);
    expect(JSON.stringify(entries) + revoked.stdout + again.stdout).not.toContain(token.slice(7));
  });

  it('makes at most so many tokens for one', async () => {
    for (let made = 0; made < maxTokens; made += 1) await paraph(['users', 'token', 'olga']);
    await refusedAs(['users', 'token', 'olga'], 'too-many-tokens');
  });

  it('makes a link that lets one in, and ends those of the service', async () => {
    const enter = (link: string) =>
      stage.product().api.fetch(
        new Request('http://test/admin/login/link', {
          method: 'POST',
          body: new URLSearchParams({ token: link.split('token=')[1] ?? '' }),
        }),
      );
    const who = async (cookie: string | null) =>
      (
        await stage.product().api.fetch(
          new Request('http://test/admin/api/session', {
            headers: { cookie: cookie?.split(';')[0] ?? '' },
          }),
        )
      ).json();
    expect((await paraph(['users', 'link', 'olga'])).stderr).toContain('start one first');
    await stage.product().api.prepare();
    const { link } = await json(['users', 'link', 'olga']);
    expect(link).toMatch(/^http:\/\/test\/admin\/login\/link\?token=[\w-]{43}$/);
    const entered = await enter(link);
    expect(await who(entered.headers.get('set-cookie'))).toMatchObject({
      name: 'olga',
      via: 'link',
    });
    expect((await enter(link)).status).toBe(401);
    await unknownAs(['users', 'link', 'nora'], 'unknown-user');
    expect((await json(['audit', '--action', 'link-issue'])).entries).toMatchObject([
      { who: me, target: 'olga' },
    ]);

    const local = (await enter(await stage.product().api.consoleLink())).headers.get('set-cookie');
    expect(await who(local)).toMatchObject({ name: 'local' });
    const again = await enter((await json(['users', 'link', 'local'])).link);
    expect(await who(again.headers.get('set-cookie'))).toMatchObject({
      name: 'local',
      role: 'admin',
    });
    expect((await json(['users', 'end-local'])).result).toBe('ended');
    expect(await who(local)).toMatchObject({ error: 'unauthorized' });
    expect(await who(entered.headers.get('set-cookie'))).toMatchObject({ name: 'olga' });
  });

  it('refuses what cannot be a user', async () => {
    await endsAs(
      'usage',
      ['users', 'add', 'Vera', '--role', 'viewer', '--oidc-subject', 's'],
      'bad-name',
    );
    await refusedAs(['users', 'role', 'olga', 'admin'], 'configured');
    expect((await paraph(['users', 'add', 'nina', '--role', 'king'])).exitCode).toBe(2);
    const long = ['users', 'add', 'n'.repeat(65), '--role', 'viewer', '--oidc-subject', 's'];
    expect((await paraph(long)).stderr).toBe('paraph: name must have 1 to 64 characters.\n');
  });

  it('writes nothing under a master key that is not the one of the service', async () => {
    // A first signature makes the service's certificate authority, by which the key is known.
    const id = await submit({ msisdn: '+41700092501' });
    await soon(async () => expect(await status(id)).toBe('500'));
    const env = { PARAPH_MASTER_KEY: randomBytes(32).toString('base64url') };
    const wrong = await paraph(['users', 'add', 'otto', '--role', 'viewer'], { env });
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain('The master key does not open what the service has stored');
    const { users } = await json(['users', 'ls']);
    expect(users.map(({ name }: { name: string }) => name)).toEqual(['olga']);
    const none = await paraph(['users', 'ls'], { env: { PARAPH_MASTER_KEY: '' } });
    expect(none.exitCode).toBe(2);
  });

  it('writes nothing into a Redis that has lost what was stored under the master key', async () => {
    const {
      PARAPH_MASTER_KEY: masterKey = '',
      PARAPH_DATA: dataDirectory = '',
      PARAPH_CONFIG = '',
    } = env();
    const keyUse = await readKeyUse(Buffer.from(masterKey, 'base64url'), {
      masterKey,
      dataDirectory,
    });
    await keyUse.note();
    const { queue, ...configuration } = JSON.parse(readFileSync(PARAPH_CONFIG, 'utf8'));
    const empty = join(dataDirectory, 'empty.json');
    const prefix = `${queue.prefix.slice(-30)}-e`;
    writeFileSync(empty, JSON.stringify({ ...configuration, queue: { ...queue, prefix } }));
    const lost = await paraph(['users', 'add', 'otto', '--role', 'viewer'], {
      env: { PARAPH_CONFIG: empty },
    });
    expect(lost.exitCode).toBe(2);
    expect(lost.stderr).toContain('although the master key has been used before');
    expect(await redis.client().keys(`*${prefix}*user*`)).toEqual([]);
  });
});
