/** AdditionalServices of a sign request, one by one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { accepted, ended, expectFault, expectSignature, sign } from './wire.ts';

const vendor = {
  userLang: 'http://mss.vendor.fi/TS102204/v1.0.0#userLang',
  geofencing: 'http://mid.vendor.ch/as#geofencing',
  app2app: 'http://mid.vendor.ch/as#app2app',
  subscriberInfo: 'http://mid.vendor.ch/as#subscriberInfo',
  validate: 'http://uri.etsi.org/TS102204/v1.1.2#validate',
} as const;

const robot = '41700092501';
const appRobot = '41700092508';
const lost = '41700092510';
const abroad = '41790000001';

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: {
      appScheme: 'paraph',
      subscribers: [
        {
          msisdn: abroad,
          sim: {},
          carrier: { mcc: '262', mnc: '07' },
          location: {
            sim: {
              kind: 'fix',
              country: 'DE',
              accuracyMeters: 1500,
              deviceConfidence: 0.55,
              locationConfidence: 1,
              ageSeconds: 3600,
            },
          },
        },
      ],
    },
  });
});
afterAll(() => product.stop());

describe('userLang', () => {
  it.each(['en', 'DE', 'fr-CH'])(
    'is taken in any case, and gets no ServiceResponse: %s',
    async (Value) => {
      const { body } = await sign(product, {
        services: [{ Description: vendor.userLang, UserLang: { Value } }],
      });
      expect(body.MSS_SignatureResp.Status.StatusMessage).toBe('SIGNATURE');
      expect(body.MSS_SignatureResp).not.toHaveProperty('ServiceResponses');
    },
  );
});

describe('geofencing', () => {
  const services = [{ Description: vendor.geofencing }];

  it('is answered with Country, Accuracy in whole metres, confidences and Timestamp with offset, all strings', async () => {
    const { body } = await sign(product, { msisdn: abroad, services });
    const [response, ...others] = body.MSS_SignatureResp.ServiceResponses;
    expect(others).toEqual([]);
    expect(response).toEqual({
      Description: vendor.geofencing,
      Geofencing: {
        Accuracy: '1500',
        Country: 'DE',
        DeviceConfidence: '0.55',
        LocationConfidence: '1.0',
        Timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/),
      },
    });
    const ageMs = Date.now() - Date.parse(response.Geofencing.Timestamp);
    expect(ageMs).toBeGreaterThanOrEqual(3_600_000);
  });

  it('is answered with ErrorCode and ErrorMessage alone when there is no location, inside the 200', async () => {
    const answer = await sign(product, { msisdn: lost, services });
    expect(answer.status).toBe(200);
    expect(answer.body.MSS_SignatureResp.ServiceResponses).toEqual([
      {
        Description: vendor.geofencing,
        Geofencing: { ErrorCode: '200', ErrorMessage: 'No location returned' },
      },
    ]);
    await expectSignature(product, answer, 'Sign in to Example?');
  });

  it('is answered through status in asynch mode', async () => {
    const { body } = await ended(product, await accepted(product, { services }));
    expect(body.MSS_StatusResp.ServiceResponses).toMatchObject([{ Geofencing: { Country: 'CH' } }]);
  });

  const policies = [
    { countrywhitelist: ['CH', 'LI'] },
    { countryblacklist: ['de'] },
    { mindeviceconfidence: '0.6' },
    { maxtimestampminutes: '59' },
    { maxaccuracymeters: 1000 },
  ];
  it.each(policies)('whose policy is violated is fault 450: %o', async (GeoFencingRequest) => {
    const answer = await sign(product, {
      msisdn: abroad,
      services: [{ Description: vendor.geofencing, GeoFencingRequest }],
    });
    expectFault(answer, 450);
  });

  it('whose policy is violated shows through status in asynch mode', async () => {
    const policy = {
      Description: vendor.geofencing,
      GeoFencingRequest: { countryblacklist: ['CH'] },
    };
    expectFault(await ended(product, await accepted(product, { services: [policy] })), 450);
    const located = {
      Description: vendor.geofencing,
      GeoFencingRequest: { maxaccuracymeters: '100000' },
    };
    expectFault(await sign(product, { msisdn: lost, services: [located] }), 450);
  });

  it.each([
    { countrywhitelist: ['DE'], countryblacklist: null, mindeviceconfidence: null },
    { minlocationconfidence: '1', maxtimestampminutes: '61', maxaccuracymeters: '1500' },
    { countrywhitelist: [], maxaccuracymeters: 0 },
  ])('whose policy holds is signed: %o', async (GeoFencingRequest) => {
    const answer = await sign(product, {
      msisdn: abroad,
      services: [{ Description: vendor.geofencing, GeoFencingRequest }],
    });
    await expectSignature(product, answer, 'Sign in to Example?');
  });
});

describe('app2app', () => {
  const RedirectUri = 'myapp://back.here/?a=b&c=ü ö#t=1'.replaceAll(/[ üö]/g, encodeURIComponent);
  const services = [{ Description: vendor.app2app, App2App: { RedirectUri } }];

  it('is answered in asynch mode with an AuthUri of redirect URI, session token and user id', async () => {
    const { body } = await sign(product, { msisdn: appRobot, mode: 'asynch', services });
    const [response, ...others] = body.MSS_SignatureResp.ServiceResponses;
    expect(others).toEqual([]);
    expect(Object.keys(response)).toEqual(['App2App', 'Description']);
    expect(response.Description).toBe(vendor.app2app);
    const { AuthUri } = response.App2App;
    expect(AuthUri.startsWith('paraph://auth?mobile_auth_redirect_uri=')).toBe(true);
    const query = new URL(AuthUri).searchParams;
    expect([...query.keys()]).toEqual(['mobile_auth_redirect_uri', 'session_token', 'user_id']);
    expect(query.get('mobile_auth_redirect_uri')).toBe(RedirectUri);
    expect(query.get('session_token')).toMatch(/^[A-Za-z0-9_-]{40,}$/);
    expect(query.get('user_id')).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it('has one user id for a user and a session token for each transaction', async () => {
    const queries = await Promise.all(
      [1, 2].map(async () => {
        const { body } = await sign(product, { msisdn: appRobot, mode: 'asynch', services });
        return new URL(body.MSS_SignatureResp.ServiceResponses[0].App2App.AuthUri).searchParams;
      }),
    );
    const [one, other] = queries;
    expect(one?.get('user_id')).toBe(other?.get('user_id'));
    expect(one?.get('session_token')).not.toBe(other?.get('session_token'));
  });

  it('is fault 101 in synch mode', async () => {
    expectFault(await sign(product, { msisdn: appRobot, services }), 101);
  });

  it('is fault 109 for a user without an App', async () => {
    expectFault(await sign(product, { mode: 'asynch', services }), 109);
  });

  it('has no ServiceResponse in the status', async () => {
    const { body } = await ended(product, await accepted(product, { msisdn: appRobot, services }));
    expect(body.MSS_StatusResp).not.toHaveProperty('ServiceResponses');
    expect(body.MSS_StatusResp.Status.StatusMessage).toBe('SIGNATURE');
  });
});

describe('subscriberInfo', () => {
  it.each([
    [robot, '22801'],
    [abroad, '26207'],
    [appRobot, '00000'],
  ])('says of %s that detail 1901 is MCC then MNC: %s', async (msisdn, value) => {
    const answer = await sign(product, {
      msisdn,
      services: [{ Description: vendor.subscriberInfo }],
    });

    expect(answer.body.MSS_SignatureResp.ServiceResponses).toEqual([
      { Description: vendor.subscriberInfo, SubscriberInfo: { Details: [{ id: '1901', value }] } },
    ]);
  });
});

describe('validate', () => {
  const services = [{ Description: vendor.validate }];

  it('has the service verify the signature and say 502 VALID_SIGNATURE, without a ServiceResponse', async () => {
    const answer = await sign(product, { services });
    expect(answer.body.MSS_SignatureResp.Status).toEqual({
      StatusCode: { Value: '502' },
      StatusMessage: 'VALID_SIGNATURE',
    });
    expect(answer.body.MSS_SignatureResp).not.toHaveProperty('ServiceResponses');
    await expectSignature(product, answer, 'Sign in to Example?');
    const later = await ended(product, answer.body.MSS_SignatureResp.MSSP_TransID);
    expect(later.body.MSS_StatusResp.Status.StatusMessage).toBe('VALID_SIGNATURE');
  });
});

describe('several services', () => {
  it('are answered one element each', async () => {
    const { body } = await sign(product, {
      services: Object.entries(vendor)
        .filter(([name]) => name !== 'app2app')
        .map(([name, Description]) => ({
          Description,
          ...(name === 'userLang' && { UserLang: { Value: 'it' } }),
        })),
    });
    const { ServiceResponses, Status } = body.MSS_SignatureResp;
    expect(Status.StatusCode.Value).toBe('502');
    expect(ServiceResponses.map(({ Description }: { Description: string }) => Description)).toEqual(
      [vendor.geofencing, vendor.subscriberInfo],
    );
  });

  it.each(['http://mid.vendor.ch/as#other', 'http://evil.example/as#geofencing', 'validate'])(
    'may not hold an unknown one: %s is fault 101',
    async (Description) => {
      expectFault(
        await sign(product, {
          services: [{ Description: vendor.subscriberInfo }, { Description }],
        }),
        101,
        'MSS_SignatureReq.AdditionalServices[1].Description is not a known service',
      );
    },
  );
});
