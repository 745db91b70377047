import { hash, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { createFairSemaphore } from './fair-semaphore.ts';
import { isPlausiblePassword, verifyPassword } from './passwords.ts';

/**
 * Verifies passwords without a scrypt for every request, and bounds the work for wrong ones.
 *
 * An application sends its password with every request (interface section 2.1), and scrypt is slow.
 * So a right pair of stored form and password is remembered for the life of the process, as a hash
 * with a key. Neither leaves the process, so it need not be an HMAC, which costs three times as
 * much. A changed stored form makes the old pair useless. Wrong passwords are never remembered.
 *
 * Wrong passwords cost one scrypt each, a few at a time and in lanes (fair-semaphore.ts): libuv has
 * four threads, which signing needs, too. So a process must have only one verifier. If the same
 * pair is asked for twice at once, it is computed once.
 */
export type PasswordVerdict = 'right' | 'wrong' | 'busy';

export interface PasswordVerifier {
  /**
   * @param lane The queue of the password. Where times must not reveal which names exist, it is
   *   made
   * from the given name; otherwise each stored form has its own.
   * @param origin The source of the password. Within a lane origins take turns.
   * @returns `busy` when too many passwords are being tried. A promise only when there is work.
   */
  verify(
    stored: string,
    password: string,
    lane?: string,
    origin?: string,
  ): PasswordVerdict | Promise<PasswordVerdict>;
}

/** Passwords that are computed at a time. Requests and signing use the same cores and threads. */
const halfOfTheMachine = Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2)));

/** Passwords that wait in a lane. An owner has one, or two during a change; others are guesses. */
const fewInALane = 2;

export const createPasswordVerifier = ({
  maxRemembered = 10_000,
  maxConcurrent = halfOfTheMachine,
  maxWaitingPerLane = fewInALane,
  maxWaiting = 128,
}: {
  readonly maxRemembered?: number;
  readonly maxConcurrent?: number;
  readonly maxWaitingPerLane?: number;
  readonly maxWaiting?: number;
} = {}): PasswordVerifier => {
  const processKey = randomBytes(32).toString('hex');
  const semaphore = createFairSemaphore({ maxConcurrent, maxWaitingPerLane, maxWaiting });
  /** Hashes of right pairs, least recently used first. */
  const remembered = new Set<string>();
  const underway = new Map<string, Promise<PasswordVerdict>>();

  const remember = (pair: string): void => {
    remembered.delete(pair);
    remembered.add(pair);
    const [oldest] = remembered;
    if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest);
  };

  const verdictOf = async (
    turn: Promise<boolean | undefined>,
    pair: string,
  ): Promise<PasswordVerdict> => {
    try {
      const isRight = await turn;
      if (isRight === undefined) return 'busy';
      if (isRight) remember(pair);
      return isRight ? 'right' : 'wrong';
    } finally {
      underway.delete(pair);
    }
  };

  return {
    verify: (stored, password, lane = stored, origin = '') => {
      if (!isPlausiblePassword(password)) return 'wrong';
      // The length distinguishes (ab, c) and (a, bc).
      const pair = hash('sha256', `${processKey}${stored.length}:${stored}${password}`, 'base64');
      if (remembered.has(pair)) {
        remember(pair);
        return 'right';
      }
      const joined = underway.get(pair);
      if (joined !== undefined) return joined;
      const turn = semaphore.run(lane, origin, () => verifyPassword(stored, password));
      if (turn === undefined) return 'busy';
      const computation = verdictOf(turn, pair);
      underway.set(pair, computation);
      return computation;
    },
  };
};
