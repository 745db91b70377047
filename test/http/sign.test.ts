/**
 * MSS_SignatureReq: the two messaging modes, the URLs, and what an answer repeats of its request.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changed } from '../../packages/protocol/test/samples.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest, receiptRequest, signRequest, statusRequest } from '../support/requests.ts';
import { accepted, ended, expectFault, expectSignature, send, sign, status } from './wire.ts';

const ecRobot = '41700092501';
const rsaRobot = '41700092502';
const cancels = '41000092401';

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: { protocol: { minTimeoutSeconds: 2, maxTimeoutSeconds: 90 } },
  });
});
afterAll(() => product.stop());

const sendWith = (change: Record<string, unknown>) =>
  send(
    product,
    '/rest/service/sign',
    Object.entries(change).reduce<unknown>(
      (body, [member, value]) => changed(body, `MSS_SignatureReq.${member}`, value),
      signRequest(),
    ),
  );

describe('in synch mode', () => {
  it.each([ecRobot, rsaRobot])(
    'the sign response to %s carries the signature and Status 500 SIGNATURE',
    async (msisdn) => {
      const answer = await sign(product, { msisdn, text: 'Zürich: 5 € an Ωmega?' });
      expect(answer.status).toBe(200);
      const response = answer.body.MSS_SignatureResp;
      expect(Object.keys(response)).toEqual([
        'AP_Info',
        'MSSP_Info',
        'MSSP_TransID',
        'MSS_Signature',
        'MajorVersion',
        'MinorVersion',
        'MobileUser',
        'SignatureProfile',
        'Status',
      ]);
      expect(response.Status).toEqual({ StatusCode: { Value: '500' }, StatusMessage: 'SIGNATURE' });
      await expectSignature(product, answer, 'Zürich: 5 € an Ωmega?');
    },
  );

  it('a failed signature is HTTP 500 with the Fault', async () => {
    expectFault(await sign(product, { msisdn: cancels }), 401, 'User cancelled the request');
  });

  it('a user has one serial number, whichever request, and another user another one', async () => {
    const serials = await Promise.all(
      [ecRobot, ecRobot, rsaRobot].map(async (msisdn) =>
        expectSignature(product, await sign(product, { msisdn }), 'Sign in to Example?'),
      ),
    );
    expect(serials[0]).toBe(serials[1]);
    expect(serials[2]).not.toBe(serials[0]);
  });

  it('the signature can be asked for again through status', async () => {
    const { body } = await sign(product);
    const { MSSP_TransID, MSS_Signature } = body.MSS_SignatureResp;
    const later = await status(product, MSSP_TransID);
    expect(later.body.MSS_StatusResp.MSS_Signature).toEqual(MSS_Signature);
  });
});

describe('in asynch mode', () => {
  it('the sign response carries MSSP_TransID and Status 100 REQUEST_OK, never a signature or ServiceResponses', async () => {
    const { body } = await sign(product, {
      mode: 'asynch',
      services: [
        { Description: 'http://mid.vendor.ch/as#geofencing' },
        { Description: 'http://mid.vendor.ch/as#subscriberInfo' },
      ],
    });
    expect(Object.keys(body.MSS_SignatureResp)).toEqual([
      'AP_Info',
      'MSSP_Info',
      'MSSP_TransID',
      'MajorVersion',
      'MinorVersion',
      'MobileUser',
      'SignatureProfile',
      'Status',
    ]);
    expect(body.MSS_SignatureResp.Status).toEqual({
      StatusCode: { Value: '100' },
      StatusMessage: 'REQUEST_OK',
    });
  });

  it('what the user does is seen through status', async () => {
    expectFault(await ended(product, await accepted(product, { msisdn: cancels })), 401);
  });

  it('what is wrong with the request faults at sign', async () => {
    expectFault(
      await sign(product, { mode: 'asynch', msisdn: '41790000000' }),
      105,
      'MSISDN is unknown',
    );
    const onTheSim = { mode: 'asynch', profile: 'http://mid.vendor.ch/Device-LoA4' } as const;
    expectFault(await sign(product, onTheSim), 109);
  });
});

describe('MSSP_TransID', () => {
  it('is of letters and digits, first a letter, and never the same twice', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, () => accepted(product)));
    for (const id of ids) expect(id).toMatch(/^[A-Za-z][A-Za-z0-9]{15,}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('the URL for all operations', () => {
  it('goes by the wrapper of the body', async () => {
    const { body } = await send(product, '/rest/service', signRequest());
    const { MSSP_TransID } = body.MSS_SignatureResp;
    const others = await Promise.all(
      [statusRequest(MSSP_TransID), receiptRequest(MSSP_TransID), profileRequest()].map((request) =>
        send(product, '/rest/service', request),
      ),
    );
    expect(others.map((answer) => Object.keys(answer.body)[0])).toEqual([
      'MSS_StatusResp',
      'MSS_ReceiptResp',
      'MSS_ProfileResp',
    ]);
  });

  it.each(['sign', 'status', 'receipt', 'profile'])(
    'is the only one for them all: at /rest/service/%s any other wrapper is fault 101',
    async (operation) => {
      const requests: Record<string, object> = {
        sign: signRequest(),
        status: statusRequest('HEhm77lu'),
        receipt: receiptRequest('HEhm77lu'),
        profile: profileRequest(),
      };
      const { [operation]: own, ...others } = requests;
      for (const request of Object.values(others)) {
        expectFault(await send(product, `/rest/service/${operation}`, request), 101);
        expectFault(await send(product, `/rest/service/${operation}`, { ...own, ...request }), 101);
      }
    },
  );
});

describe('an answer', () => {
  it('repeats AP_ID, AP_TransID and Instant of this request, Instant in UTC with three decimals, never AP_PWD', async () => {
    const { body } = await sendWith({
      AP_Info: {
        AP_ID: 'mid://ap.example',
        AP_PWD: 'not-used',
        AP_TransID: '0f2a-REF.1:2_3',
        Instant: '2024-07-02T10:06:55+02:00',
      },
    });
    expect(body.MSS_SignatureResp.AP_Info).toEqual({
      AP_ID: 'mid://ap.example',
      AP_TransID: '0f2a-REF.1:2_3',
      Instant: '2024-07-02T08:06:55.000Z',
    });
  });

  it('repeats MSSP_ID as the request spelled it, with the time of the answer', async () => {
    const before = Date.now();
    const URI = 'HTTP://Mid.Vendor.CH/x?y#z';
    const { body } = await sendWith({
      MSSP_Info: { MSSP_ID: { URI }, Instant: '2020-01-01T00:00:00Z' },
    });
    const { MSSP_ID, Instant } = body.MSS_SignatureResp.MSSP_Info;
    expect(MSSP_ID).toEqual({ URI });
    // By the clock of Redis, which is known to some milliseconds.
    expect(Date.parse(Instant)).toBeGreaterThan(before - 1000);
    expect(Date.parse(Instant)).toBeLessThan(Date.now() + 1000);
  });

  it.each(['41700092501', '+41700092501'])('repeats the MSISDN as written: %s', async (msisdn) => {
    const { body } = await sign(product, { msisdn });
    expect(body.MSS_SignatureResp.MobileUser).toEqual({ MSISDN: msisdn });
  });

  it.each(['mid.vendor.ch', 'mid.swisscom.ch', 'mss.ficom.fi'])(
    'speaks the dialect of the request: %s',
    async (authority) => {
      const Description = `http://${authority}/as#subscriberInfo`;
      const { body } = await sign(product, {
        profile: `http://${authority}/Any-LoA4`,
        services: [{ Description }],
      });
      const { SignatureProfile, ServiceResponses } = body.MSS_SignatureResp;
      expect(SignatureProfile).toBe(`http://${authority}/STK-LoA4`);
      expect(ServiceResponses[0].Description).toBe(Description);
    },
  );
});

describe('a request', () => {
  it.each(['2', '1'])('of version 1.%s is answered in version 1.1', async (MinorVersion) => {
    const { body } = await sendWith({ MinorVersion });
    expect(body.MSS_SignatureResp).toMatchObject({ MajorVersion: '1', MinorVersion: '1' });
  });

  it.each([
    ['2', '0'],
    ['1', '0'],
    ['1', '3'],
    ['99999999999999999999', '2'],
  ])('of version %s.%s is fault 108', async (MajorVersion, MinorVersion) => {
    expectFault(await sendWith({ MajorVersion, MinorVersion }), 108);
  });

  it.each([
    ['2024-07-02T08:06:55Z', '2024-07-02T08:06:55.000Z'],
    ['2024-07-02T08:06:55.1Z', '2024-07-02T08:06:55.100Z'],
    ['2024-07-01T22:06:55.123456-10:00', '2024-07-02T08:06:55.123Z'],
  ])('may write its Instant %s', async (written, Instant) => {
    const { body } = await sendWith({ 'AP_Info.Instant': written });
    expect(body.MSS_SignatureResp.AP_Info.Instant).toBe(Instant);
  });

  it.each(['2024-07-02T08:06:55', '2024-07-02', '2024-02-30T00:00:00Z', '1719907615', 'now'])(
    'with the Instant %s, without zone or no date-time at all, is fault 101',
    async (written) => {
      for (const member of ['AP_Info.Instant', 'MSSP_Info.Instant']) {
        expectFault(await sendWith({ [member]: written }), 101);
      }
    },
  );

  it.each(['x'.repeat(65), 'a b', '-a', 'ä', '<a>'])(
    'with the AP_TransID %s, too long or no name, is fault 101',
    async (AP_TransID) => {
      expectFault(await sendWith({ 'AP_Info.AP_TransID': AP_TransID }), 101);
    },
  );

  it('may have an AP_TransID of 64 characters', async () => {
    expect((await sendWith({ 'AP_Info.AP_TransID': 'x'.repeat(64) })).status).toBe(200);
  });

  it('may hold members that nobody knows', async () => {
    const { status: http } = await sendWith({
      Extra: { a: [1] },
      'AP_Info.Extra': 'x',
      'MobileUser.Extra': null,
    });
    expect(http).toBe(200);
  });

  it.each(['1', '91', '0', '-1', '2.0', 'soon'])(
    'with TimeOut %s, beyond the bounds of 2 to 90 seconds that are configured, is fault 101',
    async (TimeOut) => {
      expectFault(
        await sendWith({ TimeOut }),
        101,
        'MSS_SignatureReq.TimeOut must be a number of seconds from 2 to 90',
      );
    },
  );

  it.each(['2', '90'])('with TimeOut %s, at the bound, is served', async (TimeOut) => {
    expect((await sendWith({ TimeOut })).status).toBe(200);
  });

  it.each(['x'.repeat(239), '€'.repeat(239), 'ж'.repeat(119)])(
    'with DataToBeSigned of the greatest length is signed: %s',
    async (Data) => {
      const answer = await sendWith({ 'DataToBeSigned.Data': Data });
      await expectSignature(product, answer, Data);
    },
  );

  it.each(['x'.repeat(240), 'ж'.repeat(120), `${'x'.repeat(119)}ж`])(
    'with DataToBeSigned that is longer is fault 103: %s',
    async (Data) => {
      expectFault(await sendWith({ 'DataToBeSigned.Data': Data }), 103);
    },
  );

  it.each([
    ['Encoding', 'utf-16'],
    ['MimeType', 'text/html'],
    ['MimeType', 'application/pdf'],
  ])('with DataToBeSigned.%s %s is fault 107', async (member, value) => {
    expectFault(await sendWith({ [`DataToBeSigned.${member}`]: value }), 107);
  });

  it.each(['+4170009250a', '070 009 25 01', '0041700092501', '+41-70-009-25-01', '1234'])(
    'with the MSISDN %s, not E.164, is fault 101 Illegal msisdn',
    async (MSISDN) => {
      expectFault(await sendWith({ 'MobileUser.MSISDN': MSISDN }), 101, 'Illegal msisdn');
    },
  );
});
