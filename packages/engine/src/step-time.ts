/** The time of the step that a chart computes: a chart has no clock of its own. */
let current: number | undefined;

/**
 * The time of the event that the chart takes now, milliseconds since the epoch. It is the same when
 * the step is computed again after a crash. Outside of a step it is the clock of this process.
 */
export const stepTime = (): number => current ?? Date.now();

/** Computes one step, in which `stepTime` returns `time`. */
export const atTime = <T>(time: number, step: () => T): T => {
  const before = current;
  current = time;
  try {
    return step();
  } finally {
    current = before;
  }
};
