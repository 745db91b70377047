import { describe, expect, it } from 'vitest';
import type { GateVerdict } from '../../src/engine/define.ts';
import { createBreaker } from '../../workers/upstreams.ts';

const start = () => {
  let time = 0;
  const said: string[] = [];
  const breaker = createBreaker(
    { opened: () => void said.push('opened'), closed: () => void said.push('closed') },
    () => time,
  );
  const ask = (verdict: GateVerdict, apId = 'a'): void => breaker.begin(apId)(verdict);
  const fail = (times: number): void => {
    for (let time = 0; time < times; time += 1) ask('failed');
  };
  return { ...breaker, said, ask, fail, pass: (ms: number) => (time += ms) };
};

describe('a circuit breaker', () => {
  it('opens at the fifth failure in a row, and no sooner', () => {
    const { ask, fail, waitMs, said } = start();
    fail(4);
    ask('answered');
    fail(4);
    expect([waitMs('a'), said]).toEqual([0, []]);
    fail(1);
    expect([waitMs('a'), waitMs('b'), said]).toEqual([1000, 1000, ['opened']]);
  });

  it('does not count what was never sent', () => {
    const { ask, fail, waitMs } = start();
    fail(4);
    ask('not-asked');
    expect(waitMs('a')).toBe(0);
    fail(1);
    expect(waitMs('a')).toBe(1000);
  });

  it('lets one try after a second, keeps it from the others meanwhile, and closes when it is answered', () => {
    const { begin, fail, pass, waitMs, said } = start();
    fail(5);
    pass(400);
    expect(waitMs('a')).toBe(600);
    pass(600);
    expect(waitMs('a')).toBe(0);
    const end = begin('a');
    expect([waitMs('a'), waitMs('b')]).toEqual([1000, 1000]);
    end('answered');
    expect([waitMs('a'), said]).toEqual([0, ['opened', 'closed']]);
  });

  it('stays open when the try fails, which is no change to tell of, and is open for another when it was not made', () => {
    const { ask, fail, pass, waitMs, said } = start();
    fail(5);
    pass(1000);
    ask('not-asked');
    expect(waitMs('a')).toBe(0);
    ask('failed');
    expect([waitMs('b'), said]).toEqual([1000, ['opened']]);
  });

  it('lets those go first that have not tried, and everybody a little later', () => {
    const { ask, fail, pass, waitMs } = start();
    fail(5);
    pass(1000);
    ask('failed', 'a');
    pass(1000);
    expect([waitMs('a'), waitMs('b')]).toEqual([500, 0]);
    ask('failed', 'b');
    pass(1000);
    expect([waitMs('a'), waitMs('b'), waitMs('c')]).toEqual([500, 500, 0]);
    pass(500);
    ask('answered', 'a');
    fail(5);
    pass(1000);
    expect(waitMs('a')).toBe(0);
  });

  it('is closed by an answer to what was sent before it opened, and not kept open by a failure of that', () => {
    const { begin, fail, pass, waitMs, said } = start();
    const [early, late] = [begin('a'), begin('a')];
    fail(5);
    pass(900);
    early('failed');
    expect(waitMs('a')).toBe(100);
    late('answered');
    expect([waitMs('a'), said]).toEqual([0, ['opened', 'closed']]);
  });
});
