/**
 * `GET /metrics` in the text format of Prometheus. Scrapes that come together share one look.
 *
 * Metrics hold no secrets and no numbers, but they do name the application providers and tell how business goes. So they
 * are not for everybody who can reach the API. With a token, whoever shows it; that is the way for a scraper on another
 * machine. Without one, only this machine, which is what a sandbox and a scraper beside the process need; a request that a
 * proxy has passed on does not count as such, because to us everybody behind a proxy on this machine comes from here. Or
 * everybody, when the configuration says so: for a network that only the scraper can reach.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import type { Registry } from 'prom-client';
import { createAddressList, isForwarded } from '../http/trusted-proxy.ts';
import type { Bindings } from './http-metrics.ts';

export interface AccessSettings {
  readonly token?: string | undefined;
  readonly open: boolean;
}

const loopback = createAddressList(['127.0.0.0/8', '::1']);

/** Compares digests, so that neither content nor length shows in the time it takes. */
const isSame = (shown: string, token: string): boolean =>
  timingSafeEqual(hash('sha256', shown, 'buffer'), hash('sha256', token, 'buffer'));

/** @returns Undefined when the caller may read them. */
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
  return !isForwarded(incoming) && loopback(incoming?.socket?.remoteAddress) ? undefined : 'elsewhere';
};

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
  let looking: Promise<string> | undefined;
  const look = (): Promise<string> => {
    looking ??= registry.metrics().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const routes = new Hono<{ Bindings: Bindings }>();
  routes.get('/metrics', async (c) => {
    const refusal = refusalOf(settings, c.req.header('authorization'), c.env?.incoming);
    if (refusal !== undefined) {
      const { status, text, headers } = refusals[refusal];
      return c.text(text, status, { ...headers, 'cache-control': 'no-store' });
    }
    return c.body(await look(), 200, { 'content-type': registry.contentType, 'cache-control': 'no-store' });
  });
  return routes;
};
