/**
 * How many turns of jobs of one application a process runs at once, while another one has some to run.
 *
 * A worker takes as many jobs as the configuration allows, and all of them share one CPU. With sixteen of one application in
 * hand, each of another would wait for the CPU behind sixteen. A job that waits for its turn here keeps its lock and one of the
 * worker's places: the next job is fetched as soon as any step ends, so another application is not held up by that.
 */

/** More at a time would not be faster: a step is mostly CPU, and of the rest most is one round trip to Redis. */
const atOnceOfOne = 8;
/** Another one has some to run when it began one within this time. */
const otherMs = 10_000;

export interface Turns {
  /** Runs the step when it is its application's turn. */
  run<T>(apId: string, step: () => Promise<T>): Promise<T>;
}

interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

/** @param now Milliseconds, of a clock that is never set. */
export const createTurns = (now: () => number = () => performance.now()): Turns => {
  /** Those of applications that have jobs in hand. */
  const lanes = new Map<string, Lane>();
  let latest = { apId: '', at: Number.NEGATIVE_INFINITY };
  /** Of another application than the latest. */
  let latestOther = latest;

  const note = (apId: string): void => {
    if (latest.apId !== apId) latestOther = latest;
    latest = { apId, at: now() };
  };

  const mayRun = (apId: string, { running }: Lane): boolean => {
    const other = latest.apId === apId ? latestOther : latest;
    return running < atOnceOfOne || now() - other.at >= otherMs;
  };

  const serve = (apId: string, lane: Lane): void => {
    while (lane.waiting.length > 0 && mayRun(apId, lane)) {
      lane.running += 1;
      // Not at once: what has arrived meanwhile, perhaps for another application, is read first.
      setImmediate(lane.waiting.shift() ?? (() => undefined));
    }
    if (lane.running === 0) lanes.delete(apId);
  };

  return {
    run: async (apId, step) => {
      const lane = lanes.get(apId) ?? { running: 0, waiting: [] };
      lanes.set(apId, lane);
      note(apId);
      if (lane.waiting.length === 0 && mayRun(apId, lane)) lane.running += 1;
      else await new Promise<void>((resolve) => lane.waiting.push(resolve));
      try {
        return await step();
      } finally {
        lane.running -= 1;
        serve(apId, lane);
      }
    },
  };
};
