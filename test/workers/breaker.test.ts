import { describe, expect, it } from 'vitest';
import type { GateVerdict } from '../../packages/engine/src/define.ts';
import { createBreaker, createUpstreams } from '../../workers/upstreams.ts';

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

describe('a turn that calls an upstream', () => {
  const gateway = 'gateway far';
  const start = () => {
    let time = 0;
    const log = { down: () => undefined, back: () => undefined };
    const { turn, turnWaitsMs } = createUpstreams(log, () => time, new Map([[gateway, 200]]));
    const call = (): (() => void) => {
      // Calls of one application are spread.
      for (;;) {
        const given = turn(gateway, 'a');
        if (given.kind === 'place') return () => given.end('answered');
        time += given.ms;
      }
    };
    const waits = (origin = gateway): boolean => turnWaitsMs(origin) > 0;
    return { call, waits, pass: (ms: number) => (time += ms) };
  };

  it('waits a moment for another service, and never for a text', () => {
    const { call, waits } = start();
    expect(waits('http://texts.example')).toBe(false);
    expect(waits()).toBe(true);
    const end = call();
    expect(waits()).toBe(true);
    end();
  });

  it('does not wait while a call hangs, and again when it has ended', () => {
    const { call, waits, pass } = start();
    const end = call();
    pass(50);
    expect(waits()).toBe(false);
    call()();
    expect(waits()).toBe(false);
    end();
    expect(waits()).toBe(true);
  });

  it('does not wait beside four others, so that most places of a worker stay free', () => {
    const { call, waits } = start();
    const ends = [call(), call(), call(), call()];
    expect(waits()).toBe(true);
    ends.push(call());
    expect(waits()).toBe(false);
    for (const end of ends) end();
    expect(waits()).toBe(true);
  });
});
