import { expect, it } from 'vitest';
import { testRedis } from '../../support/redis.ts';

const redis = testRedis();

it('gives a test file a Redis and a prefix of its own', async () => {
  expect(redis.prefix).toMatch(/^test-redis-[0-9a-f]{10}$/);
  const client = redis.client();
  await client.set(`{${redis.prefix}-0}:key`, 'value');
  expect(await client.get(`{${redis.prefix}-0}:key`)).toBe('value');
  expect(await client.config('GET', 'appendonly')).toContain('yes');
});
