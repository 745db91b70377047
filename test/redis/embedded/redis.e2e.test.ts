import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type EmbeddedRedisOptions,
  startEmbeddedRedis,
} from '../../../src/redis/embedded/redis.ts';
import { waitUntilClosed } from '../../../src/redis/embedded/redis-socket.ts';
import { isRunning, type OtherProcess, startProcess } from './processes.ts';

const command = process.env.PARAPH_REDIS_SERVER ?? 'redis-server';
const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0))
    rmSync(directory, { recursive: true, force: true });
});

function newDataDir(name = 'data'): string {
  const directory = mkdtempSync(join(tmpdir(), 'paraph-embedded-'));
  directories.push(directory);
  return join(directory, name);
}

async function start(options: Partial<EmbeddedRedisOptions> & { readonly dataDir: string }) {
  const redis = await startEmbeddedRedis({ command, ...options });
  onTestFinished(() => redis.stop());
  const client = () => {
    const opened = new Redis({ path: redis.socketPath, retryStrategy: () => null });
    opened.on('error', () => undefined);
    onTestFinished(() => opened.disconnect());
    return opened;
  };
  return { ...redis, client };
}

interface Owner extends OtherProcess {
  readonly redisPid: number;
  readonly socketPath: string;
}

async function startOwner(dataDir: string): Promise<Owner> {
  const owner = startProcess(new URL('./redis-owner.mjs', import.meta.url), command, dataDir);
  const [pid = '', socketPath = ''] = ((await owner.line()) ?? '').split(' ');
  onTestFinished(async () => {
    if (isRunning(owner.pid)) owner.signal('SIGKILL');
    await owner.ended;
  });
  return { ...owner, redisPid: Number(pid), socketPath };
}

it('answers PING on a socket that only this user can open, and on no port', async () => {
  const redis = await start({ dataDir: newDataDir() });
  const client = redis.client();
  expect(await client.ping()).toBe('PONG');
  expect(statSync(redis.socketPath).mode & 0o777).toBe(0o700);
  expect(redis.url).toBe(`unix:${redis.socketPath}`);
  expect(await client.info('server')).toContain(`process_id:${redis.pid}`);
  expect(await client.config('GET', 'port')).toEqual(['port', '0']);
  expect(await client.config('GET', 'maxmemory-policy')).toEqual([
    'maxmemory-policy',
    'noeviction',
  ]);
});

it('keeps what was written for the next start', async () => {
  const dataDir = newDataDir();
  const first = await start({ dataDir, appendfsync: 'always' });
  await first.client().set('kept', 'yes');
  await first.stop();
  expect(isRunning(first.pid)).toBe(false);
  expect(existsSync(first.socketPath)).toBe(false);
  const second = await start({ dataDir });
  expect(await second.client().get('kept')).toBe('yes');
});

describe('a snapshot', () => {
  /** A data directory with a `dump.rdb` that holds a value, and with an append-only file, too. */
  const dataDirWithSnapshot = async (): Promise<string> => {
    const dataDir = newDataDir();
    const redis = await start({ dataDir });
    await redis.client().set('kept', 'yes');
    expect(await redis.client().call('SAVE')).toBe('OK');
    await redis.client().set('later', 'yes');
    await redis.stop();
    return dataDir;
  };
  const appendOnly = (dataDir: string): string => join(dataDir, 'redis', 'appendonlydir');

  it('is loaded where there is no append-only file, and becomes one', async () => {
    const dataDir = await dataDirWithSnapshot();
    rmSync(appendOnly(dataDir), { recursive: true });
    const restored = await start({ dataDir });
    expect(restored.restored).toBe(true);
    expect(await restored.client().mget('kept', 'later')).toEqual(['yes', null]);
    expect(await restored.client().config('GET', 'appendonly')).toEqual(['appendonly', 'yes']);
    await restored.client().set('since', 'yes');
    await restored.stop();
    rmSync(join(dataDir, 'redis', 'dump.rdb'));
    const again = await start({ dataDir });
    expect(again.restored).toBe(false);
    expect(await again.client().mget('kept', 'since')).toEqual(['yes', 'yes']);
  });

  it('is loaded again when it had not become an append-only file before Redis was killed', async () => {
    const dataDir = await dataDirWithSnapshot();
    // What a conversion leaves that was cut off: the directory, and no manifest in it yet.
    rmSync(join(appendOnly(dataDir), 'appendonly.aof.manifest'));
    const redis = await start({ dataDir });
    expect(await redis.client().mget('kept', 'later')).toEqual(['yes', null]);
  });

  it('is not looked at beside an append-only file', async () => {
    const redis = await start({ dataDir: await dataDirWithSnapshot() });
    expect(redis.restored).toBe(false);
    expect(await redis.client().mget('kept', 'later')).toEqual(['yes', 'yes']);
  });

  it('that cannot be read keeps Redis from starting, and stays where it is', async () => {
    const dataDir = newDataDir();
    const snapshot = join(dataDir, 'redis', 'dump.rdb');
    mkdirSync(dirname(snapshot), { recursive: true });
    writeFileSync(snapshot, 'REDIS0010 and then nothing of the kind');
    await expect(start({ dataDir })).rejects.toThrow(/^redis-server ended with status/);
    expect(existsSync(snapshot)).toBe(true);
    expect(existsSync(appendOnly(dataDir))).toBe(false);
  });
});

