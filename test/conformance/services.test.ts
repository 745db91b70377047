/** Additional services, in the parts that clients read into types of their own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../src/app/configuration/load.ts';
import { expectFault, sign } from '../http/wire.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';

/** A widely used client knows these and fails on any other. */
const errorCodes = [
  '100',
  '101',
  '102',
  '103',
  '104',
  '105',
  '106',
  '120',
  '121',
  '122',
  '123',
  '200',
  '201',
];
const numberOf = (code: string): string => `41790000${code}`;
const withoutReport = '41790000001';
const somewhere = '41790000002';

const lost = (errorCode: string) => ({
  msisdn: numberOf(errorCode),
  sim: {},
  location: { sim: { kind: 'error', errorCode } },
});

const geofencing = 'http://mid.vendor.ch/as#geofencing';
const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: {
      subscribers: [
        ...errorCodes.map(lost),
        { msisdn: withoutReport, sim: {} },
        {
          msisdn: somewhere,
          sim: {},
          location: {
            sim: { kind: 'fix', country: 'CH', deviceConfidence: 0, locationConfidence: 0.456 },
          },
        },
      ],
    },
  });
});
afterAll(() => product.stop());

const report = async (msisdn: string) => {
  const { body } = await sign(product, { msisdn, services: [{ Description: geofencing }] });
  return body.MSS_SignatureResp.ServiceResponses[0].Geofencing;
};

describe('the error of a geofencing answer', () => {
  it.each(errorCodes)(
    'may have the code %s, and has a message and nothing else beside it',
    async (code) => {
      expect(await report(numberOf(code))).toEqual({
        ErrorCode: code,
        ErrorMessage: expect.any(String),
      });
    },
  );

  it('has one of these codes when nobody knows where the device is', async () => {
    expect(errorCodes).toContain((await report(withoutReport)).ErrorCode);
  });

  it.each(['0', '99', '107', '119', '124', '202', '1000', 'LOST'])(
    'cannot be configured to have the code %s',
    (code) => {
      const loaded = parseConfiguration(JSON.stringify({ subscribers: [lost(code)] }));
      expect(loaded.ok).toBe(false);
    },
  );
});

describe('the confidences of a geofencing answer', () => {
  it('are texts from 0 to 1.0', async () => {
    expect(await report(somewhere)).toMatchObject({
      DeviceConfidence: '0',
      LocationConfidence: '0.46',
    });
  });

  it('are held against the bounds of the request: one that is too low is fault 450', async () => {
    for (const bound of ['mindeviceconfidence', 'minlocationconfidence']) {
      const policy = { Description: geofencing, GeoFencingRequest: { [bound]: '0.5' } };
      expectFault(await sign(product, { msisdn: somewhere, services: [policy] }), 450);
    }
  });
});

describe('AuthUri', () => {
  it('has the scheme mobileid unless another is configured, the path auth, and the RedirectUri percent-encoded', async () => {
    const RedirectUri = 'myapp://back.here/?a=b&c=d%20e#t=1';
    const app2app = { Description: 'http://mid.vendor.ch/as#app2app', App2App: { RedirectUri } };
    const { body } = await sign(product, {
      msisdn: '41700092508',
      mode: 'asynch',
      services: [app2app],
    });
    const { AuthUri } = body.MSS_SignatureResp.ServiceResponses[0].App2App;
    const encoded = 'myapp%3A%2F%2Fback.here%2F%3Fa%3Db%26c%3Dd%2520e%23t%3D1';
    const [beforeToken, token] = AuthUri.split('&session_token=');
    expect(beforeToken).toBe(`mobileid://auth?mobile_auth_redirect_uri=${encoded}`);
    expect(token).toMatch(/^[\w-]{40,}&user_id=[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });
});
