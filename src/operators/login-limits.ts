/**
 * How often somebody may try to get in.
 *
 * What counts is what failed: a try is taken from its allowances before it is made, or any number of tries at once would get past
 * them, and given back when it was right.
 *
 * A name has one allowance for each address and one for all of them, ten times as large unless configured otherwise. Whoever
 * guesses from one address keeps nobody else out, and one who guesses from many is held back all the same.
 */
import type { RateLimit, RateLimiter } from '../registry/rate-limiter.ts';
import type { Sealed } from './sealed.ts';
import type { OperatorSettings } from './settings.ts';

/** A try that may be made. */
export interface AllowedTry {
  /** It was right, or was not made. */
  giveBack(): Promise<void>;
}

export interface LoginLimits {
  /** Undefined when there have been too many. */
  tryFrom(address: string): Promise<AllowedTry | undefined>;
  tryName(name: string, address: string): Promise<AllowedTry | undefined>;
}

type Allowance = readonly [key: string, limit: RateLimit];

export const createLoginLimits = ({
  limiter,
  sealed,
  logins: { perAddress, perNameAndAddress, perName },
}: {
  readonly limiter: RateLimiter;
  readonly sealed: Sealed;
  readonly logins: OperatorSettings['logins'];
}): LoginLimits => {
  /** Neither names nor addresses are in Redis. */
  const keyOf = (of: string, ...parts: readonly string[]): string =>
    `operators:${of}:${sealed.hashOf(of, parts.join('\n'))}`;

  const take = async (allowances: readonly Allowance[]): Promise<AllowedTry | undefined> => {
    for (const [key, limit] of allowances) {
      if (!(await limiter.take(key, limit))) return undefined;
    }
    return {
      giveBack: async () => {
        for (const [key, limit] of allowances) await limiter.putBack(key, limit);
      },
    };
  };

  const from = (address: string): Allowance => [keyOf('address', address), perAddress];
  return {
    tryFrom: (address) => take([from(address)]),
    // In this order, so that tries beyond the allowance of an address take nothing from that of the name.
    tryName: (name, address) =>
      take([
        from(address),
        [keyOf('name-address', name, address), perNameAndAddress],
        [keyOf('name', name), perName],
      ]),
  };
};
