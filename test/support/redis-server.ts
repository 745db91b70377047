/**
 * A Redis of a test's own, for what the shared one cannot be: one with certificates or rights, in a
 * cluster, or one that dies.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, vi } from 'vitest';
import { freePorts } from './free-ports.ts';

export interface RunningRedis {
  readonly port: number;
  readonly directory: string;
  /** A client that may do everything. */
  client(): Redis;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** How often another port is tried: between its search and the start, another test can take one. */
const mostStarts = 5;

interface ServerOptions {
  readonly tls?: Certificates;
  /** Further arguments of redis-server. */
  readonly more?: readonly string[];
}

/**
 * @returns undefined when the program ended instead of answering, as it does when its port is
 * taken.
 */
const tryToStart = async ({ tls, more = [] }: ServerOptions): Promise<RunningRedis | undefined> => {
  const directory = mkdtempSync(join(tmpdir(), 'paraph-redis-'));
  const isCluster = more.includes('--cluster-enabled');
  const [port = 0, busPort = 0] = await freePorts(2);
  const socket = join(directory, 'redis.sock');
  const listens =
    tls === undefined
      ? ['--port', String(port)]
      : [
          '--port',
          '0',
          '--tls-port',
          String(port),
          '--tls-auth-clients',
          'yes',
          '--tls-ca-cert-file',
          tls.ca,
          '--tls-cert-file',
          tls.cert,
          '--tls-key-file',
          tls.key,
        ];
  const child = spawn(
    process.env.PARAPH_REDIS_SERVER ?? 'redis-server',
    [
      '--bind',
      '127.0.0.1',
      '--unixsocket',
      socket,
      '--dir',
      directory,
      '--save',
      '',
      ...listens,
      ...more,
      // Without it the bus is 10 000 above the port, which is no port at all for every fifth of the
      // free ones.
      ...(isCluster ? ['--cluster-port', String(busPort)] : []),
    ],
    { stdio: 'ignore' },
  );
  const clients: Redis[] = [];
  const client = (): Redis => {
    const opened = new Redis({ path: socket, maxRetriesPerRequest: null });
    opened.on('error', () => undefined);
    clients.push(opened);
    return opened;
  };
  const stop = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    for (const each of clients.splice(0)) each.disconnect();
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, 'exit');
    }
    rmSync(directory, { recursive: true, force: true });
  };
  const ended = once(child, 'exit').then(() => undefined);
  const answers = async (): Promise<RunningRedis> => {
    const first = client();
    if (!isCluster) await first.ping();
    else {
      await first.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
      await vi.waitFor(
        async () => expect(await first.call('CLUSTER', 'INFO')).toContain('cluster_state:ok'),
        { timeout: 20_000 },
      );
    }
    return { port, directory, client, stop };
  };
  try {
    const running = await Promise.race([answers(), ended]);
    if (running === undefined) await stop();
    return running;
  } catch (error) {
    await stop();
    throw error;
  }
};

/** @throws When it does not run after several tries, each with ports of its own. */
export const startRedisServer = async (options: ServerOptions = {}): Promise<RunningRedis> => {
  for (let start = 0; start < mostStarts; start += 1) {
    const running = await tryToStart(options);
    if (running !== undefined) return running;
  }
  throw new Error('redis-server ended at each of its starts');
};
