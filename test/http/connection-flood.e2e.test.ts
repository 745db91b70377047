/**
 * More connections than anybody needs: idle ones, silent ones, and more than the server takes.
 * Whoever has something to say gets through.
 */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { listen, type RunningServer } from '../../src/http/server.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { closeConnections, connectTo, exchange, post } from './socket.ts';
import { expectSignature } from './wire.ts';

const path = '/rest/service/sign';

const redis = testRedis();
let product: TestProduct;
const servers: RunningServer[] = [];

const start = async (options: {
  readonly headersTimeoutMs?: number;
  readonly maxConnections?: number;
}): Promise<string> => {
  const server = await listen({
    fetch: product.api.fetch,
    host: '127.0.0.1',
    port: 0,
    requestTimeoutMs: 30_000,
    headersTimeoutMs: 30_000,
    keepAliveMs: 30_000,
    tls: undefined,
    ...options,
  });
  servers.push(server);
  return server.url;
};

beforeAll(async () => {
  product = await startTestProduct(redis);
});

afterAll(async () => {
  closeConnections();
  for (const server of servers) {
    server.cut();
    await server.drain();
  }
  await product.stop();
});

/** A machine that is too slow for all of them refuses some for a while, who then try again. */
const othersAreServed = async (url: string): Promise<void> => {
  const answer = await vi.waitFor(
    async () => {
      const tried = await exchange(url, post(path, signRequest()));
      expect(tried.body.Fault?.Detail ?? '').not.toContain('overloaded');
      return tried;
    },
    { timeout: 30_000, interval: 20 },
  );
  await expectSignature(product, answer, 'Sign in to Example?');
};

describe('two thousand connections', () => {
  /**
   * Without what `connectTo` keeps for each: two thousand of these are in one process with the
   * server.
   */
  const connectMany = async (url: string, count: number): Promise<readonly Promise<void>[]> => {
    const { hostname, port } = new URL(url);
    const closed: Promise<void>[] = [];
    const open = (): Promise<Socket> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(port), hostname);
        socket.once('connect', () => resolve(socket));
        socket.once('error', reject);
        closed.push(new Promise((gone) => socket.once('close', () => gone())));
        socket.resume();
      });
    while (closed.length < count) await Promise.all(Array.from({ length: 100 }, open));
    return closed;
  };

  it('that say nothing do not keep others from being served, and are ended', async () => {
    const url = await start({ headersTimeoutMs: 1500 });
    const closed = await connectMany(url, 2000);
    await othersAreServed(url);
    await Promise.all(closed);
    await othersAreServed(url);
  });
});

describe('a server that has as many connections as it takes', () => {
  it('ends those that are idle when somebody comes who is not', async () => {
    const url = await start({ maxConnections: 20 });
    const idle = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const connection = await connectTo(url);
        connection.socket.write(post(path, {}));
        await connection.answered();
        return connection;
      }),
    );
    // The one that comes too many is not let in, but it makes room.
    const turnedAway = await connectTo(url);
    await turnedAway.closed;
    await Promise.all(idle.map(({ closed }) => closed));
    await othersAreServed(url);
  });

  it('keeps those that wait for an answer', async () => {
    const url = await start({ maxConnections: 2 });
    await product.stopWorkers();
    const waiting = await Promise.all([connectTo(url), connectTo(url)]);
    for (const { socket } of waiting) socket.write(post(path, signRequest()));
    await expect
      .poll(() => redis.client().llen(`{${product.configuration.queue.prefix}-0}:signatures:wait`))
      .toBe(2);
    const turnedAway = await connectTo(url);
    await turnedAway.closed;
    await product.startWorkers();
    for (const { answered } of waiting) {
      const [answer] = await answered();
      if (answer === undefined) throw new Error('No answer');
      await expectSignature(product, answer, 'Sign in to Example?');
    }
  });
});

describe('one connection with many requests in one go', () => {
  it('gets all its answers while others are served', async () => {
    const url = await start({});
    const { socket, answers, closed } = await connectTo(url);
    const request = (header: string) => post(path, signRequest({ mode: 'asynch' }), header);
    socket.write(
      Array.from({ length: 500 }, () => request('X-More: yes')).join('') +
        request('Connection: close'),
    );
    await othersAreServed(url);
    await closed;
    // Each of them has been held against the interface.
    expect(answers()).toHaveLength(501);
  });
});
