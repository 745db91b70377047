/**
 * What one process asks of a service behind a gateway when that one is slow, away, or has many open
 * transactions.
 */
import { randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createKeyCustody } from '../../../packages/pki/src/custody.ts';
import { testFiles } from '../../../test/support/gateway.ts';
import { createMemoryCustodyStore } from '../../../test/support/memory-custody-store.ts';
import { startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { profileRequest, signRequest } from '../../../test/support/requests.ts';

const redis = testRedis();
const writeFile = testFiles();
const robot = '+41790000001';
const numbers = {
  hanging: '+41790000101',
  open: '+41790000201',
  away: '+41790000301',
  dark: '+41790000401',
};

let product: TestProduct;
/** Requests to the service that answers nothing. */
const hanging = new Set<ServerResponse>();
let mostHanging = 0;
/** When the service that leaves all transactions open was asked how they stand. */
const polledAt: number[] = [];
/** Connections to the service that closes all of them. */
let refused = 0;
const ends: (() => void)[] = [];

const listen = async (server: ReturnType<typeof createServer>): Promise<string> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const status = (value: string) => ({
  StatusCode: { Value: value, ValueNs: 'x' },
  StatusMessage: 'x',
});

beforeAll(async () => {
  const hangingUrl = await listen(
    createServer((request, response) => {
      request.resume();
      hanging.add(response);
      mostHanging = Math.max(mostHanging, hanging.size);
      response.on('close', () => hanging.delete(response));
    }),
  );
  let count = 0;
  const openUrl = await listen(
    createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const isStatus = request.url?.endsWith('/status');
      if (isStatus) polledAt.push(Date.now());
      count += 1;
      const { MSS_SignatureReq: sign } = JSON.parse(Buffer.concat(chunks).toString());
      const answer = isStatus
        ? { MSS_StatusResp: { Status: status('504') } }
        : {
            MSS_SignatureResp: {
              MSSP_TransID: `H${count}`,
              SignatureProfile: sign.SignatureProfile,
              Status: status('100'),
            },
          };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    }),
  );
  const awayUrl = await listen(
    createServer().on('connection', (socket) => {
      refused += 1;
      socket.destroy();
    }),
  );
  const custody = createKeyCustody({
    store: createMemoryCustodyStore(),
    serviceKey: randomBytes(32),
    now: Date.now,
  });
  const [root] = await custody.trust();
  const trustAnchorsFile = writeFile(
    'roots.pem',
    new X509Certificate(root ?? Buffer.of()).toString(),
  );
  const gateway = (name: keyof typeof numbers, url: string, limits: object) => ({
    name,
    url,
    apId: 'http://us.example',
    trustAnchorsFile,
    repeats: 'joined',
    limits,
  });
  product = await startTestProduct(redis, {
    configuration: {
      sandbox: false,
      applicationProviders: [{ id: 'http://test.example' }, { id: 'http://other.example' }],
      gateways: [
        gateway('hanging', hangingUrl, { calls: 8 }),
        gateway('open', openUrl, { pollsPerSecond: 5 }),
        gateway('away', awayUrl, {}),
        gateway('dark', awayUrl, {}),
      ],
      subscribers: [
        { msisdn: robot, sim: {} },
        ...Object.entries(numbers).map(([upstream, msisdn]) => ({
          msisdn,
          sim: { device: { kind: 'gateway', upstream } },
        })),
      ],
    },
  });
});

afterAll(async () => {
  for (const end of ends) end();
  await product.stop();
});

const submitMany = (msisdn: string, count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, () => product.submit({ msisdn })));

it('a gateway that hangs holds its own places, a quarter of them for one application, and robots sign', async () => {
  await submitMany(numbers.hanging, 40);
  await vi.waitFor(() => expect(hanging.size).toBe(2), 20_000);
  const other = await product.submit({ msisdn: numbers.hanging, apId: 'http://other.example' });
  await vi.waitFor(() => expect(hanging.size).toBe(3), 20_000);
  const { body } = await product.post('/rest/service/sign', signRequest({ msisdn: robot }));
  expect(body.MSS_SignatureResp.Status.StatusCode.Value).toBe('500');
  expect(await product.statusOf(other, 'http://other.example')).toBe('504');
  expect(mostHanging).toBe(3);
});

it('a gateway is polled as often in a second as it allows, however many transactions are open there', async () => {
  const begun = Date.now();
  await submitMany(numbers.open, 20);
  await vi.waitFor(() => expect(polledAt.length).toBeGreaterThan(5), 20_000);
  await delay(4000);
  // None has its place before this, and each comes at its place or late (gateway.test.ts has each
  // second).
  const seconds = (Math.max(...polledAt) - begun) / 1000;
  expect(polledAt.length).toBeLessThanOrEqual(5 * (seconds + 2));
  expect(polledAt.length).toBeGreaterThan(10);
});

it('a gateway that is away is asked for few profiles', async () => {
  const begun = performance.now();
  const before = refused;
  for (let count = 0; count < 20; count += 1) {
    const { body } = await product.post('/rest/service/profile', profileRequest(numbers.dark));
    expect(body.Fault.Code.SubCode.Value).toBe('_209');
  }
  // Five in a row open the circuit breaker; then one in a second.
  const seconds = (performance.now() - begun) / 1000;
  expect(refused - before).toBeGreaterThanOrEqual(5);
  expect(refused - before).toBeLessThanOrEqual(5 + seconds + 1);
});

it('a gateway that is away is tried by one of many transactions at a time, and the log says that it is down', async () => {
  await submitMany(numbers.away, 30);
  await vi.waitFor(() => expect(product.logged.join('')).toContain('upstream down'), 20_000);
  // Calls that had begun before are refused still, on a busy machine for seconds.
  await vi.waitFor(async () => {
    const still = refused;
    await delay(1000);
    expect(refused - still).toBeLessThanOrEqual(2);
  }, 30_000);
  const before = refused;
  const begun = performance.now();
  await delay(3000);
  // Once in a second, and not each of the thirty.
  const seconds = (performance.now() - begun) / 1000;
  expect(refused - before).toBeLessThanOrEqual(seconds + 2);
  expect(refused).toBeGreaterThanOrEqual(5);
});
