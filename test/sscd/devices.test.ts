import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyCustody } from '../../packages/pki/src/custody.ts';
import type { DeviceSpec, Sscd } from '../../src/registry/subscriber.ts';
import { createDevices } from '../../src/sscd/devices.ts';
import { createOutbox, createWebhookGateway, readOutbox } from '../../src/sscd/text-gateway.ts';
import { createMemoryCustodyStore } from '../support/memory-custody-store.ts';
import { testRedis } from '../support/redis.ts';
import { type DeviceUnderTest, describeDevice, personWith, sscdWith } from './device-contract.ts';

const redis = testRedis();
const custody = createKeyCustody({
  store: createMemoryCustodyStore(),
  serviceKey: randomBytes(32),
  now: Date.now,
});

const outbox = () => createOutbox(redis.client(), redis.prefix, Date.now);
const onSim = (spec: DeviceSpec, algorithm?: Sscd['algorithm']) => (): DeviceUnderTest => {
  const sscd = sscdWith(spec, algorithm);
  const device = createDevices({ custody, gateway: outbox() }).deviceFor({ method: 'sim', sscd });
  return { device, custody, subscriber: personWith(sscd), sscd };
};

describeDevice('the robot with an EC key', onSim({ kind: 'robot', thinkSeconds: 0 }));
describeDevice('the robot with an RSA key', onSim({ kind: 'robot', thinkSeconds: 0 }, 'RSA'));
describeDevice('the robot that thinks', onSim({ kind: 'robot', thinkSeconds: 20 }));
for (const sign of ['signs', 'never-answers', { fault: 401 }] as const) {
  for (const receipt of ['accepts', 'cancels', 'ignores', 'never-answers'] as const) {
    const name = typeof sign === 'string' ? sign : `fault ${sign.fault}`;
    describeDevice(
      `the simulated person (${name}, receipt: ${receipt})`,
      onSim({ kind: 'simulated', sign, receipt }),
    );
  }
}
for (const method of ['otp-text', 'otp-flash'] as const) {
  describeDevice(`the one-time password (${method})`, () => ({
    device: createDevices({ custody, gateway: outbox() }).deviceFor({ method }),
    custody,
    subscriber: undefined,
    sscd: undefined,
  }));
}

const otpPrompt = {
  transactionId: 'H00aaa',
  attempt: 1,
  apId: 'http://test.example',
  msisdn: '41791234567',
  subscriber: undefined,
  sscd: undefined,
  data: { kind: 'text', text: 'Your code is 123456' },
  nonce: new Uint8Array(20),
  language: undefined,
  promptedAt: 0,
  now: 0,
  deadline: 60_000,
} as const;

describe('the one-time password', () => {
  it('puts a text into the outbox once, however often the attempt is asked', async () => {
    const client = redis.client();
    const device = createDevices({
      custody,
      gateway: createOutbox(client, redis.prefix, Date.now),
    }).deviceFor({
      method: 'otp-flash',
    });
    const prompt = { ...otpPrompt, msisdn: '41790000001' };
    await device.prompt(prompt);
    await device.prompt(prompt);
    expect(await readOutbox(client, redis.prefix, '41790000001', Date.now())).toEqual([
      { id: 'H00aaa-1', msisdn: '41790000001', text: 'Your code is 123456', flash: true },
    ]);
  });
});

describe('the webhook of text messages', () => {
  const received: { headers: Record<string, unknown>; body: unknown }[] = [];
  let server: Server;
  let status = 204;
  let url = '';

  beforeAll(async () => {
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        received.push({ headers: request.headers, body: JSON.parse(text) });
        response.writeHead(status, status === 302 ? { location: 'http://127.0.0.1:9/' } : {}).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}/sms`;
  });

  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const ask = (to: string) =>
    createDevices({ custody, gateway: createWebhookGateway(to) })
      .deviceFor({ method: 'otp-text' })
      .prompt(otpPrompt);

  it('is posted number, text and an idempotency key', async () => {
    status = 204;
    expect(await ask(url)).toEqual({ kind: 'answered', answer: { kind: 'delivered' } });
    expect(received.at(-1)).toMatchObject({
      headers: { 'content-type': 'application/json', 'idempotency-key': 'H00aaa-1' },
      body: { id: 'H00aaa-1', msisdn: '41791234567', text: 'Your code is 123456', flash: false },
    });
  });

  it.each([500, 302])('is unreachable for the device when it answers %i', async (code) => {
    status = code;
    expect(await ask(url)).toMatchObject({ kind: 'unreachable' });
  });

  it.each([
    [422, true],
    [401, true],
    [408, false],
    [429, false],
    [500, false],
    [302, false],
  ])(
    'has refused this text alone, or works for nobody, by its answer %i: %s',
    async (code, refused) => {
      status = code;
      expect(await ask(url)).toMatchObject({ kind: 'unreachable', refused });
    },
  );

  it('is unreachable when nobody listens, and the cause names neither address nor text', async () => {
    const result = await ask('http://127.0.0.1:9/secret-path');
    expect(result).toMatchObject({ kind: 'unreachable' });
    expect(JSON.stringify(result)).not.toMatch(/secret-path|123456|127\.0\.0\.1/);
  });
});
