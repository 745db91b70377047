/**
 * Steps run by hand: jobs that are really taken, while no worker runs, so that a test says when a step runs, what time
 * it is then, and what becomes of the job. What a test does not replace is the real thing.
 */
import { type Job, Worker } from 'bullmq';
import { vi } from 'vitest';
import { createDevices } from '../../src/sscd/devices.ts';
import { createOutbox } from '../../src/sscd/text-gateway.ts';
import { createAnswer } from '../../src/transactions/answers.ts';
import { createReadEnd } from '../../src/transactions/outcomes.ts';
import { createScreens } from '../../src/transactions/screens.ts';
import { closeShards, openShards, type QueueAt, type Shard } from '../../src/transactions/shards.ts';
import { createReceiptStep, type ReceiptStep } from '../../workers/receipt.worker.ts';
import {
  createSignatureStep,
  type SignatureStep,
  type SignatureStepOptions,
} from '../../workers/signature.worker.ts';
import { createUpstreams } from '../../workers/upstreams.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import type { TestRedis } from '../support/redis.ts';

type ReceiptStepOptions = Parameters<typeof createReceiptStep>[0];

export interface ByHand {
  /** It accepts and answers, and has no workers. */
  readonly product: TestProduct;
  readonly shard: Shard;
  /** Takes the next job of a queue, as a worker would, and waits for it. Its lock outlives the test. */
  take(at: QueueAt, token: string): Promise<Job>;
  signatureStep(changes?: Partial<SignatureStepOptions>): SignatureStep;
  receiptStep(changes?: Partial<ReceiptStepOptions>): ReceiptStep;
  stop(): Promise<void>;
}

const quiet = {
  asked: () => undefined,
  signed: () => undefined,
  failed: () => undefined,
  unreachable: () => undefined,
  receipted: () => undefined,
  trouble: () => undefined,
};

export const startByHand = async (
  redis: TestRedis,
  configuration: Record<string, unknown>,
): Promise<ByHand> => {
  const product = await startTestProduct(redis, { workers: false, configuration });
  const { core } = product;
  const { blocking } = core;
  const { prefix } = product.configuration.queue;
  const shards = openShards({ redis: blocking, prefix, shards: 1, onError: () => undefined });
  const [shard] = shards;
  if (shard === undefined) throw new Error('there is no shard');

  const handFor = ({ queue }: QueueAt): Worker =>
    new Worker(queue.name, null, {
      connection: redis.connection,
      prefix: shard.prefix,
      lockDuration: 60_000,
    });
  const hands = new Map([shard.signatures, shard.receipts].map((at) => [at, handFor(at)]));

  const custody = core.custodyOver(blocking);
  const common = {
    place: { shard: 0, shards: 1 },
    protocol: core.protocol,
    subscribers: core.subscribers,
    devices: createDevices({ custody, gateway: createOutbox(blocking, 'unused', Date.now) }),
    screens: createScreens(blocking, prefix, Date.now),
    upstreams: createUpstreams({ down: () => undefined, back: () => undefined }, () => undefined),
    now: Date.now,
    log: quiet,
  };
  const { seals } = core;
  const readEnd = createReadEnd({ custody, seals, now: Date.now, onError: () => undefined });
  const providers = core.providersOver(blocking);
  const answer = createAnswer(shards);

  return {
    product,
    shard,
    take: (at, token) =>
      vi.waitFor(
        async () => {
          const job = await hands.get(at)?.getNextJob(token, { block: false });
          if (job === undefined) throw new Error('a job was expected');
          return job;
        },
        { timeout: 5000, interval: 10 },
      ),
    signatureStep: (changes) =>
      createSignatureStep({ ...common, at: shard.signatures, providers, custody, seals, answer, ...changes }),
    receiptStep: (changes) => createReceiptStep({ ...common, shard, readEnd, ...changes }),
    stop: async () => {
      for (const hand of hands.values()) await hand.close();
      await closeShards(shards);
      await product.stop();
    },
  };
};
