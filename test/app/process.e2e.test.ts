/**
 * The product as its operator meets it: a process that starts, is killed in the middle of
 * everything, and starts again.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Redis } from 'ioredis';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
  vi,
} from 'vitest';
import { masterKeyFrom } from '../../packages/pki/src/master-key.ts';
import { run, runUntilReady } from '../cli/terminal.ts';
import { killProcesses, type ProductProcess, startProcess } from '../support/process.ts';
import type { Json } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';

let data = '';

const makeData = (): void => {
  data = mkdtempSync(join(tmpdir(), 'paraph-process-'));
};
const endAll = async (): Promise<void> => {
  await killProcesses();
  await vi.waitFor(async () => expect(await redisPid()).toBeUndefined(), { timeout: 20_000 });
  rmSync(data, { recursive: true, force: true });
};

const start = (environment: Readonly<Record<string, string>> = {}): Promise<ProductProcess> =>
  startProcess({ PARAPH_DATA: data, PARAPH_LOG_LEVEL: 'error', ...environment });

/** Starts it in this process, which spares the loading: what it says and stores is the same. */
const here = (environment: Readonly<Record<string, string>>) => {
  const { REDIS_URL: _, ...inherited } = process.env;
  return {
    env: { ...inherited, PORT: '0', PARAPH_DATA: data, PARAPH_LOG_LEVEL: 'error', ...environment },
  };
};
const refusalOf = async (environment: Readonly<Record<string, string>> = {}): Promise<string> => {
  const { exitCode, stderr } = await run(['start'], here(environment));
  expect(exitCode).not.toBe(0);
  return stderr;
};
const startAndStop = async (environment: Readonly<Record<string, string>>): Promise<void> => {
  expect(await runUntilReady(['start'], here(environment))).toMatchObject({
    exitCode: 0,
    stderr: '',
  });
};

/** Starts it in this process, hands over its address, and ends it as Ctrl-C does. */
const whileHere = async (
  environment: Readonly<Record<string, string>>,
  use: (url: string) => Promise<void>,
): Promise<void> => {
  let failure: unknown;
  const ran = await runUntilReady(['start'], here(environment), async (output) => {
    const url = /ready at (http:\S+)\n/.exec(output)?.[1] ?? '';
    await use(url).catch((error: unknown) => {
      failure = error;
    });
  });
  if (failure !== undefined) throw failure;
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
};

/** The process id of the private Redis, as it says itself. */
const redisPid = async (): Promise<number | undefined> => {
  const client = new Redis({
    path: join(data, 'redis', 'redis.sock'),
    lazyConnect: true,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return Number(/process_id:(\d+)/.exec(await client.info('server'))?.[1]);
  } catch {
    return undefined;
  } finally {
    client.disconnect();
  }
};

const rootAt = async (url: string): Promise<string> => (await fetch(`${url}/pki/root.pem`)).text();

/** The certificate under which it signs. */
const rootOf = async (url: string): Promise<string> => {
  const response = await fetch(`${url}/rest/service/sign`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(signRequest()),
  });
  const answer: Json = await response.json();
  expect(answer.MSS_SignatureResp.MSS_Signature.Base64Signature.length).toBeGreaterThan(0);
  const root = await rootAt(url);
  expect(root).toContain('BEGIN CERTIFICATE');
  return root;
};

/**
 * A start takes two seconds of a core, so each of these tests goes on with the process that the one
 * before has left.
 */
