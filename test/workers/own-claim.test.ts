/** The claim of a SIM when its worker dies between the claim and the record of it. */
import { DelayedError, type Job } from 'bullmq';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { InstanceStore } from '../../packages/engine/src/redis/instance-store.ts';
import { recordIn } from '../../src/transactions/contract.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { type ByHand, startByHand } from './by-hand.ts';

const redis = testRedis();
let byHand: ByHand;
let people = 41_782_000_000;
let first: Job;
let second: Job;

beforeAll(async () => {
  byHand = await startByHand(redis, {
    subscribers: [
      {
        msisdn: '41782000000',
        through: '41782000099',
        sim: { device: { kind: 'simulated', sign: 'never-answers' } },
      },
    ],
  });
});
afterAll(() => byHand.stop());

beforeEach(async () => {
  const { product, shard, take } = byHand;
  const msisdn = `+${people++}`;
  for (const text of ['The first one', 'The second one'])
    await product.post('/rest/service/sign', signRequest({ msisdn, mode: 'asynch', text }));
  first = await take(shard.signatures, 'first');
  second = await take(shard.signatures, 'second');
});

type Changes = Parameters<ByHand['signatureTurn']>[0];

/** @returns The reason, for a job that has failed. */
const run = (job: Job, token: string, changes: Changes = {}): Promise<string> =>
  byHand
    .signatureTurn(changes)(job, token)
    .then(
      ({ state }) => state,
      async (error: Error) => {
        if (error instanceof DelayedError) return 'sleeps';
        await job.moveToFailed(error, token, false);
        return error.message;
      },
    );

/** The SIM is claimed, and nothing of it is stored. */
const diesAfterClaim = async (): Promise<Job> => {
  let commits = 0;
  const store = (real: InstanceStore): InstanceStore => ({
    ...real,
    commit: async () => {
      commits += 1;
      throw new Error('The process has died');
    },
  });
  expect(await run(first, 'first', { store })).toBe('sleeps');
  expect(commits).toBe(1);
  const again = await byHand.wakeAndTake(byHand.shard.signatures, first.id, 'first');
  expect(recordIn(again.progress)).toBeUndefined();
  return again;
};

const late = { now: () => Date.now() + 61_000 };

describe('a transaction whose worker has died after it had claimed a SIM', () => {
  it('does not take its own claim for that of another', async () => {
    const again = await diesAfterClaim();
    expect(await run(second, 'second')).toContain('_406');
    expect(await run(again, 'first')).toBe('sleeps');
    const expired = await byHand.wakeAndTake(byHand.shard.signatures, first.id, 'first');
    expect(Object(recordIn(expired.progress)).state).toBe('pending');
    expect(await run(expired, 'first', late)).toContain('_208');
  });

  it('leaves the SIM to others when it ends before anybody was asked', async () => {
    const again = await diesAfterClaim();
    expect(await run(again, 'first', late)).toContain('_208');
    expect(await run(second, 'second')).toBe('sleeps');
  });

  it('leaves the SIM to others when its next attempt has begun and failed', async () => {
    const again = await diesAfterClaim();
    expect(await run(again, 'first', late)).toContain('_208');
    await first.retry('failed');
    const replayed = await byHand.take(byHand.shard.signatures, 'first');
    // The replay is stored, and its turn goes no further.
    let commits = 0;
    const store = (real: InstanceStore): InstanceStore => ({
      ...real,
      commit: (...given) => {
        commits += 1;
        if (commits > 1) throw new Error('The process has died');
        return real.commit(...given);
      },
    });
    const noScreen = {
      ...late,
      store,
      deviceLock: {
        claim: async () => {
          throw new Error('away');
        },
      } as never,
    };
    expect(await run(replayed, 'first', noScreen)).toBe('sleeps');
    expect(await run(second, 'second')).toBe('sleeps');
  });
});
