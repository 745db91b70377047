/** Web Push against a push service of our own, which decrypts what it gets as a browser would. */
import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  hkdfSync,
  randomBytes,
  verify,
} from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testRedis } from '../../../test/support/redis.ts';
import { newNumber, type PhoneStage, soon, startPhoneStage } from './stage.ts';

const redis = testRedis();
let stage: PhoneStage;
let server: Server;
let address = '';
let status = 201;
const received: {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}[] = [];

const vapid = createECDH('prime256v1');
vapid.generateKeys();

/** The library leaves out leading zeros. */
const padded = (key: Buffer): string =>
  Buffer.concat([Buffer.alloc(32 - key.length), key]).toString('base64url');

const withPush = {
  phone: {
    push: {
      subject: 'mailto:ops@example.com',
      publicKey: vapid.getPublicKey('base64url'),
      privateKey: padded(vapid.getPrivateKey()),
    },
  },
};

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks),
      });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  stage = await startPhoneStage(redis, { configuration: withPush });
});
afterAll(async () => {
  await stage.product.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** The browser's part of a subscription. */
const createSubscriber = () => {
  const keys = createECDH('prime256v1');
  keys.generateKeys();
  const auth = randomBytes(16);
  return {
    keys: { p256dh: keys.getPublicKey('base64url'), auth: auth.toString('base64url') },
    /** RFC 8188 and RFC 8291, one record. */
    open: (body: Buffer): unknown => {
      const salt = body.subarray(0, 16);
      const idLength = body[20] ?? 0;
      const theirs = body.subarray(21, 21 + idLength);
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), keys.getPublicKey(), theirs]);
      const secret = Buffer.from(hkdfSync('sha256', keys.computeSecret(theirs), auth, info, 32));
      const key = Buffer.from(
        hkdfSync('sha256', secret, salt, 'Content-Encoding: aes128gcm\0', 16),
      );
      const nonce = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: nonce\0', 12));
      const sealed = body.subarray(21 + idLength);
      const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(sealed.subarray(-16));
      const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
      return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)).toString());
    },
  };
};

describe('a push message', () => {
  it('tells a phone that another one was set up for its number, and not the new one', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const subscriber = createSubscriber();
    const endpoint = `${address}/push/other`;
    await phone.call('PUT', 'push', { endpoint, expirationTime: null, keys: subscriber.keys });
    await stage.enrol(msisdn);
    const messages = () => received.filter(({ path }) => path === '/push/other');
    await soon(() => expect(messages()).toHaveLength(1));
    expect(subscriber.open(messages()[0]?.body ?? Buffer.alloc(0))).toEqual({ kind: 'enrolled' });
  });

  it('wakes a phone with the id of its prompt alone, signed by the service', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const subscriber = createSubscriber();
    const endpoint = `${address}/push/one`;
    expect((await phone.state()).body.push).toEqual({
      publicKey: vapid.getPublicKey('base64url'),
      subscribed: false,
    });
    expect(
      (await phone.call('PUT', 'push', { endpoint, expirationTime: null, keys: subscriber.keys }))
        .status,
    ).toBe(200);
    expect((await phone.state()).body.push.subscribed).toBe(true);
    const id = await stage.product.submit({ msisdn, text: 'A secret text' });
    const sent = await soon(
      () => received.find(({ path }) => path === '/push/one') ?? Promise.reject(new Error('none')),
    );
    expect(subscriber.open(sent.body)).toEqual({ kind: 'prompt', id: `${id}.1` });
    expect(Number(sent.headers.ttl)).toBeGreaterThan(0);
    expect(Number(sent.headers.ttl)).toBeLessThanOrEqual(60);
    expect(sent.headers).toMatchObject({ urgency: 'high', 'content-encoding': 'aes128gcm' });
    const [, token = ''] = /t=([^,]+)/.exec(sent.headers.authorization ?? '') ?? [];
    const [head = '', claims = '', signature = ''] = token.split('.');
    const [x, y] = [vapid.getPublicKey().subarray(1, 33), vapid.getPublicKey().subarray(33)];
    const jwk = { kty: 'EC', crv: 'P-256', x: x.toString('base64url'), y: y.toString('base64url') };
    const key = {
      key: createPublicKey({ key: jwk, format: 'jwk' }),
      dsaEncoding: 'ieee-p1363',
    } as const;
    expect(
      verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url')),
    ).toBe(true);
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      aud: address,
      sub: 'mailto:ops@example.com',
    });
    await phone.sign(await phone.prompted());
    await stage.ended(id, '500');
  });

  it('that its service refuses for good ends the subscription', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    await phone.call('PUT', 'push', {
      endpoint: `${address}/push/gone`,
      keys: createSubscriber().keys,
    });
    status = 410;
    await stage.product.submit({ msisdn });
    await soon(async () => expect((await phone.state()).body.push.subscribed).toBe(false));
    status = 201;
    expect((await phone.sign(await phone.prompted())).status).toBe(200);
  });

  it('never goes into the network of the operator', async () => {
    let connections = 0;
    const inside = createTcpServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
    const { port } = inside.address() as AddressInfo;
    const hosts = ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]'];
    const askAt = async (at: PhoneStage, host: string): Promise<void> => {
      const msisdn = newNumber();
      const phone = await at.enrol(msisdn);
      const { keys } = createSubscriber();
      expect((await phone.call('PUT', 'push', { endpoint: `ftp://${host}/`, keys })).status).toBe(
        400,
      );
      const subscription = { endpoint: `https://${host}:${port}/push`, keys };
      expect((await phone.call('PUT', 'push', subscription)).status).toBe(200);
      const id = await at.product.submit({ msisdn });
      expect((await phone.cancel(await phone.prompted())).status).toBe(200);
      await at.ended(id, '_401');
    };
    const queue = { prefix: `${redis.prefix.slice(-28)}-two` };
    const applicationProviders = [{ id: 'http://test.example' }];
    const production = await startPhoneStage(redis, {
      configuration: { sandbox: false, queue, applicationProviders, ...withPush },
    });
    try {
      for (const host of hosts) await askAt(production, host);
    } finally {
      // Waits for the messages in hand.
      await production.product.stop();
    }
    expect(connections).toBe(0);
    // A sandbox may send to its own machine, and there they arrive.
    await askAt(stage, '127.0.0.1');
    await soon(() => expect(connections).toBe(1));
    await new Promise((resolve) => inside.close(resolve));
  });

  it('is not sent to a phone that has unsubscribed', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    await phone.call('PUT', 'push', {
      endpoint: `${address}/push/ended`,
      keys: createSubscriber().keys,
    });
    expect((await phone.call('DELETE', 'push')).body).toEqual({ subscribed: false });
    const id = await stage.product.submit({ msisdn });
    await phone.sign(await phone.prompted());
    await stage.ended(id, '500');
    expect(received.some(({ path }) => path === '/push/ended')).toBe(false);
  });
});
