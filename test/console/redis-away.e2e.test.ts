/** The console and the admin API while Redis is away: each answer says so, and is no HTTP 500. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { type RunningRedis, startRedisServer } from '../support/redis-server.ts';

const names = testRedis();
let server: RunningRedis;
let product: TestProduct;
let headers: Readonly<Record<string, string>>;

const fetchPath = (path: string, init: RequestInit = {}): Promise<Response> =>
  Promise.resolve(
    product.api.fetch(
      new Request(`http://test${path}`, { ...init, headers: { ...headers, ...init.headers } }),
    ),
  );

beforeAll(async () => {
  server = await startRedisServer();
  product = await startTestProduct(names, { redisUrl: `redis://127.0.0.1:${server.port}` });
  headers = { host: 'test', origin: 'http://test' };
  const link = new URL(await product.api.consoleLink());
  const login = await fetchPath(link.pathname, {
    method: 'POST',
    body: new URLSearchParams({ token: link.searchParams.get('token') ?? '' }),
  });
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  headers = { ...headers, cookie };
  const session = (await (await fetchPath('/admin/api/session')).json()) as { csrf: string };
  headers = { ...headers, 'x-csrf-token': session.csrf };
  await fetchPath('/admin/queues/api/queues');
  await server.stop();
});
afterAll(() => product?.stop());

describe('while Redis is away', () => {
  it.each([
    ['GET', '/admin/api/session'],
    ['GET', '/admin/api/overview'],
    ['GET', '/admin/api/transactions'],
    ['GET', '/admin/api/refusals'],
    ['GET', '/admin/api/callbacks'],
    ['GET', '/admin/api/queues'],
    ['GET', '/admin/api/audit'],
    ['GET', '/admin/api/workflows'],
    ['GET', '/admin/queues/api/queues'],
    ['POST', '/admin/api/certificates/revoke'],
    ['DELETE', '/admin/api/tokens/none'],
  ])('%s %s answers 503 with the reason, and when to ask again', async (method, path) => {
    const answer = await fetchPath(path, { method });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    const { error, message } = (await answer.json()) as { error: string; message: string };
    expect([error, message]).toEqual(['unavailable', expect.stringMatching(/^Redis /)]);
  });

  it.each([
    '/admin',
    '/admin/transactions',
    '/admin/refusals',
    '/admin/callbacks',
    '/admin/users',
    '/admin/certificates',
    '/admin/queues',
  ])('the page %s is answered 503 with a page that says why', async (path) => {
    const answer = await fetchPath(path);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    const page = await answer.text();
    expect(page).toContain('<h1>Redis is not available</h1>');
    expect(page).toContain('HTTP 503');
  });
});
