/**
 * The host of a cluster's master is gone without a word: its replica takes its place, and the
 * product goes on with that.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { nodeOfShard, type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts';

const names = testRedis();
const prefix = names.prefix.slice(-32);
const masters = 3;
const struck = nodeOfShard(0, masters, prefix);

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await startRedisCluster({
    command: process.env.PARAPH_REDIS_SERVER ?? 'redis-server',
    nodes: masters,
    replicas: true,
    settings: { 'cluster-node-timeout': '3000' },
  });
});

afterAll(async () => {
  for (const node of cluster?.nodes ?? []) node.resume();
  await cluster?.stop();
});

const expectSigned = (from: TestProduct, id: string, timeout: number): Promise<void> =>
  vi.waitFor(async () => expect(await from.statusOf(id)).toBe('500'), { timeout, interval: 50 });

describe('a cluster whose master falls silent', () => {
  it('is used again when its replica has been promoted, and the log says why', async () => {
    const product = await startTestProduct(names, {
      redisUrl: cluster.url,
      configuration: { queue: { prefix } },
    });
    try {
      await expectSigned(product, await product.submit(), 20_000);
      cluster.nodes[struck]?.pause();
      const replica = cluster.nodes[masters + struck];
      await vi.waitFor(
        async () =>
          expect(String(await replica?.command('INFO', 'replication'))).toContain('role:master'),
        { timeout: 60_000, interval: 50 },
      );
      const id = await vi.waitFor(
        async () => {
          const accepted = await product.submit();
          expect(accepted).toBeDefined();
          return accepted;
        },
        { timeout: 30_000, interval: 50 },
      );
      await expectSigned(product, id, 40_000);
      expect(product.logged.filter((line) => line.includes('Redis has been silent'))).toHaveLength(
        1,
      );
    } finally {
      await product.stop();
    }
  }, 120_000);
});
