/**
 * Connections that misbehave: bodies without end, senders that dawdle, HTTP that is none. On real
 * sockets, because what is at stake is what the server does before a request is complete.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listen, type RunningServer } from '../../src/http/server.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { closeConnections, connectTo, exchange, flood, post, postHead } from './socket.ts';
import { expectFault, expectSignature } from './wire.ts';

const megabyte = 1024 * 1024;
const path = '/rest/service/sign';
const thinking = '41790000001';

const redis = testRedis();
let product: TestProduct;
let server: RunningServer;
let url: string;
/** The address of every request that reached a route. */
const asked: string[] = [];

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: {
      http: { requestTimeoutSeconds: 0.3 },
      subscribers: [{ msisdn: thinking, sim: { device: { kind: 'robot', thinkSeconds: 0.8 } } }],
    },
  });
  server = await listen({
    fetch: (request, bindings) => {
      asked.push(request.url);
      return product.api.fetch(request, bindings);
    },
    host: '127.0.0.1',
    port: 0,
    requestTimeoutMs: 300,
    headersTimeoutMs: 300,
    tls: undefined,
  });
  url = server.url;
});

afterAll(async () => {
  closeConnections();
  server.cut();
  await server.drain();
  await product.stop();
});

// Whatever has been tried: the next one is served.
afterEach(async () => {
  await expectSignature(
    product,
    await exchange(url, post(path, signRequest())),
    'Sign in to Example?',
  );
});

describe('a body that is too large', () => {
  // Its time must not run out before its length does, on a busy machine either.
  let patient: TestProduct;
  let url: string;
  beforeAll(async () => {
    const configuration = { http: { requestTimeoutSeconds: 20, headersTimeoutSeconds: 20 } };
    patient = await startTestProduct(redis, { workers: false, configuration, listen: true });
    url = patient.url;
  });
  afterAll(() => patient.stop());

  it.each([1, 100])('of %i MB, announced, is fault 103 although it is not sent', async (size) => {
    const answer = await exchange(url, postHead(path, `Content-Length: ${size * megabyte}`));
    expectFault(answer, 103, 'The request body is limited to 65536 bytes');
  });

  it('of 5 MB is fault 103 also for a client that sends all of it before it looks for an answer', async () => {
    const head = postHead(path, `Content-Length: ${5 * megabyte}`, 'Connection: close');
    for (let times = 0; times < 5; times += 1) {
      expectFault(await exchange(url, head, Buffer.alloc(5 * megabyte, ' ')), 103);
    }
  });

  it('is fault 103 for whoever sends it all the same, and nobody reads it to its end', async () => {
    const { socket, answered, closed } = await connectTo(url);
    socket.write(postHead(path, `Content-Length: ${400 * megabyte}`));
    const sending = flood(socket, Buffer.alloc(65_536, ' '), 400 * megabyte);
    const [answer] = await answered();
    if (answer !== undefined) expectFault(answer, 103);
    await closed;
    expect(await sending).toBeLessThan(400 * megabyte);
  });

  it('without a length is fault 103 as soon as it is too long, long before it was all sent', async () => {
    const { socket, answered, closed } = await connectTo(url);
    socket.write(postHead(path, 'Transfer-Encoding: chunked'));
    const piece = Buffer.concat([
      Buffer.from('10000\r\n'),
      Buffer.alloc(65_536, ' '),
      Buffer.from('\r\n'),
    ]);
    const sending = flood(socket, piece, 100 * megabyte);
    const [answer] = await answered();
    if (answer !== undefined)
      expectFault(answer, 103, 'The request body is limited to 65536 bytes');
    expect(socket.bytesWritten).toBeLessThan(50 * megabyte);
    await closed;
    expect(await sending).toBeLessThan(100 * megabyte);
  });

  it('of 1 MB in chunks is fault 103', async () => {
    const answer = await exchange(
      url,
      postHead(path, 'Transfer-Encoding: chunked'),
      `100000\r\n${' '.repeat(megabyte)}\r\n0\r\n\r\n`,
    );
    expectFault(answer, 103);
  });
});

