/**
 * How many turns of jobs of one application a process runs at once, while another one has some to run.
 *
 * A worker takes as many jobs as the configuration allows, and all of them share one CPU. With sixteen of one application in
 * hand, each of another would wait for the CPU behind sixteen. So they begin one after the other, and between two of them what
 * has come in is read, and what the one before has to say goes out. A job that waits for its turn here keeps its lock and one of
 * the worker's places: the next job is fetched as soon as any step ends, so another application is not held up by that.
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
  /** Those of applications that have jobs in hand; the one that had its turn last is the last. */
  const lanes = new Map<string, Lane>();
  let latest = { apId: '', at: Number.NEGATIVE_INFINITY };
  /** Of another application than the latest. */
  let latestOther = latest;
  let serving = false;

  const note = (apId: string): void => {
    if (latest.apId !== apId) latestOther = latest;
    latest = { apId, at: now() };
  };

  const isAlone = (apId: string): boolean =>
    now() - (latest.apId === apId ? latestOther : latest).at >= otherMs;

  /** Begins one step, and looks again when what has arrived meanwhile is read and what the step has to say has gone out. */
  const serve = (): void => {
    serving = false;
    for (const [apId, lane] of lanes) {
      const alone = isAlone(apId);
      const begun = lane.waiting.splice(0, alone ? lane.waiting.length : lane.running < atOnceOfOne ? 1 : 0);
      lane.running += begun.length;
      for (const begin of begun) begin();
      if (begun.length === 0 || alone) continue;
      lanes.delete(apId);
      lanes.set(apId, lane);
      serveSoon();
      return;
    }
  };
  const serveSoon = (): void => {
    if (serving) return;
    serving = true;
    setImmediate(serve);
  };

  return {
    run: async (apId, step) => {
      const lane = lanes.get(apId) ?? { running: 0, waiting: [] };
      lanes.set(apId, lane);
      note(apId);
      if (lane.waiting.length === 0 && isAlone(apId)) lane.running += 1;
      else {
        await new Promise<void>((resolve) => {
          lane.waiting.push(resolve);
          serveSoon();
        });
      }
      try {
        return await step();
      } finally {
        lane.running -= 1;
        if (lane.running === 0 && lane.waiting.length === 0) lanes.delete(apId);
        else serveSoon();
      }
    },
  };
};
