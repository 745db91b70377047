/** Waits until a login looks different from a page that waits. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logins } from '../logins.ts';
import { startPatienceMs } from './begin.ts';
import type { Standing } from './standing.ts';

/** How long after its deadline a transaction may take to end. */
const endingMarginMs = 5000;
const lookEveryMs = 250;

/**
 * @param look Where the login stands now.
 * @returns False when it is still the same although its time is over, or when nobody waits any more.
 */
export const waitForChange = async (
  look: () => Promise<Standing>,
  { logins, now, gone }: { readonly logins: Logins; readonly now: () => number; readonly gone: AbortSignal },
): Promise<boolean> => {
  let waitedForEnd = false;
  const since = now();
  while (!gone.aborted) {
    const standing = await look();
    if (standing.kind !== 'waiting') return true;
    const { start, begunAt } = standing.attempt;
    if (start !== undefined && 'msspTransId' in start) {
      if (waitedForEnd) return false;
      await logins.ended(start.msspTransId, start.deadline + endingMarginMs, gone);
      waitedForEnd = true;
      continue;
    }
    // Nobody has started it: loading the page again does. The page that waits here may have tried just now.
    if (now() >= Math.max(begunAt, since) + startPatienceMs) return true;
    await delay(lookEveryMs, undefined, { signal: gone }).catch(() => undefined);
  }
  return false;
};
