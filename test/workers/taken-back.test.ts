/** What a workflow took back is not asked, whoever had its job in hand. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultLine, takenBackBy } from '../../packages/protocol/src/fault.ts';
import { takenBackKey } from '../../src/transactions/jobs/fair-adding.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { type ByHand, startByHand } from './by-hand.ts';

const redis = testRedis();
const robot = '+41786000000';
let byHand: ByHand;

beforeAll(async () => {
  byHand = await startByHand(redis, {
    subscribers: [{ msisdn: robot.slice(1), sim: { device: { kind: 'robot' } } }],
  });
});
afterAll(() => byHand.stop());

const submit = async (msisdn: string): Promise<string> => {
  const { body } = await byHand.product.post(
    '/rest/service/sign',
    signRequest({ msisdn, mode: 'asynch' }),
  );
  return body.MSS_SignatureResp.MSSP_TransID;
};

/** @returns The id of a robot's signature that a run of a workflow has asked for and taken back. */
const takenBack = async (): Promise<string> => {
  const id = await submit(robot);
  const { queue } = byHand.shard.signatures;
  const added = await queue.getJob(id);
  await added?.updateData({ ...added.data, answerTo: 'the token of a run' });
  await byHand.product.core.blocking.set(queue.toKey(takenBackKey(id)), '1', 'EX', 60);
  return id;
};

const standstillMs = 2000;

describe('a device that signs by itself is not asked for a workflow that took the request back', () => {
  it.each([
    {
      while: 'a dead worker held the job',
      // Its lock lasted as long.
      addedAt: () => Date.now() - standstillMs,
      now: Date.now,
    },
    {
      while: 'the worker that had taken the job stood still',
      addedAt: Date.now,
      now: () => Date.now() + standstillMs,
    },
  ])('while $while', async ({ addedAt, now }) => {
    const id = await takenBack();
    const { signatures } = byHand.shard;
    await byHand.product.core.blocking.hset(signatures.queue.toKey(id), 'timestamp', addedAt());
    const asked: string[] = [];
    const job = await byHand.take(signatures, 'of this worker');
    const turn = byHand.signatureTurn({
      now,
      devices: byHand.devicesThat(({ transactionId }) => void asked.push(transactionId)),
    });
    await expect(turn(job, 'of this worker')).rejects.toThrow(faultLine(takenBackBy.workflow));
    expect(asked).toEqual([]);
  });
});
