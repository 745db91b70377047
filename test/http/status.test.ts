/** MSS_StatusReq: the end of a transaction, for its own AP and as long as it is kept. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { changed } from '../../packages/protocol/test/samples.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { receiptRequest, statusRequest } from '../support/requests.ts';
import { accepted, ended, expectFault, expectSignature, send, sign, status } from './wire.ts';

const redis = testRedis();
let product: TestProduct;
/** The same with a retention so short that a test can outlast it. */
let forgetful: TestProduct;
const halfASecond = 0.5 / 86_400;

beforeAll(async () => {
  product = await startTestProduct(redis);
  forgetful = await startTestProduct(redis, {
    configuration: {
      retention: { signedDays: halfASecond, failedDays: halfASecond },
      queue: { prefix: `f-${redis.prefix.slice(-30)}` },
    },
  });
});
afterAll(() => Promise.all([product.stop(), forgetful.stop()]));

describe('the status of an asynch request', () => {
  it('is 504 OUTSTANDING_TRANSACTION until the user has acted, then the Fault of what the user did', async () => {
    const msspTransId = await accepted(product, { msisdn: '+41700092507', timeoutSeconds: 1 });
    const open = await status(product, msspTransId);
    expect(Object.keys(open.body.MSS_StatusResp)).toEqual([
      'AP_Info',
      'MSSP_Info',
      'MajorVersion',
      'MinorVersion',
      'MobileUser',
      'Status',
    ]);
    expect(open.body.MSS_StatusResp).toMatchObject({
      MobileUser: { MSISDN: '+41700092507' },
      Status: { StatusCode: { Value: '504' }, StatusMessage: 'OUTSTANDING_TRANSACTION' },
    });
    expectFault(await ended(product, msspTransId), 208, 'Original request timed out.');
  });

  it('is then 500 SIGNATURE with signature, MobileUser and ServiceResponses, without MSSP_TransID and SignatureProfile', async () => {
    const msspTransId = await accepted(product, {
      msisdn: '+41700092501',
      text: 'Ok?',
      services: [{ Description: 'http://mid.vendor.ch/as#subscriberInfo' }],
    });
    const answer = await ended(product, msspTransId);
    expect(Object.keys(answer.body.MSS_StatusResp)).toEqual([
      'AP_Info',
      'MSSP_Info',
      'MSS_Signature',
      'MajorVersion',
      'MinorVersion',
      'MobileUser',
      'ServiceResponses',
      'Status',
    ]);
    expect(answer.body.MSS_StatusResp).toMatchObject({
      MajorVersion: '1',
      MinorVersion: '1',
      MobileUser: { MSISDN: '+41700092501' },
      Status: { StatusCode: { Value: '500' }, StatusMessage: 'SIGNATURE' },
    });
    await expectSignature(product, answer, 'Ok?');
  });

  it('is 502 VALID_SIGNATURE when the service was asked to verify it', async () => {
    const services = [{ Description: 'http://uri.etsi.org/TS102204/v1.1.2#validate' }];
    const answer = await ended(product, await accepted(product, { services }));
    expect(answer.body.MSS_StatusResp.Status).toEqual({
      StatusCode: { Value: '502' },
      StatusMessage: 'VALID_SIGNATURE',
    });
    await expectSignature(product, answer, 'Sign in to Example?');
  });

  it('can be asked for again and again, signed or failed, and with a receipt', async () => {
    const signed = await accepted(product);
    const failed = await accepted(product, { msisdn: '41000092402' });
    const first = await ended(product, signed);
    const fault = await ended(product, failed);
    expectFault(fault, 402, 'PIN of the mobile user is blocked');
    await send(product, '/rest/service/receipt', receiptRequest(signed));
    for (const _again of [1, 2, 3]) {
      const { MSS_Signature, Status } = (await status(product, signed)).body.MSS_StatusResp;
      expect({ MSS_Signature, Status }).toEqual({
        MSS_Signature: first.body.MSS_StatusResp.MSS_Signature,
        Status: first.body.MSS_StatusResp.Status,
      });
      expect((await status(product, failed)).text).toBe(fault.text);
    }
  });

  it('repeats AP_Info and MSSP_ID of the status request, not of the sign request', async () => {
    const request = statusRequest(await accepted(product));
    const mine = changed(request, 'MSS_StatusReq.MSSP_Info.MSSP_ID.URI', 'http://other.example/');
    const { body } = await send(product, '/rest/service/status', mine);
    expect(body.MSS_StatusResp.AP_Info).toEqual(request.MSS_StatusReq.AP_Info);
    expect(body.MSS_StatusResp.MSSP_Info.MSSP_ID.URI).toBe('http://other.example/');
  });

  it.each([
    ['1', '2'],
    ['2', '0'],
  ])('asked for in version %s.%s is fault 108', async (major, minor) => {
    const request = changed(statusRequest('HEhm77lu'), 'MSS_StatusReq.MajorVersion', major);
    const body = changed(request, 'MSS_StatusReq.MinorVersion', minor);
    expectFault(await send(product, '/rest/service/status', body), 108);
  });
});

describe('a transaction that this AP cannot see', () => {
  it('is fault 101 in the very same bytes, be it unknown, foreign or past its retention', async () => {
    const { body } = await sign(forgetful);
    const failed = await accepted(forgetful, { msisdn: '41000092401' });
    const past = await vi.waitFor(async () => {
      const answers = [
        await status(forgetful, body.MSS_SignatureResp.MSSP_TransID),
        await status(forgetful, failed),
        await send(
          forgetful,
          '/rest/service/receipt',
          receiptRequest(body.MSS_SignatureResp.MSSP_TransID),
        ),
      ];
      for (const answer of answers) expectFault(answer, 101);
      return answers;
    }, 20_000);

    const own = await accepted(product);
    const open = await accepted(product, { msisdn: '41700092507', timeoutSeconds: 1 });
    await ended(product, own);
    const foreign = 'http://foreign.example';
    const answers = [
      ...past,
      await status(product, own, foreign),
      await status(product, open, foreign),
      await send(product, '/rest/service/receipt', receiptRequest(own, { apId: foreign })),
      await send(
        product,
        '/rest/service/receipt',
        receiptRequest(own, { apId: foreign, msisdn: '+41700092502' }),
      ),
      await status(product, `${own.slice(0, -1)}${own.endsWith('0') ? '1' : '0'}`),
      await status(product, 'HEhm77lu'),
      await status(product, '../../etc/passwd:*'),
      await send(product, '/rest/service/receipt', receiptRequest('HEhm77lu')),
    ];
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expectFault(answers[0] ?? (await status(product, 'x')), 101, 'MSSP_TransID is unknown');
    // And it is still there for its own AP.
    expect((await status(product, own)).status).toBe(200);
  });
});
