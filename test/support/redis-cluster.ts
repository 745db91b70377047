/**
 * A real Redis Cluster of a few nodes on this machine, with replicas or without, made by commands
 * alone: `redis-cli --cluster create` is not everywhere, and what it does is short. Each node
 * learns its slots, every node meets the first, replicas learn whom they follow, and the cluster is
 * ready when all of them say so.
 *
 * Slots are dealt in equal contiguous ranges, as redis-cli deals them. Where a queue then lives is
 * decided by its name: few shards can fall on the nodes unevenly, and {@link shareOfBusiestNode}
 * says how unevenly.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { shardPrefix } from '../../src/transactions/contract.ts';
import { freePorts } from './free-ports.ts';
import { until } from './soon.ts';

export interface RedisClusterNode {
  readonly port: number;
  readonly pid: number;
  /** kill -9. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: it keeps its connections and answers nothing. */
  pause(): void;
  resume(): void;
  /** Starts it again with what it has on disk, when it does not run. Resolves when it answers. */
  start(): Promise<void>;
  /** One command on a connection of its own. @throws When it is not answered. */
  command(...words: readonly [string, ...(string | number)[]]): Promise<unknown>;
}

export interface RedisCluster {
  /** The nodes' URLs separated by commas: what REDIS_URL takes. */
  readonly url: string;
  /** Process ids of the nodes that began as masters, in the order of the slot ranges. */
  readonly pids: readonly number[];
  readonly nodes: readonly RedisClusterNode[];
  /**
   * The node that holds a slot range now, by the word of the node itself.
   *
   * @throws When neither its first master nor the replica of that says so.
   */
  masterOf(range: number): Promise<RedisClusterNode>;
  /** Resolves when every node runs, each master has its replica, and all slots are served. */
  whenWhole(): Promise<void>;
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
    for (let bit = 0; bit < 8; bit += 1)
      sum = (sum & 0x8000 ? (sum << 1) ^ 0x1021 : sum << 1) & 0xffff;
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

/**
 * The part of all transactions that the node with most shards carries: 1 / nodes when they are
 * spread evenly.
 */
export const shareOfBusiestNode = (shards: number, nodes: number, prefix?: string): number => {
  const held = new Array<number>(nodes).fill(0);
  for (let shard = 0; shard < shards; shard += 1) {
    const node = nodeOfShard(shard, nodes, prefix);
    held[node] = (held[node] ?? 0) + 1;
  }
  return Math.max(...held) / shards;
};

/** A prefix whose shards live on as many different nodes as there are shards. */
export const spreadPrefix = (name: string, shards: number, nodes: number): string => {
  for (let number = 0; ; number += 1) {
    const prefix = `${name}-${number}`;
    const held = Array.from({ length: shards }, (_, shard) => nodeOfShard(shard, nodes, prefix));
    if (new Set(held).size === shards) return prefix;
  }
};

const becomes = (what: string, holds: () => Promise<boolean>): Promise<void> =>
  until(holds, {
    what: `The Redis Cluster is not as it should be: ${what}`,
    timeoutMs: readyTimeoutMs,
    everyMs: 50,
  });

const end = async (server: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> => {
  if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const exit = once(server, 'exit');
  server.kill(signal);
  await exit;
};

/** A node that does not run yet. */
const createNode = (
  command: string,
  settings: Readonly<Record<string, string>>,
): RedisClusterNode => {
  const words = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const port = Number(settings.port);
  let server: ChildProcess | undefined;

  const ask: RedisClusterNode['command'] = async (...[first, ...rest]) => {
    const client = new Redis({
      port,
      host: '127.0.0.1',
      commandTimeout: 1000,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
      enableReadyCheck: false,
    });
    client.on('error', () => undefined);
    try {
      return await client.call(first, ...rest);
    } finally {
      client.disconnect();
    }
  };

  return {
    port,
    get pid() {
      return server?.pid ?? 0;
    },
    kill: () => end(server, 'SIGKILL'),
    pause: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    start: async () => {
      if (server === undefined || server.exitCode !== null || server.signalCode !== null) {
        server = spawn(command, words, { stdio: 'ignore', env: { LC_ALL: 'C' } });
        server.on('error', () => undefined);
      }
      await becomes('a node does not answer', async () => (await ask('PING')) === 'PONG');
    },
    command: ask,
  };
};

const roleOf = async (node: RedisClusterNode): Promise<readonly unknown[]> => {
  const role = await node.command('ROLE');
  return Array.isArray(role) ? role : [];
};

/** Each node learns its slots and an epoch of its own, and meets the first. */
const introduce = async (
  nodes: readonly RedisClusterNode[],
  busPorts: readonly number[],
  masters: number,
) => {
  await Promise.all(
    nodes.map(async (node, index) => {
      if (index < masters)
        await node.command('CLUSTER', 'ADDSLOTSRANGE', ...rangeOf(index, masters));
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    }),
  );
  const [first, ...others] = nodes;
  for (const [index, { port }] of others.entries()) {
    await first?.command('CLUSTER', 'MEET', '127.0.0.1', port, busPorts[index + 1] ?? 0);
  }
};

/**
 * Resolves when every node knows every other, all slots are served and replicas have what their
 * masters have.
 */
const whenAgreed = async (nodes: readonly RedisClusterNode[], masters: number): Promise<void> => {
  const knowsAll = async (node: RedisClusterNode): Promise<boolean> => {
    const info = String(await node.command('CLUSTER', 'INFO'));
    return (
      info.includes('cluster_state:ok') &&
      info.includes(`cluster_size:${masters}\r`) &&
      info.includes(`cluster_known_nodes:${nodes.length}\r`)
    );
  };
  await Promise.all(nodes.map((node) => becomes('the nodes do not agree', () => knowsAll(node))));
  await Promise.all(
    nodes.slice(masters).map(async (replica, index) => {
      const id = String(await nodes[index]?.command('CLUSTER', 'MYID'));
      await becomes('a replica does not know its master', async () => {
        return (await replica.command('CLUSTER', 'REPLICATE', id)) === 'OK';
      });
      await becomes('a replica does not follow', async () => {
        return String(await replica.command('INFO', 'replication')).includes(
          'master_link_status:up',
        );
      });
    }),
  );
  const knowsReplicas = async (node: RedisClusterNode): Promise<boolean> =>
    String(await node.command('CLUSTER', 'NODES')).split('slave').length - 1 ===
    nodes.length - masters;
  await Promise.all(
    nodes.map((node) => becomes('the replicas are not known', () => knowsReplicas(node))),
  );
};

/**
 * @param options.command The redis-server program.
 * @throws When the nodes do not find each other in time; what was started is ended first.
 */
export const startRedisCluster = async ({
  command,
  nodes: masters = 3,
  replicas = false,
  settings = {},
}: {
  readonly command: string;
  /** Masters. */
  readonly nodes?: number;
  /** One for each master. */
  readonly replicas?: boolean;
  /** Further settings of every node, as in redis.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}): Promise<RedisCluster> => {
  const directory = mkdtempSync(join(tmpdir(), 'paraph-cluster-'));
  const count = replicas ? masters * 2 : masters;
  // One for clients and one for the nodes' own talk.
  const ports = await freePorts(count * 2);
  const busPorts = ports.slice(count);
  const nodes = ports.slice(0, count).map((port, index) => {
    const dir = join(directory, String(index));
    mkdirSync(dir, { mode: 0o700 });
    return createNode(command, {
      port: String(port),
      bind: '127.0.0.1',
      dir,
      'cluster-enabled': 'yes',
      'cluster-port': String(busPorts[index]),
      'cluster-announce-ip': '127.0.0.1',
      // A node that is short of CPU must not be taken for dead: nobody could stand in for it.
      'cluster-node-timeout': '30000',
      appendonly: 'yes',
      appendfsync: 'everysec',
      save: '',
      'maxmemory-policy': 'noeviction',
      'repl-diskless-sync-delay': '0',
      loglevel: 'warning',
      ...settings,
    });
  });
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  // When this program ends without stopping them, in whatever way JavaScript still hears of.
  const kill = (): void => {
    for (const node of nodes) void node.kill();
    remove();
  };
  process.once('exit', kill);
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    await Promise.all(nodes.map((node) => node.kill()));
    remove();
  };

  try {
    await Promise.all(nodes.map((node) => node.start()));
    await introduce(nodes, busPorts, masters);
    await whenAgreed(nodes, masters);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: nodes.map(({ port }) => `redis://127.0.0.1:${port}`).join(','),
    pids: nodes.slice(0, masters).map(({ pid }) => pid),
    nodes,
    masterOf: (range) =>
      Promise.any(
        [nodes[range], nodes[masters + range]].map(async (node) => {
          if (node !== undefined && (await roleOf(node))[0] === 'master') return node;
          throw new Error(`It does not hold the slots of range ${range}`);
        }),
      ),
    whenWhole: () =>
      becomes('the cluster is not whole', async () => {
        const states = await Promise.all(
          nodes.map(async (node) => ({
            info: String(await node.command('CLUSTER', 'INFO')),
            role: await roleOf(node),
          })),
        );
        const replicas = states.filter(
          ({ role }) => role[0] === 'slave' && role[3] === 'connected',
        );
        return (
          replicas.length === nodes.length - masters &&
          states.every(({ info }) => info.includes('cluster_state:ok'))
        );
      }),
    stop,
  };
};
