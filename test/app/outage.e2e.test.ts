/** The end of the product while Redis is away, and a Redis Cluster that is. */
import { describe, expect, it } from 'vitest';
import { connectForCommands } from '../../src/redis/connect.ts';
import { startTestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { startRedisServer } from '../support/redis-server.ts';
import { signRequest } from '../support/requests.ts';

const redis = testRedis();

describe('a product whose Redis is gone', () => {
  it('still stops', async () => {
    const server = await startRedisServer();
    const product = await startTestProduct(redis, { redisUrl: `redis://127.0.0.1:${server.port}` });
    await product.post('/rest/service/sign', signRequest());
    await server.stop();
    await product.stop();
  });
});

describe('a Redis Cluster', () => {
  it('that is away is told to callers at once', async () => {
    const client = connectForCommands({ url: 'redis://127.0.0.1:9,redis://127.0.0.1:10' });
    client.on('error', () => undefined);
    await expect(client.ping()).rejects.toThrow();
    client.disconnect();
  });
});
