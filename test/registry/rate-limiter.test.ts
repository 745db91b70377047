import { describe, expect, it } from 'vitest';
import { createRateLimiter, takeAll } from '../../src/registry/rate-limiter.ts';
import { testRedis } from '../support/redis.ts';

const { client, prefix } = testRedis();

/** So slow a refill that the time a test takes gives back nothing that counts. */
const three = { requests: 3, perSeconds: 86_400 };

const takeTimes = async (
  count: number,
  take: () => Promise<boolean>,
): Promise<readonly boolean[]> => {
  const taken: boolean[] = [];
  for (let index = 0; index < count; index += 1) taken.push(await take());
  return taken;
};

describe('the rate limiter', () => {
  it('lets a full bucket through and then refuses', async () => {
    const { take } = createRateLimiter({ redis: client(), prefix });
    expect(await takeTimes(5, () => take('full', three))).toEqual([true, true, true, false, false]);
  });

  it('says in how many seconds there is a token again', async () => {
    const { takeOrWait } = createRateLimiter({ redis: client(), prefix });
    const waits: number[] = [];
    for (let index = 0; index < 4; index += 1) waits.push(await takeOrWait('wait', three));
    expect(waits.slice(0, 3)).toEqual([0, 0, 0]);
    // A third of the day, less the time of this test.
    expect(waits[3]).toBeGreaterThan(28_700);
    expect(waits[3]).toBeLessThanOrEqual(28_800);
  });

  it('counts each key by itself', async () => {
    const { take } = createRateLimiter({ redis: client(), prefix });
    await takeTimes(3, () => take('one', three));
    expect(await take('one', three)).toBe(false);
    expect(await take('other', three)).toBe(true);
  });

  it('is shared by all processes, and exact when they ask at the same time', async () => {
    const limiters = [client(), client()].map((redis) => createRateLimiter({ redis, prefix }));
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => limiters.map(({ take }) => take('shared', three))).flat(),
    );
    expect(answers.filter((taken) => taken)).toHaveLength(3);
  });

  it('refills evenly: after a third of the time there is a third of the tokens', async () => {
    const redis = client();
    const { take } = createRateLimiter({ redis, prefix });
    await takeTimes(3, () => take('refill', three));
    // Instead of waiting, the bucket is made to look as if it had been touched a third of a day and
    // a minute ago.
    await redis.hincrby(`${prefix}:rate:refill`, 'at', -(28_800 + 60) * 1_000_000);
    expect(await takeTimes(2, () => take('refill', three))).toEqual([true, false]);
  });

  it('takes back what did not count, and never holds more than its size then', async () => {
    const { take, putBack } = createRateLimiter({ redis: client(), prefix });
    await takeTimes(2, () => take('back', three));
    for (let each = 0; each < 5; each += 1) await putBack('back', three);
    expect(await takeTimes(4, () => take('back', three))).toEqual([true, true, true, false]);
  });

  it('leaves no key behind when all was put back, since a full bucket is an absent key', async () => {
    const redis = client();
    const { take, putBack } = createRateLimiter({ redis, prefix });
    await take('whole', three);
    await putBack('whole', three);
    expect(await redis.exists(`${prefix}:rate:whole`)).toBe(0);
  });

  it('takes from all buckets or from none, and names the one that is empty', async () => {
    const redis = client();
    const limiter = createRateLimiter({ redis, prefix });
    const from = (caller: string) =>
      [
        ['all-shared', { requests: 4, perSeconds: 86_400 }],
        [`all-${caller}`, three],
      ] as const;
    expect(
      await takeTimes(4, async () => (await takeAll(limiter, from('one'))) === undefined),
    ).toEqual([true, true, true, false]);
    expect(await takeAll(limiter, from('one'))).toMatchObject({ key: 'all-one' });
    expect(await takeAll(limiter, from('two'))).toBeUndefined();
    expect(await takeAll(limiter, from('three'))).toMatchObject({ key: 'all-shared' });
    expect(await redis.exists(`${prefix}:rate:all-three`)).toBe(0);
  });

  it('never holds more than its size, however long nobody asked', async () => {
    const redis = client();
    const { take } = createRateLimiter({ redis, prefix });
    await take('idle', three);
    await redis.hincrby(`${prefix}:rate:idle`, 'at', -30 * 86_400 * 1_000_000);
    expect(await takeTimes(4, () => take('idle', three))).toEqual([true, true, true, false]);
  });

  it('leaves no key behind once the bucket must be full again', async () => {
    const redis = client();
    await createRateLimiter({ redis, prefix }).take('gone', three);
    const ttlMs = await redis.pttl(`${prefix}:rate:gone`);
    expect(ttlMs).toBeGreaterThan(0);
    expect(ttlMs).toBeLessThanOrEqual(86_400_000);
  });
});
