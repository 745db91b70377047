/**
 * What clients spell otherwise: what is taken all the same, and what is refused in words that help.
 */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultTable } from '../../packages/protocol/src/fault.ts';
import { changed } from '../../packages/protocol/test/samples.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest, receiptRequest, signRequest, statusRequest } from '../support/requests.ts';
import { expectFault, expectSignature, send } from './wire.ts';

const redis = testRedis();
let product: TestProduct;
let strict: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis);
  strict = await startTestProduct(
    { ...redis, prefix: `${redis.prefix.slice(-25)}-strict` },
    { configuration: { sandbox: false, applicationProviders: [{ id: 'http://test.example' }] } },
  );
});
afterAll(() => Promise.all([product.stop(), strict.stop()]));

describe('a member of another type', () => {
  it.each([
    ['sign', signRequest(), 'MSS_SignatureReq.MajorVersion', 1],
    ['sign', signRequest(), 'MSS_SignatureReq.MinorVersion', 2],
    [
      'sign',
      signRequest(),
      'MSS_SignatureReq.SignatureProfile',
      { URI: 'http://mid.vendor.ch/Any-LoA4' },
    ],
    ['sign', signRequest(), 'MSS_SignatureReq.MessagingMode', ['synch']],
    ['sign', signRequest(), 'MSS_SignatureReq.TimeOut', 60],
    ['sign', signRequest(), 'MSS_SignatureReq.DataToBeSigned.MimeType', true],
    ['sign', signRequest(), 'MSS_SignatureReq.DataToBeSigned.Encoding', 8],
    ['status', statusRequest('HEhm77lu'), 'MSS_StatusReq.MajorVersion', 1],
    ['profile', profileRequest(), 'MSS_ProfileReq.MajorVersion', 2],
    ['receipt', receiptRequest('HEhm77lu'), 'MSS_ReceiptReq.Status.StatusCode.Value', 100],
    [
      'receipt',
      receiptRequest('HEhm77lu'),
      'MSS_ReceiptReq.Status.StatusDetail.ReceiptRequestExtension.UserAck',
      true,
    ],
  ] as const)(
    'of a %s request is fault 101 that says which type it must have: %#',
    async (name, request, path, value) => {
      const answer = await send(product, `/rest/service/${name}`, changed(request, path, value));
      expectFault(answer, 101, `${path} must be of type string`);
    },
  );
});

describe('a body that is compressed', () => {
  const text = JSON.stringify(signRequest());
  it.each([
    ['gzip', gzipSync(text), { 'content-encoding': 'gzip' }],
    ['gzip without a word', gzipSync(text), {}],
    ['deflate', deflateSync(text), { 'content-encoding': 'deflate' }],
    ['Brotli', brotliCompressSync(text), { 'content-encoding': 'br' }],
  ] as const)('is fault 101 that says so: %s', async (_name, body, headers) => {
    const detail = 'Body is compressed, which is not supported: send it without Content-Encoding';
    for (const path of ['/rest/service', '/rest/service/sign'])
      expectFault(await send(product, path, body, { headers: { ...headers } }), 101, detail);
  });

  it('is no matter where only the header says so, which some clients fill with anything', async () => {
    for (const coding of ['UTF-8', 'gzip', 'identity']) {
      const { status } = await send(product, '/rest/service', text, {
        headers: { 'content-encoding': coding },
      });
      expect(status).toBe(200);
    }
  });
});

describe('a Content-Type', () => {
  it.each(['utf8', 'UTF8', '"utf8"', 'us-ascii', 'US-ASCII', 'ascii', 'utf-8'])(
    'may say charset=%s',
    async (charset) => {
      const headers = { 'content-type': `application/json; charset=${charset}` };
      const answer = await send(product, '/rest/service', signRequest({ text: 'Zürich?' }), {
        headers,
      });
      await expectSignature(product, answer, 'Zürich?');
    },
  );
});

