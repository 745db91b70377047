/** Thousands of signature processes are started by one call of the typed producer. */
import { describe, expect, it } from 'vitest';
import { createWorkflowQueue } from '../../../src/app/package/queue.ts';
import { testRedis } from '../../../test/support/redis.ts';

const redis = testRedis();
const apId = 'mid://process.example';
const definition = {
  text: 'I agree',
  steps: [{ name: 'only', signers: [{ name: 'Anna', msisdn: '+41700092501' }] }],
};

describe('a process', () => {
  it('is added by the typed producer, ten thousand in one call, with an outcome for each', async () => {
    const prefix = redis.prefix.slice(-32);
    const late: string[] = [];
    const onError = ({ message }: Error): void => void late.push(message);
    const many = createWorkflowQueue({ redisUrl: redis.url, prefix, shards: 2, apId, onError });
    const all = Array.from({ length: 10_000 }, (_, index) => ({
      id: `m-${index}`,
      input: index === 7 ? { steps: [] } : definition,
    }));
    let outcomes = await many.start('process', all);
    expect(outcomes).toHaveLength(10_000);
    // A busy machine may answer a command too late. Then its outcome says that it may be added
    // again.
    while (late.length > 0) {
      expect(new Set(late.splice(0))).toEqual(new Set(['Command timed out']));
      outcomes = await many.start('process', all);
    }
    expect(outcomes.filter(({ kind }) => kind === 'accepted')).toHaveLength(9999);
    expect(outcomes[7]).toEqual({ kind: 'refused', problem: 'steps must have a step' });
    await many.close();
  });
});
