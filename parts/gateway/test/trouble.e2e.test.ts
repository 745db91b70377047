/**
 * Trouble of the other service (fault 900), which ends no request that it may have accepted.
 *
 * The device is asked as a worker asks it, by a clock of the test's own; the other service answers
 * over HTTP. At the end a Paraph whose Redis stands still, or refuses writes, for nine seconds.
 */
import { randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createKeyCustody } from '../../../packages/pki/src/custody.ts';
import type { SignatureRequest } from '../../../packages/protocol/src/requests.ts';
import { connectForCommands } from '../../../src/redis/connect.ts';
import { startEmbeddedRedis } from '../../../src/redis/embedded/redis.ts';
import type { PromptResult } from '../../../src/sscd/device.ts';
import { rootsOf, testFiles } from '../../../test/support/gateway.ts';
import { createMemoryCustodyStore } from '../../../test/support/memory-custody-store.ts';
import { startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { faultBody, statusMembers } from '../../../test/support/statuses.ts';
import { gatewayList } from '../configuration.ts';
import { createBehindGateway, type GatewayNote } from '../device.ts';
import { openGateways } from '../gateways.ts';

const writeFile = testFiles();
const begin = Date.parse('2026-03-01T12:00:00Z');
const second = 1000;

const trouble = faultBody({ code: 900, reason: 'INTERNAL_ERROR', detail: 'Unknown Error' });
const unknown = faultBody({
  code: 101,
  reason: 'WRONG_PARAM',
  detail: 'There is no such MSSP_TransID',
});
const outstanding = {
  MSS_StatusResp: statusMembers({
    code: '504',
    message: 'OUTSTANDING_TRANSACTION',
    meaning: 'open',
  }),
};
const signed = statusMembers({
  code: '500',
  message: 'SIGNATURE',
  signature: true,
  meaning: 'signed',
});
const accepted = {
  MSS_SignatureResp: {
    MSSP_TransID: 'Hfar0000000000000001',
    ...statusMembers({ code: '100', message: 'REQUEST_OK', meaning: 'open' }),
  },
};

const transactionId = 'H0000000000000000001';

interface Asked {
  readonly operation: 'sign' | 'status';
  /** About another transaction. */
  readonly isOther: boolean;
  /** Seconds since the attempt began. */
  readonly at: number;
}
/** The body of an answer; a status 200 unless it is a Fault. Undefined: the connection breaks. */
let answer: (asked: Asked) => object | undefined;
let now = begin;
let far: Server;
let trustAnchorsFile: string;

beforeAll(async () => {
  far = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { MSS_StatusReq: status, MSS_SignatureReq: sign } = JSON.parse(
      Buffer.concat(chunks).toString(),
    );
    const body = answer({
      operation: status === undefined ? 'sign' : 'status',
      isOther:
        status === undefined
          ? sign.AP_Info.AP_TransID !== `${transactionId}-1`
          : status.MSSP_TransID !== accepted.MSS_SignatureResp.MSSP_TransID,
      at: (now - begin) / second,
    });
    if (body === undefined) {
      response.destroy();
      return;
    }
    const { retryLater, ...said } = body as { readonly retryLater?: boolean };
    const headers = retryLater ? { 'retry-after': '1' } : {};
    response.writeHead('Fault' in said ? 500 : 200, headers).end(JSON.stringify(said));
  }).listen(0, '127.0.0.1');
  await once(far, 'listening');
  const custody = createKeyCustody({
    store: createMemoryCustodyStore(),
    serviceKey: randomBytes(32),
    now: Date.now,
  });
  const [root] = await custody.trust();
  trustAnchorsFile = writeFile('roots.pem', new X509Certificate(root ?? Buffer.of()).toString());
});
afterAll(async () => {
  far.closeAllConnections();
  await new Promise((resolve) => far.close(resolve));
});

const request: SignatureRequest = {
  caller: {
    apId: 'http://test.example',
    apPassword: undefined,
    apTransId: 'T1',
    instant: 'x',
    msspUri: 'x',
  },
  msisdn: { written: '+41790000101', number: '41790000101' },
  messagingMode: 'asynch',
  profile: { authority: 'mid.vendor.ch', name: 'Any-LoA4' },
  timeoutSeconds: 60,
  data: { kind: 'text', text: 'Sign?' },
  services: {},
};

/**
 * Asks the device as often as it says, until the attempt has ended or expires after a minute.
 *
 * @param beside Asks for another transaction at each second, too.
 */
