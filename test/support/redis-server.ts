/**
 * A Redis of a test's own, for what the shared one cannot be: one with certificates or rights, in a cluster, or one that
 * dies.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, vi } from 'vitest';

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

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
};

export const startRedisServer = async ({
  tls,
  more = [],
}: {
  readonly tls?: Certificates;
  readonly more?: readonly string[];
} = {}): Promise<RunningRedis> => {
  const directory = mkdtempSync(join(tmpdir(), 'paraph-redis-'));
  const port = await freePort();
  const socket = join(directory, 'redis.sock');
  const listens =
    tls === undefined
      ? ['--port', String(port)]
      : [
          ...['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'yes'],
          ...['--tls-ca-cert-file', tls.ca, '--tls-cert-file', tls.cert, '--tls-key-file', tls.key],
        ];
  const child = spawn(
    process.env.PARAPH_REDIS_SERVER ?? 'redis-server',
    ['--bind', '127.0.0.1', '--unixsocket', socket, '--dir', directory, '--save', '', ...listens, ...more],
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
  const first = client();
  if (more.includes('--cluster-enabled')) {
    await first.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await vi.waitFor(async () => expect(await first.call('CLUSTER', 'INFO')).toContain('cluster_state:ok'), {
      timeout: 10_000,
    });
  } else await first.ping();
  return { port, directory, client, stop };
};
