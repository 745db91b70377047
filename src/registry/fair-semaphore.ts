/**
 * Runs a few pieces of expensive work at a time, fairly between lanes.
 *
 * With one queue, a flood would fill it and all others would starve. Here each lane has its own
 * short queue and the lanes take turns; within a lane the origins take turns. So a flood delays
 * another lane by one turn, and another origin of its lane by two.
 *
 * The number of waiting pieces is bounded, too, because a flood may use many lanes. When there is
 * no room, a piece of the lane and the origin with the most waiting pieces is refused.
 */
interface Piece {
  readonly lane: string;
  readonly origin: string;
  readonly work: () => Promise<void>;
  readonly turnAway: () => void;
}

const countBy = (pieces: readonly Piece[], by: 'lane' | 'origin'): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const piece of pieces) counts.set(piece[by], (counts.get(piece[by]) ?? 0) + 1);
  return counts;
};

/** The waiting piece whose lane and origin have the most pieces; of equal ones the last. */
const mostCrowded = (pieces: readonly Piece[]): Piece | undefined => {
  const lanes = countBy(pieces, 'lane');
  const origins = countBy(pieces, 'origin');
  let found: Piece | undefined;
  let most = 0;
  for (const piece of pieces) {
    const crowd = (lanes.get(piece.lane) ?? 0) * (origins.get(piece.origin) ?? 0);
    if (crowd >= most) [found, most] = [piece, crowd];
  }
  return found;
};

export const createFairSemaphore = ({
  maxConcurrent,
  maxWaitingPerLane,
  maxWaiting,
}: {
  readonly maxConcurrent: number;
  /** One piece may always wait in a lane in which nothing runs. */
  readonly maxWaitingPerLane: number;
  readonly maxWaiting: number;
}) => {
  /** Waiting pieces in the order of their arrival. */
  const waiting = new Set<Piece>();
  /** Lanes with waiting pieces and the origins of these, in the order of their turns. */
  const turns = new Map<string, Set<string>>();
  /** Lanes in which a piece runs. */
  const running = new Set<string>();

  const inLane = (lane: string): readonly Piece[] =>
    [...waiting].filter((piece) => piece.lane === lane);

  const add = (piece: Piece): void => {
    waiting.add(piece);
    turns.set(piece.lane, (turns.get(piece.lane) ?? new Set()).add(piece.origin));
  };

  const remove = (piece: Piece): void => {
    waiting.delete(piece);
    const origins = turns.get(piece.lane);
    const left = inLane(piece.lane);
    if (!left.some(({ origin }) => origin === piece.origin)) origins?.delete(piece.origin);
    if (left.length === 0) turns.delete(piece.lane);
  };

  /** Takes the next piece of a lane. Its origin goes to the end of the queue of the lane. */
  const takeFrom = (lane: string, origins: Set<string>): Piece | undefined => {
    const [origin] = origins;
    const piece = inLane(lane).find((each) => each.origin === origin);
    if (origin === undefined || piece === undefined) return undefined;
    origins.delete(origin);
    origins.add(origin);
    remove(piece);
    return piece;
  };

  const next = (): Piece | undefined => {
    for (const [lane, origins] of turns) if (!running.has(lane)) return takeFrom(lane, origins);
    return undefined;
  };

  /** Ends the turn of a lane, which goes to the end of the queue. */
  const finished = (lane: string): void => {
    running.delete(lane);
    const origins = turns.get(lane);
    if (origins !== undefined) {
      turns.delete(lane);
      turns.set(lane, origins);
    }
    admit();
  };

  const admit = (): void => {
    while (running.size < maxConcurrent) {
      const piece = next();
      if (piece === undefined) return;
      running.add(piece.lane);
      void piece.work().then(() => finished(piece.lane));
    }
  };

  /** The piece to be refused after one was added; undefined when there is room. */
  const surplus = (lane: string): Piece | undefined => {
    const crowd = inLane(lane);
    if (crowd.length > maxWaitingPerLane && (crowd.length > 1 || running.has(lane)))
      return mostCrowded(crowd);
    return waiting.size > maxWaiting ? mostCrowded([...waiting]) : undefined;
  };

  return {
    /**
     * Runs the work when its lane has its turn.
     *
     * @param origin The source of the work. Within a lane origins take turns.
     * @returns Undefined when the work is refused, at once or later in favour of another piece.
     * Then it never runs.
     */
    run: <T>(
      lane: string,
      origin: string,
      work: () => Promise<T>,
    ): Promise<T | undefined> | undefined => {
      let isIn = true;
      const result = new Promise<T | undefined>((resolve, reject) => {
        add({
          lane,
          origin,
          work: () => work().then(resolve, reject),
          turnAway: () => {
            isIn = false;
            resolve(undefined);
          },
        });
        admit();
        const tooMany = surplus(lane);
        if (tooMany === undefined) return;
        remove(tooMany);
        tooMany.turnAway();
      });
      return isIn ? result : undefined;
    },
  };
};
