import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createLoginFacts,
  type LoginFact,
  progressOf,
} from '../../../src/oauth/interaction/facts.ts';
import { testRedis } from '../../support/redis.ts';
import { sealedStoreOf } from '../doubles.ts';

const redis = testRedis();
const factsOf = (tenant = 'main') => createLoginFacts(sealedStoreOf(redis, tenant));
const newUid = (): string => randomBytes(9).toString('base64url');
const guess: LoginFact = { kind: 'guessed', right: false };

describe('the facts of a login', () => {
  it('are kept in order, however many write at once', async () => {
    const [here, there, uid] = [factsOf(), factsOf(), newUid()];
    const seen = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? here : there).add(uid, 60, (facts) => ({
          kind: 'refused',
          fault: { code: 900, detail: String(facts.length) },
        })),
      ),
    );
    expect(seen.every(({ added }) => added)).toBe(true);
    const details = (await here.read(uid)).map((fact) =>
      fact.kind === 'refused' ? fact.fault.detail : '',
    );
    expect(details).toEqual(Array.from({ length: 12 }, (_, index) => String(index)));
  });

  it('are decided anew by whoever comes second', async () => {
    const [facts, uid] = [factsOf(), newUid()];
    const once = (known: readonly LoginFact[]) => (known.length === 0 ? guess : undefined);
    const results = await Promise.all(Array.from({ length: 8 }, () => facts.add(uid, 60, once)));
    expect(results.filter(({ added }) => added)).toHaveLength(1);
    expect(results.every((result) => result.facts.length === 1)).toBe(true);
  });

  it('are added behind what somebody has added since they were read ahead', async () => {
    const [here, there, uid] = [factsOf(), factsOf(), newUid()];
    here.readAhead(uid);
    expect((await here.add(uid, 60, () => guess)).facts).toHaveLength(1);
    here.readAhead(uid);
    await there.add(uid, 60, () => guess);
    expect((await here.add(uid, 60, () => guess)).facts).toHaveLength(3);
    expect(await here.read(uid)).toHaveLength(3);
  });

  it('of one login and of one tenant are not those of another', async () => {
    const uid = newUid();
    await factsOf().add(uid, 60, () => guess);
    expect(await factsOf().read(newUid())).toEqual([]);
    expect(await factsOf('other').read(uid)).toEqual([]);
  });

  it('are not added to for ever behind one that cannot be read', async () => {
    const uid = newUid();
    const store = sealedStoreOf(redis);
    const key = store.keyOf('login', uid);
    const facts = createLoginFacts(store);
    await facts.add(uid, 60, () => guess);
    await redis.client().rpush(key, 'damaged');
    await expect(facts.add(uid, 60, () => guess)).rejects.toThrow('cannot be read');
    expect(await facts.read(uid)).toEqual([guess]);
  });

  it('leave room for what becomes of an attempt', async () => {
    const [facts, uid] = [factsOf(), newUid()];
    const begun: LoginFact = {
      kind: 'begun',
      method: 'sign',
      msisdn: '41700092501',
      reference: 'L1',
      begunAt: 1,
      sessionCode: 'B2CD',
      language: 'en',
    };
    while ((await facts.add(uid, 60, () => begun)).added);
    expect((await facts.add(uid, 60, () => ({ kind: 'withheld', why: 'limited' }))).added).toBe(
      true,
    );
  });

  it('are bounded, but for an end', async () => {
    const [facts, uid] = [factsOf(), newUid()];
    let added = true;
    let count = 0;
    while (added && count < 1000) {
      ({ added } = await facts.add(uid, 60, () => guess));
      count += 1;
    }
    expect(count).toBeLessThan(100);
    expect((await facts.add(uid, 60, () => ({ kind: 'cancelled' }))).added).toBe(true);
  });
});

describe('the progress of a login', () => {
  const anyFact: fc.Arbitrary<LoginFact> = fc.oneof(
    fc.record({
      kind: fc.constant('begun' as const),
      method: fc.constantFrom('sign' as const, 'text' as const),
      msisdn: fc.constant('41700092501'),
      reference: fc.uuid(),
      begunAt: fc.nat(),
      sessionCode: fc.constant('B2CD'),
      language: fc.constant('en' as const),
    }),
    fc.constant<LoginFact>({ kind: 'started', msspTransId: 'H', deadline: 1, text: 'Log in?' }),
    fc.constant<LoginFact>({ kind: 'withheld', why: 'busy' }),
    fc.boolean().map((right): LoginFact => ({ kind: 'guessed', right })),
    fc.constant<LoginFact>({ kind: 'barred' }),
    fc.constant<LoginFact>({ kind: 'restarted' }),
    fc.constant<LoginFact>({ kind: 'cancelled' }),
  );

  it('never lets a guess count for another attempt, nor a round come back', () => {
    fc.assert(
      fc.property(fc.array(anyFact), anyFact, (facts, next) => {
        const before = progressOf(facts);
        const after = progressOf([...facts, next]);
        expect(after.round).toBeGreaterThanOrEqual(before.round);
        if (next.kind === 'begun') {
          expect(after.attempt).toMatchObject({
            start: undefined,
            wrongGuesses: 0,
            guessedRight: false,
            barred: false,
          });
          expect(after.round).toBe(before.round + 1);
        }
        if (before.cancelled) expect(after.cancelled).toBe(true);
      }),
    );
  });
});
