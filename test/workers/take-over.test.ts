/**
 * Two requests for one App at the worst moments: whatever the order, the newer one is shown and the
 * older one ends.
 *
 * Turns are run by hand on jobs that are really taken, and the screens are the real ones; the tests
 * only stop time between a claim and what follows.
 */
import { DelayedError, type Job } from 'bullmq';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createGate } from '../../packages/engine/test/stage.ts';
import { fault } from '../../packages/protocol/src/fault.ts';
import { createIsOver } from '../../src/transactions/attempt-over.ts';
import { recordIn } from '../../src/transactions/contract.ts';
import { createDeviceLock, type DeviceLock } from '../../src/transactions/device-lock.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { type ByHand, startByHand } from './by-hand.ts';

const redis = testRedis();
let byHand: ByHand;
let people = 41_781_000_000;

let older: Job;
let newer: Job;
let prompted: string[];

beforeAll(async () => {
  byHand = await startByHand(redis, {
    subscribers: [
      {
        msisdn: '41781000000',
        through: '41781000099',
        apps: [{ device: { kind: 'simulated', sign: 'never-answers' } }],
      },
    ],
  });
});
afterAll(() => byHand.stop());

beforeEach(async () => {
  const { product, shard, take } = byHand;
  const msisdn = `+${people++}`;
  await product.post('/rest/service/sign', signRequest({ msisdn, mode: 'asynch' }));
  await product.post(
    '/rest/service/sign',
    signRequest({ msisdn, mode: 'asynch', text: 'The newer one' }),
  );
  older = await take(shard.signatures, 'older');
  newer = await take(shard.signatures, 'newer');
  prompted = [];
});

const realLock = (): DeviceLock =>
  createDeviceLock(
    byHand.product.core.blocking,
    byHand.product.configuration.queue.prefix,
    Date.now,
    createIsOver([byHand.shard], Date.now),
  );

/** The turn of a worker. @returns The reason, for a job that has failed. */
const turnWith = (
  deviceLock: DeviceLock,
  changes: { readonly sleepsMeanwhile?: () => boolean } = {},
) => {
  const turn = byHand.signatureTurn({
    deviceLock,
    devices: byHand.devicesThat(({ transactionId }) => void prompted.push(transactionId)),
    ...changes,
  });
  return (job: Job, token: string): Promise<string> =>
    turn(job, token).then(
      ({ state }) => state,
      async (error: Error) => {
        if (error instanceof DelayedError) return 'sleeps';
        await job.moveToFailed(error, token, false);
        return error.message;
      },
    );
};

/**
 * The older one has claimed the screen, and its job sleeps until it may go on.
 * @returns What lets it.
 */
const claimedByOlder = async (): Promise<() => void> => {
  const real = realLock();
  const { opened, open } = createGate();
  let hasClaimed = false;
  const turn = turnWith(
    {
      ...real,
      claim: async (...args) => {
        const held = await real.claim(...args);
        hasClaimed = true;
        await opened;
        return held;
      },
    },
    { sleepsMeanwhile: () => hasClaimed },
  );
  expect(await turn(older, 'older')).toBe('sleeps');
  return open;
};

/** How its next turn ends it. */
const goOnWithOlder = async (): Promise<string> => {
  const job = await byHand.take(byHand.shard.signatures, 'older');
  expect(job.id).toBe(older.id);
  return turnWith(realLock())(job, 'older');
};

const stateOf = async ({ id = '' }: Job) => (await byHand.product.api.transactions.find(id))?.state;

const expectNewerAlone = async (): Promise<void> => {
  const { product, shard, take } = byHand;
  const { id = '' } = newer;
  expect(await stateOf(older)).toMatchObject({ kind: 'failed', fault: { code: 401 } });
  const job = await shard.signatures.queue.getJob(id);
  expect(recordIn(job?.progress)).toMatchObject({ state: 'pending' });
  const refusal = { kind: 'fault', fault: fault(402) } as const;
  expect(await product.api.transactions.answer(id, 1, refusal)).toBe('accepted');
  const turn = turnWith(realLock());
  expect(await turn(await take(shard.signatures, 'newer'), 'newer')).toContain('_402');
};

describe('a newer request for the same App', () => {
  it('is shown alone when it comes after the older one has claimed the screen and before that one is asked', async () => {
    const goOn = await claimedByOlder();
    expect(await turnWith(realLock())(newer, 'newer')).toBe('sleeps');
    goOn();
    expect(await goOnWithOlder()).toContain('_401 USER_CANCEL');
    expect(prompted).toEqual([newer.id]);
    await expectNewerAlone();
  });

  it('ends the older one that was asked, and has looked at its screen, just before it is taken over', async () => {
    const goOn = await claimedByOlder();
    const real = realLock();
    const turn = turnWith({
      ...real,
      takeOver: async (...args) => {
        goOn();
        expect(await goOnWithOlder()).toBe('sleeps');
        expect(prompted).toEqual([older.id]);
        return real.takeOver(...args);
      },
    });
    expect(await turn(newer, 'newer')).toBe('sleeps');
    expect(await goOnWithOlder()).toContain('_401 USER_CANCEL');
    expect(prompted).toEqual([older.id, newer.id]);
    await expectNewerAlone();
  });
});
