/**
 * A text gateway that takes requests and does not answer: what it holds up, and what becomes of the
 * texts.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DelayedError } from 'bullmq';
import { afterEach, describe, expect, it } from 'vitest';
import { refuse } from '../../packages/protocol/src/fault.ts';
import { createDevices } from '../../src/sscd/devices.ts';
import { createWebhookGateway } from '../../src/sscd/text-gateway.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';
import { startByHand } from './by-hand.ts';

const redis = testRedis();
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

interface Text {
  readonly id: string;
  readonly msisdn: string;
}

/** Texts to whom it answers; the others hang until it is told to answer them. */
const startGateway = async (answers: (text: Text) => boolean = () => false) => {
  const received: Text[] = [];
  const receivedAt: number[] = [];
  const hanging = new Set<ServerResponse>();
  let answersNow = answers;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const text: Text = JSON.parse(body);
      received.push(text);
      receivedAt.push(Date.now());
      if (answersNow(text)) response.writeHead(204).end();
      else hanging.add(response);
    });
    response.on('close', () => hanging.delete(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    received,
    receivedAt,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/send`,
    inHand: (): number => hanging.size,
    answerAll: (): void => {
      answersNow = () => true;
      for (const response of hanging) response.writeHead(204).end();
    },
    close: async (): Promise<void> => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
};

let services = 0;
const start = async ({
  answers,
  concurrency = 50,
  textTimeoutMs = 5000,
}: {
  answers?: (text: Text) => boolean;
  concurrency?: number;
  textTimeoutMs?: number;
} = {}) => {
  const gateway = await startGateway(answers);
  services += 1;
  const service = await startTestProduct(
    { ...redis, prefix: `${redis.prefix.slice(-20)}-${services}` },
    {
      configuration: {
        otp: { gateway: { kind: 'webhook', url: gateway.url } },
        workers: { concurrency },
      },
      textTimeoutMs,
    },
  );
  stops.push(service.stop, gateway.close);
  return { gateway, service };
};

const flood = 'http://flood.example';
const other = 'http://other.example';
const otpProfile = 'http://mid.vendor.ch/MID/v1/OtpProfileText';
let number = 41_790_000_000;

const submitText = async (
  service: TestProduct,
  options: Parameters<typeof signRequest>[0] = {},
): Promise<string> => {
  number += 1;
  const request = signRequest({
    profile: otpProfile,
    msisdn: `+${number}`,
    mode: 'asynch',
    apId: flood,
    ...options,
  });
  const { body } = await service.post('/rest/service/sign', request);
  return body.MSS_SignatureResp.MSSP_TransID;
};

const submitTexts = (
  service: TestProduct,
  count: number,
  options?: Parameters<typeof signRequest>[0],
): Promise<readonly string[]> =>
  Promise.all(Array.from({ length: count }, () => submitText(service, options)));

const signTo = async (service: TestProduct, msisdn: string) => {
  const { status, body } = await service.post(
    '/rest/service/sign',
    signRequest({ apId: other, msisdn }),
  );
  return body.Fault?.Code.SubCode.Value ?? status;
};

const endOf = async (service: TestProduct, id: string): Promise<string> => {
  const state = (await service.api.transactions.find(id))?.state;
  return state?.kind === 'failed' ? String(state.fault.code) : String(state?.kind);
};

/** How they all ended, by how many. */
const endsOf = async (service: TestProduct, ids: readonly string[]) => {
  const look = async () => {
    const found = await Promise.all(ids.map((id) => endOf(service, id)));
    expect(found.filter((end) => end === 'open')).toEqual([]);
    return found;
  };
  // Each look reads them all.
  const ends = await soon(look, 20_000, 250);
  return Object.fromEntries(
    [...new Set(ends)].map((end) => [end, ends.filter((e) => e === end).length]),
  );
};

describe('while a gateway hangs that one application sends texts to', () => {
  it.each([
    [50, 120, '+41700092501', 200],
    [2, 60, '+41700092501', 200],
    [1, 60, '+41700092501', 200],
    [1, 60, '+41000092401', '_401'],
  ])(
    'a process of %i turns at a time serves another application beside %i of them: %s answers %s',
    async (concurrency, count, msisdn, end) => {
      // A turn that waited for the gateway would last longer than this test.
      const { gateway, service } = await start({ concurrency, textTimeoutMs: 3_600_000 });
      await submitTexts(service, count);
      await soon(() => expect(gateway.inHand()).toBeGreaterThan(0));
      const ends = [];
      for (let request = 0; request < 10; request += 1) ends.push(await signTo(service, msisdn));
      expect(ends).toEqual(ends.map(() => end));
    },
    90_000,
  );

  it('asks it for few at a time, then for one now and then, and sends all when it answers', async () => {
    const { gateway, service } = await start();
    const ids = await submitTexts(service, 120);
    await soon(() => expect(gateway.inHand()).toBe(50));
    const downAt = await soon(() => {
      const line = service.logged.find((logged) => logged.includes('upstream down'));
      return Number(JSON.parse(line ?? '').time);
    });
    // The fifth failure opens the breaker. Each of the four before it gives its place to another.
    const before = gateway.receivedAt.filter((at) => at <= downAt).length;
    expect(before).toBeGreaterThanOrEqual(50);
    expect(before).toBeLessThanOrEqual(54);
    // What was under way when it opened ends, and after that there is one try at a time.
    await soon(() => expect(gateway.received.length).toBeGreaterThan(50));
    await soon(() => expect(gateway.inHand()).toBe(1));
    gateway.answerAll();
    expect(await endsOf(service, ids)).toEqual({ signed: 120 });
    expect(service.logged.join('')).toContain('upstream back');
    const sent = new Set(gateway.received.map(({ id }) => id));
    expect(sent.size).toBe(120);
  }, 90_000);

  it('ends with fault 209 at their deadline, those that never had a turn too', async () => {
    const { gateway, service } = await start();
    // Time enough for the first look of a worker at each of them, on a slow machine too.
    const ids = await submitTexts(service, 60, { timeoutSeconds: 8 });
    expect(await endsOf(service, ids)).toEqual({ 209: 60 });
    expect(new Set(gateway.received.map(({ id }) => id)).size).toBeLessThan(60);
  });
});

describe('texts of one application that hang', () => {
  it('leave those of another their places at the same gateway, and their turn when it seems down', async () => {
    const theirs = '41780000001';
    const { gateway, service } = await start({ answers: ({ msisdn }) => msisdn === theirs });
    await submitTexts(service, 120);
    await soon(() => expect(gateway.inHand()).toBe(50));
    const beside = await submitText(service, { apId: other, msisdn: `+${theirs}` });
    expect(await endsOf(service, [beside])).toEqual({ signed: 1 });
    await soon(() => expect(service.logged.join('')).toContain('upstream down'));
    const behind = await submitText(service, { apId: other, msisdn: `+${theirs}` });
    expect(await endsOf(service, [behind])).toEqual({ signed: 1 });
  }, 90_000);
});

describe('a text whose application is not allowed any more', () => {
  it('says nothing of the gateway, which it does not ask', async () => {
    const byHand = await startByHand(redis, {});
    stops.push(byHand.stop);
    const { product, shard, take } = byHand;
    await submitText(product);
    const verdicts: string[] = [];
    const place = { kind: 'place', end: (verdict: string) => void verdicts.push(verdict) } as const;
    const job = await take(shard.signatures, 'hand');
    const real = product.core.providersOver(product.core.blocking);
    let looks = 0;
    const turn = byHand.signatureTurn({
      upstreams: { turn: () => place, turnWaitsMs: () => 0 },
      providers: {
        ...real,
        checkStored: (request) => {
          looks += 1;
          return looks === 1 ? real.checkStored(request) : refuse(104);
        },
      },
      devices: createDevices({
        custody: product.core.custodyOver(product.core.blocking),
        gateway: createWebhookGateway('http://127.0.0.1:9/send'),
      }),
    });
    const reason = await turn(job, 'hand').catch((error: Error) => error);
    expect([looks, verdicts]).toEqual([2, ['not-asked']]);
    expect(reason).toMatchObject({ message: expect.stringContaining('_104') });
  });
});

describe('a process that dies while the gateway has a text', () => {
  it('leaves it to another, which sends the same text again under the same id', async () => {
    const gateway = await startGateway();
    const hand = await startByHand(
      { ...redis, prefix: `${redis.prefix.slice(-20)}-dies` },
      { otp: { gateway: { kind: 'webhook', url: gateway.url } } },
    );
    stops.push(gateway.close, hand.stop);
    const { signatures } = hand.shard;
    const custody = hand.product.core.custodyOver(hand.product.core.blocking);
    const process = (changes: Parameters<typeof hand.signatureTurn>[0] = {}) =>
      hand.signatureTurn({
        devices: createDevices({ custody, gateway: createWebhookGateway(gateway.url) }),
        sleepsMeanwhile: true,
        ...changes,
      });
    const id = await submitText(hand.product);
    const first = await hand.take(signatures, 'first');
    await expect(process({ dies: true })(first, 'first')).rejects.toThrow(DelayedError);
    await soon(() => expect(gateway.inHand()).toBe(1));
    // While its hold lasts, whoever looks leaves the text to the process that has it.
    const early = await hand.wakeAndTake(signatures, id, 'early');
    await expect(process()(early, 'early')).rejects.toThrow(DelayedError);
    expect(gateway.received).toHaveLength(1);
    // Afterwards another one sends it.
    const now = () => Date.now() + 15_000;
    const second = await hand.wakeAndTake(signatures, id, 'second');
    await expect(process({ now })(second, 'second')).rejects.toThrow(DelayedError);
    await soon(() => expect(gateway.received).toHaveLength(2));
    expect(gateway.received[1]).toEqual(gateway.received[0]);
    gateway.answerAll();
    const record = await process()(await hand.take(signatures, 'third'), 'third');
    expect(record.outcome?.kind).toBe('delivered');
  });
});
