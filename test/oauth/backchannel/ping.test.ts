/** Logins without a browser: the client is told when it makes sense to ask. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNotify } from '../../../src/oauth/backchannel/notify.ts';
import { createPingQueue } from '../../../src/oauth/backchannel/ping-queue.ts';
import { startTestProduct, type TestProduct } from '../../support/product.ts';
import { testRedis } from '../../support/redis.ts';
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
      const status = statuses[calls.filter((call) => call.path === path).length] ?? statuses.at(-1) ?? 204;
      calls.push({ path, method: request.method ?? '', token: request.headers.authorization, body });
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

const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
};

const endpoint = await openEndpoint();
afterAll(() => endpoint.close());

describe('one ping', () => {
  const notify = createNotify({ fetch, pausesMs: [20, 20], timeoutMs: 300 });
  const ping = (path: string) => ({ endpoint: `${endpoint.url}/${path}`, token: 'T', authReqId: 'R' });
  const callsOf = (path: string) => endpoint.calls.filter((call) => call.path === `/${path}`);
  const stays = new AbortController().signal;

  it.each([
    ['204', { kind: 'told' }, 1],
    ['200', { kind: 'told' }, 1],
    ['500-503-204', { kind: 'told' }, 3],
    ['1-1-204', { kind: 'told' }, 3],
    ['2-204', { kind: 'told' }, 2],
    ['502', { kind: 'failed', why: 'status 502' }, 3],
    ['404', { kind: 'failed', why: 'status 404' }, 1],
    ['302', { kind: 'failed', why: 'status 302' }, 1],
  ])('to an endpoint that answers %s ends as %o after %i calls', async (path, notified, calls) => {
    const before = callsOf('204').length;
    expect(await notify(ping(path), stays)).toEqual(notified);
    expect(callsOf(path)).toHaveLength(path === '204' ? before + calls : calls);
    // Whoever redirects does not get the token sent elsewhere.
    if (path === '302') expect(callsOf('204')).toHaveLength(before);
  });

  it('stops between two tries when the process leaves', async () => {
    const leaving = new AbortController();
    const patient = createNotify({ fetch, pausesMs: [60_000], timeoutMs: 300 });
    const notified = patient(ping('500-500'), leaving.signal);
    await until(() => callsOf('500-500').length === 1);
    leaving.abort();
    expect(await notified).toEqual({ kind: 'stopped' });
  });
});

describe('the queue of pings', () => {
  const member = (reference: string) => ({ tenantId: 'default', reference, expiresAt: 1_900_000_000_000 });

  it('gives a member to another process only when its own has not renewed it', async () => {
    const prefix = `${redis.prefix}-queue`;
    const [own, foreign] = [
      createPingQueue(redis.client(), prefix, 400),
      createPingQueue(redis.client(), prefix, 400),
    ];
    await own.add(member('renewed'));
    await own.add(member('left'));
    expect(await foreign.take(10)).toEqual([]);
    const taken: unknown[] = [];
    await until(async () => {
      await own.renew([member('renewed')]);
      taken.push(...(await foreign.take(10)));
      return taken.length > 0;
    });
    expect(taken).toEqual([member('left')]);
    await own.release([member('renewed')]);
    expect(await foreign.take(10)).toEqual([member('renewed')]);
    await foreign.remove(member('renewed'));
    await own.renew([member('renewed')]);
    await own.release([member('left')]);
    expect(await own.take(10)).toEqual([member('left')]);
  });

  it('gives each member to one of many that take at the same time', async () => {
    const queue = createPingQueue(redis.client(), `${redis.prefix}-many`, 10_000);
    const members = Array.from({ length: 20 }, (_, index) => member(`m${index}`));
    for (const each of members) await queue.add(each);
    await queue.release(members);
    const taken = (await Promise.all(Array.from({ length: 8 }, () => queue.take(5)))).flat();
    expect(taken.map(({ reference }) => reference).sort()).toEqual(
      members.map((each) => each.reference).sort(),
    );
  });
});

describe('a client in ping mode', async () => {
  const backchannel = { kind: 'ping', notificationEndpoint: `${endpoint.url}/204-204` };
  const kiosk = await createCibaClient('kiosk', { backchannel });
  const calls = (): readonly Call[] => endpoint.calls.filter(({ path }) => path === '/204-204');
  const callsWith = (token: string): readonly Call[] =>
    calls().filter((call) => call.token === `Bearer ${token}`);

  const options = {
    listen: true,
    masterKey: randomBytes(32),
    configuration: { publicUrl: 'http://127.0.0.1:9', ...configurationFor([kiosk]) },
  };
  let one: TestProduct;
  beforeAll(async () => {
    one = await startTestProduct(redis, options);
    await one.api.oauth.prepare();
  });
  afterAll(() => one.stop());

  const begin = async (product: TestProduct, token: string, number = slow): Promise<string> => {
    const answer = await kiosk.ask(product, { login_hint: number, client_notification_token: token });
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
    const member = (await loginOf(one, authReqId)).reference;
    const queued = async () =>
      (await redis.client().zrange(`${one.configuration.queue.prefix}:oidc:pings`, '0', '-1')).join(' ');
    await until(async () => !(await queued()).includes(member));
    expect(callsWith('token-happy')).toHaveLength(1);
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
    const authReqId = await begin(first, 'token-gone');
    await first.stop();
    await until(() => callsWith('token-gone').length > 0);
    expect((await kiosk.poll(one, authReqId)).status).toBe(200);
  });

  it('is told by another process when the first is cut off from everything', async () => {
    const first = await startTestProduct(redis, { ...options, workers: false });
    const authReqId = await begin(first, 'token-cut');
    first.core.commands.disconnect();
    await until(() => callsWith('token-cut').length > 0);
    expect((await kiosk.poll(one, authReqId)).status).toBe(200);
    expect(callsWith('token-cut')).toHaveLength(1);
    await first.stop();
  }, 30_000);

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
