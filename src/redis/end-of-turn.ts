/**
 * Work that is done once at the end of a turn of the event loop: after all sockets that were ready
 * have been read, and before the process waits again.
 *
 * Such work may itself put off work to the end of the turn; it is done in the same pass. So
 * commands that are gathered and timed in a turn are sent in that turn.
 */
let due: (() => void)[] = [];

/** Does all due work. When one throws, the rest is done in a pass of its own. */
const doAll = (): void => {
  let next = 0;
  try {
    while (next < due.length) {
      next += 1;
      due[next - 1]?.();
    }
  } finally {
    due = due.slice(next);
    if (due.length > 0) setImmediate(doAll);
  }
};

export const atEndOfTurn = (work: () => void): void => {
  if (due.push(work) === 1) setImmediate(doAll);
};
