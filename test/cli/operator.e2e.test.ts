import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createSelfSigned } from '../../packages/pki/test/openssl.ts';
import { testRedis } from '../support/redis.ts';
import { run, runUntilReady } from './terminal.ts';

const redis = testRedis();
const folder = mkdtempSync(join(tmpdir(), 'paraph-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileWith = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

describe('paraph config check', () => {
  it('accepts a usable file, named or from PARAPH_CONFIG', async () => {
    const file = fileWith('good.json', '{"sandbox":true}');
    expect(await run(['config', 'check', file])).toMatchObject({
      exitCode: 0,
      stdout: `${file} is usable.\n`,
    });
    const { json } = await run(['config', 'check', '--json'], { env: { PARAPH_CONFIG: file } });
    expect(json()).toEqual({ outcome: 'ok', file, problems: [], warnings: [] });
  });

  it('says what is served without a file', async () => {
    const { exitCode, stdout } = await run(['config', 'check']);
    expect(exitCode).toBe(0);
    expect(stdout).toBe('No configuration file: the sandbox is served.\n');
  });

  it('lists every problem of file and environment, never a value', async () => {
    const file = fileWith('bad.json', '{"sandbox":"topsecret","surprise":1}');
    const { exitCode, json, stderr } = await run(['config', 'check', file, '--json'], {
      env: { PORT: 'topsecret' },
    });
    expect(exitCode).toBe(2);
    expect(json().outcome).toBe('usage');
    expect(json().problems).toHaveLength(3);
    expect(json().problems.join()).toMatch(/PORT.*surprise|surprise.*PORT/);
    expect(JSON.stringify(json()) + stderr).not.toContain('topsecret');
  });
});

describe('paraph start, api and worker', () => {
  it.each(['api', 'worker'])('paraph %s needs REDIS_URL', async (part) => {
    const { exitCode, stderr } = await run([part]);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      `paraph: paraph ${part} needs REDIS_URL, the Redis that all processes of the service share; paraph start brings its own.\n`,
    );
  });

  it.each(['start', 'api', 'worker'])(
    'paraph %s says what is wrong with the environment',
    async (part) => {
      const env = { REDIS_URL: redis.url, PORT: 'many' };
      const ran = await run([part], { env });
      expect(ran).toMatchObject({
        exitCode: 2,
        stderr: 'paraph: PORT must be a number from 0 to 65535.\n',
      });
    },
  );

  it('paraph start says what is wrong with the configuration', async () => {
    const env = { PARAPH_CONFIG: fileWith('broken.json', '{') };
    const { exitCode, stderr } = await run(['start'], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(
      /^paraph: The configuration is not usable:\n {2}configuration: not valid JSON/,
    );
  });

  beforeAll(() => {
    for (const name of ['one', 'two']) createSelfSigned(folder, name);
    createSelfSigned(folder, 'explicit', '-pkeyopt', 'ec_param_enc:explicit');
    fileWith('no.pem', 'nothing');
    const bundle = ['one.crt', 'explicit.crt'].map((name) =>
      readFileSync(join(folder, name), 'utf8'),
    );
    fileWith('bundle.crt', bundle.join(''));
    const der = ['-in', 'one.crt', '-outform', 'der', '-out', 'one.der'];
    execFileSync('openssl', ['x509', ...der], { cwd: folder });
  });

  const writtenOut =
    'the curve of its key is written out and must be named (openssl: -pkeyopt ec_param_enc:named_curve)';
  it.each<readonly [object, string]>([
    [{ certFile: 'absent.pem' }, 'tls.certFile: the file cannot be read (ENOENT)'],
    [{ certFile: 'no.pem' }, 'tls.certFile: the file holds no certificate (PEM)'],
    [{ certFile: 'one.der' }, 'tls.certFile: the file holds no certificate (PEM)'],
    [
      { keyFile: 'no.pem' },
      'tls.keyFile: the file holds no private key (PEM, without a passphrase)',
    ],
    [{ keyFile: 'two.key' }, 'tls.keyFile: this is not the key of the certificate in tls.certFile'],
    [{ clientCaFile: 'no.pem' }, 'tls.clientCaFile: the file holds no certificate (PEM)'],
    [{ clientCaFile: 'one.der' }, 'tls.clientCaFile: the file holds no certificate (PEM)'],
    ...(
      [
        ['certFile', 'explicit.crt'],
        ['keyFile', 'explicit.key'],
        ['clientCaFile', 'bundle.crt'],
      ] as const
    ).map(([key, file]) => [{ [key]: file }, `tls.${key}: ${writtenOut}`] as const),
  ])('paraph start with %j names the key of the file', async (files, sentence) => {
    const named = Object.entries({ certFile: 'one.crt', keyFile: 'one.key', ...files });
    const tls = Object.fromEntries(named.map(([key, name]) => [key, join(folder, name)]));
    const queue = { prefix: redis.prefix.slice(-32) };
    const PARAPH_CONFIG = fileWith('tls.json', JSON.stringify({ sandbox: true, tls, queue }));
    const env = { REDIS_URL: redis.url, PORT: '0', PARAPH_DATA: folder, PARAPH_CONFIG };
    expect(await run(['start'], { env })).toMatchObject({
      exitCode: 2,
      stderr: `paraph: ${sentence}.\n`,
    });
  });

  it.each([
    ['/proc/nope', {}, 'ENOENT, no such file or directory'],
    ['/proc/nope/below', { REDIS_URL: redis.url }, 'ENOENT, no such file or directory'],
    [fileWith('file', ''), {}, 'EEXIST, file already exists'],
    [join(folder, 'file', 'below'), { REDIS_URL: redis.url }, 'ENOTDIR, not a directory'],
  ])('paraph start says that %s cannot hold its data', async (PARAPH_DATA, more, reason) => {
    expect(await run(['start'], { env: { ...more, PORT: '0', PARAPH_DATA } })).toMatchObject({
      exitCode: 2,
      stderr: `paraph: PARAPH_DATA: ${PARAPH_DATA} cannot hold the data (${reason}): name a directory that this user may write.\n`,
    });
  });

  it('paraph start says that PARAPH_REDIS_SERVER cannot be run', async () => {
    const PARAPH_REDIS_SERVER = join(folder, 'no-server');
    const env = { PORT: '0', PARAPH_DATA: join(folder, 'no-server-data'), PARAPH_REDIS_SERVER };
    const { exitCode, stderr } = await run(['start'], { env });
    expect(stderr).toContain(`paraph: PARAPH_REDIS_SERVER: ${PARAPH_REDIS_SERVER} cannot be run`);
    expect(exitCode).toBe(2);
  });

  it('paraph worker says that the port of its metrics is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const queue = { prefix: redis.prefix.slice(-32) };
    const configuration = { sandbox: true, queue, operations: { workerMetricsPort: port } };
    const PARAPH_CONFIG = fileWith('metrics.json', JSON.stringify(configuration));
    const env = { REDIS_URL: redis.url, PARAPH_DATA: folder, PARAPH_CONFIG };
    expect(await run(['worker'], { env })).toMatchObject({
      exitCode: 2,
      stderr: `paraph: Port ${port} on 127.0.0.1 is taken: stop what listens there, or set operations.workerMetricsPort to another.\n`,
    });
  });

  it('paraph start says that HOST is no address of this machine', async () => {
    const queue = { prefix: redis.prefix.slice(-32) };
    const PARAPH_CONFIG = fileWith('host.json', JSON.stringify({ queue }));
    const env = {
      REDIS_URL: redis.url,
      PARAPH_DATA: folder,
      PARAPH_CONFIG,
      PORT: '0',
      HOST: '192.0.2.1',
    };
    expect(await run(['start'], { env })).toMatchObject({
      exitCode: 2,
      stderr:
        'paraph: PORT, HOST: this machine cannot listen on port 0 of 192.0.2.1 (EADDRNOTAVAIL, address not available).\n',
    });
  });

  it('paraph start says that nobody answers in REDIS_URL, and ends; while it waits Ctrl-C ends it', async () => {
    const env = { REDIS_URL: 'redis://:topsecret@127.0.0.1:9', PORT: '0', PARAPH_DATA: folder };
    const interrupt = new AbortController();
    const starts = [
      run(['start'], { env, signal: interrupt.signal }),
      run(['start'], { env }),
    ] as const;
    interrupt.abort();
    expect(await starts[0]).toMatchObject({
      exitCode: 130,
      stderr: 'paraph: Interrupted; the service has not started.\n',
    });
    expect(await starts[1]).toMatchObject({
      exitCode: 5,
      stderr:
        'paraph: REDIS_URL: no Redis can be used at that address (connect ECONNREFUSED 127.0.0.1:9).\n',
    });
  });

  it.each([
    ['ca=/absent.pem', 'the file of "ca" cannot be read'],
    [`ca=${folder}/no.pem`, 'the file of "ca" holds no certificate (PEM)'],
    [`ca=${folder}/one.der`, 'the file of "ca" holds no certificate (PEM)'],
    [`key=${folder}/no.pem`, 'the file of "key" holds no private key (PEM)'],
  ])('paraph start with %s in REDIS_URL says which file is not usable', async (files, sentence) => {
    const env = { REDIS_URL: `rediss://127.0.0.1:9?${files}`, PORT: '0', PARAPH_DATA: folder };
    const stderr = `paraph: REDIS_URL: ${sentence}.\n`;
    expect(await run(['start'], { env })).toMatchObject({ exitCode: 2, stderr });
  });

  const environment = (store: string) => ({
    REDIS_URL: redis.url,
    PORT: '0',
    PARAPH_DATA: join(folder, store),
    PARAPH_CONFIG: fileWith(
      `${store}.json`,
      JSON.stringify({ sandbox: true, queue: { prefix: `${redis.prefix.slice(-24)}-${store}` } }),
    ),
  });

  // A worker waits until an API has made the certificate authority.
  it.each(['api', 'worker'])(
    'paraph %s logs that it is ready, and stops in order',
    async (part) => {
      const { exitCode, stdout, stderr } = await runUntilReady([part], {
        env: environment('parts'),
      });
      expect(stderr).toBe('');
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        msg: 'ready',
        part,
        ...(part === 'api' && { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) }),
      });
    },
  );

  it('paraph start greets', async () => {
    const { exitCode, stdout } = await runUntilReady(['start'], { env: environment('start') });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/Paraph is ready at http:\/\/127\.0\.0\.1:\d+/);
  });
});
