/** Looking: lists, one transaction, the live view, numbers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fault } from '../../packages/protocol/src/fault.ts';
import { startEmbeddedRedis } from '../../src/redis/embedded/redis.ts';
import { freePort } from '../support/free-ports.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';
import { me, useOperations } from './operations-stage.ts';
import { run } from './terminal.ts';

const redis = testRedis();
const stage = useOperations(redis, {
  applicationProviders: [
    {
      id: 'mid://bank.example',
      dtbsPrefix: 'Bank: ',
      profiles: [],
      rateLimit: { requests: 5, perSeconds: 1 },
      callback: { url: 'https://hooks.bank.example:8443/told?key=secret' },
    },
  ],
});
const { paraph, json, submit, failed, somebody } = stage;

interface Listed {
  readonly msspTransId: string;
  readonly state: string;
}
const idsIn = ({ transactions }: { transactions: readonly Listed[] }): readonly string[] =>
  transactions.map(({ msspTransId }) => msspTransId);

const listed = (args: readonly string[], ids: readonly string[]) =>
  soon(async () => expect(idsIn(await json(['ls', ...args]))).toEqual(ids));

describe('paraph ls', () => {
  it('lists transactions newest first, by every filter', async () => {
    const apId = 'http://ls.example';
    const msisdn = somebody();
    const first = await failed(401, { apId, msisdn });
    const second = await failed(209, { apId });
    const third = await submit({ apId, profile: 'http://mid.vendor.ch/STK-LoA4' });
    await listed(['--ap', apId], [third, second, first]);
    await listed(['--ap', apId, '--state', 'pending,submitted'], [third]);
    await listed(['--ap', apId, '--state', 'open'], [third]);
    await listed(['--ap', apId, '--until', '2001-01-31T08:00:00'], []);
    await listed(['--ap', apId, '--fault', '209,_401'], [second, first]);
    await listed(['--ap', apId, '--fault', '209', '--fault', '208'], [second]);
    await listed(['--msisdn', msisdn], [first]);
    await listed(['--ap', apId, '--profile', 'STK-LoA4'], [third]);
    await listed(['--ap', apId, '--text', second.slice(3)], [second]);
    await listed(['--ap', apId, '--since', '1h'], [third, second, first]);
    await listed(['--ap', apId, '--until', '1h'], []);
    await listed(['--ap', apId, '--since', '2030-01-01', '--until', '2030-01-01T08:00:00Z'], []);
  });

  it('goes on behind a cursor', async () => {
    const apId = 'http://pages.example';
    const ids = [
      await failed(208, { apId }),
      await failed(208, { apId }),
      await failed(208, { apId }),
    ];
    const first = await json(['ls', '--ap', apId, '--limit', '2']);
    expect(idsIn(first)).toEqual([ids[2], ids[1]]);
    const second = await json(['ls', '--ap', apId, '--limit', '2', '--cursor', first.cursor]);
    expect(idsIn(second)).toEqual([ids[0]]);
    expect(second.cursor).toBeUndefined();
    const { stdout } = await paraph(['ls', '--ap', apId, '--limit', '2']);
    expect(stdout).toContain('there are more: --limit');
  });

  it('shows no number, and columns that stand under each other', async () => {
    const msisdn = somebody();
    const id = await failed(402, { msisdn, apId: 'http://columns.example' });
    const args = ['ls', '--ap', 'http://columns.example'];
    const { stdout } = await paraph(args);
    expect(stdout + (await paraph([...args, '--json'])).stdout).not.toContain(msisdn.slice(1));
    const [head = '', row = '', ...rest] = stdout.split('\n');
    expect(rest).toEqual(['']);
    expect(row.indexOf(id)).toBe(head.indexOf('MSSP_TransID'));
    expect(row.slice(head.indexOf('STATE'))).toMatch(/^failed 402 +1 /);
    expect(row).toContain(`…${msisdn.slice(-3)}`);
    const narrow = await paraph(args, { tty: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours have no width.
    const lines = narrow.stdout.replaceAll(/\x1b\[\d+m/g, '').split('\n');
    expect(lines.filter((line) => line.length > 79)).toEqual([]);
    expect(narrow.stdout).toContain('\x1b[31mfailed 402\x1b[39m');
    expect(lines[1]).toMatch(/^\d\d-\d\d \d\d:\d\d:\d\dZ {2}failed/);
  });

  it.each([
    [
      ['--state', 'lost'],
      '--state must be one of open, submitted, pending, signed, failed, receipted.',
    ],
    [['--fault', '999'], '--fault must be a code of the interface, such as 401.'],
    [
      ['--since', 'yesterday'],
      '--since must be a time such as 2030-01-31T08:00:00Z, or how long ago: 2h, 7d.',
    ],
    [['--limit', '0'], '--limit must be a number from 1 to 100000.'],
    [['--cursor', 'nonsense'], '--cursor must be one that paraph ls --json gave.'],
  ])('with %j ends with 2', async (more, sentence) => {
    expect(await paraph(['ls', ...more])).toMatchObject({
      exitCode: 2,
      stderr: `paraph: ${sentence}\n`,
    });
  });

  it('says why nothing is listed where no index is kept', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paraph-cli-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'configuration.json');
    writeFileSync(path, JSON.stringify({ operations: { index: false } }));
    const { exitCode, stderr } = await paraph(['ls'], { env: { PARAPH_CONFIG: path } });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('keeps no search index');
  });

  it('ends with 5 when no Redis can be found or answers', async () => {
    const { REDIS_URL: _, ...embedded } = stage.env();
    const absent = await run(['ls'], { env: embedded });
    expect(absent.exitCode).toBe(5);
    const silent = await paraph(['ls', '--json'], {
      env: { REDIS_URL: 'unix:/nowhere/at/all.sock' },
    });
    expect(silent.exitCode).toBe(5);
    expect(silent.json()).toMatchObject({ outcome: 'unreachable' });
  });

  it('says why a service elsewhere cannot be asked', async () => {
    const at = (url: string) => run(['ls', '--url', url], { env: { PARAPH_TOKEN: 'a' } });
    // A port that the built-in fetch never connects to, and one where nothing listens.
    const urls = ['http://127.0.0.1:1', `http://127.0.0.1:${await freePort()}`] as const;
    for (const [index, why] of ['bad port', 'no service listens there'].entries()) {
      const { exitCode, stderr } = await at(urls[index] ?? '');
      expect([exitCode, stderr]).toEqual([
        5,
        `paraph: No signature service at ${urls[index]}: ${why}.\n`,
      ]);
    }
  });
});

describe('paraph show', () => {
  it('tells what happened in each attempt and who did it', async () => {
    const id = await failed(401);
    await json(['replay', id, '--reason', 'Asked on the phone']);
    await stage.answer(id, 2, 209);
    await soon(async () => expect(await stage.status(id)).toBe('209'));
    const { transaction, attempts, timeline } = await json(['show', id]);
    expect(transaction).toMatchObject({ state: 'failed', attempt: 2, fault: { code: 209 } });
    expect(attempts).toMatchObject([
      { attempt: 1, startedBy: 'application', state: 'failed', fault: { code: 401 } },
      { attempt: 2, startedBy: me, state: 'failed', fault: { code: 209 } },
    ]);
    const events = timeline.map(
      ({ event, who }: { event: string; who: string }) => `${event} ${who}`,
    );
    expect(events).toEqual([
      'submitted application',
      'pending service',
      'failed user',
      `replay ${me}`,
      `submitted ${me}`,
      'pending service',
      'failed service',
    ]);
    expect(timeline[3]).toMatchObject({ reason: 'Asked on the phone' });
    const { stdout } = await paraph(['show', id]);
    expect(stdout).toContain('209 OTA_ERROR: The MSSP has not succeeded');
    expect(stdout).toContain('Asked on the phone');
  });

  it('says whose replay it is before a worker has taken it, and who cancelled', async () => {
    const id = await failed(208);
    await stage.product().stopWorkers();
    await json(['replay', id]);
    const { attempts } = await json(['show', id]);
    expect(attempts[1]).toMatchObject({
      attempt: 2,
      startedBy: me,
      state: 'submitted',
      endedAt: null,
    });
    await stage.product().startWorkers();
    await soon(async () => expect((await json(['show', id])).transaction.state).toBe('pending'));
    await json(['cancel', id, '--reason', 'Wrong customer']);
    await soon(async () => {
      const { timeline } = await json(['show', id]);
      expect(timeline.at(-1)).toMatchObject({ event: 'failed', who: me, fault: { code: 401 } });
    });
  });

  it('hides number and text, and shows them only with an entry in the audit log', async () => {
    const msisdn = somebody();
    const id = await submit({ msisdn, text: 'Pay 10 CHF to Example?' });
    const secret = [msisdn.slice(1), 'Pay 10 CHF'];
    const { exitCode, stdout } = await paraph(['show', id]);
    const asJson = (await paraph(['show', id, '--json'])).stdout;
    expect(exitCode).toBe(0);
    for (const text of secret) expect(stdout + asJson).not.toContain(text);
    expect(stdout).toContain('hidden, 22 characters');
    expect((await json(['audit', '--target', id])).entries).toEqual([]);

    const { request } = await json(['show', id, '--reveal']);
    expect(request).toMatchObject({ msisdn, text: 'Pay 10 CHF to Example?' });
    expect((await json(['audit', '--target', id])).entries).toMatchObject([
      { action: 'view-sensitive', who: me, via: 'cli' },
    ]);
    for (const text of secret)
      expect((await paraph(['show', id, '--reveal'])).stdout).toContain(text);
  });

  it('hides what others say of a failure, as watch does', async () => {
    const id = await submit();
    const detail = 'No contract of Vera Muster';
    await soon(async () => {
      const decision = { kind: 'fault', fault: fault(208, detail) } as const;
      expect(await stage.product().api.transactions.answer(id, 1, decision)).toBe('accepted');
    });
    await soon(async () => expect((await json(['show', id])).transaction.state).toBe('failed'));
    for (const command of ['show', 'watch']) {
      const asJson = await paraph([command, id, '--json']);
      expect(JSON.stringify(asJson.json())).toContain('"detail":"hidden"');
      const said = asJson.stdout + Object.values(await paraph([command, id])).join('');
      expect(said).toContain('EXPIRED_TRANSACTION');
      expect(said).not.toContain(detail);
    }
    expect((await json(['show', id, '--reveal'])).transaction.fault).toMatchObject({
      code: 208,
      detail,
    });
  });

  it('shows what was signed without the signature', async () => {
    const id = await submit({ msisdn: '+41700092501' });
    await soon(async () => expect(await stage.status(id)).toBe('500'));
    const ran = await paraph(['show', id, '--reveal', '--json']);
    expect(ran.json().result).toMatchObject({ kind: 'signature', device: 'sim', receipt: null });
    expect(ran.stdout).not.toMatch(/[A-Za-z0-9+/]{100}/);
  });

  it('shows nobody a one-time password', async () => {
    const profile = 'http://mid.vendor.ch/MID/v1/OtpProfileText';
    const id = await submit({ profile, text: 'Code 83125' });
    const ran = await paraph(['show', id, '--reveal', '--json']);
    expect(ran.json().request).toMatchObject({
      profile: 'MID/v1/OtpProfileText',
      text: 'hidden, 10 characters',
    });
    expect(ran.stdout).not.toContain('83125');
  });

  it('ends with 8 for a transaction that there is not', async () => {
    const { exitCode, json: document } = await paraph(['show', 'H00aaaaaaaaaaaaaaaaa', '--json']);
    expect(exitCode).toBe(8);
    expect(document()).toMatchObject({ outcome: 'unknown', refused: 'unknown' });
  });
});

describe('paraph watch', () => {
  it('prints a line for each change until Ctrl-C', async () => {
    const interrupt = new AbortController();
    let written = '';
    const watching = paraph(['watch', '--json'], {
      signal: interrupt.signal,
      onOutput: (text) => {
        written += text;
      },
    });
    // It says when it listens by what it tells, so something is made until it does.
    const ids: string[] = [];
    await soon(async () => {
      ids.push(await submit());
      expect(written).toContain('"transaction"');
    });
    const id = await submit();
    const linesOf = (text: string) => text.split('\n').slice(0, -1);
    const statesIn = (text: string): readonly string[] =>
      linesOf(text)
        .map((line) => JSON.parse(line).transaction)
        .filter((transaction) => transaction?.msspTransId === id)
        .map(({ state, fault }) => `${state} ${fault?.reason ?? ''}`.trim());
    await soon(() => expect(statesIn(written)).toContain('pending'));
    await stage.answer(id, 1, 208);
    await soon(() => expect(statesIn(written).at(-1)).toBe('failed EXPIRED_TRANSACTION'));
    interrupt.abort();
    const { exitCode, stdout, stderr } = await watching;
    expect(exitCode).toBe(130);
    expect(stderr).toBe('');
    expect(linesOf(stdout).slice(-1)).toEqual([JSON.stringify({ outcome: 'interrupted' })]);
    const states = statesIn(stdout);
    expect(states.at(-1)).toBe('failed EXPIRED_TRANSACTION');
    expect(new Set(states).size).toBe(states.length);
  });

  it('redraws a view on a terminal, no wider than it', async () => {
    const interrupt = new AbortController();
    const id = await failed(208);
    const { exitCode, stdout } = await paraph(['watch'], {
      tty: true,
      signal: interrupt.signal,
      onOutput: (text) => {
        if (text.includes(id) && text.includes('last hour')) interrupt.abort();
      },
    });
    expect(exitCode).toBe(130);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they have no width.
    const lines = stdout.replaceAll(/\x1b\[\d*[A-Za-z]|\r/g, '').split('\n');
    expect(lines.filter((line) => [...line].length > 79)).toEqual([]);
    expect(stdout).toContain('asleep');
  });

  it('says when Redis is away, and goes on', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'paraph-cli-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const embedded = await startEmbeddedRedis({
      command: process.env.PARAPH_REDIS_SERVER ?? 'redis-server',
      dataDir,
    });
    let stopping: Promise<void> | undefined;
    onTestFinished(() => embedded.stop());
    const interrupt = new AbortController();
    const { exitCode } = await run(['watch'], {
      env: { PARAPH_DATA: dataDir },
      tty: true,
      signal: interrupt.signal,
      onOutput: (text) => {
        if (text.includes('last hour')) stopping ??= embedded.stop();
        if (text.includes('Redis does not answer; trying again.')) interrupt.abort();
      },
    });
    expect(exitCode).toBe(130);
    await stopping;
  });

  it('follows one transaction to its end, and ends as it did', async () => {
    const id = await submit();
    let written = '';
    const watching = paraph(['watch', id], {
      onOutput: (text) => {
        written += text;
      },
    });
    await soon(() => expect(written).toContain('pending'));
    await stage.answer(id, 1, 402);
    const { exitCode, stdout, stderr } = await watching;
    expect(exitCode).toBe(3);
    expect(stdout).toMatch(/failed 402 {2}attempt 1/);
    expect(stderr).toBe('paraph: Fault 402 PIN_BLOCKED: PIN of the mobile user is blocked\n');

    const signed = await submit({ msisdn: '+41700092501' });
    const ran = await paraph(['watch', signed, '--json']);
    expect(ran.exitCode).toBe(0);
    expect(JSON.parse(ran.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      outcome: 'ok',
      transaction: { state: 'signed' },
    });
  });

  it('shows how much time is left, on a terminal', async () => {
    const interrupt = new AbortController();
    const id = await submit({ timeoutSeconds: 90 });
    const { exitCode, stdout } = await paraph(['watch', id], {
      tty: true,
      signal: interrupt.signal,
      onOutput: (text) => {
        if (text.includes('pending')) interrupt.abort();
      },
    });
    expect(exitCode).toBe(130);
    expect(stdout).toMatch(/attempt 1 {2}\[[#-]{24}\] (90|8\d) s/);
  });
});

describe('paraph stats', () => {
  it('tells rate, success, faults and what waits', async () => {
    await failed(450);
    await submit({ msisdn: '+41700092501' });
    await soon(async () => {
      const stats = await json(['stats', '--hours', '2']);
      expect(stats).toMatchObject({ hours: 2, queue: { waiting: expect.any(Number) } });
      expect(stats.faults).toContainEqual({
        code: 450,
        reason: 'GEOFENCING_POLICY_VIOLATION',
        count: 1,
      });
      expect(stats.signed).toBeGreaterThan(0);
      expect(stats.successRatio).toBeGreaterThan(0);
      expect(stats.timeToSignMs.p50).toBeGreaterThan(0);
    });
    const { stdout } = await paraph(['stats']);
    expect(stdout).toMatch(/^ {2}success {2,}[\d.]+ %$/m);
    expect(stdout).toContain('450 GEOFENCING_POLICY_VIOLATION 1');
  });
});

describe('paraph refusals', () => {
  it('counts requests that never became a transaction, and lists the latest', async () => {
    const apId = 'http://refused.example';
    await stage
      .product()
      .post('/rest/service/sign', signRequest({ apId, timeoutSeconds: 100_000 }));
    await soon(async () => {
      const { counts, latest } = await json(['refusals', '--ap', apId]);
      expect(counts).toMatchObject([
        { apId, fault: 101, reason: 'WRONG_PARAM', lastHour: 1, lastDay: 1 },
      ]);
      expect(latest).toMatchObject([{ operation: 'sign', at: expect.stringMatching(/Z$/) }]);
    });
    const { stdout } = await paraph(['refusals']);
    expect(stdout).toMatch(
      /http:\/\/refused\.example +101 WRONG_PARAM +1 +1 +MSS_SignatureReq\.TimeOut must be/,
    );
  });
});

describe('paraph aps ls', () => {
  it('lists applications without their passwords', async () => {
    const { sandbox, applicationProviders } = await json(['aps', 'ls']);
    expect(sandbox).toBe(true);
    expect(applicationProviders).toEqual([
      {
        id: 'mid://bank.example',
        password: false,
        clientCertificateFingerprints: null,
        rateLimit: { requests: 5, perSeconds: 1 },
        callbackHost: 'hooks.bank.example:8443',
        dtbsPrefix: 'Bank: ',
        profiles: [],
        services: null,
      },
    ]);
    const { stdout } = await paraph(['aps', 'ls']);
    expect(stdout).toMatch(
      /^mid:\/\/bank\.example {2}no +any {2}5\/1 s {2}Bank: +none +all +hooks\.bank\.example:8443$/m,
    );
  });

  it('says that a shell without the configuration of the service knows none', async () => {
    const { stdout } = await paraph(['aps', 'ls'], { env: { PARAPH_CONFIG: undefined } });
    expect(stdout).toBe(
      'No application is known here: PARAPH_CONFIG is not set in this shell. Set it as for the service.\n',
    );
  });
});

describe('paraph index rebuild', () => {
  it('makes the index anew, and is recorded', async () => {
    const id = await failed(403);
    const { indexed } = await json(['index', 'rebuild']);
    expect(indexed).toBeGreaterThan(0);
    await listed(['--text', id], [id]);
    expect((await json(['audit', '--action', 'history-rebuild'])).entries).toMatchObject([
      { who: me },
    ]);
  });
});
