import { createHmac, randomBytes } from 'node:crypto';
import { isPlausiblePassword, verifyPassword } from './passwords.ts';
import { createTurnstile } from './turnstile.ts';

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
 * in lanes: see turnstile.ts. The same pair asked for twice at once is computed once.
 */
export type PasswordVerdict = 'right' | 'wrong' | 'busy';

export interface PasswordVerifier {
  /**
   * @param lane Who waits behind whom. Where it must not show which names exist, it is made of the name that was given, whether
   *   there is a stored form for it or a decoy; otherwise each stored form has its own.
   * @returns `busy`: too many different passwords are being tried in this lane at the moment.
   */
  verify(stored: string, password: string, lane?: string): Promise<PasswordVerdict>;
}

export const createPasswordVerifier = ({
  maxRemembered = 10_000,
  maxConcurrent = 2,
  maxWaitingPerLane = 16,
}: {
  readonly maxRemembered?: number;
  readonly maxConcurrent?: number;
  readonly maxWaitingPerLane?: number;
} = {}): PasswordVerifier => {
  const processKey = randomBytes(32);
  const turnstile = createTurnstile({ maxConcurrent, maxWaitingPerLane });
  /** Least recently used first. */
  const remembered = new Set<string>();
  const underway = new Map<string, Promise<PasswordVerdict>>();

  const remember = (pair: string): void => {
    remembered.delete(pair);
    remembered.add(pair);
    const [oldest] = remembered;
    if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest);
  };

  const compute = async (
    pair: string,
    stored: string,
    password: string,
    lane: string,
  ): Promise<PasswordVerdict> => {
    const turn = turnstile.run(lane, () => verifyPassword(stored, password));
    if (turn === undefined) return 'busy';
    if (!(await turn)) return 'wrong';
    remember(pair);
    return 'right';
  };

  return {
    verify: async (stored, password, lane = stored) => {
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
      const computation = compute(pair, stored, password, lane).finally(() => underway.delete(pair));
      underway.set(pair, computation);
      return computation;
    },
  };
};
