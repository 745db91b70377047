/**
 * What a user or a phone does to a transaction, where the tests of the operations look at one side
 * of it only.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newMsspTransId } from '../../src/transactions/ids.ts';
import { accepted, ended, expectFault, send, sign } from '../http/wire.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { receiptRequest } from '../support/requests.ts';

/** Users whom nobody can ask, and the fault that says why. */
const obstacles = [
  ['41790000010', { pin: { blocked: true } }, 402],
  ['41790000011', { suspended: true }, 403],
  ['41790000012', { state: 'INACTIVE' }, 404],
  ['41790000014', { certificate: { expired: true } }, 422],
] as const;
const rsaSimAndEcApp = '41790000020';
/**
 * The first App is not activated, so the second one signs; their users treat receipts differently.
 */
const secondApp = '41790000021';

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: {
      receipt: { timeoutSeconds: 1 },
      subscribers: [
        ...obstacles.map(([msisdn, sim]) => ({ msisdn, sim })),
        { msisdn: rsaSimAndEcApp, sim: { certificate: { algorithm: 'RSA' } }, apps: [{}] },
        {
          msisdn: secondApp,
          apps: [
            { state: 'REGISTERED', device: { kind: 'simulated', receipt: 'cancels' } },
            { device: { kind: 'simulated', receipt: 'accepts' } },
          ],
        },
      ],
    },
  });
});
afterAll(() => product.stop());

describe('what stands against asking a user', () => {
  it.each(obstacles)(
    'is no fault of the request: in asynch mode %s %o is accepted and shows %s through status',
    async (msisdn, _sim, code) => {
      expectFault(await ended(product, await accepted(product, { msisdn })), code);
    },
  );
});

describe('MSSP_TransID', () => {
  it('is drawn at random: 17 places in each of which any of 62 letters and digits may stand', () => {
    const drawn = Array.from({ length: 2000 }, () => newMsspTransId(0).slice(3));
    for (let place = 0; place < 17; place += 1) {
      // With 2000 draws a given character is missing at a place once in 10^14.
      expect(new Set(drawn.map((text) => text.charAt(place))).size).toBe(62);
    }
    expect(new Set(drawn.map((text) => text.length))).toEqual(new Set([17]));
  });
});

describe('a user with an RSA key on the SIM and an EC key in the App', () => {
  it('is treated as by the SIM alone when a kind of key is asked for', async () => {
    const rsa = 'http://mid.vendor.ch/MID/v1/AuthProfile1.RSA';
    const { body } = await sign(product, { msisdn: rsaSimAndEcApp, profile: rsa });
    expect(body.MSS_SignatureResp.SignatureProfile).toBe('http://mid.vendor.ch/STK-LoA4');
    const ecc = 'http://mid.vendor.ch/MID/v1/AuthProfile1.ECC';
    expectFault(await sign(product, { msisdn: rsaSimAndEcApp, profile: ecc }), 109);
  });
});

describe.concurrent('the answer to a receipt', () => {
  it('is what the user did on the App that signed, though it is not the first', async () => {
    const { body } = await sign(product, { msisdn: secondApp });
    const request = receiptRequest(body.MSS_SignatureResp.MSSP_TransID, { msisdn: secondApp });
    const answer = await send(product, '/rest/service/receipt', request);
    const { StatusDetail } = answer.body.MSS_ReceiptResp.Status;
    expect(StatusDetail.ReceiptResponseExtension.UserResponse).toBe('{"status":"OK"}');
  });

  it.each([
    ['saw it and did nothing', '41700092505'],
    ['never answered', '41700092506'],
  ])('does not come before the prompt has lapsed when the user %s', async (_what, msisdn) => {
    const { body } = await sign(product, { msisdn });
    const request = receiptRequest(body.MSS_SignatureResp.MSSP_TransID, { msisdn });
    const answer = await send(product, '/rest/service/receipt', request);
    const waitedMs =
      Date.parse(answer.body.MSS_ReceiptResp.MSSP_Info.Instant) -
      Date.parse(request.MSS_ReceiptReq.AP_Info.Instant);
    expect(waitedMs).toBeGreaterThanOrEqual(1000);
  });
});
