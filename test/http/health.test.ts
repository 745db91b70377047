/** Health for machines. While Redis is away: see redis-away.test.ts. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis, { workers: false });
});
afterAll(() => product.stop());

it.each([
  ['/livez', { status: 'alive' }],
  ['/readyz', { status: 'ready' }],
])('%s is 200 for a product that works', async (path, body) => {
  const response = await product.api.fetch(new Request(`http://test${path}`));
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('application/json');
  expect(await response.json()).toEqual(body);
});

it('leaves no line in the log, since it is asked all the time', () => {
  expect(product.logged).toEqual([]);
});
