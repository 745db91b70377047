import { describe, expect, it } from 'vitest';
import { createCompany, createRounds } from '../../src/registry/rounds.ts';

describe('rounds', () => {
  it('serve lanes in turn, and each lane in the order of arrival', () => {
    const rounds = createRounds<string, number>();
    for (const number of [1, 2, 3]) rounds.add('flood', number);
    rounds.add('shop', 10);
    rounds.add('bank', 20);
    rounds.add('shop', 11);
    const served: (number | undefined)[] = [];
    while (!rounds.isEmpty()) {
      const [lane = ''] = rounds.lanes();
      expect(rounds.has(lane)).toBe(true);
      const first = rounds.first(lane);
      served.push(rounds.take(lane));
      expect(served.at(-1)).toBe(first);
    }
    expect(served).toEqual([1, 10, 20, 2, 11, 3]);
  });

  it('know nothing of a lane in which nothing waits', () => {
    const rounds = createRounds<string, number>();
    rounds.add('shop', 1);
    rounds.take('shop');
    expect([rounds.has('shop'), rounds.first('shop'), rounds.take('shop')]).toEqual([
      false,
      undefined,
      undefined,
    ]);
    expect([...rounds.lanes()]).toEqual([]);
  });
});

describe('a lane', () => {
  it('is alone until another one comes, and again when none has come for a while', () => {
    let time = 0;
    const company = createCompany<string>(10_000, () => time);
    const alone = () => ['flood', 'shop'].filter(company.isAlone);
    company.note('flood');
    expect(alone()).toEqual(['flood']);
    time += 1000;
    company.note('shop');
    expect(alone()).toEqual([]);
    time += 9000;
    company.note('shop');
    expect(alone()).toEqual(['shop']);
    time += 10_000;
    expect(alone()).toEqual(['flood', 'shop']);
  });
});
