/** Logins without a browser: the client is told when it makes sense to ask. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectForBlocking, connectForCommands, disconnect } from '../../../src/redis/connect.ts';
import { startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { until } from '../../../test/support/soon.ts';
import { createPingWork } from '../ping.worker.ts';
import { notify } from '../pings.ts';
import { configurationFor, createCibaClient, loginOf } from './ciba-client.ts';

const redis = testRedis();
const slow = '+41790000002';
const silent = '+41790000001';

interface Call {
  readonly path: string;
  readonly method: string;
  readonly token: string | undefined;
  readonly body: string;
}

/** A notification endpoint that answers as the path says: `/500-500-204` fails twice. */
const openEndpoint = async () => {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      const path = request.url ?? '';
      const statuses = path.slice(1).split('-').map(Number);
      const status =
        statuses[calls.filter((call) => call.path === path).length] ?? statuses.at(-1) ?? 204;
      calls.push({
        path,
        method: request.method ?? '',
        token: request.headers.authorization,
        body,
      });
      if (status === 1) return void request.socket.destroy();
      if (status === 2) return;
      response.writeHead(status, status === 302 ? { location: '/204' } : {}).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    calls,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const endpoint = await openEndpoint();
afterAll(() => endpoint.close());

describe('one call', () => {
  const callsOf = (path: string) => endpoint.calls.filter((call) => call.path === `/${path}`);

  it.each([
    ['204', { kind: 'told' }],
    ['200', { kind: 'told' }],
    ['503', { kind: 'failed', why: 'status 503' }],
    ['1', { kind: 'failed', why: 'TypeError' }],
    ['2', { kind: 'failed', why: 'TimeoutError' }],
    ['404', { kind: 'refused', why: 'status 404' }],
    ['302', { kind: 'refused', why: 'status 302' }],
  ])('of an endpoint that answers %s ends as %o', async (path, notified) => {
    const before = callsOf('204').length;
    const signal = AbortSignal.timeout(path === '2' ? 300 : 30_000);
    const told = await notify(`${endpoint.url}/${path}`, { token: 'T', authReqId: 'R' }, signal);
    expect(told).toEqual(notified);
    expect(callsOf(path)).toHaveLength(path === '204' ? before + 1 : 1);
    // Whoever redirects does not get the token sent elsewhere.
    if (path === '302') expect(callsOf('204')).toHaveLength(before);
  });
});

describe('a login that waits', () => {
  it('is given up when its request expires, and nothing is left of it', async () => {
    const [commands, blocking] = [
      connectForCommands({ url: redis.url }),
      connectForBlocking({ url: redis.url }),
    ];
    const errors: Error[] = [];
    for (const connection of [commands, blocking])
      connection.on('error', (error) => errors.push(error));
    const stops: AbortSignal[] = [];
    const prefix = `${redis.prefix}-w`;
    const work = createPingWork(
      {
        untilSettled: (_, stop) => {
          stops.push(stop);
          return new Promise((_resolve, reject) => stop.addEventListener('abort', reject));
        },
        ping: () => Promise.reject(new Error('There is nothing to tell')),
      },
      { commands, blocking, prefix, onError: (error) => errors.push(error) },
    );
    work.start();
    await work.add({ tenantId: 'default', reference: 'B1', lifetimeMs: 400 });
    await until(() => stops.length === 1);
    await until(async () => (await redis.client().exists(`{${prefix}-0}:pings:B1`)) === 0);
    expect(stops.map(({ aborted }) => aborted)).toEqual([true]);
    expect(errors).toEqual([]);
    await work.close();
    await Promise.all([disconnect(commands), disconnect(blocking)]);
  });
});

describe('a client in ping mode', async () => {
  const backchannel = { kind: 'ping', notificationEndpoint: `${endpoint.url}/204-204` };
  const kiosk = createCibaClient('kiosk', { backchannel });
  const calls = (): readonly Call[] => endpoint.calls.filter(({ path }) => path === '/204-204');
  const callsWith = (token: string): readonly Call[] =>
    calls().filter((call) => call.token === `Bearer ${token}`);

  const at = (path: string) => ({
    backchannel: { kind: 'ping', notificationEndpoint: `${endpoint.url}/${path}` },
  });
  const clients = {
    flaky: createCibaClient('flaky', at('500-1-204')),
    broken: createCibaClient('broken', at('502')),
    deaf: createCibaClient('deaf', at('404')),
  };
  const jobOf = (reference: string): string =>
    `{${one.configuration.queue.prefix}-0}:pings:${reference}`;

  const options = {
    listen: true,
    masterKey: randomBytes(32),
    configuration: {
      publicUrl: 'http://127.0.0.1:9',
      ...configurationFor([kiosk, ...Object.values(clients)]),
    },
  };
  let one: TestProduct;
  beforeAll(async () => {
    one = await startTestProduct(redis, options);
    await one.api.oauth.prepare();
  });
  afterAll(() => one.stop());

  const begin = async (product: TestProduct, token: string, number = slow): Promise<string> => {
    const answer = await kiosk.ask(product, {
      login_hint: number,
      client_notification_token: token,
    });
    expect([answer.status, answer.body]).toMatchObject([200, { auth_req_id: expect.any(String) }]);
    return answer.body.auth_req_id;
  };

  it('is told once, with its own token, and then gets tokens', async () => {
    const authReqId = await begin(one, 'token-happy');
    await until(() => callsWith('token-happy').length > 0);
    expect(callsWith('token-happy')).toEqual([
      {
        path: '/204-204',
        method: 'POST',
        token: 'Bearer token-happy',
        body: JSON.stringify({ auth_req_id: authReqId }),
      },
    ]);
    expect((await kiosk.poll(one, authReqId)).status).toBe(200);
    const { reference } = await loginOf(one, authReqId);
    await until(async () => (await redis.client().exists(jobOf(reference))) === 0);
    expect(callsWith('token-happy')).toHaveLength(1);
  });

  it.each([
    ['flaky', '500-1-204', 3, []],
    ['broken', '502', 3, ['client broken could not be notified: status 502']],
    ['deaf', '404', 1, ['client deaf could not be notified: status 404']],
  ] as const)('is tried as long as that is worth while: %s', async (id, path, calls, logged) => {
    const client = clients[id];
    const token = `token-${id}`;
    const answer = await client.ask(one, { login_hint: slow, client_notification_token: token });
    const { reference } = await loginOf(one, answer.body.auth_req_id);
    expect(await redis.client().exists(jobOf(reference))).toBe(1);
    await until(async () => (await redis.client().exists(jobOf(reference))) === 0);
    expect(endpoint.calls.filter((call) => call.token === `Bearer ${token}`)).toEqual(
      Array.from({ length: calls }, () => expect.objectContaining({ path: `/${path}` })),
    );
    const said = one.logged.flatMap(
      (line) => new RegExp(`client ${id} could not[^"]*`).exec(line)?.[0] ?? [],
    );
    expect(said).toEqual(logged);
    expect((await client.poll(one, answer.body.auth_req_id)).status).toBe(200);
  });

  it('is told of a failure, too', async () => {
    const authReqId = await begin(one, 'token-failed', '+41000092401');
    await until(() => callsWith('token-failed').length > 0);
    expect((await kiosk.poll(one, authReqId)).body.error).toBe('access_denied');
  });

  it('must bring a token', async () => {
    const { status, body } = await kiosk.ask(one, { login_hint: slow });
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  it('is told by another process when the first has gone in good order', async () => {
    const first = await startTestProduct(redis, { ...options, workers: false });
    await first.api.oauth.prepare();
    const authReqId = await begin(first, 'token-gone');
    await first.stop();
    expect(first.logged.filter((line) => line.includes('trouble'))).toEqual([]);
    await until(() => callsWith('token-gone').length > 0);
    expect((await kiosk.poll(one, authReqId)).status).toBe(200);
  });

  it('is told by another process when the first is cut off from everything', async () => {
    const first = await startTestProduct(redis, { ...options, workers: false });
    await first.api.oauth.prepare();
    const authReqId = await begin(first, 'token-cut');
    first.core.commands.disconnect();
    await until(() => callsWith('token-cut').length > 0);
    expect((await kiosk.poll(one, authReqId)).status).toBe(200);
    expect(callsWith('token-cut')).toHaveLength(1);
    await first.stop();
  });

  it('is told by another process when the one that waits for the login dies', async () => {
    const prefix = `${one.configuration.queue.prefix}-d`;
    const start = async (workers: boolean): Promise<TestProduct> => {
      const configuration = { ...options.configuration, queue: { prefix } };
      const product = await startTestProduct(redis, { ...options, configuration, workers });
      await product.api.oauth.prepare();
      return product;
    };
    const first = await start(false);
    const authReqId = await begin(first, 'token-dies');
    const { reference } = await loginOf(first, authReqId);
    const job = `{${prefix}-0}:pings:${reference}`;
    const held = () => redis.client().zrange(`{${prefix}-0}:pings:tries:held`, 0, '-1');
    await until(async () => (await held()).some((name) => name.startsWith(`${reference} `)));
    for (const connection of [first.core.commands, first.core.blocking]) connection.disconnect();
    const second = await start(true);
    try {
      await until(() => callsWith('token-dies').length > 0);
      expect((await kiosk.poll(second, authReqId)).status).toBe(200);
      await until(async () => (await redis.client().exists(job)) === 0);
      expect(callsWith('token-dies')).toHaveLength(1);
    } finally {
      await Promise.all([first.stop(), second.stop()]);
    }
  });

  it('cannot be found by its job, nor its request, number or token', async () => {
    const authReqId = await begin(one, 'token-hidden', silent);
    const job = jobOf((await loginOf(one, authReqId)).reference);
    await until(async () => (await redis.client().hexists(job, 'progress')) === 1);
    const stored = JSON.stringify(await redis.client().hgetall(job));
    expect(stored).toContain('default');
    for (const secret of [authReqId, 'token-hidden', 'kiosk', silent.slice(1), endpoint.url])
      expect(stored).not.toContain(secret);
  });

  it('leaves nothing running when the process leaves', async () => {
    const first = await startTestProduct(redis, { ...options, workers: false });
    await begin(first, 'token-open', silent);
    await first.stop();
    expect(callsWith('token-open')).toEqual([]);
  });

  it('finds its token neither in keys nor in the log', async () => {
    await begin(one, 'token-secret');
    await until(() => callsWith('token-secret').length > 0);
    const keys = await redis.client().keys(`*${one.configuration.queue.prefix}*`);
    expect([...keys, ...one.logged].join('\n')).not.toContain('token-secret');
  });
});
