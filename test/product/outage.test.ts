/** The end of the product while Redis is away, and a product on a Redis Cluster. */
import { afterEach, describe, expect, it } from 'vitest';
import { connectForCommands } from '../../src/redis/connect.ts';
import { startTestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { type RunningRedis, startRedisServer } from '../support/redis-server.ts';
import { signRequest, statusRequest } from '../support/requests.ts';

const redis = testRedis();
let server: RunningRedis | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

describe('a product whose Redis is gone', () => {
  it('still stops', async () => {
    server = await startRedisServer();
    const product = await startTestProduct(redis, { redisUrl: `redis://127.0.0.1:${server.port}` });
    await product.post('/rest/service/sign', signRequest());
    await server.stop();
    await product.stop();
  }, 30_000);
});

describe('a Redis Cluster', () => {
  it('carries transactions over several shards', async () => {
    server = await startRedisServer({
      more: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
    });
    const { port } = server;
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