const attemptOver = async (
  settings: object,
  beside = false,
): Promise<{ readonly end: PromptResult; readonly at: number }> => {
  const { port } = far.address() as AddressInfo;
  const gateway = {
    name: 'far',
    url: `http://127.0.0.1:${port}`,
    apId: 'http://us.example',
    trustAnchorsFile,
  };
  now = begin;
  const gateways = openGateways(gatewayList.parse([{ ...gateway, ...settings }]), () => now);
  const notes = new Map<string, GatewayNote>();
  const known = gateways.find('far');
  if (known === undefined) throw new Error('The gateway is configured');
  const device = createBehindGateway(known, {
    claim: async (id, attempt, note) => {
      const before = notes.get(`${id} ${attempt}`);
      if (before === undefined) notes.set(`${id} ${attempt}`, note);
      return before ?? 'none';
    },
    write: async (id, attempt, note) => {
      if (note === undefined) notes.delete(`${id} ${attempt}`);
      else notes.set(`${id} ${attempt}`, note);
    },
  });
  const deadline = begin + 60 * second;
  const prompt = {
    transactionId,
    attempt: 1,
    apId: request.caller.apId,
    msisdn: request.msisdn.number,
    subscriber: undefined,
    sscd: undefined,
    data: request.data,
    nonce: new Uint8Array(20),
    language: undefined,
    promptedAt: begin,
    deadline,
    request,
  };
  try {
    for (;;) {
      if (beside) await device.prompt({ ...prompt, transactionId: `H${now}`, now });
      const end = await device.prompt({ ...prompt, now });
      if (end.kind === 'answered') return { end, at: (now - begin) / second };
      now = Math.max((end.kind === 'awaiting' ? end.askAgainAt : undefined) ?? 0, now + 250);
      if (now >= deadline) return { end, at: 60 };
    }
  } finally {
    gateways.close();
  }
};

const isSigned = { kind: 'answered', answer: { kind: 'signature' } };
const believed = {
  kind: 'answered',
  answer: { kind: 'fault', fault: { code: 900, detail: 'Unknown Error' } },
};
const joined = { repeats: 'joined' };

describe('trouble of the service behind a gateway', () => {
  it.each([
    ['asynch', joined],
    ['synch', { ...joined, mode: 'synch' }],
  ])('of nine seconds ends no request that it joins: %s', async (mode, settings) => {
    answer = ({ operation, isOther, at }) => {
      if (at < 9) return trouble;
      if (operation === 'status') return isOther ? unknown : { MSS_StatusResp: signed };
      return mode === 'asynch'
        ? accepted
        : { MSS_SignatureResp: { ...accepted.MSS_SignatureResp, ...signed } };
    };
    const { end, at } = await attemptOver(settings);
    expect(end).toMatchObject(isSigned);
    expect(at).toBeGreaterThanOrEqual(9);
  });

  it.each([{}, joined, { repeats: 'refused' }])(
    'of nine seconds ends no request that it has accepted: %j',
    async (settings) => {
      answer = ({ operation, isOther, at }) => {
        if (operation === 'sign') return accepted;
        if (at > 1 && at < 10) return trouble;
        return isOther ? unknown : at < 10 ? outstanding : { MSS_StatusResp: signed };
      };
      expect((await attemptOver(settings)).end).toMatchObject(isSigned);
    },
  );

  it('counts from the first trouble, and not from the request', async () => {
    // Its connections break for six seconds; then it has trouble for a moment.
    answer = ({ operation, at }) => {
      if (at < 6) return undefined;
      if (operation === 'status') return { MSS_StatusResp: signed };
      return at < 8 ? trouble : accepted;
    };
    expect((await attemptOver(joined)).end).toMatchObject(isSigned);
  });

  it('is over with a good answer', async () => {
    // For a moment, again and again, while the service answers other questions.
    answer = ({ operation, isOther, at }) => {
      if (operation === 'sign') return accepted;
      if (isOther) return unknown;
      if (at > 30) return { MSS_StatusResp: signed };
      return Math.floor(at) % 8 === 1 ? trouble : outstanding;
    };
    expect((await attemptOver(joined)).end).toMatchObject(isSigned);
  });

  it('goes on until the deadline', async () => {
    answer = () => trouble;
    for (const settings of [joined, { ...joined, mode: 'synch' }])
      expect(await attemptOver(settings)).toMatchObject({ end: { kind: 'awaiting' }, at: 60 });
    answer = ({ operation }) => (operation === 'sign' ? accepted : trouble);
    expect(await attemptOver({})).toMatchObject({ end: { kind: 'awaiting' }, at: 60 });
  });

  it('leaves no doubt about a transaction that has ended with fault 900: its service answers others', async () => {
    answer = ({ operation, isOther }) => {
      if (operation === 'sign') return accepted;
      return isOther ? unknown : trouble;
    };
    for (const settings of [joined, {}]) {
      const { end, at } = await attemptOver(settings);
      expect(end).toMatchObject(believed);
      expect(at).toBeGreaterThanOrEqual(5);
      expect(at).toBeLessThan(10);
    }
  });

  const signedAtOnce = { MSS_SignatureResp: { ...accepted.MSS_SignatureResp, ...signed } };
  const synch = { ...joined, mode: 'synch' };

  it.each([
    ['asynch', joined],
    ['synch', synch],
  ])(
    'of nine seconds that lets it answer questions ends no request: %s',
    async (mode, settings) => {
      // As with a Redis that refuses to write.
      answer = ({ operation, isOther, at }) => {
        if (operation === 'status') return isOther ? unknown : { MSS_StatusResp: signed };
        if (at < 9) return trouble;
        return mode === 'asynch' ? accepted : signedAtOnce;
      };
      const { end, at } = await attemptOver(settings);
      expect(end).toMatchObject(isSigned);
      expect(at).toBeGreaterThanOrEqual(9);
    },
  );

  it('leaves no doubt about a synchronous request that has ended with fault 900 while others are taken', async () => {
    answer = ({ operation, isOther }) => (operation === 'sign' && isOther ? signedAtOnce : trouble);
    const { end, at } = await attemptOver(synch, true);
    expect(end).toMatchObject(believed);
    expect(at).toBeGreaterThanOrEqual(5);
    expect(at).toBeLessThan(10);
    // Nobody else asks: nothing says that the service takes requests.
    expect(await attemptOver(synch)).toMatchObject({ end: { kind: 'awaiting' }, at: 60 });
  });

  it('is never the end while the service says when to ask again, as one that takes no writes', async () => {
    const later = { ...trouble, retryLater: true };
    answer = ({ isOther, at }) => {
      if (isOther) return unknown;
      return at < 9 ? later : { MSS_SignatureResp: { ...accepted.MSS_SignatureResp, ...signed } };
    };
    expect((await attemptOver({ ...joined, mode: 'synch' })).end).toMatchObject(isSigned);
    answer = ({ operation, isOther, at }) => {
      if (operation === 'sign') return accepted;
      if (isOther) return unknown;
      return at < 9 ? later : { MSS_StatusResp: signed };
    };
    expect((await attemptOver(joined)).end).toMatchObject(isSigned);
  });

  it('ends a request that cannot be sent again, as it always did', async () => {
    answer = () => trouble;
    expect(await attemptOver({})).toMatchObject({ end: believed, at: 0 });
  });
});

