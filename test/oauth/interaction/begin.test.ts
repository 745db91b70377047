/** Asking a phone when the process that was to do it has died, and when it is not allowed. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createBeginning, startTimeoutMs } from '../../../src/oauth/interaction/begin.ts';
import {
  createLoginFacts,
  type LoginFact,
  progressOf,
} from '../../../src/oauth/interaction/facts.ts';
import { waitForChange } from '../../../src/oauth/interaction/standing.ts';
import type { Visit } from '../../../src/oauth/interaction/visit.ts';
import type { LoginStart, Logins } from '../../../src/oauth/logins.ts';
import { testRedis } from '../../support/redis.ts';
import { noLimits, sealedStoreOf } from '../doubles.ts';

const redis = testRedis();
const msisdn = '41791234567';
const durable: LoginStart = {
  kind: 'started',
  msspTransId: 'H1',
  deadline: 60_000,
  text: 'Log in?',
};

const stage = ({ allowed, outcome }: { allowed: boolean; outcome: LoginStart }) => {
  const clock = { now: 0 };
  const counted = { asked: 0, started: 0 };
  const logins: Logins = {
    start: async () => {
      counted.started += 1;
      return outcome;
    },
    look: async () => ({ kind: 'open' }),
    ended: async () => undefined,
    cancel: async () => undefined,
  };
  const beginning = createBeginning(Buffer.alloc(32), {
    logins,
    limits: {
      ...noLimits,
      promptWait: async () => {
        counted.asked += 1;
        return allowed ? 0 : 7;
      },
    },
    now: () => clock.now,
    log: { audit: () => undefined, trouble: () => undefined },
  });
  const facts = createLoginFacts(sealedStoreOf(redis));
  const visit = {
    tenant: { id: 'main' },
    client: { id: 'shop', numberMatching: false },
    uid: randomBytes(9).toString('base64url'),
    language: 'en',
    acrValues: [],
    scopes: ['openid'],
    dtbd: undefined,
    address: { caller: '192.0.2.7' },
    facts,
    ttlSeconds: 60,
  } as unknown as Visit;
  const progress = async () => progressOf(await facts.read(visit.uid));
  const begun: LoginFact = {
    kind: 'begun',
    method: 'sign',
    msisdn,
    reference: `L${randomBytes(16).toString('hex')}`,
    begunAt: 0,
    sessionCode: 'B2CD',
    language: 'en',
  };
  /** As after a process has died between the two. */
  const abandoned = async () => {
    await facts.add(visit.uid, 60, () => begun);
    clock.now = startTimeoutMs;
    const { attempt } = await progress();
    if (attempt === undefined) throw new Error('nothing was begun');
    return attempt;
  };
  return { beginning, visit, facts, clock, counted, logins, progress, abandoned };
};

describe('an attempt that is started a second time', () => {
  it('asks no limit: the phone may have been asked already', async () => {
    const { beginning, visit, counted, progress, abandoned } = stage({
      allowed: false,
      outcome: durable,
    });
    await beginning.startAgain(visit, await abandoned());
    expect(counted).toEqual({ asked: 0, started: 1 });
    expect(await progress()).toMatchObject({
      withheld: undefined,
      attempt: { start: { msspTransId: 'H1' } },
    });
  });

  it('stays open while the service is busy', async () => {
    const { beginning, visit, progress, abandoned } = stage({
      allowed: true,
      outcome: { kind: 'busy' },
    });
    await beginning.startAgain(visit, await abandoned());
    const { withheld, attempt } = await progress();
    expect(withheld).toBeUndefined();
    expect(attempt).toMatchObject({ msisdn, start: undefined });
  });

  it('does not make its page load again at once, time after time', async () => {
    const { clock, logins, abandoned } = stage({ allowed: true, outcome: { kind: 'busy' } });
    const attempt = await abandoned();
    let looks = 0;
    const changed = await waitForChange(
      async () => {
        looks += 1;
        if (looks > 1) clock.now += startTimeoutMs;
        return { kind: 'waiting', attempt };
      },
      { logins, now: () => clock.now, gone: new AbortController().signal, mayJoin: false },
    );
    expect([changed, looks]).toEqual([true, 2]);
  });
});

describe('a phone that must not be asked', () => {
  it('is not asked by a login that has used up the room for its facts', async () => {
    const { beginning, visit, clock, counted, progress, facts } = stage({
      allowed: false,
      outcome: durable,
    });
    // One more than an even number of facts: each wish that is refused adds two.
    await facts.add(visit.uid, 60, () => ({ kind: 'restarted' }));
    for (let wish = 0; wish < 40; wish += 1) {
      const { round } = await progress();
      expect(await beginning.begin(visit, { round, method: 'sign', msisdn })).toMatchObject({
        problem: 'limited',
      });
    }
    clock.now = startTimeoutMs;
    const { attempt } = await progress();
    if (attempt !== undefined) await beginning.startAgain(visit, attempt);
    expect(counted.started).toBe(0);
  });
});
