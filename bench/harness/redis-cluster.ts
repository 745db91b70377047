/**
 * A real Redis Cluster of a few nodes on this machine, made by commands alone: `redis-cli --cluster create` is not
 * everywhere, and what it does is short. Each node learns its slots, every node meets the first, and the cluster is
 * ready when all of them say so.
 *
 * Slots are dealt in equal contiguous ranges, as redis-cli deals them. Where a queue then lives is decided by its name:
 * few shards can fall on the nodes unevenly, and {@link shareOfBusiestNode} says how unevenly.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { shardPrefix } from '../../src/transactions/contract.ts';

export interface RedisCluster {
  /** The nodes' URLs separated by commas: what REDIS_URL takes. */
  readonly url: string;
  /** Process ids, in the order of the slot ranges. */
  readonly pids: readonly number[];
  /** Ends the nodes and removes their data. Safe to call again. */
  stop(): Promise<void>;
}

const slotCount = 16_384;
const readyTimeoutMs = 20_000;

/** CRC16 (XMODEM), as the cluster specification wants it. */
const crc16 = (text: string): number => {
  let sum = 0;
  for (const byte of Buffer.from(text)) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum & 0x8000 ? (sum << 1) ^ 0x1021 : sum << 1) & 0xffff;
  }
  return sum;
};

/** First and last slot of a node's range. */
const rangeOf = (node: number, nodes: number): readonly [first: number, last: number] => [
  Math.floor((node * slotCount) / nodes),
  Math.floor(((node + 1) * slotCount) / nodes) - 1,
];

/** Which node holds the queues of a shard. */
export const nodeOfShard = (shard: number, nodes: number, prefix = 'paraph'): number => {
  // The braces of the prefix are the hash tag: only what is between them counts.
  const slot = crc16(shardPrefix(prefix, shard).slice(1, -1)) % slotCount;
  return Math.floor(((slot + 1) * nodes - 1) / slotCount);
};

/** The part of all transactions that the node with most shards carries: 1 / nodes when they are spread evenly. */
export const shareOfBusiestNode = (shards: number, nodes: number, prefix?: string): number => {
  const held = new Array<number>(nodes).fill(0);
  for (let shard = 0; shard < shards; shard += 1) {
    const node = nodeOfShard(shard, nodes, prefix);
    held[node] = (held[node] ?? 0) + 1;
  }
  return Math.max(...held) / shards;
};

/** A port for clients and one for the nodes' own talk, all of them free at this moment. */
const freePorts = async (count: number): Promise<readonly number[]> => {
  const probes = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(probes.map((probe) => once(probe, 'listening')));
  const ports = probes.map((probe) => (probe.address() as { port: number }).port);
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))));
  return ports;
};

const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  const deadline = Date.now() + readyTimeoutMs;
  while (!(await holds().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`The Redis Cluster did not come up: ${what}`);
    await delay(50);
  }
};

/**
 * @param command The redis-server program.
 * @throws When the nodes do not find each other in time; what was started is ended first.
 */
export const startRedisCluster = async ({
  command,
  nodes = 3,
  settings = {},
}: {
  readonly command: string;
  readonly nodes?: number;
  /** Further settings of every node, as in redis.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}): Promise<RedisCluster> => {
  const directory = mkdtempSync(join(tmpdir(), 'paraph-cluster-'));
  const ports = await freePorts(nodes * 2);
  const clientPorts = ports.slice(0, nodes);
  const servers = clientPorts.map((port, node) => {
    const dir = join(directory, String(node));
    mkdirSync(dir, { mode: 0o700 });
    const all = {
      port: String(port),
      bind: '127.0.0.1',
      dir,
      'cluster-enabled': 'yes',
      'cluster-port': String(ports[nodes + node]),
      'cluster-announce-ip': '127.0.0.1',
      // A node that is short of CPU must not be taken for dead: nobody could stand in for it.
      'cluster-node-timeout': '30000',
      appendonly: 'yes',
      appendfsync: 'everysec',
      save: '',
      'maxmemory-policy': 'noeviction',
      loglevel: 'warning',
      ...settings,
    };
    const words = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
    return spawn(command, words, { stdio: 'ignore', env: { LC_ALL: 'C' } });
  });
  for (const server of servers) server.on('error', () => undefined);
  // When this program ends without stopping them, in whatever way JavaScript still hears of.
  const kill = (): void => {
    for (const server of servers) server.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  };
  process.once('exit', kill);

  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    await Promise.all(servers.map(end));
    rmSync(directory, { recursive: true, force: true });
  };

  const clients = clientPorts.map((port) => {
    const client = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 50 });
    client.on('error', () => undefined);
    return client;
  });
  try {
    await Promise.all(
      clients.map((client) => until('a node does not answer', async () => !!(await client.ping()))),
    );
    await Promise.all(
      clients.map((client, node) => client.call('CLUSTER', 'ADDSLOTSRANGE', ...rangeOf(node, nodes))),
    );
    const [first, ...others] = clients;
    for (const [index] of others.entries()) {
      await first?.call(
        'CLUSTER',
        'MEET',
        '127.0.0.1',
        clientPorts[index + 1] ?? 0,
        ports[nodes + index + 1] ?? 0,
      );
    }
    const knowsAll = async (client: Redis): Promise<boolean> => {
      const info = String(await client.call('CLUSTER', 'INFO'));
      return info.includes('cluster_state:ok') && info.includes(`cluster_size:${nodes}\r`);
    };
    await Promise.all(clients.map((client) => until('the nodes do not agree', () => knowsAll(client))));
  } catch (error) {
    await stop();
    throw error;
  } finally {
    for (const client of clients) client.disconnect();
  }
  return {
    url: clientPorts.map((port) => `redis://127.0.0.1:${port}`).join(','),
    pids: servers.map(({ pid }) => pid ?? 0),
    stop,
  };
};

const end = async (server: ChildProcess): Promise<void> => {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  server.kill('SIGTERM');
  await once(server, 'exit');
};
