/** Who may read /metrics, and the address of a worker. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Hono } from 'hono';
import { Counter, Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { type AccessSettings, createMetricsRoutes } from '../../src/http/metrics.route.ts';
import type { RunningServer } from '../../src/http/server.ts';
import { startWorkerListener } from '../../src/http/worker-listener.ts';

const registry = new Registry();
new Counter({ name: 'paraph_things_total', help: 'Things.', registers: [registry] }).inc();

const from = (
  remoteAddress: string | undefined,
  headers: Record<string, string> = {},
): IncomingMessage => {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  const message = new IncomingMessage(socket);
  Object.assign(message.headers, headers);
  return message;
};

const ask = async (
  settings: AccessSettings,
  incoming: IncomingMessage | undefined,
  authorization?: string,
): Promise<Response> =>
  createMetricsRoutes(registry, settings).fetch(
    new Request('http://test/metrics', {
      headers: authorization === undefined ? {} : { authorization },
    }),
    incoming === undefined ? {} : { incoming },
  );

describe('without a token', () => {
  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])('answers %s', async (address) => {
    const response = await ask({ open: false }, from(address));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect(await response.text()).toContain('paraph_things_total 1');
  });

  it.each(['192.0.2.7', '10.0.0.1', '2001:db8::1', '::ffff:192.0.2.7', undefined])(
    'refuses %s',
    async (address) => {
      const response = await ask({ open: false }, from(address));
      expect(response.status).toBe(403);
      expect(await response.text()).not.toContain('paraph_');
    },
  );

  it.each(['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'])(
    'refuses what a proxy on this machine has passed on (%s)',
    async (header) => {
      expect(
        (await ask({ open: false }, from('127.0.0.1', { [header]: '192.0.2.7' }))).status,
      ).toBe(403);
    },
  );

  it('answers everybody when it is told to', async () => {
    expect((await ask({ open: true }, from('192.0.2.7'))).status).toBe(200);
  });
});

describe('with a token', () => {
  const token = 'a-token-of-some-length';
  it.each([
    ['the token', `Bearer ${token}`, 200],
    ['the token behind a scheme in other letters', `bearer ${token}`, 200],
    ['nothing', undefined, 401],
    ['another token', 'Bearer another-token', 401],
    ['the beginning of it', `Bearer ${token.slice(0, -1)}`, 401],
    ['more than it', `Bearer ${token}x`, 401],
    ['another scheme', `Basic ${token}`, 401],
    ['an empty one', 'Bearer ', 401],
  ])('answers %s with the status it deserves', async (_what, authorization, status) => {
    const response = await ask({ token, open: false }, from('192.0.2.7'), authorization);
    expect(response.status).toBe(status);
    if (status === 401) expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  it('wants it on this machine, too, and when it is open', async () => {
    expect((await ask({ token, open: true }, from('127.0.0.1'))).status).toBe(401);
  });
});

describe('the address of a worker', () => {
  let server: RunningServer | undefined;
  afterEach(async () => {
    server?.cut();
    await server?.drain();
    server = undefined;
  });
  const start = async (ok: boolean, access: AccessSettings = { open: false }): Promise<string> => {
    server = await startWorkerListener({
      host: '127.0.0.1',
      port: 0,
      routes: createMetricsRoutes(registry, access),
      checks: [{ name: 'workers', trouble: 'no', look: async () => ({ ok }) }],
    });
    return server.url;
  };
  const statuses = async (url: string, ...paths: string[]): Promise<readonly number[]> =>
    Promise.all(
      paths.map(async (path) => {
        const response = await fetch(`${url}${path}`, { headers: { connection: 'close' } });
        await response.arrayBuffer();
        return response.status;
      }),
    );

  it('has metrics and health, and nothing else', async () => {
    const url = await start(true);
    expect(
      await statuses(url, '/metrics', '/livez', '/readyz', '/', '/rest/service', '/admin'),
    ).toEqual([200, 200, 200, 404, 404, 404]);
  });

  it('says when the worker is not ready', async () => {
    expect(await statuses(await start(false), '/readyz', '/livez')).toEqual([503, 200]);
  });

  it('answers a bug without its words', async () => {
    const routes = new Hono();
    routes.get('/metrics', () => {
      throw new Error('secret');
    });
    server = await startWorkerListener({ host: '127.0.0.1', port: 0, routes, checks: [] });
    const response = await fetch(`${server.url}/metrics`, { headers: { connection: 'close' } });
    expect([response.status, await response.text()]).toEqual([500, 'Something went wrong\n']);
  });
});
