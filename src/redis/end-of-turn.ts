/**
 * Work that is done once at the end of a turn of the event loop: after all sockets that were ready
 * have been read, and before the process waits again.
 *
 * What such work puts off to the end of the turn is done in the same pass. So what is gathered,
 * sent and timed in a turn goes out in that turn.
 */
let due: (() => void)[] = [];

/** Work that throws leaves the rest to a pass of its own. */
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