it('works in a directory whose name has spaces and quotes', async () => {
  const redis = await start({ dataDir: newDataDir(`it's "data" here`) });
  expect(await redis.client().ping()).toBe('PONG');
});

it('puts the socket into a private directory when the data directory’s path is too long for one', async () => {
  const dataDir = newDataDir('x'.repeat(120));
  const redis = await start({ dataDir });
  onTestFinished(() => rmSync(dirname(redis.socketPath), { recursive: true, force: true }));
  expect(Buffer.byteLength(redis.socketPath)).toBeLessThanOrEqual(100);
  expect(statSync(dirname(redis.socketPath)).mode & 0o777).toBe(0o700);
  expect(await redis.client().ping()).toBe('PONG');
});

it('refuses a socket directory that others may enter', async () => {
  const dataDir = newDataDir('x'.repeat(120));
  const redis = await start({ dataDir });
  await redis.stop();
  const socketDirectory = dirname(redis.socketPath);
  onTestFinished(() => rmSync(socketDirectory, { recursive: true, force: true }));
  rmSync(socketDirectory, { recursive: true });
  mkdirSync(socketDirectory);
  await expect(start({ dataDir })).rejects.toThrow('not a private directory');
});

it('does not hand its environment on', async () => {
  process.env.PARAPH_MASTER_KEY = 'nobody may read this';
  onTestFinished(() => {
    delete process.env.PARAPH_MASTER_KEY;
  });
  const redis = await start({ dataDir: newDataDir() });
  const shown = spawn('cat', [`/proc/${redis.pid}/environ`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let environment = '';
  shown.stdout.on('data', (chunk) => {
    environment += chunk;
  });
  await once(shown, 'close');
  expect(environment).not.toContain('nobody may read this');
});

it('says what is wrong when redis-server gives up', async () => {
  await expect(start({ command: '/bin/false', dataDir: newDataDir() })).rejects.toThrow(
    /^redis-server ended with status 1 \(data directory .*\)/,
  );
  await expect(start({ command: '/nowhere/redis-server', dataDir: newDataDir() })).rejects.toThrow(
    'not found',
  );
});

it('reports a Redis that ends by itself, and only that', async () => {
  const onExit = vi.fn();
  const redis = await start({ dataDir: newDataDir(), onExit });
  const stopped = await start({ dataDir: newDataDir(), onExit });
  await stopped.stop();
  expect(onExit).not.toHaveBeenCalled();
  process.kill(redis.pid, 'SIGKILL');
  await vi.waitFor(
    () => expect(onExit).toHaveBeenCalledWith('redis-server ended with status 137'),
    20_000,
  );
  await redis.stop();
  expect(onExit).toHaveBeenCalledTimes(1);
});

it('outlives Ctrl-C until its owner lets it go', async () => {
  const owner = await startOwner(newDataDir());
  owner.signal('SIGINT', { wholeGroup: true });
  expect(await owner.line()).toBe('stopping');
  const client = new Redis({ path: owner.socketPath, retryStrategy: () => null });
  expect(await client.ping()).toBe('PONG');
  client.disconnect();
  owner.say('done');
  await owner.ended;
  expect(isRunning(owner.redisPid)).toBe(false);
});

it('never outlives an owner that was killed with -9', async () => {
  const owner = await startOwner(newDataDir());
  const gone = waitUntilClosed(owner.socketPath, 10_000);
  owner.signal('SIGKILL');
  expect(await gone).toBe(true);
  await vi.waitFor(() => expect(isRunning(owner.redisPid)).toBe(false), 20_000);
});

it('starts again at once after its owner was killed with -9, with everything that was written', async () => {
  const dataDir = newDataDir();
  for (let round = 0; round < 3; round += 1) {
    const owner = await startOwner(dataDir);
    const client = new Redis({ path: owner.socketPath, retryStrategy: () => null });
    client.on('error', () => undefined);
    expect(await client.incr('rounds')).toBe(round + 1);
    owner.signal('SIGKILL');
    client.disconnect();
  }
  const redis = await start({ dataDir });
  expect(await redis.client().get('rounds')).toBe('3');
});

it('ends Redis when only the guard is killed', async () => {
  const onExit = vi.fn();
  const redis = await start({ dataDir: newDataDir(), onExit });
  const parent = spawn('ps', ['-o', 'ppid=', '-p', String(redis.pid)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [printed] = await once(parent.stdout, 'data');
  const gone = waitUntilClosed(redis.socketPath, 10_000);
  process.kill(Number(String(printed)), 'SIGKILL');
  expect(await gone).toBe(true);
  await vi.waitFor(
    () => expect(onExit).toHaveBeenCalledWith('redis-server ended with SIGKILL'),
    20_000,
  );
});
