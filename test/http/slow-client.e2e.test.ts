/**
 * Clients that are slow on purpose, many at a time: what matters is that they are ended and that
 * others do not notice. What each single one is told is in hostile-connection.test.ts.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import {
  type Connection,
  closeConnections,
  connectTo,
  exchange,
  post,
  postHead,
} from './socket.ts';
import { expectSignature } from './wire.ts';

const path = '/rest/service/sign';
const crowd = 100;

const redis = testRedis();
let product: TestProduct;
let url: string;

/** All that a connection may take, in seconds. */
const patience = (seconds: number) => ({
  http: {
    requestTimeoutSeconds: seconds,
    headersTimeoutSeconds: seconds,
    keepAliveSeconds: seconds,
  },
});

beforeAll(async () => {
  product = await startTestProduct(redis, { configuration: patience(1), listen: true });
  url = product.url;
  subscribe('net.server.socket', accept);
});

afterAll(async () => {
  unsubscribe('net.server.socket', accept);
  closeConnections();
  await product.stop();
});

/**
 * The server's side of every connection. A client that reads nothing hears of its end only when it
 * reads again.
 */
const accepted = new Set<Socket>();
const accept = (message: unknown): void => {
  const { socket } = message as { socket: Socket };
  if (socket.localPort === Number(new URL(url).port)) accepted.add(socket);
};
const openAtServer = (): number => [...accepted].filter(({ destroyed }) => !destroyed).length;

const othersAreServed = async (): Promise<void> => {
  await expectSignature(
    product,
    await exchange(url, post(path, signRequest())),
    'Sign in to Example?',
  );
};
afterEach(othersAreServed);

/** @param drip Sent again and again until the server has had enough. */
const beSlow = async (start: string, drip: string): Promise<Connection> => {
  const connection = await connectTo(url);
  connection.socket.write(start);
  const dripping = setInterval(() => connection.socket.write(drip), 50);
  void connection.closed.then(() => clearInterval(dripping));
  return connection;
};

describe('a crowd of clients', () => {
  it.each([
    ['headers', postHead(path).slice(0, -2), 'X-A: b\r\n'],
    [
      'a chunked body',
      postHead(path, 'Transfer-Encoding: chunked', 'Connection: close'),
      '1\r\n \r\n',
    ],
    ['a body of known length', postHead(path, 'Content-Length: 60000', 'Connection: close'), ' '],
  ])(
    'that send %s byte by byte is ended, and others are served meanwhile',
    async (_what, start, drip) => {
      const connections = await Promise.all(
        Array.from({ length: crowd }, () => beSlow(start, drip)),
      );
      await othersAreServed();
      await Promise.all(connections.map(({ closed }) => closed));
    },
  );

  it('that keep their connections without using them is ended', async () => {
    const connections = await Promise.all(
      Array.from({ length: crowd }, async () => {
        const connection = await connectTo(url);
        connection.socket.write(post(path, {}));
        await connection.answered();
        return connection;
      }),
    );
    await Promise.all(connections.map(({ closed }) => closed));
  });
});

describe('a client that does not read its answers', () => {
  /** So many answers that no buffer of the kernel hides them. */
  const count = 100;
  const request = 'GET /openapi.json HTTP/1.1\r\nHost: test\r\n\r\n'.repeat(count);

  it('is ended, however much it asked for', async () => {
    accepted.clear();
    const connections = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const connection = await connectTo(url);
        connection.socket.pause();
        connection.socket.write(request);
        return connection;
      }),
    );
    await othersAreServed();
    await expect.poll(() => accepted.size, { timeout: 20_000 }).toBeGreaterThan(connections.length);
    await expect.poll(openAtServer, { timeout: 20_000 }).toBe(0);
    for (const { socket } of connections) socket.resume();
    await Promise.all(connections.map(({ closed }) => closed));
  });

  it('but slowly is served to the end', async () => {
    // Whether it reads is looked at every second: a stall of the machine is not all of three looks.
    const configuration = patience(3);
    const patient = await startTestProduct(redis, { workers: false, configuration, listen: true });
    onTestFinished(() => patient.stop());
    const begun = performance.now();
    const { socket, closed } = await connectTo(patient.url);
    let received = 0;
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), 35);
    });
    socket.write(
      request.replace(
        /HTTP\/1.1\r\nHost: test\r\n\r\n$/,
        'HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n',
      ),
    );
    await closed;
    // Longer in all than it may rest.
    expect(performance.now() - begun).toBeGreaterThan(3000);
    const length = (await (await fetch(`${url}/openapi.json`)).arrayBuffer()).byteLength;
    expect(received).toBeGreaterThan(count * length);
  });
});

describe('a client that closes its half of the connection', () => {
  it.each([
    ['before it has said anything', ''],
    ['within a request', `${postHead(path, 'Content-Length: 100')}{"MSS_`],
    ['after a request', post(path, signRequest())],
  ])('has hung up, and is ended: %s', async (_when, bytes) => {
    const { socket, closed } = await connectTo(url);
    socket.end(bytes);
    await closed;
  });
});
