/**
 * The places that each application has in this process, for its callbacks or at an upstream, and the line of those that found
 * none.
 *
 * A job that waits here for a place would hold one of the worker's, which is what the others need. So it is put off until its turn,
 * and each turn is a little later than the one before. The turns follow each other as fast as tries have ended lately, so
 * that a quick receiver is kept busy, but never slower than {@link slowestTurnMs}: those of a receiver that hangs are
 * looked at so often and no oftener, however many they are, and once it is back they need not wait for long. Lines that
 * share places are looked at the more seldom the more they are.
 */

/** A hundred in a second: little to Redis, and a line of 30 000 is over in five minutes. */
const slowestTurnMs = 10;
const slowMs = 2500;
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

export interface PlacesOptions {
  /** Places of one application. */
  readonly most: number;
  /** Of one whose tries have lasted longer than 2.5 s lately. */
  readonly mostWhenSlow: number;
  /** Of all together, where they share what they wait for. */
  readonly mostInAll: number;
  /** Nobody's turn is earlier. */
  readonly soonestMs: number;
}

/** @param now Milliseconds, of a clock that is never set. */
export const createPlaces = (
  { most, mostWhenSlow, mostInAll, soonestMs }: PlacesOptions,
  now: () => number = () => performance.now(),
): Places => {
  const receivers = new Map<string, Receiver>();
  let takenInAll = 0;

  const receiverOf = (apId: string): Receiver => {
    const known = receivers.get(apId);
    if (known !== undefined) return known;
    const receiver: Receiver = { taken: 0, lastsMs: undefined, lastTurn: 0 };
    receivers.set(apId, receiver);
    return receiver;
  };

  const mostOf = ({ lastsMs = 0 }: Receiver): number => (lastsMs > slowMs ? mostWhenSlow : most);

  /** Jobs may name any application; only those that are in use, or have fewer places, are remembered. */
  const forgetIdle = (apId: string, receiver: Receiver): void => {
    if (receiver.taken === 0 && receiver.lastTurn <= now() && mostOf(receiver) === most)
      receivers.delete(apId);
  };

  const countLinesWith = (mine: string): number => {
    let lines = 1;
    for (const [apId, receiver] of receivers) {
      if (apId === mine) continue;
      if (receiver.lastTurn > now()) lines += 1;
      else forgetIdle(apId, receiver);
    }
    return lines;
  };

  return {
    take: (apId) => {
      const receiver = receiverOf(apId);
      if (receiver.taken >= mostOf(receiver) || takenInAll >= mostInAll) return undefined;
      receiver.taken += 1;
      takenInAll += 1;
      const takenAt = now();
      return () => {
        const ms = now() - takenAt;
        receiver.taken -= 1;
        takenInAll -= 1;
        receiver.lastsMs = ms + ((receiver.lastsMs ?? ms) - ms) * memory;
        forgetIdle(apId, receiver);
      };
    },
    turnIn: (apId) => {
      const receiver = receiverOf(apId);
      const share = Math.min(most, mostInAll / countLinesWith(apId));
      const apartMs = Math.min(receiver.lastsMs ?? Infinity, slowestTurnMs * most) / share;
      receiver.lastTurn = Math.max(receiver.lastTurn + apartMs, now() + Math.max(soonestMs, apartMs));
      return Math.ceil(receiver.lastTurn - now());
    },
  };
};
