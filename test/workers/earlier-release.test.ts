/**
 * Transactions that a release before 0.2 has left open: it kept where they stand in the data of their jobs.
 */
import { Worker } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { fault } from '../../src/protocol/fault.ts';
import { recordIn } from '../../src/transactions/contract.ts';
import { closeShards, openShards, type Shard } from '../../src/transactions/shards.ts';
import { openQueueForTest, somebody, startStage } from '../queue/stage.ts';
import type { TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';

const redis = testRedis();
let product: TestProduct;
let shards: readonly Shard[];

beforeAll(async () => {
  product = await startStage(redis);
  shards = openShards({
    redis: product.core.blocking,
    prefix: product.configuration.queue.prefix,
    shards: 1,
    onError: () => undefined,
  });
});
afterAll(async () => {
  await closeShards(shards);
  await product.stop();
});

const queueOf = () => {
  const [shard] = shards;
  if (shard === undefined) throw new Error('there is no shard');
  return shard.signatures.queue;
};

/** Somebody was asked, and the job sleeps until the deadline. No worker runs. */
const askedByEarlier = async (): Promise<string> => {
  await product.stopWorkers();
  const { body } = await product.post(
    '/rest/service/sign',
    signRequest({ msisdn: somebody(), mode: 'asynch' }),
  );
  const id: string = body.MSS_SignatureResp.MSSP_TransID;
  const queue = queueOf();
  const hand = new Worker(queue.name, null, {
    connection: redis.connection,
    prefix: queue.opts.prefix ?? '',
  });
  const job = await hand.getNextJob('earlier', { block: false });
  expect(job?.id).toBe(id);
  const at = job?.timestamp ?? 0;
  const deadline = at + 60_000;
  const transaction = {
    version: 1,
    state: 'pending',
    attempt: 1,
    deadline,
    history: [
      { state: 'submitted', attempt: 1, at },
      { state: 'pending', attempt: 1, at: at + 1 },
    ],
  };
  const data = { ...job?.data, transaction, chosen: { profile: 'STK-LoA4', sscdId: 'sim' }, endedRuns: 0 };
  await redis.client().hset(queue.toKey(id), { data: JSON.stringify(data), awaiting: '1' });
  await job?.moveToDelayed(deadline, 'earlier');
  await hand.close();
  return id;
};

const failsWith = (id: string, code: number): Promise<void> =>
  vi.waitFor(
    async () => {
      const job = await queueOf().getJob(id);
      expect(recordIn(job?.progress, job?.data)).toMatchObject({
        state: 'failed',
        fault: { code },
        history: [{ state: 'submitted' }, { state: 'pending' }, { state: 'failed' }],
      });
    },
    { timeout: 8000 },
  );

describe.each(['before', 'after'])(
  'who was asked by an earlier release, %s a worker of this one runs',
  (when) => {
    /** @returns What {@link act} says. */
    const around = async <T>(act: () => Promise<T>): Promise<T> => {
      if (when === 'after') await product.startWorkers();
      const result = await act();
      if (when === 'before') await product.startWorkers();
      return result;
    };

    it('can answer', async () => {
      const id = await askedByEarlier();
      const refusal = { kind: 'fault', fault: fault(402) } as const;
      expect(await around(() => product.api.transactions.answer(id, 1, refusal))).toBe('accepted');
      await failsWith(id, 402);
    });

    it('is spared by a cancel', async () => {
      const id = await askedByEarlier();
      const handle = await openQueueForTest(redis, product).find(id);
      expect(await around(async () => handle?.cancel())).toBe('cancelled');
      await failsWith(id, 401);
    });
  },
);

it('asks the device once more when the job of an earlier release wakes by itself', async () => {
  const id = await askedByEarlier();
  await product.startWorkers();
  await (await queueOf().getJob(id))?.promote();
  await vi.waitFor(
    async () => {
      const { progress } = (await queueOf().getJob(id)) ?? {};
      expect(progress).toMatchObject({ value: { pending: 'shown' }, context: { attempt: 1 } });
    },
    { timeout: 8000 },
  );
});
