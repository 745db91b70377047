/** The index over transactions that the product itself has made, from HTTP to the phone. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createHistory, type History } from '../../../src/transactions/history/history.ts';
import { createIndexer, type Indexer } from '../../../src/transactions/history/indexer.ts';
import { startTestProduct, type TestProduct } from '../../support/product.ts';
import { testRedis } from '../../support/redis.ts';
import { receiptRequest, signRequest } from '../../support/requests.ts';

const redis = testRedis();
const silent = '+41790001234';
let product: TestProduct;
let indexer: Indexer;
let history: History;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: {
      subscribers: [
        { msisdn: silent, sim: { device: { kind: 'simulated', sign: 'never-answers' } } },
      ],
    },
  });
  const { core, configuration } = product;
  const options = {
    redis: core.blocking,
    prefix: configuration.queue.prefix,
    shards: configuration.queue.shards,
    retention: core.retention,
    now: Date.now,
    onError: (error: Error) => {
      throw error;
    },
  };
  indexer = createIndexer({ ...options, pollMs: 10 });
  history = createHistory(options);
  indexer.start();
});
afterAll(async () => {
  history.close();
  await indexer.close();
  await product.stop();
});

/** Sends a request and tells how the index lists it. */
const listed = async (options: Parameters<typeof signRequest>[0]) => {
  const request = signRequest(options);
  await product.post('/rest/service/sign', request);
  await indexer.idle();
  const page = await history.search(
    { text: request.MSS_SignatureReq.AP_Info.AP_TransID },
    { limit: 5 },
  );
  return { request, row: page?.rows[0] };
};

describe('the index over what the product does', () => {
  it('lists a signature with how long it took, and then its receipt', async () => {
    const { row } = await listed({ apId: 'http://one.example' });
    expect(row).toMatchObject({
      apId: 'http://one.example',
      msisdn: '41700092501',
      profile: 'Any-LoA4',
      state: 'signed',
      attempt: 1,
    });
    expect(row?.tookMs).toBeLessThanOrEqual((row?.endedAt ?? 0) - (row?.submittedAt ?? 0));
    const receipt = receiptRequest(row?.msspTransId ?? '', { apId: 'http://one.example' });
    expect((await product.post('/rest/service/receipt', receipt)).status).toBe(200);
    await indexer.idle();
    const page = await history.search({ apId: 'http://one.example' }, { limit: 5 });
    expect(page?.rows).toMatchObject([{ msspTransId: row?.msspTransId, state: 'receipted' }]);
  });

  it('lists who was asked and has not answered', async () => {
    const { row } = await listed({ msisdn: silent, mode: 'asynch' });
    expect(row).toMatchObject({ msisdn: silent.slice(1), attempt: 1 });
    const rows = await vi.waitFor(
      async () => {
        await indexer.idle();
        const page = await history.search({ state: ['pending'] }, { limit: 5 });
        expect(page?.rows).toHaveLength(1);
        return page?.rows;
      },
      { timeout: 20_000 },
    );
    expect(rows).toMatchObject([{ msspTransId: row?.msspTransId, state: 'pending' }]);
  });

  it('lists a fault, and the attempt that a replay begins', async () => {
    const { row } = await listed({ msisdn: '+41000092401' });
    expect(row).toMatchObject({
      state: 'failed',
      attempt: 1,
      fault: { code: 401, reason: 'USER_CANCEL' },
    });
    const id = row?.msspTransId ?? '';
    expect(await product.replay(id)).toBe('replayed');
    await vi.waitFor(
      async () => {
        await indexer.idle();
        const page = await history.search({ fault: [401] }, { limit: 5 });
        expect(page?.rows).toMatchObject([{ msspTransId: id, attempt: 2, state: 'failed' }]);
      },
      { timeout: 20_000 },
    );
  });
});
