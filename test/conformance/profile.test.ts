/**
 * States of SSCDs and certificates in a profile answer: all that the interface names, each told as
 * it is.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { send } from '../http/wire.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest } from '../support/requests.ts';

const oldSim = '41790000001';
const manyApps = '41790000002';

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: {
      subscribers: [
        {
          msisdn: oldSim,
          sim: { state: 'INACTIVE', certificate: { state: 'INACTIVE' } },
          apps: [{}],
        },
        { msisdn: manyApps, sim: {}, apps: [{ state: 'REGISTERED' }, { pin: { blocked: true } }] },
      ],
    },
  });
});
afterAll(() => product.stop());

const sscdsOf = async (msisdn: string, params: string) => {
  const { body } = await send(product, '/rest/service/profile', profileRequest(msisdn, params));
  return body.MSS_ProfileResp.Status.StatusDetail.ProfileQueryExtension.Sscds;
};

describe('the states of a user who can sign with another device', () => {
  it('are ACTIVE, INACTIVE or REGISTERED for each SSCD', async () => {
    expect(await sscdsOf(oldSim, 'sscds state')).toEqual({
      App: [{ State: 'ACTIVE' }],
      Sim: { State: 'INACTIVE' },
    });
    expect(await sscdsOf(manyApps, 'sscds state')).toEqual({
      App: [{ State: 'REGISTERED' }, { State: 'ACTIVE' }],
      Sim: { State: 'ACTIVE' },
    });
  });

  it('are ACTIVE or INACTIVE for each certificate', async () => {
    expect(await sscdsOf(oldSim, 'sscds certs')).toMatchObject({
      App: [{ MobileUserCertificate: [{ State: 'ACTIVE' }] }],
      Sim: { MobileUserCertificate: [{ State: 'INACTIVE' }] },
    });
  });

  it('do not hide that a PIN is blocked, told as a boolean', async () => {
    expect(await sscdsOf(manyApps, 'sscds pinstatus')).toEqual({
      App: [{ PinStatus: { Blocked: false } }, { PinStatus: { Blocked: true } }],
      Sim: { PinStatus: { Blocked: false } },
    });
  });

  it('come with certificates as Base64 and with one subject for each, as text that is no Base64', async () => {
    const [{ MobileUserCertificate }] = (await sscdsOf(oldSim, 'sscds certs')).App;
    const [{ X509Certificate, X509SubjectName }] = MobileUserCertificate;
    for (const text of X509Certificate)
      expect(Buffer.from(text, 'base64').toString('base64')).toBe(text);
    expect(X509SubjectName).toHaveLength(X509Certificate.length);
    for (const text of X509SubjectName) expect(text).toMatch(/^cn=./);
  });
});
