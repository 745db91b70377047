import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attributesToSign, completeCms } from '../../src/pki/cms.ts';
import { createKeyCustody } from '../../src/pki/custody.ts';
import type { DeviceAnswer } from '../../src/protocol/outcome.ts';
import { bytesToSign } from '../../src/protocol/requests.ts';
import type { DeviceSpec, Sscd } from '../../src/registry/subscriber.ts';
import type { Prompt } from '../../src/sscd/device.ts';
import { createDevices } from '../../src/sscd/devices.ts';
import { phoneDevices, promptIdOf } from '../../src/sscd/phone.ts';
import { createPhonePrompts } from '../../src/sscd/phone-prompts.ts';
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
const now = () => 1_000_000;
const prompts = createPhonePrompts({
  redis: redis.client(),
  prefix: redis.prefix,
  serviceKey: randomBytes(32),
  now,
});
const phones = phoneDevices({ prompts, now });

const onSim = (spec: DeviceSpec, algorithm?: Sscd['algorithm']) => (): DeviceUnderTest => {
  const sscd = sscdWith(spec, algorithm);
  const device = createDevices({ custody, gateway: outbox(), kinds: [phones] }).deviceFor({
    method: 'sim',
    sscd,
  });
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
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** What a browser does: it signs the bytes that the prompt gives, for the prompt that it has. */
const signByHand = async ({ transactionId, attempt, msisdn }: Prompt): Promise<DeviceAnswer> => {
  const found = await prompts.find(msisdn, promptIdOf(transactionId, attempt));
  if (found?.kind !== 'open') throw new Error('The phone has no such prompt');
  const { certificates, id } = await custody.certify({ msisdn, sscdId: 'phone-a' }, publicKey);
  const content = bytesToSign(found.prompt.data);
  const nonce = Buffer.from(found.prompt.nonce, 'base64');
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  const signature = sign('sha256', attributesToSign(content, nonce), key);
  const cms =
    completeCms({ content, nonce, signature, certificate: certificates[0] }) ?? new Uint8Array();
  return { kind: 'signature', cms: Buffer.from(cms).toString('base64'), certificates: id };
};
describe('the prompts of a number that is asked often', () => {
  it('are forgotten an hour after their end or their deadline', async () => {
    let at = 1_000_000_000;
    const common = { redis: redis.client(), prefix: redis.prefix, serviceKey: randomBytes(32) };
    const often = createPhonePrompts({ ...common, now: () => at });
    const msisdn = '41791112299';
    const ask = async (id: string): Promise<void> => {
      const data = { kind: 'text', text: 'Yes?' } as const;
      const times = { promptedAt: at, deadline: at + 60_000 };
      await often.put(msisdn, {
        id,
        kind: 'sign',
        transactionId: id,
        attempt: 1,
        apId: 'ap',
        data,
        nonce: '',
        ...times,
      });
    };
    for (let count = 0; count < 40; count += 1) {
      await ask(`old${count}.1`);
      // Every fourth one has no end but its deadline.
      if (count % 4 > 0) await often.end(msisdn, `old${count}.1`, { why: 'elsewhere' });
    }
    at += 2 * 3_600_000;
    for (let count = 0; count < 40; count += 1) {
      await ask(`new${count}.1`);
      await often.end(msisdn, `new${count}.1`, { why: 'signed', by: 'a' });
    }
    const fields = await redis.client().hkeys(`${redis.prefix}:phone:${msisdn}:prompts`);
    expect(fields.filter((field) => field.includes('old'))).toEqual([]);
    expect(fields).toHaveLength(40);
    expect(await often.find(msisdn, 'new0.1')).toEqual({ kind: 'ended', why: 'signed', by: 'a' });
  });
});

describeDevice('the phone in the browser', () => ({
  ...onSim({ kind: 'phone' })(),
  answers: signByHand,
}));

for (const method of ['otp-text', 'otp-flash'] as const) {
  describeDevice(`the one-time password (${method})`, () => ({
    device: createDevices({ custody, gateway: outbox(), kinds: [phones] }).deviceFor({ method }),
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
