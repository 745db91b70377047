/**
 * Lets a few pieces of expensive work through at a time, fairly between lanes.
 *
 * The trap this closes: a plain limit keeps the machine alive under a flood but lets the flood fill the one queue, and
 * everybody else starves behind it. Here each lane has its own short queue and the lanes take turns, so a flood in one
 * lane delays another by at most one turn, and finds its own queue full instead.
 */
export interface Turnstile {
  /**
   * Runs the work when its lane has its turn.
   *
   * @returns Undefined, and the work never runs, when the lane's queue is full.
   */
  run<T>(lane: string, work: () => Promise<T>): Promise<T> | undefined;
}

export const createTurnstile = ({
  maxConcurrent,
  maxWaitingPerLane,
}: {
  readonly maxConcurrent: number;
  readonly maxWaitingPerLane: number;
}): Turnstile => {
  /** Work that waits, by lane. A lane is here exactly while it has work waiting or running. */
  const lanes = new Map<string, Array<() => Promise<void>>>();
  /** Lanes with work waiting and none running, in the order of their turns. */
  const turns: string[] = [];
  let running = 0;

  const finished = (lane: string): void => {
    running -= 1;
    if (lanes.get(lane)?.length === 0) lanes.delete(lane);
    else turns.push(lane);
    admit();
  };

  const admit = (): void => {
    while (running < maxConcurrent) {
      const lane = turns.shift();
      if (lane === undefined) return;
      const work = lanes.get(lane)?.shift();
      if (work === undefined) continue;
      running += 1;
      void work().then(() => finished(lane));
    }
  };

  return {
    run: (lane, work) => {
      const waiting = lanes.get(lane);
      if (waiting !== undefined && waiting.length >= maxWaitingPerLane) return undefined;
      return new Promise((resolve, reject) => {
        // Both outcomes go to the caller, so the chain in `admit` never rejects.
        const task = () => work().then(resolve, reject);
        if (waiting !== undefined) {
          waiting.push(task);
          return;
        }
        lanes.set(lane, [task]);
        turns.push(lane);
        admit();
      });
    },
  };
};
