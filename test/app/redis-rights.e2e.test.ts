/**
 * Everything that a service does at Redis, done by the user of docs/operations/redis.md, whose
 * rights are read from there. Redis itself notes what it refuses (`ACL LOG`).
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openCore } from '../../src/app/core.ts';
import { run } from '../cli/terminal.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { type RunningRedis, startRedisServer } from '../support/redis-server.ts';
import { signRequest } from '../support/requests.ts';
import { driveEverything } from './whole-workload.ts';

const document = readFileSync(new URL('../../docs/operations/redis.md', import.meta.url), 'utf8');
const rights = /^user paraph on (.*)$/m.exec(document)?.[1]?.replace('>password', '>secret') ?? '';

const shared = testRedis();
const folder = mkdtempSync(join(tmpdir(), 'paraph-rights-'));
const servers: RunningRedis[] = [];
const apId = 'http://shop.example';
const silent = '+41790000001';

const startServer = async (...more: string[]) => {
  const server = await startRedisServer({ more });
  servers.push(server);
  const boss = server.client();
  await boss.call('ACL', 'SETUSER', 'paraph', 'on', ...rights.split(' '));
  return { boss, server, url: `redis://paraph:secret@127.0.0.1:${server.port}` };
};

const refusedBy = async (boss: Redis): Promise<readonly unknown[]> => {
  const entries = (await boss.call('ACL', 'LOG')) as unknown[][];
  return entries.map((entry) => JSON.stringify(entry).slice(0, 120));
};

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});

describe('with the rights of the recipe', () => {
  it('a service does all that it does', async () => {
    const { boss, server, url } = await startServer();
    await driveEverything(server, url);
    expect(await refusedBy(boss)).toEqual([]);
  }, 120_000);

  let boss: Redis;
  let url = '';
  let product: TestProduct;
  let env: Record<string, string> = {};

  const ended = (id: string, as: string) =>
    vi.waitFor(async () => expect(await product.statusOf(id, apId)).toBe(as), {
      timeout: 20_000,
      interval: 50,
    });
  const paraph = async (...args: string[]) => {
    const ran = await run(args, { env });
    expect(ran, args.join(' ')).toMatchObject({ exitCode: 0 });
    return ran;
  };

  beforeAll(async () => {
    const started = await startServer();
    ({ boss, url } = started);
    const masterKey = randomBytes(32);
    const configuration = {
      sandbox: true,
      queue: { prefix: 'paraph', shards: 2 },
      subscribers: [
        { msisdn: silent.slice(1), sim: { device: { kind: 'simulated', sign: 'never-answers' } } },
      ],
      operations: { metricsOpen: true },
    };
    writeFileSync(join(folder, 'paraph.json'), JSON.stringify(configuration));
    env = {
      REDIS_URL: url,
      PARAPH_CONFIG: join(folder, 'paraph.json'),
      PARAPH_MASTER_KEY: masterKey.toString('base64url'),
      PARAPH_DATA: folder,
    };
    product = await startTestProduct(shared, {
      redisUrl: url,
      masterKey,
      configuration,
      listen: true,
      operations: true,
    });
  });

  afterAll(() => product.stop());

  it('the console, the queue board, readiness and metrics are served', async () => {
    await paraph('users', 'add', 'anna', '--role', 'admin');
    await product.api.prepare();
    const { link } = (await paraph('users', 'link', 'anna', '--json')).json();
    const login = await fetch(`${product.url}/admin/login/link`, {
      method: 'POST',
      redirect: 'manual',
      body: new URL(link).searchParams,
    });
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
    const get = (path: string) => fetch(`${product.url}${path}`, { headers: { cookie } });
    const { queues } = (await (await get('/admin/queues/api/queues')).json()) as {
      queues: { name: string }[];
    };
    const [queue] = queues;
    expect(queue).toBeDefined();
    const lists = ['latest', 'completed', 'failed', 'delayed', 'active'].map(
      (state) =>
        `/admin/queues/api/queues?activeQueue=${queue?.name}&status=${state}&page=1&jobsPerPage=10`,
    );
    const pages = [
      '',
      '/transactions',
      '/replays',
      '/callbacks',
      '/users',
      '/audit',
      '/api/transactions',
    ];
    for (const path of [...pages.map((page) => `/admin${page}`), ...lists, '/metrics', '/readyz']) {
      await vi.waitFor(async () => expect([path, (await get(path)).status]).toEqual([path, 200]), {
        timeout: 20_000,
      });
    }
    expect(await (await get('/metrics')).text()).toContain('paraph_queue_jobs{');
    expect(await refusedBy(boss)).toEqual([]);
  });

  it('the command line does its work', async () => {
    const id = await product.submit({ apId, msisdn: silent, timeoutSeconds: 2 });
    await ended(id, '_208');
    await vi.waitFor(
      async () => expect((await paraph('ls', '--state', 'failed')).stdout).toContain(id),
      {
        timeout: 20_000,
        interval: 200,
      },
    );
    await paraph('replay', id, '--reason', 'Has called us');
    await ended(id, '_208');
    const commands = [
      'stats',
      'users ls',
      'keys list',
      'callbacks ls',
      'audit',
      'messages +41700092501',
      'index rebuild',
    ];
    for (const command of [`show ${id}`, ...commands]) await paraph(...command.split(' '));
    expect(await refusedBy(boss)).toEqual([]);
  });

  it('a backup and a restore need the rights of the page about them, and no more', async () => {
    const page = readFileSync(new URL('../../docs/operations/backup.md', import.meta.url), 'utf8');
    const more =
      /^user paraph-backup on (.*)$/m.exec(page)?.[1]?.replace('>password', '>secret') ?? '';
    await boss.call('ACL', 'SETUSER', 'paraph-backup', 'on', ...more.split(' '));
    const other = await startServer();
    await other.boss.call('ACL', 'SETUSER', 'paraph-backup', 'on', ...more.split(' '));
    const file = join(folder, 'rights.backup');
    const as = (address: string) => ({
      env: { ...env, REDIS_URL: address.replace('//paraph:', '//paraph-backup:') },
    });
    await product.post('/rest/service/sign', signRequest());
    const refused = await run(['backup', file], { env });
    expect(refused.stderr).toContain('lacks rights that a backup needs');
    await boss.call('ACL', 'LOG', 'RESET');
    expect(await run(['backup', file], as(url))).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await refusedBy(boss)).toEqual([]);
    expect(
      (await run(['restore', file], { env: { ...env, REDIS_URL: other.url } })).stderr,
    ).toContain('lacks rights that a restore needs');
    await other.boss.call('ACL', 'LOG', 'RESET');
    expect(await run(['restore', file, '--replace'], as(other.url))).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    expect(await refusedBy(other.boss)).toEqual([]);
  });

  it('nothing else can be read or broken', async () => {
    const client = new Redis(url);
    try {
      for (const command of [
        'FLUSHALL',
        'FLUSHDB',
        'CONFIG GET *',
        'KEYS *',
        'SHUTDOWN',
        'SWAPDB 0 1',
        'ACL LIST',
      ]) {
        const [name = '', ...args] = command.split(' ');
        await expect(client.call(name, ...args), command).rejects.toThrow('NOPERM');
      }
      await expect(client.get('other:key')).rejects.toThrow('NOPERM');
      await expect(client.subscribe('news')).rejects.toThrow('NOPERM');
    } finally {
      client.disconnect();
    }
  });
});

it('on a cluster, too, the rights suffice', async () => {
  const { boss, url } = await startServer(
    '--cluster-enabled',
    'yes',
    '--cluster-announce-ip',
    '127.0.0.1',
  );
  const product = await startTestProduct(shared, {
    redisUrl: `${url},${url}`,
    configuration: { queue: { prefix: 'paraph', shards: 2 } },
    operations: true,
  });
  try {
    // A node is connected to at its first command, and that must be the one that asks for the time.
    const core = await openCore({
      ...product.core,
      masterKey: product.core.serviceKey,
      now: Date.now,
    });
    await core.ready();
    expect(core.clock.offsetMs()).toBeDefined();
    await core.close();
    const { body } = await product.post('/rest/service/sign', signRequest());
    expect(body.MSS_SignatureResp?.Status.StatusCode.Value).toBe('500');
    // The keys of the provider are made while somebody looks for them for the first time.
    await vi.waitFor(
      async () => {
        const ready = await product.api.fetch(new Request('http://test/readyz'));
        expect(ready.status).toBe(200);
      },
      { timeout: 20_000 },
    );
    expect(await refusedBy(boss)).toEqual([]);
  } finally {
    await product.stop();
  }
});