describe('MimeType and Encoding', () => {
  it.each([
    ['TEXT/Plain', 'utf-8'],
    ['text/plain', 'Utf-8'],
  ])('count whatever their case: %s, %s', async (MimeType, Encoding) => {
    const of = (request: object, path: string) =>
      changed(changed(request, `${path}.MimeType`, MimeType), `${path}.Encoding`, Encoding);
    const signed = await send(
      product,
      '/rest/service/sign',
      of(signRequest(), 'MSS_SignatureReq.DataToBeSigned'),
    );
    await expectSignature(product, signed, 'Sign in to Example?');
    const receipt = receiptRequest(signed.body.MSS_SignatureResp.MSSP_TransID);
    expect(
      (await send(product, '/rest/service/receipt', of(receipt, 'MSS_ReceiptReq.Message'))).status,
    ).toBe(200);
  });

  it('make no other request of an equal one', async () => {
    const request = signRequest({ mode: 'asynch', msisdn: '41700092507' });
    const again = changed(request, 'MSS_SignatureReq.DataToBeSigned.Encoding', 'utf-8');
    const ids = [];
    for (const each of [request, again]) {
      const { body } = await send(product, '/rest/service/sign', each);
      ids.push(body.MSS_SignatureResp.MSSP_TransID);
    }
    expect(ids[0]).toBe(ids[1]);
  });

  it('of an approval count whatever their case', async () => {
    const Data = JSON.stringify({ type: 'Payment', dtbd: [{ key: 'Amount', value: 'CHF 10' }] });
    const request = signRequest({
      msisdn: '+41700092508',
      profile: 'http://mid.vendor.ch/Device-LoA4',
    });
    const data = { MimeType: 'Application/VND.mobileid.txn-approval', Encoding: 'utf-8', Data };
    const answer = await send(
      product,
      '/rest/service/sign',
      changed(request, 'MSS_SignatureReq.DataToBeSigned', data),
    );
    expect(answer.status).toBe(200);
  });
});

describe('the address of the service', () => {
  it('may end in a slash', async () => {
    const { body } = await send(
      product,
      '/rest/service/sign/',
      signRequest({ msisdn: '+41700092503' }),
    );
    const id = body.MSS_SignatureResp.MSSP_TransID;
    const others = [
      ['status', statusRequest(id)],
      ['receipt', receiptRequest(id, { msisdn: '+41700092503' })],
      ['profile', profileRequest()],
    ] as const;
    for (const [operation, request] of others)
      expect((await send(product, `/rest/service/${operation}/`, request)).status).toBe(200);
    expect((await send(product, '/rest/service/', signRequest())).status).toBe(200);
  });

  it('that ends in a slash is answered like the other, also when it is used wrongly', async () => {
    expectFault(await send(product, '/rest/service/status/', signRequest()), 101);
    for (const path of ['/rest/service', '/rest/service/', '/rest/service/sign/']) {
      const response = await product.api.fetch(new Request(`http://test${path}`));
      expect([path, response.status, response.headers.get('allow')]).toEqual([path, 405, 'POST']);
    }
  });
});

describe("an AP_ID of the provider's own logins", () => {
  const requests = (apId: string) => [
    signRequest({ apId }),
    statusRequest('HEhm77lu', apId),
    receiptRequest('HEhm77lu', { apId }),
    changed(profileRequest(), 'MSS_ProfileReq.AP_Info.AP_ID', apId),
  ];

  it.each([
    'urn:paraph:oidc:default',
    'urn:paraph:oidc:main',
    'urn:paraph:oidc:',
    'urn:paraph:oidc:of-nobody',
  ])('is fault 104 over HTTP, as one that nobody registered: %s', async (apId) => {
    for (const at of [product, strict])
      for (const request of requests(apId))
        expectFault(await send(at, '/rest/service', request), 104, faultTable[104].detail);
    const authorization = `Basic ${Buffer.from(`${encodeURIComponent(apId)}:x`).toString('base64')}`;
    const workflow = await product.api.fetch(
      new Request('http://test/workflows/process/x', { headers: { authorization } }),
    );
    expect(workflow.status).toBe(401);
  });
});
