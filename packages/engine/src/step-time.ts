/** The time of the step that a chart computes: a chart has no clock of its own. */
let current: number | undefined;

/**
 * When the event came that the chart takes now, milliseconds since the epoch. The same when the
 * step is computed again after a crash. Outside of a step, the clock of this process.
 */
export const stepTime = (): number => current ?? Date.now();

/** Computes one step. */
export const atTime = <T>(time: number, step: () => T): T => {
  const before = current;
  current = time;
  try {
    return step();
  } finally {
    current = before;
  }
};
