/**
 * The places that callbacks of each application have in this process, and the line of those that found none.
 *
 * A job that waits here for a place would hold one of the worker's, which is what the others need. So it is put off until its turn,
 * and each turn is a little later than the one before. The turns follow each other as fast as tries have ended lately, so
 * that a quick receiver is kept busy, but never slower than {@link slowestTurnMs}: those of a receiver that hangs are
 * looked at so often and no oftener, however many they are, and once it is back they need not wait for long.
 */

/** Nobody's turn is earlier. */
const soonestMs = 2000;
/** A hundred in a second: little to Redis, and a line of 30 000 is over in five minutes. */
const slowestTurnMs = 10;
/** A receiver that needs longer, lately, has a fifth of the places: several may hang at once, or one have many names. */
const slowMs = 2500;
const slowShare = 1 / 5;
/** Of what is remembered of earlier tries; the rest is the last one. */
const memory = 7 / 8;

export interface Places {
  /** @returns What frees it again; undefined when all are taken. */
  take(apId: string): (() => void) | undefined;
  /** Puts one in line. @returns In how many milliseconds its turn is. */
  turnIn(apId: string): number;
}

interface Receiver {
  taken: number;
  /** How long its tries have lasted lately; undefined before the first has ended. */
  lastsMs: number | undefined;
  /** The last turn that was given. */
  lastTurn: number;
}

/**
 * @param most Places of one application whose receiver is not slow.
 * @param now Milliseconds, of a clock that is never set.
 */
export const createPlaces = (most: number, now: () => number = () => performance.now()): Places => {
  const receivers = new Map<string, Receiver>();

  const receiverOf = (apId: string): Receiver => {
    const known = receivers.get(apId);
    if (known !== undefined) return known;
    const receiver: Receiver = { taken: 0, lastsMs: undefined, lastTurn: 0 };
    receivers.set(apId, receiver);
    return receiver;
  };

  const isSlow = ({ lastsMs = 0 }: Receiver): boolean => lastsMs > slowMs;
  const mostOf = (receiver: Receiver): number =>
    isSlow(receiver) ? Math.max(1, Math.floor(most * slowShare)) : most;

  return {
    take: (apId) => {
      const receiver = receiverOf(apId);
      if (receiver.taken >= mostOf(receiver)) return undefined;
      receiver.taken += 1;
      const takenAt = now();
      return () => {
        const ms = now() - takenAt;
        receiver.taken -= 1;
        receiver.lastsMs = ms + ((receiver.lastsMs ?? ms) - ms) * memory;
        // Jobs may name any application; only those that are in use, or slow, are remembered.
        const isIdle = receiver.taken === 0 && receiver.lastTurn <= now();
        if (isIdle && !isSlow(receiver)) receivers.delete(apId);
      };
    },
    turnIn: (apId) => {
      const receiver = receiverOf(apId);
      const apartMs = Math.min((receiver.lastsMs ?? Infinity) / most, slowestTurnMs);
      receiver.lastTurn = Math.max(receiver.lastTurn + apartMs, now() + soonestMs);
      return Math.ceil(receiver.lastTurn - now());
    },
  };
};
