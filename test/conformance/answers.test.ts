/** What holds for the requests and answers of all four operations alike. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changed } from '../../packages/protocol/test/samples.ts';
import { accepted, ended, send } from '../http/wire.ts';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest, receiptRequest, signRequest, statusRequest } from '../support/requests.ts';

const redis = testRedis();
let product: TestProduct;
/** A signature of an AP that has sent no receipt yet. */
const signed = async (): Promise<string> => {
  const msspTransId = await accepted(product);
  await ended(product, msspTransId);
  return msspTransId;
};

beforeAll(async () => {
  product = await startTestProduct(redis);
});
afterAll(() => product.stop());

/** The operation, a request that is served, and the wrappers of request and response. */
const operations = [
  [
    'sign',
    async () => signRequest({ services: [{ Description: 'http://mid.vendor.ch/as#geofencing' }] }),
  ],
  ['status', async () => statusRequest(await signed())],
  ['receipt', async () => receiptRequest(await signed())],
  ['profile', async () => profileRequest()],
] as const;

/** Adds a member that nobody knows to every object of a body but the outermost. */
const withUnknownMembers = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(withUnknownMembers);
  if (typeof value !== 'object' || value === null) return value;
  const known = Object.entries(value).map(([name, member]) => [name, withUnknownMembers(member)]);
  return { ...Object.fromEntries(known), Unknown: { Deep: [1, null, 'x'] } };
};

describe.each(operations)('a %s request', (operation, make) => {
  const call = async (change: (body: Json) => unknown) => {
    const request = await make();
    const [wrapper = ''] = Object.keys(request);
    const answer = await send(product, `/rest/service/${operation}`, change(request));
    expect(answer.status).toBe(200);
    return { wrapper, response: answer.body[wrapper.replace('Req', 'Resp')], text: answer.text };
  };

  it('is answered with its own AP_ID, AP_TransID and Instant, normalised to UTC, and never with AP_PWD', async () => {
    const { response, text } = await call((body) => {
      const [wrapper = ''] = Object.keys(body);
      body[wrapper].AP_Info = {
        ...body[wrapper].AP_Info,
        AP_PWD: 'geheim-4711',
        AP_TransID: 'REF-1.echo',
        Instant: '2024-07-02T10:06:55+02:00',
      };
      return body;
    });
    expect(response.AP_Info).toEqual({
      AP_ID: 'http://test.example',
      AP_TransID: 'REF-1.echo',
      Instant: '2024-07-02T08:06:55.000Z',
    });
    expect(text).not.toContain('geheim-4711');
  });

  it('is answered with MSSP_ID as it was spelled and the time of the answer, with or without an Instant of its own', async () => {
    for (const Instant of [undefined, null, '', '2020-01-01T00:00:00+01:00']) {
      // The service's time is that of Redis, as well as it is known.
      const since = Date.now() - 500;
      const { response } = await call((body) => {
        const [wrapper = ''] = Object.keys(body);
        return changed(body, `${wrapper}.MSSP_Info`, {
          MSSP_ID: { URI: 'HTTP://Mid.Vendor.CH/x?y#z' },
          ...(Instant !== undefined && { Instant }),
        });
      });
      expect(response.MSSP_Info.MSSP_ID).toEqual({ URI: 'HTTP://Mid.Vendor.CH/x?y#z' });
      expect(Date.parse(response.MSSP_Info.Instant)).toBeGreaterThanOrEqual(since);
      expect(Date.parse(response.MSSP_Info.Instant)).toBeLessThanOrEqual(Date.now() + 500);
    }
  });

  it('may hold members that nobody knows, in every object', async () => {
    const { response } = await call((body) => ({ ...withUnknownMembers(body), Unknown: [] }));
    expect(response.Status.StatusCode.Value).toMatch(/^[15]00$/);
  });
});
