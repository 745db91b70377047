/**
 * Two requests for one App at the worst moments: whatever the order, the newer one is shown and the older one ends.
 *
 * Steps are run by hand on jobs that are really taken, and the screens are the real ones; the tests only stop time
 * between a claim and what follows.
 */
import { Worker } from 'bullmq';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SignatureRecord } from '../../machines/record.ts';
import { fault } from '../../src/protocol/fault.ts';
import { createDevices } from '../../src/sscd/devices.ts';
import { createOutbox } from '../../src/sscd/text-gateway.ts';
import { createAnswer } from '../../src/transactions/answers.ts';
import type { SignatureJobData } from '../../src/transactions/contract.ts';
import { createScreens, type Screens } from '../../src/transactions/screens.ts';
import { closeShards, openShards, type Shard } from '../../src/transactions/shards.ts';
import { createSignatureStep } from '../../workers/signature.worker.ts';
import type { SignatureJob } from '../../workers/taking.ts';
import { createUpstreams } from '../../workers/upstreams.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';

const redis = testRedis();
const quiet = {
  asked: () => undefined,
  signed: () => undefined,
  failed: () => undefined,
  unreachable: () => undefined,
  receipted: () => undefined,
  trouble: () => undefined,
};

let product: TestProduct;
let shards: readonly Shard[];
let shard: Shard;
let hand: Worker<SignatureJobData, SignatureRecord>;
let people = 41_781_000_000;

let older: SignatureJob;
let newer: SignatureJob;
let prompted: string[];

beforeAll(async () => {
  product = await startTestProduct(redis, {
    workers: false,
    configuration: {
      subscribers: [
        {
          msisdn: '41781000000',
          through: '41781000099',
          apps: [{ device: { kind: 'simulated', sign: 'never-answers' } }],
        },
      ],
    },
  });
  const { blocking } = product.core;
  shards = openShards({
    redis: blocking,
    prefix: product.configuration.queue.prefix,
    shards: 1,
    onError: () => undefined,
  });
  const [only] = shards;
  if (only === undefined) throw new Error('there is no shard');
  shard = only;
  hand = new Worker(shard.signatures.queue.name, null, {
    connection: redis.connection,
    prefix: shard.prefix,
    lockDuration: 30_000,
  });
});

afterAll(async () => {
  await hand.close();
  await closeShards(shards);
  await product.stop();
});

const take = async (token: string): Promise<SignatureJob> => {
  const job = await hand.getNextJob(token);
  if (job === undefined) throw new Error('a job was expected');
  return job;
};

beforeEach(async () => {
  const msisdn = `+${people++}`;
  await product.post('/rest/service/sign', signRequest({ msisdn, mode: 'asynch' }));
  await product.post('/rest/service/sign', signRequest({ msisdn, mode: 'asynch', text: 'The newer one' }));
  older = await take('older');
  newer = await take('newer');
  prompted = [];
});

const realScreens = (): Screens =>
  createScreens(product.core.blocking, product.configuration.queue.prefix, Date.now);

/** The worker's own step, whose devices note whom they prompt. */
const stepWith = (screens: Screens) => {
  const { core } = product;
  const custody = core.custodyOver(core.blocking);
  const devices = createDevices({ custody, gateway: createOutbox(core.blocking, 'unused', Date.now) });
  return createSignatureStep({
    at: shard.signatures,
    place: { shard: 0, shards: 1 },
    protocol: core.protocol,
    providers: core.providersOver(core.blocking),
    subscribers: core.subscribers,
    devices: {
      deviceFor: (target) => {
        const device = devices.deviceFor(target);
        return {
          ...device,
          prompt: (prompt) => {
            prompted.push(prompt.transactionId);
            return device.prompt(prompt);
          },
        };
      },
    },
    screens,
    upstreams: createUpstreams({ down: () => undefined, back: () => undefined }, () => undefined),
    custody,
    seals: core.seals,
    answer: createAnswer(shards),
    now: Date.now,
    log: quiet,
  });
};

const stateOf = async ({ id = '' }: SignatureJob) => (await product.api.transactions.find(id))?.state;

describe('a newer request for the same App', () => {
  it('is shown alone when it comes after the older one has claimed the screen and before that one is asked', async () => {
    const real = realScreens();
    let interrupt: (() => Promise<unknown>) | undefined;
    const step = stepWith({
      ...real,
      claim: async (...args) => {
        const held = await real.claim(...args);
        const now = interrupt;
        interrupt = undefined;
        await now?.();
        return held;
      },
    });
    interrupt = () => step(newer, 'newer').catch(() => undefined);
    await expect(step(older, 'older')).rejects.toThrow('_401 USER_CANCEL');
    expect(prompted).toEqual([newer.id]);
  });

  it('ends the older one that was asked, and has looked at its screen, just before it is taken over', async () => {
    const real = realScreens();
    let hasClaimed = (): void => undefined;
    const claimed = new Promise<void>((resolve) => {
      hasClaimed = resolve;
    });
    let goOn = (): void => undefined;
    const mayGoOn = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let olderStep: Promise<unknown> = Promise.resolve();
    const step = stepWith({
      ...real,
      claim: async (screen, holder, untilMs) => {
        const held = await real.claim(screen, holder, untilMs);
        if (holder.transactionId === older.id) {
          hasClaimed();
          await mayGoOn;
        }
        return held;
      },
      takeOver: async (...args) => {
        goOn();
        await olderStep;
        return real.takeOver(...args);
      },
    });
    olderStep = step(older, 'older').catch(() => undefined);
    await claimed;
    await step(newer, 'newer').catch(() => undefined);

    await product.startWorkers();
    await vi.waitFor(async () =>
      expect(await stateOf(older)).toMatchObject({ kind: 'failed', fault: { code: 401 } }),
    );
    expect(await stateOf(newer)).toMatchObject({ kind: 'open' });
    await product.api.transactions.answer(newer.id ?? '', 1, { kind: 'fault', fault: fault(401) });
    await product.stopWorkers();
  });
});
