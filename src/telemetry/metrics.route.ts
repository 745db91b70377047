/**
 * `GET /metrics` in the text format of Prometheus. Scrapes that come together share one look.
 */
import { Hono } from 'hono';
import type { Registry } from 'prom-client';
import { type AccessSettings, createAccess } from './access.ts';
import type { Bindings } from './fetch.ts';

const refusals = {
  token: {
    status: 401,
    text: 'Metrics want the token of operations.metricsToken as Authorization: Bearer\n',
    headers: { 'www-authenticate': 'Bearer realm="metrics"' },
  },
  elsewhere: {
    status: 403,
    text: 'Without a token metrics are answered on this machine only: see operations.metricsToken\n',
    headers: {},
  },
} as const;

export const createMetricsRoutes = (
  registry: Registry,
  settings: AccessSettings,
): Hono<{ Bindings: Bindings }> => {
  const accessOf = createAccess(settings);
  let looking: Promise<string> | undefined;
  const look = (): Promise<string> => {
    looking ??= registry.metrics().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const routes = new Hono<{ Bindings: Bindings }>();
  routes.get('/metrics', async (c) => {
    const access = accessOf(c.req.header('authorization'), c.env?.incoming);
    if (access !== 'granted') {
      const { status, text, headers } = refusals[access];
      return c.text(text, status, { ...headers, 'cache-control': 'no-store' });
    }
    return c.body(await look(), 200, { 'content-type': registry.contentType, 'cache-control': 'no-store' });
  });
  return routes;
};
