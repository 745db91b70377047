/** The checker sees what is late: computed for schedules, without a run. */
import { describe, expect, it } from 'vitest';
import { excused, excusedShare, marginMs } from './excuses.ts';
import type { InjectedFault } from './nemesis.ts';
import { createRandom } from './random.ts';
import { type FaultKind, faultKinds, planFaults } from './schedule.ts';

const fault = (
  kind: FaultKind,
  from: number,
  to: number,
  more: Partial<InjectedFault> = {},
): InjectedFault => ({
  kind,
  target: 'x',
  amount: 0,
  from,
  to,
  ...more,
});

/** As if each fault took exactly as long as it was planned. */
const injected = (seed: string, durationMs: number): readonly InjectedFault[] =>
  planFaults({
    random: createRandom(seed),
    durationMs,
    kinds: faultKinds,
    workers: 3,
    apis: 2,
  }).map(({ kind, atMs, forMs, amount }) => fault(kind, atMs, atMs + forMs, { amount }));

const seeds = Array.from({ length: 20 }, (_, seed) => String(seed));

describe.each([180_000, 300_000])('a schedule of %d ms', (durationMs) => {
  it.each(seeds)('leaves most moments without an excuse: seed %s', (seed) => {
    const faults = injected(seed, durationMs).filter(({ from, to }) => to - from < 60_000);
    expect(faults.length).toBeGreaterThan(durationMs / 10_000);
    expect(excusedShare(faults, 0, durationMs)).toBeLessThan(0.45);
    for (const { from } of faults) expect(excused(faults, from) - from).toBeLessThan(16_000);
  });

  it.each(seeds)('shows a turn that waits for half a minute after a fault: seed %s', (seed) => {
    const faults = injected(seed, durationMs);
    for (const { from, to } of faults)
      for (const due of [from, to])
        expect(excused(faults, due) + marginMs).toBeLessThan(to + 30_000);
  });
});

describe('a fault', () => {
  it('excuses what was due while it went on until its end, and nothing after it', () => {
    const faults = [fault('pause-redis', 10_000, 14_000)];
    expect([9000, 12_000, 14_000, 15_000, 30_000].map((due) => excused(faults, due) - due)).toEqual(
      [5000, 2000, 0, 0, 0],
    );
    expect(excused(faults, 7000)).toBe(7000);
  });

  it('excuses what the one before it had held up, unless that had the time to recover', () => {
    const first = fault('kill-redis', 10_000, 11_000);
    expect(excused([first, fault('cut-everybody', 16_000, 18_000)], 10_500)).toBe(18_000);
    expect(excused([first, fault('cut-everybody', 17_500, 18_000)], 10_500)).toBe(11_000);
    expect(excused([first, fault('cut-everybody', 16_000, 18_000)], 13_000)).toBe(18_000);
  });

  it('of one worker excuses no longer than the others need to take its jobs', () => {
    expect(excused([fault('pause-worker', 10_000, 40_000)], 11_000)).toBe(16_000);
    expect(excused([fault('kill-worker', 10_000, 12_000)], 11_000)).toBe(12_000);
  });

  it.each<[FaultKind, number]>([
    ['clock-ahead', 9000],
    ['clock-behind', 9000],
    ['kill-api', 0],
    ['cut-api', 0],
    ['dead-peer-api', 0],
    ['slow-everybody', 50],
    ['flood', 1000],
  ])('%s (%d) excuses nothing that workers do', (kind, amount) => {
    expect(excused([fault(kind, 10_000, 20_000, { amount })], 11_000)).toBe(11_000);
  });
});
