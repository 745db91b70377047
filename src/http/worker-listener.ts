/** The optional listener of a worker process: metrics and health, nothing else. */
import { Hono } from 'hono';
import { createHealthRoutes, type HealthCheck } from './health.route.ts';
import { listen, type RunningServer } from './server.ts';

const timeoutMs = 5000;
const maxConnections = 64;

/**
 * @param options.routes The route of `/metrics`.
 * @throws When the address is taken.
 */
export const startWorkerListener = async (options: {
  readonly host: string;
  /** The port; 0 chooses a free one. */
  readonly port: number;
  // biome-ignore lint/suspicious/noExplicitAny: only the routes know what they need of the server.
  readonly routes: Hono<any>;
  readonly checks: readonly HealthCheck[];
}): Promise<RunningServer> => {
  const { host, port, routes, checks } = options;
  const app = new Hono();
  app.route('/', routes);
  app.route('/', createHealthRoutes(checks));
  app.notFound((c) => c.text('There are /metrics, /livez and /readyz\n', 404));
  app.onError((_error, c) => c.text('Something went wrong\n', 500));
  return listen({
    fetch: (request, bindings) => app.fetch(request, bindings),
    host,
    port,
    requestTimeoutMs: timeoutMs,
    headersTimeoutMs: timeoutMs,
    keepAliveMs: 65_000,
    maxConnections,
    tls: undefined,
  });
};
