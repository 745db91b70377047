/** The whole product behind a real socket, for the command to talk to. */
import { afterAll, beforeAll } from 'vitest';
import { listen, type RunningServer } from '../../src/http/server.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import type { TestRedis } from '../support/redis.ts';

export interface TestService {
  readonly product: TestProduct;
  readonly url: string;
}

/** Call at the top of a test file; read the result in tests. */
export const useService = (
  redis: TestRedis,
  configuration: () => Promise<Record<string, unknown>> = async () => ({}),
): (() => TestService) => {
  let product: TestProduct | undefined;
  let server: RunningServer | undefined;
  beforeAll(async () => {
    product = await startTestProduct(redis, { configuration: await configuration() });
    server = await listen({
      fetch: product.api.fetch,
      host: '127.0.0.1',
      port: 0,
      requestTimeoutMs: 10_000,
      headersTimeoutMs: 5000,
      tls: undefined,
    });
  });
  afterAll(async () => {
    server?.cut();
    await product?.stop();
    await server?.drain();
  });
  return () => {
    if (product === undefined || server === undefined) throw new Error('the service is not up yet');
    return { product, url: server.url };
  };
};
