/**
 * A circuit breaker for one upstream: after several failures in a row nobody asks it, but for one try now and then.
 *
 * closed     Everybody asks. The {@link failuresToOpen}th failure in a row opens it.
 * open       Nobody asks, for {@link openMs}.
 * half-open  One may try, and all others go on waiting. An answer closes it, a failure opens it again.
 *
 * The failures may be those of one application's messages alone, and others would be served. So an application whose try
 * has failed lets those go first that have not tried.
 *
 * It only says who may ask when: the jobs that may not are put off, and come back. That is why it wraps no calls, as
 * libraries do: a job has to know before it notes that it asks, and a call that is given up before it began counts as none.
 */

const failuresToOpen = 5;
const openMs = 1000;
/** Longer than it takes anybody to come back (`soonestMs` of the places). */
const yieldMs = 500;
/** Applications whose tries have failed; beyond so many, whoever comes first. */
const maxYielding = 1000;

/**
 * answered   The upstream works, whatever it thinks of this message.
 * failed     No answer, or one that says that it does not work.
 * not-asked  Nothing was sent.
 */
export type Verdict = 'answered' | 'failed' | 'not-asked';

export interface Breaker {
  /** In how many milliseconds to come again; 0 for whoever may ask now. */
  waitMs(apId: string): number;
  /** Begins a call, which {@link waitMs} allows. @returns Takes what became of it. */
  begin(apId: string): (verdict: Verdict) => void;
}

export const createBreaker = (
  log: { readonly opened: () => void; readonly closed: () => void },
  now: () => number,
): Breaker => {
  let failures = 0;
  /** Undefined while it is closed. */
  let openUntil: number | undefined;
  let isTrying = false;
  const yielding = new Set<string>();

  const fail = (apId: string, isTry: boolean): void => {
    if (openUntil === undefined) {
      failures += 1;
      if (failures < failuresToOpen) return;
      log.opened();
    } else {
      // What was sent before it opened, and fails now, says nothing new.
      if (!isTry) return;
      if (yielding.size < maxYielding) yielding.add(apId);
    }
    openUntil = now() + openMs;
  };

  const succeed = (): void => {
    failures = 0;
    if (openUntil === undefined) return;
    openUntil = undefined;
    yielding.clear();
    log.closed();
  };

  return {
    waitMs: (apId) => {
      if (openUntil === undefined) return 0;
      if (isTrying) return openMs;
      return Math.max(openUntil + (yielding.has(apId) ? yieldMs : 0) - now(), 0);
    },
    begin: (apId) => {
      const isTry = openUntil !== undefined;
      if (isTry) isTrying = true;
      return (verdict) => {
        if (isTry) isTrying = false;
        if (verdict === 'answered') succeed();
        else if (verdict === 'failed') fail(apId, isTry);
      };
    },
  };
};
