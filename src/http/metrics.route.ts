/**
 * `GET /metrics` in the text format of Prometheus.
 *
 * Metrics hold no secrets and no phone numbers, but they name the application providers and show
 * the volume of business. So access is limited: with a configured token, to anyone who shows it,
 * also from other machines; without one, to this machine, but not to requests that a proxy has
 * forwarded, since behind a local proxy everyone comes from this machine. Or the configuration
 * opens them to everyone, for a network that only the scraper can reach.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import { isLoopbackAddress } from '../../packages/protocol/src/loopback.ts';
import type { Bindings } from './metrics.ts';
import { isForwarded } from './trusted-proxy.ts';

/** The source of the metrics at `/metrics`. */
export interface ToldMetrics {
  readonly contentType: string;
  metrics(): Promise<string>;
}

export interface AccessSettings {
  readonly token?: string | undefined;
  readonly open: boolean;
}

/** Compares digests in constant time, so that neither content nor length leaks. */
const isSame = (shown: string, token: string): boolean =>
  timingSafeEqual(hash('sha256', shown, 'buffer'), hash('sha256', token, 'buffer'));

/** @returns Undefined when the caller has access. */
const refusalOf = (
  { token, open }: AccessSettings,
  authorization: string | undefined,
  incoming: IncomingMessage | undefined,
): keyof typeof refusals | undefined => {
  if (token !== undefined) {
    const shown = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
    return isSame(shown, token) ? undefined : 'token';
  }
  if (open) return undefined;
  return !isForwarded(incoming) && isLoopbackAddress(incoming?.socket?.remoteAddress ?? '')
    ? undefined
    : 'elsewhere';
};

const refusals = {
  token: {
    status: 401,
    text: 'Metrics need the token of operations.metricsToken as Authorization: Bearer\n',
    headers: { 'www-authenticate': 'Bearer realm="metrics"' },
  },
  elsewhere: {
    status: 403,
    text: 'Without a token metrics are answered on this machine only: see operations.metricsToken\n',
    headers: {},
  },
} as const;

export const createMetricsRoutes = (
  registry: ToldMetrics,
  settings: AccessSettings,
): Hono<{ Bindings: Bindings }> => {
  const routes = new Hono<{ Bindings: Bindings }>();
  routes.get('/metrics', async (c) => {
    const refusal = refusalOf(settings, c.req.header('authorization'), c.env?.incoming);
    if (refusal !== undefined) {
      const { status, text, headers } = refusals[refusal];
      return c.text(text, status, { ...headers, 'cache-control': 'no-store' });
    }
    const metrics = await registry.metrics();
    return c.body(metrics, 200, {
      'content-type': registry.contentType,
      'cache-control': 'no-store',
    });
  });
  return routes;
};