describe('the embedded product', () => {
  let running: ProductProcess;
  let root = '';

  beforeAll(makeData);
  afterAll(endAll);

  it('starts with a key that it had made when it was stopped before anything else, in a directory that is named relative to where it is started, as by default', async () => {
    await masterKeyFrom({ filePath: join(data, 'master.key') });
    // As a replacement leaves it: not needed any more when the key in the file has opened the
    // service.
    writeFileSync(join(data, 'master.key.before'), '', { mode: 0o600 });
    running = await start({ PARAPH_DATA: relative(process.cwd(), data) });
    expect(existsSync(join(data, 'master.key.before'))).toBe(false);
    expect(statSync(join(data, 'master.key')).mode & 0o777).toBe(0o600);
    root = await rootOf(running.url);
  }, 240_000);

  it('says in one sentence why it cannot start', async () => {
    expect(await refusalOf()).toMatch(/Another Paraph .* already uses the data directory/);
    const { port } = new URL(running.url);
    const other = mkdtempSync(join(tmpdir(), 'paraph-process-'));
    expect(await refusalOf({ PORT: port, PARAPH_DATA: other })).toContain(
      `Port ${port} on 127.0.0.1 is taken`,
    );
    rmSync(other, { recursive: true, force: true });
    expect(await refusalOf({ PARAPH_CONFIG: '/nonexistent.json' })).toContain('configuration');
  }, 180_000);

  it('ends with everything it started on Ctrl-C, and goes on where it was, with its keys', async () => {
    const id = await running.submit({ msisdn: '+41700092507', timeoutSeconds: 5 });
    expect(await running.stop('SIGINT')).toBe(0);
    expect(await redisPid()).toBeUndefined();

    running = await start({ PARAPH_DATA: relative(process.cwd(), data) });
    await vi.waitFor(async () => expect(['500', '_208']).toContain(await running.statusOf(id)), {
      timeout: 20_000,
      interval: 100,
    });
    expect(await rootOf(running.url)).toBe(root);
  }, 180_000);

  it('keeps its keys when its Redis is restored from a snapshot', async () => {
    const client = new Redis({ path: join(data, 'redis', 'redis.sock') });
    expect(await client.call('SAVE')).toBe('OK');
    client.disconnect();
    await running.stop();
    rmSync(join(data, 'redis', 'appendonlydir'), { recursive: true });
    await whileHere({}, async (url) => expect(await rootOf(url)).toBe(root));
  }, 240_000);

  it('makes no new authority for a key that was used before, unless it is told to', async () => {
    rmSync(join(data, 'redis'), { recursive: true });
    const refusal = await refusalOf();
    expect(refusal).toMatch(
      /no certificate authority, although the master key has been used before/,
    );
    expect(refusal).toContain('PARAPH_NEW_AUTHORITY=1');
    expect(await redisPid()).toBeUndefined();

    await whileHere({ PARAPH_NEW_AUTHORITY: '1' }, async (url) =>
      expect(await rootAt(url)).not.toBe(root),
    );
    running = await start();
  }, 240_000);

  it.each([
    ['the process', false],
    ['the process and its Redis', true],
  ])(
    'ends all open transactions after %s was killed with -9',
    async (_, withRedis) => {
      const silent = Array.from({ length: 10 }, () =>
        // A SIM shows one prompt at a time: those that are asked while another is shown end with
        // fault 406.
        running.submit({ msisdn: '+41700092507', timeoutSeconds: 3 }),
      );
      const robots = Array.from({ length: 40 }, () => running.submit({}));
      const ids = await Promise.all([...silent, ...robots]);
      const pid = await redisPid();
      const killed = running.stop('SIGKILL');
      if (withRedis && pid !== undefined) process.kill(pid, 'SIGKILL');
      await killed;

      running = await start();
      await vi.waitFor(
        async () => {
          const values = await Promise.all(ids.map(running.statusOf));
          expect(values.every((value) => ['500', '_208', '_406'].includes(value))).toBe(true);
          expect(values.filter((value) => value === '500')).toHaveLength(40);
          expect(values.filter((value) => value !== '500')).toHaveLength(10);
          expect(values).toContain('_208');
        },
        { timeout: 20_000, interval: 200 },
      );
    },
    180_000,
  );
});

describe('an embedded product that starts afresh', () => {
  beforeEach(makeData);
  afterEach(endAll);

  it('takes a key that it was not told of for a used one when its file comes out of a backup', async () => {
    writeFileSync(join(data, 'master.key'), `${randomBytes(32).toString('base64url')}\n`, {
      mode: 0o600,
    });
    expect(await refusalOf()).toContain('has been used before');
  }, 240_000);
});

