/** The console of `api-stage.ts`, listening on a port of its own. */
import { listen } from '../../../src/http/server.ts';
import type { TestProductOptions } from '../../support/product.ts';
import type { TestRedis } from '../../support/redis.ts';
import { startApiStage } from '../api-stage.ts';

export type ConsoleStage = Awaited<ReturnType<typeof startConsoleStage>>;

export const startConsoleStage = async (
  redis: TestRedis,
  charts: TestProductOptions['charts'] = [],
) => {
  const stage = await startApiStage(redis, charts);
  stage.runner();
  const server = await listen({
    fetch: async (request, bindings) => stage.console.routes.fetch(request, bindings ?? {}),
    refusal: stage.product.api.refusal,
    host: '127.0.0.1',
    port: 0,
    requestTimeoutMs: 30_000,
    headersTimeoutMs: 30_000,
    tls: undefined,
  });
  return {
    ...stage,
    url: server.url,
    /** Path and query of a login link. */
    newLink: async () => `/admin/login/link?token=${(await stage.operators.issueLink()).secret}`,
    close: async () => {
      stage.console.endWaiting();
      server.cut();
      await server.drain();
      await stage.close();
    },
  };
};