describe('a sender that dawdles', () => {
  it('within the body gets fault 101', async () => {
    const answer = await exchange(
      url,
      postHead(path, 'Content-Length: 100'),
      '{"MSS_SignatureReq":',
    );
    expectFault(answer, 101, 'The request body did not arrive in time');
  });

  it('within a chunked body gets fault 101, though it sends a byte now and then', async () => {
    const { socket, answered } = await connectTo(url);
    socket.write(postHead(path, 'Transfer-Encoding: chunked'));
    const dripping = setInterval(() => socket.write('1\r\n \r\n'), 50);
    const [answer] = await answered().finally(() => clearInterval(dripping));
    if (answer !== undefined) expectFault(answer, 101, 'The request body did not arrive in time');
  });

  it('within the headers gets fault 101 and is cut off, as is whoever says nothing at all', async () => {
    const heads = [
      'POST /rest/service/sign HT',
      `${postHead(path).slice(0, -2)}X-Slow: 1\r\nX-Sl`,
      '',
    ];
    const connections = await Promise.all(
      heads.map(async (head) => {
        const connection = await connectTo(url);
        connection.socket.write(head);
        return connection;
      }),
    );
    await Promise.all(connections.map(({ closed }) => closed));
    for (const { answers } of connections.slice(0, 2)) {
      expect(answers().map(({ body }) => body.Fault.Detail)).toEqual([
        'The request did not arrive in time',
      ]);
    }
  });

  it.each([
    ['late', `${postHead(path).slice(0, -2)}X-Slow: 1\r\n`, 'The request did not arrive in time'],
    ['malformed', 'Hello\r\n', 'The request is not valid HTTP'],
  ])(
    'that was refused because it is %s is cut off also when it never hangs up',
    async (_why, head, detail) => {
      const { socket, answered, closed } = await connectTo(url, { allowHalfOpen: true });
      socket.write(head);
      const [answer] = await answered();
      expect(answer?.body.Fault.Detail).toBe(detail);
      const dripping = setInterval(() => socket.write('X-A: b\r\n'), 50);
      await closed.finally(() => clearInterval(dripping));
    },
  );

  it('and completes its request after the refusal is not served', async () => {
    const { socket, answers, answered, closed } = await connectTo(url, { allowHalfOpen: true });
    const late = '/rest/service/sign?late';
    const request = post(late, signRequest());
    socket.write(request.slice(0, 40));
    await answered();
    socket.write(request.slice(40));
    const dripping = setInterval(() => socket.write(' '), 50);
    await closed.finally(() => clearInterval(dripping));
    expect(answers()).toHaveLength(1);
    expect(asked).not.toContain(`http://test${late}`);
  });

  it('who hangs up while a user thinks loses nothing: the same request joins, and gets the signature', async () => {
    const request = post(path, signRequest({ msisdn: thinking }));
    const { socket, closed } = await connectTo(url);
    socket.write(request);
    await expect
      .poll(() => product.logged.some((line) => line.includes('device asked')))
      .toBe(true);
    socket.destroy();
    await closed;
    const asked = product.logged.filter((line) => line.includes('device asked')).length;
    await expectSignature(product, await exchange(url, request), 'Sign in to Example?');
    expect(product.logged.filter((line) => line.includes('device asked'))).toHaveLength(asked);
  });

  it('who hangs up in the middle does no harm', async () => {
    const { socket, closed } = await connectTo(url);
    socket.end(`${postHead(path, 'Content-Length: 100')}{"MSS_`);
    await closed;
    const other = await connectTo(url);
    other.socket.write(`${postHead(path, 'Content-Length: 100')}{"MSS_`);
    other.socket.destroy();
    await other.closed;
  });
});

describe('a server', () => {
  it('starts although its headers may take longer than the request that they belong to', async () => {
    const impatient = await listen({
      fetch: product.api.fetch,
      host: '127.0.0.1',
      port: 0,
      requestTimeoutMs: 100,
      headersTimeoutMs: 60_000,
      tls: undefined,
    });
    await expectSignature(
      product,
      await exchange(impatient.url, post(path, signRequest())),
      'Sign in to Example?',
    );
    impatient.cut();
    await impatient.drain();
  });
});