describe('a Paraph behind a gateway whose Redis cannot be used for nine seconds', () => {
  const redis = testRedis();
  const text = (index: number) => `Text ${index}`;
  let directory: string;
  let farRedis: Awaited<ReturnType<typeof startEmbeddedRedis>>;
  let farProduct: TestProduct;
  let near: Readonly<Record<'asynch' | 'synch', TestProduct>>;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'paraph-trouble-'));
    const command = process.env.PARAPH_REDIS_SERVER ?? 'redis-server';
    farRedis = await startEmbeddedRedis({ command, dataDir: directory });
    const prefixed = (name: string) => ({ ...redis, prefix: `${redis.prefix.slice(-20)}-${name}` });
    farProduct = await startTestProduct(prefixed('far'), { redisUrl: farRedis.url, listen: true });
    const gateway = {
      url: farProduct.url,
      apId: 'http://near.example',
      repeats: 'joined',
      default: true,
    };
    const anchors = writeFile('far.pem', await rootsOf(farProduct));
    const nearBy = (mode: 'asynch' | 'synch') =>
      startTestProduct(prefixed(`near-${mode}`), {
        configuration: {
          sandbox: false,
          applicationProviders: [{ id: 'http://test.example' }],
          gateways: [{ name: 'far', ...gateway, mode, trustAnchorsFile: anchors }],
        },
      });
    near = { asynch: await nearBy('asynch'), synch: await nearBy('synch') };
  });
  afterAll(async () => {
    for (const product of [near?.asynch, near?.synch, farProduct]) await product?.stop();
    await farRedis?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const refuseWrites = async (isRefusing: boolean): Promise<void> => {
    const client = connectForCommands({ url: farRedis.url }, Date.now);
    await client.call('CONFIG', 'SET', 'min-replicas-to-write', isRefusing ? '9' : '0');
    client.disconnect();
  };
  const troubles = {
    'stands still': [
      async () => process.kill(farRedis.pid, 'SIGSTOP'),
      async () => process.kill(farRedis.pid, 'SIGCONT'),
    ],
    'refuses writes': [() => refuseWrites(true), () => refuseWrites(false)],
  } as const;

  it.each([
    ['stands still', 'asynch'],
    ['refuses writes', 'asynch'],
    ['refuses writes', 'synch'],
  ] as const)('signs all that was accepted here: it %s, %s', async (trouble, mode) => {
    const [begin, end] = troubles[trouble];
    const own = near[mode];
    await begin();
    let ids: readonly string[];
    try {
      ids = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          own.submit({ text: `${text(index)} ${trouble}`, msisdn: '+41700092501' }),
        ),
      );
      await delay(9 * second);
    } finally {
      await end();
    }
    await vi.waitFor(
      async () => {
        const ends = await Promise.all(ids.map((id) => own.statusOf(id)));
        expect(ends).not.toContain('504');
      },
      { timeout: 45_000, interval: 250 },
    );
    expect(await Promise.all(ids.map((id) => own.statusOf(id)))).toEqual(ids.map(() => '500'));
  });
});
