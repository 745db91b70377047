/**
 * Work that is done once at the end of a turn of the event loop: after all sockets that were ready
 * have been read, and before the process waits again.
 *
 * What such work puts off to the end of the turn is done in the same pass. So what is gathered, sent
 * and timed in a turn goes out in that turn.
 */
let due: (() => void)[] = [];

const doAll = (): void => {
  for (let next = 0; next < due.length; next += 1) due[next]?.();
  due = [];
};

export const atEndOfTurn = (work: () => void): void => {
  if (due.push(work) === 1) setImmediate(doAll);
};
