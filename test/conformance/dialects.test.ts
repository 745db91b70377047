/**
 * The host part of a URI is a dialect: which ones are accepted is configured, and an answer repeats
 * the one that was used.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accepted, ended, expectFault, send, sign } from '../http/wire.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest } from '../support/requests.ts';

const redis = testRedis();
let product: TestProduct;
let renamed: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis);
  renamed = await startTestProduct(redis, {
    configuration: {
      protocol: { authorities: ['sign.example.ch'] },
      queue: { prefix: `r-${redis.prefix.slice(-30)}` },
    },
  });
});
afterAll(() => Promise.all([product.stop(), renamed.stop()]));

describe('the accepted authorities', () => {
  it.each(['mid.vendor.ch', 'mss.vendor.fi', 'mid.swisscom.ch', 'mss.ficom.fi'])(
    'are both spellings of both hosts unless others are configured: %s',
    async (authority) => {
      const { body } = await sign(product, {
        profile: `http://${authority}/MID/v1/AuthProfile1.ECC`,
        services: [
          {
            Description: `http://${authority}/TS102204/v1.0.0#userLang`,
            UserLang: { Value: 'en' },
          },
          { Description: `http://${authority}/as#geofencing` },
        ],
      });
      expect(body.MSS_SignatureResp).toMatchObject({
        SignatureProfile: `http://${authority}/STK-LoA4`,
        ServiceResponses: [{ Description: `http://${authority}/as#geofencing` }],
      });
    },
  );

  it('are one list of the configuration, for profiles and services alike', async () => {
    const own = 'http://sign.example.ch';
    const services = [{ Description: `${own}/as#subscriberInfo` }];
    const { body } = await sign(renamed, { profile: `${own}/Any-LoA4`, services });
    expect(body.MSS_SignatureResp).toMatchObject({
      SignatureProfile: `${own}/STK-LoA4`,
      ServiceResponses: services,
    });
    expectFault(await sign(renamed, { profile: 'http://mid.vendor.ch/Any-LoA4' }), 109);
    const foreign = [{ Description: 'http://mid.vendor.ch/as#subscriberInfo' }];
    expectFault(await sign(renamed, { profile: `${own}/Any-LoA4`, services: foreign }), 101);
    const profile = await send(renamed, '/rest/service/profile', profileRequest());
    expect(profile.body.MSS_ProfileResp.SignatureProfile).toContain(`${own}/STK-LoA4`);
  });
});

describe('a request that mixes dialects', () => {
  const options = {
    profile: 'http://mid.vendor.ch/Any-LoA4',
    services: [
      { Description: 'http://mid.swisscom.ch/as#geofencing' },
      { Description: 'http://mss.ficom.fi/as#subscriberInfo' },
    ],
  };

  it('is answered in the spelling of each URI, through status too', async () => {
    const { body } = await sign(product, options);
    expect(body.MSS_SignatureResp).toMatchObject({
      SignatureProfile: 'http://mid.vendor.ch/STK-LoA4',
      ServiceResponses: options.services,
    });
    const later = await ended(product, await accepted(product, options));
    expect(later.body.MSS_StatusResp).toMatchObject({ ServiceResponses: options.services });
  });
});
