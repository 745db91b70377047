/** MSS_ReceiptReq: one receipt for each signature, and what the user does with it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changed } from '../../packages/protocol/test/samples.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { receiptRequest, signRequest } from '../support/requests.ts';
import { accepted, ended, expectFault, send, sign, status, type WireAnswer } from './wire.ts';

const robot = '41700092501';
const looks = '41700092505';
/** A second one, because both are on their phones at the same time. */
const alsoLooks = '41790000001';
const never = '41700092506';

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: {
      receipt: { timeoutSeconds: 5 },
      subscribers: [
        { msisdn: alsoLooks, sim: { device: { kind: 'simulated', receipt: 'ignores' } } },
      ],
    },
  });
});
afterAll(() => product.stop());

const signed = async (msisdn: string): Promise<string> =>
  (await sign(product, { msisdn })).body.MSS_SignatureResp.MSSP_TransID;

const receipt = (body: unknown): Promise<WireAnswer> =>
  send(product, '/rest/service/receipt', body);

const extension = ({ body }: WireAnswer): object =>
  body.MSS_ReceiptResp.Status.StatusDetail.ReceiptResponseExtension;

describe.concurrent('the receipt response', () => {
  it.each([
    ['accepted', '41700092503', { UserAck: 'true', UserResponse: '{"status":"OK"}' }],
    [
      'pressed cancel',
      '41700092504',
      {
        FaultMessage: 'User cancelled the request',
        UserAck: 'true',
        UserResponse: '{"status":"CANCEL"}',
      },
    ],
    [
      'saw it and did nothing',
      looks,
      {
        FaultMessage: 'Timeout waiting response',
        UserAck: 'true',
        UserResponse: '{"status":"TIMEOUT"}',
      },
    ],
    ['never answered', never, { UserAck: 'false' }],
  ])('is 200 with Status 100 REQUEST_OK when the user %s', async (_what, msisdn, reaction) => {
    const answer = await receipt(receiptRequest(await signed(msisdn), { msisdn }));
    expect(answer.status).toBe(200);
    const { Status } = answer.body.MSS_ReceiptResp;
    expect(Status).toMatchObject({ StatusCode: { Value: '100' }, StatusMessage: 'REQUEST_OK' });
    expect(extension(answer)).toEqual({
      ClientAck: 'false',
      NetworkAck: 'false',
      ReceiptMessagingMode: 'synch',
      ...reaction,
    });
  });

  it('has no ReceiptResponseExtension unless the request asked for it', async () => {
    const { body } = await receipt(receiptRequest(await signed(robot), { extension: false }));
    expect(body.MSS_ReceiptResp.Status).toEqual({
      StatusCode: { Value: '100' },
      StatusMessage: 'REQUEST_OK',
    });
    const withoutDetail = changed(receiptRequest(await signed(robot)), 'MSS_ReceiptReq.Status', {
      StatusCode: { Value: '100' },
    });
    expect((await receipt(withoutDetail)).body.MSS_ReceiptResp.Status).not.toHaveProperty(
      'StatusDetail',
    );
  });

  it('repeats AP_Info and MSSP_ID of its request, in version 1.1', async () => {
    const request = receiptRequest(await signed(robot));
    const { body } = await receipt(request);
    expect(Object.keys(body.MSS_ReceiptResp)).toEqual([
      'AP_Info',
      'MSSP_Info',
      'MajorVersion',
      'MinorVersion',
      'Status',
    ]);
    expect(body.MSS_ReceiptResp.AP_Info).toEqual(request.MSS_ReceiptReq.AP_Info);
    expect(body.MSS_ReceiptResp.MSSP_Info.MSSP_ID).toEqual(
      request.MSS_ReceiptReq.MSSP_Info.MSSP_ID,
    );
    expect(body.MSS_ReceiptResp).toMatchObject({ MajorVersion: '1', MinorVersion: '1' });
  });
});

