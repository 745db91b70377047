import { createHmac, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { createFairSemaphore } from './fair-semaphore.ts';
import { isPlausiblePassword, verifyPassword } from './passwords.ts';

/**
 * Verifies passwords without paying scrypt on every request, and without letting wrong ones take the machine.
 *
 * An application sends its password with every request (interface section 2.1), hundreds a second, while scrypt is
 * made to be slow. So a pair of stored form and password that was right once is remembered for the life of the process.
 *
 * Why remembering is safe: what is kept is an HMAC of the pair under a key that is drawn at start and never leaves the
 * process, so a store, log or other process gives nothing to guess against; whoever can read this process's memory reads the
 * passwords of incoming requests there anyway. The stored form is part of the pair: change it and the old password is
 * forgotten. A quick answer tells a caller only what the answer itself says. Only successes are kept, so nobody without
 * a password can fill or empty the memory.
 *
 * Wrong passwords cost one scrypt each, at most a few at a time (libuv has four threads, which signing needs too) and
 * in lanes: see fair-semaphore.ts. That holds for a process only when it has one verifier. The same pair asked for twice at once
 * is computed once.
 *
 * Whatever needs no computation is said at once, so that a caller knows whether it will have to wait.
 */
export type PasswordVerdict = 'right' | 'wrong' | 'busy';

export interface PasswordVerifier {
  /**
   * @param lane Who waits behind whom. Where it must not show which names exist, it is made of the name that was given, whether
   *   there is a stored form for it or a decoy; otherwise each stored form has its own.
   * @param origin Where the password comes from, as far as is known: within a lane those take turns.
   * @returns `busy`: too many different passwords are being tried at the moment. A promise only when it has to be computed.
   */
  verify(
    stored: string,
    password: string,
    lane?: string,
    origin?: string,
  ): PasswordVerdict | Promise<PasswordVerdict>;
}

/** Requests are served by the same cores, and signing shares libuv's four threads. */
const halfOfTheMachine = Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2)));

/**
 * Nobody has more than one password, or two while it changes, so what waits behind a few in one lane is guesses; a longer
 * queue would only make the owner of the name wait longer behind them.
 */
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
  const processKey = randomBytes(32);
  const semaphore = createFairSemaphore({ maxConcurrent, maxWaitingPerLane, maxWaiting });
  /** Least recently used first. */
  const remembered = new Set<string>();
  const underway = new Map<string, Promise<PasswordVerdict>>();

  const remember = (pair: string): void => {
    remembered.delete(pair);
    remembered.add(pair);
    const [oldest] = remembered;
    if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest);
  };

  const verdictOf = async (turn: Promise<boolean | undefined>, pair: string): Promise<PasswordVerdict> => {
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
      // The length in front keeps (ab, c) and (a, bc) apart.
      const pair = createHmac('sha256', processKey)
        .update(`${stored.length}:${stored}`)
        .update(password)
        .digest('base64');
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
