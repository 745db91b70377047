/** One application adds thousands of requests, another adds one: when is it taken? */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newMsspTransId } from '../../src/transactions/ids.ts';
import { closeShards, openShards, type Shard } from '../../src/transactions/shards.ts';
import type { TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { receiptRequest, signRequest } from '../support/requests.ts';
import { openQueueForTest, startStage } from './stage.ts';

const redis = testRedis();
const crowd = 'http://crowd.example';
const other = 'http://other.example';
const many = 2000;

let product: TestProduct;
let shard: Shard;
let prefixes = 0;

beforeEach(async () => {
  prefixes += 1;
  product = await startStage(redis, {
    workers: false,
    configuration: {
      queue: { prefix: `${redis.prefix.slice(-28)}-${prefixes}`, maxWaiting: 10_000_000 },
      workers: { concurrency: 1 },
    },
  });
  const { prefix } = product.configuration.queue;
  const [first] = openShards({
    redis: redis.client(),
    prefix,
    shards: 1,
    onError: () => undefined,
  });
  if (first === undefined) throw new Error('There is no shard');
  shard = first;
});
afterEach(async () => {
  await closeShards([shard]);
  await product.stop();
});

/** @returns The ids, in the order in which they were added. */
const addBare = async (apId: string, count: number): Promise<readonly string[]> => {
  const jobs = Array.from({ length: count }, () => {
    const { AP_Info, ...request } = signRequest({ apId, mode: 'asynch' }).MSS_SignatureReq;
    const jobId = newMsspTransId(0);
    return { name: 'sign', data: { MSS_SignatureReq: { AP_Info, ...request } }, opts: { jobId } };
  });
  await shard.signatures.queue.addBulk(jobs);
  return jobs.map(({ opts }) => opts.jobId);
};

const addTyped = async (apId: string, count: number): Promise<readonly string[]> => {
  const outcomes = await openQueueForTest(redis, product).enqueueBulk(
    Array.from({ length: count }, () => ({
      apId,
      msisdn: '+41700092501',
      text: 'Sign in to Example?',
    })),
  );
  return outcomes.flatMap((outcome) => (outcome.kind === 'accepted' ? [outcome.id] : []));
};

const addByHttp = async (apId: string, count: number): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let left = count; left > 0; left -= 100) {
    const answers = await Promise.all(
      Array.from({ length: Math.min(left, 100) }, () =>
        product.post('/rest/service/sign', signRequest({ apId, mode: 'asynch' })),
      ),
    );
    ids.push(...answers.map(({ body }) => body.MSS_SignatureResp.MSSP_TransID));
  }
  return ids;
};

/** @returns The ids of the first `count` that were taken, in order. */
const taken = async (count: number, { queue } = shard.signatures): Promise<readonly string[]> => {
  const client = redis.client();
  const key = queue.toKey('events');
  const ids: string[] = [];
  let from = '0-0';
  while (ids.length < count) {
    const [stream] =
      (await client.xread('COUNT', 1000, 'BLOCK', 10_000, 'STREAMS', key, from)) ?? [];
    if (stream === undefined) throw new Error(`Only ${ids.length} were taken`);
    for (const [id, fields] of stream[1]) {
      from = id;
      const event = Object.fromEntries(
        fields.flatMap((name, at) => (at % 2 ? [] : [[name, fields[at + 1]]])),
      );
      if (event.event === 'active' && event.jobId !== undefined) ids.push(event.jobId);
    }
  }
  return ids.slice(0, count);
};

const producers = [
  ['bare BullMQ', addBare],
  ['paraph/queue', addTyped],
  ['HTTP', addByHttp],
] as const;

describe.each(producers)(
  'one request, behind thousands of another application by %s',
  (_, addCrowd) => {
    it('is among the first that are taken, whether added by bare BullMQ, paraph/queue or HTTP', async () => {
      await addCrowd(crowd, many);
      const others: string[] = [];
      for (const [name, addOne] of producers) {
        others.push(...(await addOne(`http://${name.replace(/\W/, '-')}.example`, 1)));
      }
      await product.startWorkers();
      const order = await taken(600);
      expect(others).toHaveLength(producers.length);
      for (const one of others) {
        const place = order.indexOf(one);
        expect(place).toBeGreaterThanOrEqual(0);
        expect(place).toBeLessThan(500);
      }
    }, 60_000);
  },
);

describe('the receipt of one application', () => {
  it('is among the first that are taken, behind thousands of another', async () => {
    const signed: Record<string, string> = {};
    await product.startWorkers();
    for (const apId of [crowd, other]) {
      const { body } = await product.post('/rest/service/sign', signRequest({ apId }));
      signed[apId] = body.MSS_SignatureResp.MSSP_TransID;
    }
    await product.stopWorkers();
    const { queue } = shard.receipts;
    // As the service writes the first of them; what is said twice is of no use to anybody, but it
    // has to be taken.
    void product.post(
      '/rest/service/receipt',
      receiptRequest(signed[crowd] ?? '', { apId: crowd }),
    );
    const [first] = await vi.waitFor(async () => {
      const waiting = await queue.getWaiting();
      expect(waiting).toHaveLength(1);
      return waiting;
    }, 20_000);
    await queue.addBulk(
      Array.from({ length: many }, () => ({
        name: 'receipt',
        data: first?.data,
        opts: { jobId: `${newMsspTransId(0)}-receipt` },
      })),
    );
    const receipt = product.post(
      '/rest/service/receipt',
      receiptRequest(signed[other] ?? '', { apId: other }),
    );
    await vi.waitFor(async () => expect(await queue.getWaitingCount()).toBe(many + 2), 20_000);
    await product.startWorkers();
    const place = (await taken(600, shard.receipts)).indexOf(`${signed[other]}-receipt`);
    expect(place).toBeGreaterThanOrEqual(0);
    expect((await receipt).body).toHaveProperty('MSS_ReceiptResp');
  });
});
