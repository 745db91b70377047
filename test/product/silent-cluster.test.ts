/**
 * The host of a cluster's master is gone without a word: its replica takes its place, and the product goes on with that.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { nodeOfShard, type RedisCluster, startRedisCluster } from '../../bench/harness/redis-cluster.ts';
import { freePort } from '../faults/redis-node.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest, statusRequest } from '../support/requests.ts';

const names = testRedis();
const prefix = names.prefix.slice(-32);
const command = process.env.PARAPH_REDIS_SERVER ?? 'redis-server';
const masters = 3;
const struck = nodeOfShard(0, masters, prefix);

let cluster: RedisCluster;
let replica: ChildProcess;
let replicaPort = 0;
let directory = '';

const ask = async (port: number, ...words: readonly [string, ...string[]]): Promise<unknown> => {
  const client = new Redis({ port, host: '127.0.0.1', retryStrategy: () => null, lazyConnect: true });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await client.call(words[0], ...words.slice(1));
  } finally {
    client.disconnect();
  }
};

const isInStep = async (): Promise<void> =>
  expect(String(await ask(replicaPort, 'INFO', 'replication'))).toContain('master_link_status:up');

beforeAll(async () => {
  cluster = await startRedisCluster({
    command,
    nodes: masters,
    settings: { 'cluster-node-timeout': '3000' },
  });
  const ports = cluster.url.split(',').map((url) => Number(new URL(url).port));
  const master = ports[struck] ?? 0;
  replicaPort = await freePort();
  directory = mkdtempSync(join(tmpdir(), 'paraph-replica-'));
  const words = Object.entries({
    port: String(replicaPort),
    bind: '127.0.0.1',
    dir: directory,
    'cluster-enabled': 'yes',
    'cluster-port': String(await freePort()),
    'cluster-announce-ip': '127.0.0.1',
    'cluster-node-timeout': '3000',
    'repl-diskless-sync-delay': '0',
    save: '',
  }).flatMap(([name, value]) => [`--${name}`, value]);
  replica = spawn(command, words, { stdio: 'ignore', env: { LC_ALL: 'C' } });
  await vi.waitFor(() => ask(replicaPort, 'PING'), { timeout: 10_000, interval: 50 });
  const nodes = String(await ask(master, 'CLUSTER', 'NODES'));
  const [id = '', address = ''] =
    nodes
      .split('\n')
      .find((line) => line.includes('myself'))
      ?.split(' ') ?? [];
  const bus = /@(\d+)/.exec(address)?.[1] ?? '';
  await ask(replicaPort, 'CLUSTER', 'MEET', '127.0.0.1', String(master), bus);
  await vi.waitFor(() => ask(replicaPort, 'CLUSTER', 'REPLICATE', id), { timeout: 10_000, interval: 100 });
  await vi.waitFor(isInStep, { timeout: 20_000, interval: 100 });
}, 60_000);

afterAll(async () => {
  for (const pid of cluster?.pids ?? []) process.kill(pid, 'SIGCONT');
  if (replica !== undefined) {
    replica.kill('SIGKILL');
    if (replica.exitCode === null && replica.signalCode === null) await once(replica, 'exit');
  }
  await cluster?.stop();
  rmSync(directory, { recursive: true, force: true });
}, 30_000);

const accept = async (from: TestProduct): Promise<string | undefined> => {
  const { body } = await from.post('/rest/service/sign', signRequest({ mode: 'asynch' }));
  return body.MSS_SignatureResp?.MSSP_TransID;
};

const expectSigned = async (from: TestProduct, id: string, timeout: number): Promise<void> => {
  await vi.waitFor(
    async () => {
      const { body } = await from.post('/rest/service/status', statusRequest(id));
      expect(body.MSS_StatusResp?.Status.StatusMessage).toBe('SIGNATURE');
    },
    { timeout, interval: 50 },
  );
};

describe('a cluster whose master falls silent', () => {
  it('is used again within 5 s of the promotion of its replica, and worked on within 20 s', async () => {
    const product = await startTestProduct(names, {
      redisUrl: cluster.url,
      configuration: { queue: { prefix } },
    });
    try {
      await expectSigned(product, (await accept(product)) ?? '', 10_000);
      process.kill(cluster.pids[struck] ?? 0, 'SIGSTOP');
      await vi.waitFor(
        async () => expect(String(await ask(replicaPort, 'INFO', 'replication'))).toContain('role:master'),
        { timeout: 60_000, interval: 50 },
      );
      const since = performance.now();
      const id = await vi.waitFor(
        async () => {
          const accepted = await accept(product);
          expect(accepted).toBeDefined();
          return accepted ?? '';
        },
        { timeout: 30_000, interval: 50 },
      );
      const acknowledgedMs = performance.now() - since;
      await expectSigned(product, id, 40_000);
      const signedMs = performance.now() - since;
      expect(product.logged.filter((line) => line.includes('Redis has been silent'))).toHaveLength(1);
      expect({ acknowledgedInTime: acknowledgedMs < 5000, signedInTime: signedMs < 20_000 }).toEqual({
        acknowledgedInTime: true,
        signedInTime: true,
      });
    } finally {
      await product.stop();
    }
  }, 120_000);
});
