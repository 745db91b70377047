/**
 * Valid requests, spoiled at random: by structure (members removed, replaced, renamed, wrapped) and byte by byte.
 *
 * Whatever comes of it, the answer is a well-formed 200 of the operation or a Fault of the table, it comes soon, and it is
 * never 900: that would be a bug, since nothing is broken here. PARAPH_FUZZ_RUNS sets how many are tried, PARAPH_FUZZ_SEED
 * which.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changed } from '../protocol/samples.ts';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest, receiptRequest, signRequest, statusRequest } from '../support/requests.ts';
import { type ResponseWrapper, type SendOptions, send, sign } from './wire.ts';

const numRuns = Number(process.env.PARAPH_FUZZ_RUNS ?? 250);
const seed = Number(process.env.PARAPH_FUZZ_SEED ?? 102_204);
/** Far more than an answer takes, far less than a caller's patience. */
const patienceMs = 5000;

const redis = testRedis();
let product: TestProduct;
let msspTransId: string;

beforeAll(async () => {
  product = await startTestProduct(redis);
  msspTransId = (await sign(product, { apId: AP_Info.AP_ID })).body.MSS_SignatureResp.MSSP_TransID;
});
afterAll(() => product.stop());

const vendor = 'http://mid.vendor.ch/as#';
/** The same every time, so that a seed means the same bytes. */
const AP_Info = { AP_ID: 'mid://fuzz.example', AP_TransID: 'FUZZ-1', Instant: '2024-07-02T08:06:55.134Z' };

/** Robots answer all of them at once. */
const validRequests = (): readonly Json[] =>
  [
    signRequest(),
    signRequest({
      mode: 'asynch',
      msisdn: '41700092508',
      services: [
        { Description: 'http://mss.vendor.fi/TS102204/v1.0.0#userLang', UserLang: { Value: 'en' } },
        {
          Description: `${vendor}geofencing`,
          GeoFencingRequest: {
            countrywhitelist: ['CH'],
            mindeviceconfidence: '0.5',
            maxaccuracymeters: 1000,
          },
        },
        { Description: `${vendor}app2app`, App2App: { RedirectUri: 'myapp://back#x' } },
        { Description: 'http://uri.etsi.org/TS102204/v1.1.2#validate' },
      ],
    }),
    statusRequest(msspTransId),
    receiptRequest(msspTransId),
    profileRequest('41700092509'),
  ].map((request) => {
    const [wrapper = ''] = Object.keys(request);
    return changed(request, `${wrapper}.AP_Info`, AP_Info);
  });

const responseOf: Readonly<Record<string, ResponseWrapper>> = {
  MSS_SignatureReq: 'MSS_SignatureResp',
  MSS_StatusReq: 'MSS_StatusResp',
  MSS_ReceiptReq: 'MSS_ReceiptResp',
  MSS_ProfileReq: 'MSS_ProfileResp',
};

/** Sends to a URL and expects what must be true of every answer; `send` has looked at its form. */
const tryOut = async (url: string, body: string | Uint8Array, options?: SendOptions): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(reject, patienceMs, new Error('No answer in time'));
  });
  const answer = await Promise.race([send(product, url, body, options), late]).finally(() =>
    clearTimeout(timer),
  );
  if (answer.status === 200) {
    const [asked] = Object.keys(responseOf).filter((name) => Buffer.from(body).includes(name));
    expect(Object.keys(answer.body)).toEqual([responseOf[asked ?? '']]);
  } else expect(answer.body.Fault.Reason).not.toBe('INTERNAL_ERROR');
};

const urls = fc.constantFrom(
  '/rest/service',
  '/rest/service/sign',
  '/rest/service/status',
  '/rest/service/receipt',
  '/rest/service/profile',
);
/** The URL for all operations most of the time, since it refuses the least. */
const anyUrl = fc.oneof(
  { weight: 4, arbitrary: fc.constant('/rest/service') },
  { weight: 1, arbitrary: urls },
);
const which = fc.nat({ max: 4 });

type Place = { readonly parent: Record<string, unknown>; readonly name: string };

/** Every member of a body, however deep. */
const placesOf = (value: unknown): readonly Place[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, below]) => [
        { parent: value as Record<string, unknown>, name },
        ...placesOf(below),
      ]);

const awkward = fc.constantFrom<unknown>(
  null,
  '',
  ' ',
  0,
  -1,
  1e21,
  true,
  [],
  {},
  [[]],
  '0',
  '2',
  'synch',
  'asynch',
  'UTF-8',
  '41700092502',
  '+41000092401',
  'http://mid.vendor.ch/STK-LoA4',
  'http://mid.swisscom.ch/MID/v1/OtpProfileText',
  '2024-02-30T00:00:00Z',
  '𐀀'.repeat(60),
  'x'.repeat(5000),
  '\u0000',
  '__proto__',
);

const mutation = fc.oneof(
  fc.constant((place: Place) => void delete place.parent[place.name]),
  fc
    .oneof(awkward, fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: 'binary' }))
    .map((value) => (place: Place) => {
      place.parent[place.name] = value;
    }),
  fc.string({ unit: 'binary', maxLength: 12 }).map((name) => (place: Place) => {
    place.parent[name] = place.parent[place.name];
  }),
  fc.constant((place: Place) => {
    place.parent[place.name] = [place.parent[place.name]];
  }),
  fc.constant((place: Place) => {
    place.parent[place.name.toLowerCase()] = place.parent[place.name];
    delete place.parent[place.name];
  }),
);

const mutations = fc.array(fc.tuple(fc.nat(), mutation), { minLength: 1, maxLength: 4 });

describe('whatever is sent', { timeout: 15_000 + numRuns * 20 }, () => {
  it('with members changed at random is answered well, or with a Fault of the table', async () => {
    await fc.assert(
      fc.asyncProperty(anyUrl, which, mutations, async (url, index, changes) => {
        const body: Json = structuredClone(validRequests()[index]);
        for (const [at, change] of changes) {
          const places = placesOf(body);
          const place = places[at % Math.max(places.length, 1)];
          if (place !== undefined) change(place);
        }
        await tryOut(url, JSON.stringify(body));
      }),
      { seed, numRuns },
    );
  });

  it('with bytes changed at random is answered well, or with a Fault of the table', async () => {
    const edit = fc.record({
      at: fc.nat(),
      remove: fc.nat({ max: 3 }),
      insert: fc.uint8Array({ maxLength: 3 }),
    });
    const edits = fc.array(edit, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(anyUrl, which, edits, async (url, index, changes) => {
        let bytes = Buffer.from(JSON.stringify(validRequests()[index]));
        for (const { at, remove, insert } of changes) {
          const start = at % (bytes.length + 1);
          bytes = Buffer.concat([bytes.subarray(0, start), insert, bytes.subarray(start + remove)]);
        }
        await tryOut(url, bytes);
      }),
      { seed, numRuns },
    );
  });

  it('as bytes that are no request at all is answered with a Fault of the table', async () => {
    const type = fc.oneof(
      fc.constant('application/json'),
      fc.string({ unit: 'grapheme-ascii', maxLength: 30 }),
    );
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.json().map((json) => Buffer.from(json)),
    );
    await fc.assert(
      fc.asyncProperty(urls, body, type, async (url, bytes, contentType) => {
        await tryOut(url, bytes, { headers: { 'content-type': contentType } });
      }),
      { seed, numRuns },
    );
  });
});

it('none of it was a bug, or is told in the log', () => {
  const levels = product.logged.map((line) => JSON.parse(line).level);
  expect(Math.max(...levels)).toBeLessThan(50);
});
