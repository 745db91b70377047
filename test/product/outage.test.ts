/** The end of the product while Redis is away, and a product on a Redis Cluster. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectForCommands } from '../../src/redis/connect.ts';
import { startTestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest, statusRequest } from '../support/requests.ts';

const redis = testRedis();
let directory = '';
let server: ChildProcess | undefined;

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
};

const startRedis = async (...options: string[]): Promise<number> => {
  const port = await freePort();
  server = spawn(
    process.env.PARAPH_REDIS_SERVER ?? 'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--save', '', ...options],
    { stdio: 'ignore' },
  );
  const client = new Redis({ port, lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  await vi.waitFor(async () => client.connect(), { timeout: 10_000, interval: 50 });
  if (options.includes('--cluster-enabled')) {
    await client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await vi.waitFor(async () => expect(await client.call('CLUSTER', 'INFO')).toContain('cluster_state:ok'), {
      timeout: 10_000,
    });
  }
  client.disconnect();
  return port;
};

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'paraph-outage-'));
});

afterEach(async () => {
  if (server?.exitCode === null && server.signalCode === null) {
    server.kill('SIGKILL');
    await once(server, 'exit');
  }
  rmSync(directory, { recursive: true, force: true });
});

describe('a product whose Redis is gone', () => {
  it('still stops', async () => {
    const port = await startRedis();
    const product = await startTestProduct(redis, { redisUrl: `redis://127.0.0.1:${port}` });
    await product.post('/rest/service/sign', signRequest());
    server?.kill('SIGKILL');
    if (server !== undefined) await once(server, 'exit');
    await product.stop();
  }, 30_000);
});

describe('a Redis Cluster', () => {
  it('carries transactions over several shards', async () => {
    const port = await startRedis('--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1');
    const product = await startTestProduct(redis, {
      redisUrl: `redis://127.0.0.1:${port},redis://localhost:${port}`,
      configuration: { queue: { shards: 3 } },
    });
    try {
      for (let times = 0; times < 6; times += 1) {
        const { body } = await product.post('/rest/service/sign', signRequest());
        const status = await product.post(
          '/rest/service/status',
          statusRequest(body.MSS_SignatureResp.MSSP_TransID),
        );
        expect(status.body.MSS_StatusResp.Status.StatusMessage).toBe('SIGNATURE');
      }
    } finally {
      await product.stop();
    }
  }, 30_000);

  it('that is away is told to callers at once', async () => {
    const client = connectForCommands({ url: 'redis://127.0.0.1:9,redis://127.0.0.1:10' });
    client.on('error', () => undefined);
    await expect(client.ping()).rejects.toThrow();
    client.disconnect();
  });
});
