/**
 * Runs a few pieces of expensive work at a time, fairly between lanes.
 *
 * With one queue, a flood would fill it and all others would starve. Here each lane has its own
 * short queue and the lanes take turns; within a lane the origins take turns. So a flood delays
 * another lane by one turn, and another origin of its lane by two.
 *
 * All that wait are bounded too, because a flood may use many lanes. When there is no room, the
 * piece is refused whose lane and origin have most of what waits.
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

/** Of equals the last. */
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
  /** In the order of arrival. */
  const waiting = new Set<Piece>();
  /** Lanes in which something waits, with their origins, in the order of their turns. */
  const turns = new Map<string, Set<string>>();
  /** Lanes in which something runs. */
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

  /** The origin goes to the end of its lane's queue. */
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

  /** The lane goes to the end of the queue. */
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

  /** The piece that must go, after one was added. */
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
     * @param origin Where the work comes from; within a lane origins take turns.
     * @returns Undefined when it is refused: at once, or later in favour of another. Then it never
     * runs.
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
