/** Signers of one number that has had its prompts: six in a minute, so one each ten seconds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenOf } from '../../../../packages/engine/src/activities.ts';
import { activityOf, type Later, later } from '../../../../packages/engine/src/define.ts';
import { createEngine, spreadOver } from '../../../../packages/engine/src/engine.ts';
import type { RateLimiter } from '../../../../src/registry/rate-limiter.ts';
import { createBacklog } from '../../../../src/transactions/backlog.ts';
import { createReadEnd } from '../../../../src/transactions/outcomes.ts';
import { closeShards, type Shard } from '../../../../src/transactions/shards.ts';
import { createFind } from '../../../../src/transactions/transactions.ts';
import { createRandom } from '../../../../test/faults/random.ts';
import { startTestProduct, type TestProduct } from '../../../../test/support/product.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import type { SignAsk, SignResult } from '../../../processes/charts/signer-contract.ts';
import { createSignActivity, limitedPauseMs } from '../../activities/sign-activity.ts';
import { createSignRoom } from '../../activities/sign-room.ts';
import { workflowsOf } from '../../queue.ts';

it('never tries before the number may have a prompt again', () => {
  for (let before = 0; before < 100; before += 1) {
    expect(limitedPauseMs(7, before, 0)).toBe(7000);
    expect(limitedPauseMs(7, before, 1)).toBeLessThanOrEqual(7000 + 30 * 60_000);
  }
});

it('has a thousand signers try a few times each until all were asked, not all of them each time', () => {
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const count = 1000;
  const waiting = Array.from({ length: count }, () => ({ at: 0, before: 0 }));
  let tries = 0;
  let free = 0;
  while (waiting.length > 0) {
    const next = waiting.reduce((first, each) => (each.at < first.at ? each : first));
    tries += 1;
    if (next.at >= free) {
      free = next.at + 10_000;
      waiting.splice(waiting.indexOf(next), 1);
    } else {
      next.at += limitedPauseMs((free - next.at) / 1000, next.before, random());
      next.before += 1;
    }
  }
  // All together at each free prompt would be half a million.
  expect(tries).toBeLessThan(count * 20);
});

describe('two tries of one run, of which one is in a process that was paused', () => {
  const redis = testRedis();
  const firstNumber = 41_793_000_000;
  let product: TestProduct;
  let shards: readonly Shard[];
  let limiter: RateLimiter;
  let activityWith: (limiter: RateLimiter) => ReturnType<typeof createSignActivity>;
  const closers: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    const through = `${firstNumber + 999}`;
    const configuration = { subscribers: [{ msisdn: `${firstNumber}`, through, sim: {} }] };
    product = await startTestProduct(redis, { workers: false, configuration });
    const { core } = product;
    const { commands, protocol, seals, now, retention } = core;
    const opened = core.shardsOver(commands);
    shards = opened;
    limiter = core.limiterOver(commands);
    const onError = () => undefined;
    const readEnd = createReadEnd({ custody: core.custodyOver(commands), seals, now, onError });
    const limits = { ofOne: 1000, inAll: 1000 };
    const backlog = await createBacklog({
      shards,
      redis: commands,
      limit: 1000,
      onDemand: true,
      onError,
    });
    closers.push(backlog.close, () => closeShards(opened), product.stop);
    const flows = shards.map((shard) => workflowsOf(shard).queue);
    const common = {
      shards,
      redis: commands,
      protocol,
      now,
      onError,
      providers: core.providersOver(commands),
      subscribers: core.subscribersOver(commands),
      room: createSignRoom(backlog, limits),
      authority: product.configuration.protocol.authorities[0] ?? '',
      find: createFind({ shards, protocol, readEnd, retention, now }),
      engine: createEngine(spreadOver(flows, commands, now), now),
    };
    activityWith = (given) => createSignActivity({ ...common, limiter: given }, false);
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });

  const transactions = async (): Promise<number> => {
    const counts = await Promise.all(
      shards.map(({ signatures }) => signatures.queue.getWaitingCount()),
    );
    return counts.reduce((sum, each) => sum + each, 0);
  };

  it('leave no prompt that nobody waits for, in any order', async () => {
    const random = createRandom('tries');
    const counts = { limited: 0, later: 0 };
    for (let round = 0; round < 40; round += 1) {
      const msisdn = `+${firstNumber + round}`;
      const instance = {
        id: `tenant-process--${round}.a.1`,
        createdAt: 1,
        takenAt: 1,
        data: undefined,
      };
      const before = await transactions();
      const waiting: (() => void)[] = [];
      const pause = () => new Promise<void>((resolve) => waiting.push(resolve));
      let isFirst = true;
      const paused: RateLimiter = {
        ...limiter,
        takeOrWait: async (key, limit) => {
          await pause();
          // The number has one prompt left.
          const taken = isFirst ? limit.requests - 1 : 0;
          isFirst = false;
          for (let each = 0; each < taken; each += 1) await limiter.take(key, limit);
          const seconds = await limiter.takeOrWait(key, limit);
          await pause();
          return seconds;
        },
      };
      const answers: (SignResult | Later)[] = [];
      const input: SignAsk = {
        apId: 'mid://ap.example',
        msisdn,
        text: 'Sign?',
        timeoutSeconds: 60,
      };
      const given = {
        input,
        instance,
        token: tokenOf(instance, 'sign', 1),
        now: Date.now(),
        attempt: 1,
        signal: new AbortController().signal,
      };
      const run = activityOf(activityWith(paused))?.run;
      const tries = Promise.all(
        [1, 2].map(async () => answers.push((await run?.(given)) as SignResult)),
      );
      const ended = tries.then(() => true);
      while (!(await Promise.race([ended, new Promise<false>((go) => setTimeout(go, 5, false))])))
        waiting.splice(random.below(waiting.length), 1)[0]?.();
      // The chart goes on with an answer, and asks by another transaction.
      const isLimited = answers.some((each) => each !== later);
      counts[isLimited ? 'limited' : 'later'] += 1;
      expect({ round, added: (await transactions()) - before }).toEqual({
        round,
        added: isLimited ? 0 : 1,
      });
    }
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
  });
});
