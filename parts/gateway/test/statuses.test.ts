/**
 * What each status and fault of the other service means to a gateway and to its circuit breaker.
 */
import { randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyCustody } from '../../../packages/pki/src/custody.ts';
import { faultTable } from '../../../packages/protocol/src/fault.ts';
import { testFiles } from '../../../test/support/gateway.ts';
import { createMemoryCustodyStore } from '../../../test/support/memory-custody-store.ts';
import { type Json, startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { signRequest } from '../../../test/support/requests.ts';
import { faultBody, faultRows, statusMembers, statusRows } from '../../../test/support/statuses.ts';

const redis = testRedis();
const writeFile = testFiles();
const numbers = { asynch: '+41790000101', synch: '+41790000201' };

/** Answers to requests with this text: to the sign request, then to each status request. */
interface Script {
  readonly sign: readonly [number, object];
  readonly statuses: (readonly [number, object])[];
}
const scripts = new Map<string, Script>();
const requests: { readonly accept: string | undefined; readonly body: Json }[] = [];
let far: Server;
let product: TestProduct;

const named = (members: object) => ({
  MSS_SignatureResp: { MSSP_TransID: 'replaced', ...members },
});
const accepted = named({ Status: { StatusCode: { Value: '100' }, StatusMessage: 'REQUEST_OK' } });
const cancelled = faultBody({ code: 401, reason: 'USER_CANCEL', detail: faultTable[401].detail });

beforeAll(async () => {
  /** The scripts of answers, by the id of the transaction there. */
  const asked = new Map<string, Script>();
  far = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    requests.push({ accept: request.headers.accept, body });
    const { MSS_SignatureReq: sign, MSS_StatusReq: status } = body;
    if (sign === undefined) {
      const [code, answer] = asked.get(status.MSSP_TransID)?.statuses.shift() ?? [500, cancelled];
      response.writeHead(code).end(JSON.stringify(answer));
      return;
    }
    const script = scripts.get(sign.DataToBeSigned.Data);
    if (script === undefined) throw new Error('A text without a script');
    const id = `H${asked.size}`;
    asked.set(id, script);
    const [code, answer] = script.sign;
    response.writeHead(code).end(JSON.stringify(answer).replace('replaced', id));
  }).listen(0, '127.0.0.1');
  await once(far, 'listening');
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
  const url = `http://127.0.0.1:${(far.address() as AddressInfo).port}`;
  product = await startTestProduct(redis, {
    configuration: {
      sandbox: false,
      applicationProviders: [{ id: 'http://test.example' }],
      gateways: Object.keys(numbers).map((mode) => ({
        name: mode,
        mode,
        url,
        apId: 'http://us.example',
        trustAnchorsFile,
      })),
      subscribers: Object.entries(numbers).map(([upstream, msisdn]) => ({
        msisdn,
        sim: { device: { kind: 'gateway', upstream } },
      })),
    },
  });
});

afterAll(async () => {
  await product.stop();
  far.closeAllConnections();
  await new Promise((resolve) => far.close(resolve));
});

let count = 0;
/** @returns The fault that the application gets. */
const faultOf = async (mode: keyof typeof numbers, script: Script): Promise<object> => {
  count += 1;
  const text = `Text ${count}`;
  scripts.set(text, script);
  const { body } = await product.post(
    '/rest/service/sign',
    signRequest({ msisdn: numbers[mode], text }),
  );
  return { code: body.Fault?.Code.SubCode.Value, detail: body.Fault?.Detail };
};
const faultSaid = ({ code, detail }: { code: number; detail: string }) => ({
  code: `_${code}`,
  detail,
});

const rows = statusRows
  // A real signature: gateway.test.ts.
  .filter(({ meaning }) => meaning !== 'signed')
  .map(
    (row) =>
      [
        `${row.code} ${row.message} ${row.signature ? 'with' : 'without'} a signature`,
        row,
      ] as const,
  );

describe('a request to the other service', () => {
  it.each([
    [
      'de',
      [{ Description: 'http://mss.vendor.fi/TS102204/v1.0.0#userLang', UserLang: { Value: 'de' } }],
    ],
    ['en', []],
  ])('names a language and accepts JSON: %s', async (language, services) => {
    const text = `Language ${language}`;
    scripts.set(text, { sign: [200, accepted], statuses: [] });
    await product.post(
      '/rest/service/sign',
      signRequest({ msisdn: numbers.asynch, text, services }),
    );
    const [sent] = requests.filter(
      ({ body }) => body.MSS_SignatureReq?.DataToBeSigned.Data === text,
    );
    expect(sent?.body.MSS_SignatureReq.AdditionalServices).toEqual([
      {
        Description: 'http://mid.vendor.ch/TS102204/v1.0.0#userLang',
        UserLang: { Value: language },
      },
    ]);
    expect(new Set(requests.map(({ accept }) => accept))).toEqual(new Set(['application/json']));
  });
});

describe('behind a gateway', () => {
  it.each(rows)('the status %s is the end at once, or goes on', async (_name, row) => {
    const members = statusMembers(row);
    const polled = await faultOf('asynch', {
      sign: [200, accepted],
      statuses: [1, 2, 3].map(() => [200, { MSS_StatusResp: members }] as const),
    });
    const answered = await faultOf('synch', { sign: [200, named(members)], statuses: [] });
    const { meaning } = row;
    const expected =
      typeof meaning === 'object' ? meaning : { code: 401, detail: faultTable[401].detail };
    for (const fault of [polled, answered]) expect(fault).toEqual(faultSaid(expected));
  });

  // Fault 900 may be trouble of the moment.
  it.each(faultRows.filter(({ code }) => code !== 900))(
    'the fault $code $reason is the end',
    async (row) => {
      const polled = await faultOf('asynch', {
        sign: [200, accepted],
        statuses: [[500, faultBody(row)]],
      });
      const answered = await faultOf('synch', { sign: [500, faultBody(row)], statuses: [] });
      for (const fault of [polled, answered])
        expect(fault).toEqual(faultSaid({ code: row.code, detail: row.detail }));
    },
  );

  it('no answer of the interface opens the circuit breaker', async () => {
    const bodies = statusRows
      .filter(({ meaning }) => typeof meaning === 'object')
      .map((row) => statusMembers(row));
    for (const mode of ['asynch', 'synch'] as const)
      await Promise.all(
        bodies.map((members) =>
          faultOf(mode, {
            sign: [200, mode === 'synch' ? named(members) : accepted],
            statuses: [[200, { MSS_StatusResp: members }]],
          }),
        ),
      );
    expect(count).toBeGreaterThan(100);
    expect(product.logged.filter((line) => line.includes('upstream down'))).toEqual([]);
    expect(product.logged.filter((line) => line.includes('no signature service'))).toEqual([]);
  });
});
