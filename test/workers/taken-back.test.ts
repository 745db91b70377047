/** What a workflow took back is not asked, whoever had its job in hand. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { takenBackKey } from '../../src/jobs/fair-adding.ts';
import { faultLine, takenBackBy } from '../../src/protocol/fault.ts';
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

describe('a device that signs by itself', () => {
  it('is not asked for a workflow that took the request back while a dead worker held the job', async () => {
    const id = await submit(robot);
    const { queue } = byHand.shard.signatures;
    const added = await queue.getJob(id);
    await added?.updateData({ ...added.data, answerTo: 'the token of a run' });
    const { blocking } = byHand.product.core;
    await blocking.set(queue.toKey(takenBackKey(id)), '1', 'EX', 60);
    // The lock of the dead one lasted for two seconds.
    await blocking.hset(queue.toKey(id), 'timestamp', Date.now() - 2000);
    const asked: string[] = [];
    const job = await byHand.take(byHand.shard.signatures, 'of another worker');
    const turn = byHand.signatureTurn({
      devices: byHand.devicesThat(({ transactionId }) => void asked.push(transactionId)),
    });
    await expect(turn(job, 'of another worker')).rejects.toThrow(faultLine(takenBackBy.workflow));
    expect(asked).toEqual([]);
  });
});
