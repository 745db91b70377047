/** Signers of one number that has had its prompts: six in a minute, so one each ten seconds. */
import { expect, it } from 'vitest';
import { limitedPauseMs } from '../../workers/sign-activity.ts';

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