describe.concurrent('a receipt', () => {
  it('may follow an asynch signature, with the MSISDN in the other spelling and any text for a Language', async () => {
    const msspTransId = await accepted(product, { msisdn: `+${robot}` });
    await ended(product, msspTransId);
    const request = changed(
      receiptRequest(msspTransId, { msisdn: robot }),
      'MSS_ReceiptReq.Status.StatusDetail.ReceiptRequestExtension.ReceiptProfile.Language',
      'LANGUAGE',
    );
    expect(extension(await receipt(request))).toHaveProperty('UserResponse', '{"status":"OK"}');
  });

  it('is sent once for each signature: another one is fault 101', async () => {
    const msspTransId = await signed(robot);
    const request = receiptRequest(msspTransId);
    expect((await receipt(request)).status).toBe(200);
    expectFault(
      await receipt(receiptRequest(msspTransId)),
      101,
      'MSS_ReceiptReq.MSSP_TransID has its receipt already',
    );
    expectFault(await receipt(request), 101);
  });

  it('sent twice while it is open is one receipt, whose answer both callers get', async () => {
    const request = receiptRequest(await signed(alsoLooks), { msisdn: alsoLooks });
    const other = changed(request, 'MSS_ReceiptReq.Message.Data', 'Something else.');
    const answers = await Promise.all([request, request].map(receipt));
    for (const answer of answers) {
      expect(extension(answer)).toHaveProperty('UserResponse', '{"status":"TIMEOUT"}');
    }
    expectFault(await receipt(other), 101);
  });

  it('of several different ones at the same time reaches the user once', async () => {
    const msspTransId = await signed(robot);
    const answers = await Promise.all([1, 2, 3].map(() => receipt(receiptRequest(msspTransId))));
    expect(answers.map(({ status: http }) => http).sort()).toEqual([200, 500, 500]);
  });

  it('for another number than the one that signed is fault 101', async () => {
    expectFault(await receipt(receiptRequest(await signed(robot), { msisdn: '41700092502' })), 101);
  });

  it('of another AP is fault 101', async () => {
    expectFault(
      await receipt(receiptRequest(await signed(robot), { apId: 'http://foreign.example' })),
      101,
      'MSSP_TransID is unknown',
    );
  });

  it('before the user has signed, or after the user has not, is fault 101', async () => {
    const msisdn = '41700092507';
    const msspTransId = await accepted(product, { msisdn, timeoutSeconds: 1 });
    expectFault(
      await receipt(receiptRequest(msspTransId, { msisdn })),
      101,
      'MSS_ReceiptReq.MSSP_TransID is of no successful signature',
    );
    await ended(product, msspTransId);
    expectFault(
      await receipt(receiptRequest(msspTransId, { msisdn })),
      101,
      'MSS_ReceiptReq.MSSP_TransID is of no successful signature',
    );
  });

  it('leaves the signature as it was', async () => {
    const { body } = await send(product, '/rest/service/sign', signRequest());
    const { MSSP_TransID, MSS_Signature } = body.MSS_SignatureResp;
    await receipt(receiptRequest(MSSP_TransID));
    const after = await status(product, MSSP_TransID);
    expect(after.body.MSS_StatusResp.MSS_Signature).toEqual(MSS_Signature);
  });

  it.each([
    ['MajorVersion', '2', 108],
    ['Message.Data', 'x'.repeat(240), 103],
    ['Message.MimeType', 'text/html', 107],
    ['Message.Encoding', 'BASE64', 107],
    ['Status.StatusCode.Value', '500', 101],
    ['Status.StatusDetail.ReceiptRequestExtension.ReceiptMessagingMode', 'asynch', 101],
    ['Status.StatusDetail.ReceiptRequestExtension.UserAck', true, 101],
    ['Status.StatusDetail.ReceiptRequestExtension.UserAck', 'yes', 101],
    ['Status.StatusDetail.ReceiptRequestExtension.ReceiptProfile.ReceiptProfileURI', 'here', 101],
  ] as const)('with a bad %s is refused', async (member, value, code) => {
    // Of a signed transaction, so that nothing but this member can be what is refused.
    const id = await signed('41700092501');
    expectFault(
      await receipt(changed(receiptRequest(id), `MSS_ReceiptReq.${member}`, value)),
      code,
    );
    expect((await receipt(receiptRequest(id))).status).toBe(200);
  });
});
