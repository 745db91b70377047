/**
 * How many event streams of workflows who may have: names that anyone can invent use up no more
 * than a part.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic, callerOf } from '../../../../test/support/caller.ts';
import { startTestProduct, type TestProduct } from '../../../../test/support/product.ts';
import { testRedis } from '../../../../test/support/redis.ts';

const redis = testRedis();
const registered = 'mid://registered.example';
const silent = '41790000002';
const definition = {
  text: 'I agree',
  steps: [{ name: 'one', signers: [{ name: 'Anna', msisdn: `+${silent}` }] }],
};

let product: TestProduct;
const gone = new AbortController();

beforeAll(async () => {
  product = await startTestProduct(redis, {
    workers: false,
    configuration: {
      sandbox: true,
      applicationProviders: [{ id: registered }],
      subscribers: [
        { msisdn: silent, sim: { device: { kind: 'simulated', sign: 'never-answers' } } },
      ],
    },
  });
});
afterAll(async () => {
  gone.abort();
  await product.stop();
});

const { call } = callerOf(() => product);

const follow = async (apId: string): Promise<number> => {
  const answer = await product.api.fetch(
    new Request('http://test/workflows/process/p-1/events', {
      headers: { authorization: basic(apId) },
      signal: gone.signal,
    }),
  );
  if (answer.status !== 200) await answer.text();
  return answer.status;
};

describe('the event streams of a sandbox', () => {
  it('are not used up by one who invents names: registered applications have room, and others too', async () => {
    const invented = Array.from({ length: 20 }, (_, index) => `mid://invented-${index}.example`);
    for (const apId of [registered, ...invented]) {
      expect(
        (await call('POST', 'process', { apId, body: { id: 'p-1', input: definition } })).status,
      ).toBe(201);
    }
    const opened: number[] = [];
    for (const apId of invented) {
      const answers = await Promise.all(Array.from({ length: 16 }, () => follow(apId)));
      opened.push(answers.filter((status) => status === 200).length);
      expect(answers.every((status) => status === 200 || status === 429)).toBe(true);
    }
    // Of one caller, whatever names it uses. One name has as many as before.
    expect(opened.slice(0, 4)).toEqual([16, 16, 16, 16]);
    expect(opened.slice(4).every((count) => count === 0)).toBe(true);
    const own = await Promise.all(Array.from({ length: 17 }, () => follow(registered)));
    expect(own.filter((status) => status === 200)).toHaveLength(16);
  });
});
