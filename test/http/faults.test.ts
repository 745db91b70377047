/**
 * The test numbers 41000092NNN, each of which answers with fault NNN: at sign, receipt and profile
 * directly, in asynch mode where the interface has it show.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultCode, faultTable } from '../../packages/protocol/src/fault.ts';
import { changed } from '../../packages/protocol/test/samples.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest, receiptRequest } from '../support/requests.ts';
import { accepted, ended, expectFault, send, sign } from './wire.ts';

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis);
});
afterAll(() => product.stop());

const codes = Object.keys(faultTable).map((code) => Number(code) as FaultCode);
const ofTheRequest = codes.filter((code) => code < 200 || code === 900);
const ofTheDevice = codes.filter((code) => code >= 200 && code < 900);

/** Reason, Code.Value and Detail as the interface and the live table of test numbers give them. */
const table: Readonly<
  Record<FaultCode, readonly [reason: string, blame: string, detail?: string]>
> = {
  101: ['WRONG_PARAM', 'Sender', 'Error among the arguments of the request'],
  102: ['MISSING_PARAM', 'Sender', 'An argument in the request is missing'],
  103: [
    'WRONG_DATA_LENGTH',
    'Sender',
    'The DataToBeSigned are too large. Limitations are due to the Mobile Signature technology implemented by the MSSP.',
  ],
  104: [
    'UNAUTHORIZED_ACCESS',
    'Sender',
    'The AP is unknown, or the client authentication failed, or the AP asks for an additional service for which it has not subscribed.',
  ],
  105: ['UNKNOWN_CLIENT', 'Sender', 'MSISDN is unknown'],
  107: ['INAPPROPRIATE_DATA', 'Sender', 'DTBD matching failed'],
  108: [
    'INCOMPATIBLE_INTERFACE',
    'Sender',
    'The minor version and/or major version parameters are inappropriate for the receiver of the message.',
  ],
  109: [
    'UNSUPPORTED_PROFILE',
    'Receiver',
    'The user does not support this Mobile Signature Profile',
  ],
  208: [
    'EXPIRED_TRANSACTION',
    'Receiver',
    'Transaction Expiry date has been reached or Time out has lapsed.',
  ],
  209: [
    'OTA_ERROR',
    'Receiver',
    "The MSSP has not succeeded to contact the end-user's mobile equipment Bad connection...)",
  ],
  401: ['USER_CANCEL', 'Receiver', 'User cancelled the request'],
  402: ['PIN_BLOCKED', 'Receiver', 'PIN of the mobile user is blocked'],
  403: ['CARD_BLOCKED', 'Receiver', 'Mobile user account has state INACTIVE or no SIM assigned'],
  404: ['NO_KEY_FOUND', 'Receiver', 'Mobile user account needs to be activated'],
  406: ['PB_SIGNATURE_PROCESS', 'Receiver', 'Signature request already in progress.'],
  422: ['NO_CERT_FOUND', 'Receiver', 'Certificate is expired'],
  450: ['GEOFENCING_POLICY_VIOLATION', 'Receiver'],
  900: ['INTERNAL_ERROR', 'Receiver', 'Unknown Error'],
};

const number = (code: FaultCode): string => `41000092${code}`;

describe.each(codes)('the test number of %i', (code) => {
  it('faults with it at sign in synch mode, with and without plus', async () => {
    const [reason, blame, detail] = table[code];
    for (const msisdn of [number(code), `+${number(code)}`]) {
      const answer = await sign(product, { msisdn });
      expectFault(answer, code, detail);
      expect(answer.body.Fault).toMatchObject({
        Code: {
          SubCode: { Value: `_${code}`, ValueNs: 'http://uri.etsi.org/TS102204/v1.1.2#' },
          Value: blame,
          ValueNs: 'http://www.w3.org/2003/05/soap-envelope',
        },
        Reason: reason,
      });
    }
  });

  it('faults with it at receipt and profile', async () => {
    const receipt = receiptRequest('HEhm77lu', { msisdn: number(code) });
    expectFault(await send(product, '/rest/service/receipt', receipt), code);
    expectFault(await send(product, '/rest/service/profile', profileRequest(number(code))), code);
  });
});

describe('in asynch mode', () => {
  it.each(ofTheRequest)('%i is a fault of the request and shows at sign', async (code) => {
    expectFault(
      await sign(product, { msisdn: number(code), mode: 'asynch' }),
      code,
      table[code][2],
    );
  });

  it.each(ofTheDevice)(
    '%i is a fault of the user or device and shows through status',
    async (code) => {
      const answer = await ended(product, await accepted(product, { msisdn: number(code) }));
      expectFault(answer, code, table[code][2]);
      expect(answer.body.Fault).toMatchObject({
        Code: { Value: table[code][1] },
        Reason: table[code][0],
      });
    },
  );
});

describe('the health-check number', () => {
  it.each(['41000000000', '+41000000000'])(
    '%s is always fault 101 Illegal msisdn',
    async (msisdn) => {
      expectFault(await sign(product, { msisdn }), 101, 'Illegal msisdn');
      expectFault(await sign(product, { msisdn, mode: 'asynch' }), 101, 'Illegal msisdn');
      const others = [
        ['receipt', receiptRequest('HEhm77lu', { msisdn })],
        ['profile', changed(profileRequest(msisdn), 'MSS_ProfileReq.Params', '')],
      ] as const;
      for (const [operation, request] of others) {
        expectFault(
          await send(product, `/rest/service/${operation}`, request),
          101,
          'Illegal msisdn',
        );
      }
    },
  );
});