describe('a service with a Redis of its own', () => {
  const redis = testRedis();
  beforeEach(makeData);
  afterEach(endAll);
  const key = (): string => randomBytes(32).toString('base64url');
  let stores = 0;

  /** Environment with a store that has nothing in it, as after a Redis was restored wrongly. */
  const withEmptyStore = (masterKey: string): Record<string, string> => {
    stores += 1;
    const path = join(data, `${stores}.json`);
    const queue = { prefix: `${redis.prefix.slice(-28)}-${stores}` };
    writeFileSync(path, JSON.stringify({ sandbox: true, queue }));
    return { REDIS_URL: redis.url, PARAPH_MASTER_KEY: masterKey, PARAPH_CONFIG: path };
  };

  it('makes no new authority for a key that was used before, where it has a directory to note that in', async () => {
    const masterKey = key();
    const environment = withEmptyStore(masterKey);
    await startAndStop(environment);
    await startAndStop(environment);
    for (const file of readdirSync(data)) {
      if (!file.endsWith('.json'))
        expect(readFileSync(join(data, file), 'utf8')).not.toContain(masterKey);
    }
    const emptied = withEmptyStore(masterKey);
    const refusal = await refusalOf(emptied);
    expect(refusal).toMatch(
      /no certificate authority, although the master key has been used before/,
    );
    expect(refusal).not.toContain(redis.url);
    // Another key may begin.
    await startAndStop(withEmptyStore(key()));
    await startAndStop({ ...withEmptyStore(masterKey), PARAPH_NEW_AUTHORITY: '1' });
  }, 240_000);

  it('makes none in a worker, which waits until an API has made it', async () => {
    const environment = withEmptyStore(key());
    const { prefix } = JSON.parse(readFileSync(environment.PARAPH_CONFIG ?? '', 'utf8')).queue;
    const hasAuthority = () => redis.client().exists(`${prefix}:custody:ca:root`);
    const worker = spawn(process.execPath, ['dist/src/cli/paraph.js', 'worker'], {
      env: {
        ...here(environment).env,
        PARAPH_DATA: join(data, 'nothing'),
        PARAPH_LOG_LEVEL: 'info',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void worker.kill('SIGKILL'));
    let output = '';
    worker.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const says = (text: string) =>
      vi.waitFor(() => expect(output).toContain(text), { timeout: 60_000, interval: 50 });
    await says('waiting for the certificate authority');
    expect(await hasAuthority()).toBe(0);
    await startAndStop(environment);
    await says('"msg":"ready"');
    expect(await hasAuthority()).toBe(1);
  }, 240_000);

  it('waits where it is told to, until paraph authority has made one, once', async () => {
    const masterKey = key();
    const environment = withEmptyStore(masterKey);
    const { prefix } = JSON.parse(readFileSync(environment.PARAPH_CONFIG ?? '', 'utf8')).queue;
    const root = () => redis.client().get(`${prefix}:custody:ca:root`);
    const waiting = startProcess({
      ...here(environment).env,
      PARAPH_DATA: join(data, 'nothing'),
      PARAPH_LOG_LEVEL: 'error',
      PARAPH_NEW_AUTHORITY: 'wait',
    });
    const makeAuthority = (variables: Readonly<Record<string, string>>) =>
      run(['authority', '--json'], here(variables));
    const first = await makeAuthority(environment);
    expect(JSON.parse(first.stdout)).toEqual({ outcome: 'ok', result: 'made' });
    const made = await root();
    await (await waiting).stop();
    const again = await makeAuthority(environment);
    expect([again.exitCode, JSON.parse(again.stdout)]).toEqual([
      0,
      { outcome: 'ok', result: 'exists' },
    ]);
    expect(await root()).toBe(made);
    // The directory is that of one service, also when its master key was replaced meanwhile.
    for (const each of [masterKey, key()]) {
      const refused = await makeAuthority(withEmptyStore(each));
      expect([refused.exitCode, JSON.parse(refused.stdout)]).toMatchObject([
        7,
        { outcome: 'refused', problem: expect.stringContaining('has been used before') },
      ]);
    }
    const unnoted = await makeAuthority({ ...environment, PARAPH_DATA: '/dev/null/data' });
    expect([unnoted.exitCode, JSON.parse(unnoted.stdout)]).toMatchObject([
      2,
      { outcome: 'usage', problem: expect.stringContaining('PARAPH_DATA: ') },
    ]);
  }, 240_000);

  it('makes none at all where it is told so, and needs no directory for anything', async () => {
    const environment = { ...withEmptyStore(key()), PARAPH_DATA: join(data, 'nothing', 'here') };
    expect(await refusalOf({ ...environment, PARAPH_NEW_AUTHORITY: '0' })).toMatch(
      /no certificate authority, and PARAPH_NEW_AUTHORITY=0 forbids/,
    );
    await startAndStop(environment);
    await startAndStop({ ...environment, PARAPH_NEW_AUTHORITY: '0' });
    expect(existsSync(join(data, 'nothing'))).toBe(false);
  }, 240_000);
});
