/**
 * Valid requests, spoiled at random: by structure (members removed, replaced, renamed, doubled,
 * wrapped), byte by byte, in their encoding and in the HTTP around them.
 *
 * Whatever comes of it, the answer is a well-formed 200 of the operation or a Fault of the table,
 * it comes soon, and it is never 900: that would be a bug, since nothing is broken here.
 * PARAPH_FUZZ_RUNS sets how many are tried, PARAPH_FUZZ_SEED which. `npm run fuzz` fires the same
 * shots at a real process for as long as asked.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyTexts, byteEdits, validRequests } from '../security/fuzzing/bodies.ts';
import { fire } from '../security/fuzzing/fire.ts';
import { shots } from '../security/fuzzing/shots.ts';
import { patienceMs, problemOf, problemOfAnswer } from '../security/fuzzing/verdict.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { sign } from './wire.ts';

const numRuns = Number(process.env.PARAPH_FUZZ_RUNS ?? 250);
const seed = Number(process.env.PARAPH_FUZZ_SEED ?? 102_204);
/** Far more than an answer takes, far less than a caller's patience. */
const answerMs = 8000;

const redis = testRedis();
let product: TestProduct;
let requests: readonly object[];

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: { http: { requestTimeoutSeconds: 0.3, headersTimeoutSeconds: 0.3 } },
    listen: true,
  });
  const signed = await sign(product, { apId: 'mid://fuzz.example' });
  requests = validRequests(signed.body.MSS_SignatureResp.MSSP_TransID);
});
afterAll(() => product.stop());

const tryOut = async (
  url: string,
  body: Buffer,
  contentType = 'application/json',
): Promise<void> => {
  const request = new Request(`http://test${url}`, {
    method: 'POST',
    headers: { 'content-type': contentType },
    body,
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(reject, patienceMs({ body }, answerMs), new Error('No answer in time'));
  });
  const answering = Promise.resolve(product.api.fetch(request)).then(async (response) => ({
    status: response.status,
    contentType: response.headers.get('content-type') ?? undefined,
    text: await response.text(),
  }));
  const answer = await Promise.race([answering, late]).finally(() => clearTimeout(timer));
  expect([200, 500]).toContain(answer.status);
  expect(problemOfAnswer(answer, body)).toBeUndefined();
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

describe('whatever is sent', { timeout: 15_000 + numRuns * 40 }, () => {
  it('with members changed at random is answered well, or with a Fault of the table', async () => {
    await fc.assert(
      fc.asyncProperty(anyUrl, bodyTexts(requests), (url, text) => tryOut(url, Buffer.from(text))),
      { seed, numRuns },
    );
  });

  it('with bytes changed at random is answered well, or with a Fault of the table', async () => {
    await fc.assert(
      fc.asyncProperty(anyUrl, fc.constantFrom(...requests), byteEdits, (url, request, edit) =>
        tryOut(url, edit(Buffer.from(JSON.stringify(request)))),
      ),
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
      fc.asyncProperty(urls, body, type, (url, bytes, contentType) =>
        tryOut(url, Buffer.from(bytes), contentType),
      ),
      { seed, numRuns },
    );
  });

  it('in any encoding, framing and headers is answered well on its socket, or with a Fault of the table', async () => {
    await fc.assert(
      fc.asyncProperty(shots(requests), async (shot) => {
        expect(
          problemOf(shot, await fire(product.url, shot, patienceMs(shot, answerMs))),
        ).toBeUndefined();
      }),
      { seed, numRuns },
    );
  });
});

it('none of it was a bug, or is told in the log', () => {
  const levels = product.logged.map((line) => JSON.parse(line).level);
  expect(Math.max(...levels)).toBeLessThan(50);
});