describe('malformed HTTP', () => {
  it.each([
    ['garbage', 'GARBAGE\r\n\r\n'],
    ['another protocol', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a version that is unknown', 'POST /rest/service/sign HTTP/9.9\r\nHost: test\r\n\r\n'],
    ['a control character in a header', postHead(path, 'X-Odd: a\x00b')],
    ['a header without a colon', postHead(path, 'X-Odd')],
    ['a space before the colon', postHead(path, 'Content-Length : 5')],
    ['a negative length', postHead(path, 'Content-Length: -1')],
    ['a length in words', postHead(path, 'Content-Length: many')],
    ['two lengths', postHead(path, 'Content-Length: 1', 'Content-Length: 2')],
    ['a length and chunks', postHead(path, 'Content-Length: 5', 'Transfer-Encoding: chunked')],
    ['chunks that are none', `${postHead(path, 'Transfer-Encoding: chunked')}zz\r\n`],
    ['headers of 20 KB', postHead(path, `X-Huge: ${'x'.repeat(20_000)}`)],
    [
      'a thousand headers',
      postHead(path, ...Array.from({ length: 2000 }, (_, i) => `X-${i}: 1234567`)),
    ],
    ['a line of 20 KB', `POST /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: test\r\n\r\n`],
  ])('is answered with a Fault, and the connection ended: %s', async (_what, bytes) => {
    const { socket, answers, closed } = await connectTo(url);
    socket.write(bytes, 'latin1');
    await closed;
    const [answer, ...others] = answers();
    expect(others).toEqual([]);
    expect(answer?.body.Fault).toMatchObject({ Reason: 'WRONG_PARAM' });
  });

  it('after a good request spoils no answer but its own', async () => {
    const { socket, answers, closed } = await connectTo(url);
    socket.write(`${post(path, signRequest())}GARBAGE\r\n\r\n`);
    await closed;
    // The garbage is found before the signature is there, and the connection has but one end.
    for (const { body } of answers())
      expect(['Fault', 'MSS_SignatureResp']).toContain(Object.keys(body)[0]);
    expect(answers().length).toBeGreaterThan(0);
  });

  it.each([
    ['without a Host', post(path, signRequest()).replace('Host: test\r\n', '')],
    [
      'with HTTP/1.0',
      post(path, signRequest()).replace('HTTP/1.1', 'HTTP/1.0').replace('Host: test\r\n', ''),
    ],
    ['with an absolute target', post(path, signRequest()).replace(' /rest', ' http://test/rest')],
    ['with a query', post(`${path}?a=b`, signRequest())],
    ['that expects 100-continue', post(path, signRequest(), 'Expect: 100-continue')],
    ['that expects something else', post(path, signRequest(), 'Expect: the-worst')],
    ['that would upgrade', post(path, signRequest(), 'Connection: Upgrade', 'Upgrade: websocket')],
    ['with an unknown content coding', post(path, signRequest(), 'Content-Encoding: UTF-8')],
  ])(
    'does not come about by an odd but valid request, which is served: %s',
    async (_how, bytes) => {
      await expectSignature(product, await exchange(url, bytes), 'Sign in to Example?');
    },
  );

  it.each([
    'Host: a b',
    'Host: http://[',
    'Host: test/../..',
    'Host: test:99999999',
    'Host: user@test',
  ])('in the Host alone is served, or a Fault: %s', async (host) => {
    const answer = await exchange(url, post(path, signRequest()).replace('Host: test', host));
    expect([200, 500]).toContain(answer.status);
  });
});

describe('one connection', () => {
  it('serves requests that are sent in one go, in their order', async () => {
    const { socket, answered } = await connectTo(url);
    const texts = ['One?', 'Two?', 'Three?'];
    socket.write(texts.map((text) => post(path, signRequest({ text }))).join(''));
    const answers = await answered(3);
    for (const [index, answer] of answers.entries()) {
      await expectSignature(product, answer, texts[index] ?? '');
    }
  });

  it('goes on after a Fault', async () => {
    const { socket, answered } = await connectTo(url);
    socket.write(post(path, {}) + post(path, signRequest()));
    const [refused, served] = await answered(2);
    expect([refused?.status, served?.status]).toEqual([500, 200]);
  });
});
