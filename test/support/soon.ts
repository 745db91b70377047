/** Waiting for what another process, or the other end of a queue, does. */
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Repeats a check until it does not throw, and gives its result.
 *
 * @throws What the check has thrown last, when the time is over.
 */
export const soon = async <T>(
  check: () => Promise<T> | T,
  timeoutMs = 30_000,
  everyMs = 20,
): Promise<T> => {
  for (const end = performance.now() + timeoutMs; ; ) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await delay(everyMs);
  }
};

/** Waits until it holds. @param what Is not so, in the error when the time is over. */
export const until = (
  holds: () => Promise<boolean> | boolean,
  { what = 'It does not come about', timeoutMs = 60_000, everyMs = 20 } = {},
): Promise<void> =>
  soon(
    async () => {
      if (!(await holds())) throw new Error(what);
    },
    timeoutMs,
    everyMs,
  );
