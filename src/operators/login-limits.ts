/**
 * How often somebody may try to get in.
 *
 * What counts is what failed: a try is taken from its allowances before it is made, or any number of tries at once would get past
 * them, and given back when it was right.
 *
 * A name has one allowance for each address and one for all of them, ten times as large unless configured otherwise. Whoever
 * guesses from one address keeps nobody else out, and one who guesses from many is held back all the same. An address that many
 * share is not counted as one caller: whoever its proxy names is, a name has half of its allowance there, and everybody
 * together has ten times that of an address.
 */
import {
  limitsFrom,
  type NamedLimit,
  type RateLimit,
  type RateLimiter,
  type Source,
  takeAll,
} from '../registry/rate-limiter.ts';
import type { OperatorSettings } from './operator.ts';
import type { Sealed } from './sealed.ts';

/** A try that may be made. */
export interface AllowedTry {
  /** It was right, or was not made. */
  giveBack(): Promise<void>;
}

export interface LoginLimits {
  /**
   * @param what Is tried, without a name.
   * @returns Undefined when there have been too many.
   */
  tryFrom(address: Source, what: 'link' | 'phone'): Promise<AllowedTry | undefined>;
  /** @returns Undefined when there have been too many. */
  tryName(name: string, address: Source): Promise<AllowedTry | undefined>;
}

/** However many pretend to be behind one proxy: what is left is for those who are not. */
const halfOf = ({ requests, perSeconds }: RateLimit): RateLimit => ({
  requests: Math.max(1, Math.floor(requests / 2)),
  perSeconds,
});

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

  const take = async (allowances: readonly NamedLimit[]): Promise<AllowedTry | undefined> => {
    if ((await takeAll(limiter, allowances)) !== undefined) return undefined;
    return {
      giveBack: async () => {
        for (const [key, limit] of allowances) await limiter.putBack(key, limit);
      },
    };
  };

  const ofAddress = (address: Source, what: string | undefined): readonly NamedLimit[] =>
    limitsFrom(address, perAddress, what).map(([key, limit]) => [keyOf('address', key), limit]);

  return {
    tryFrom: (address, what) => take(ofAddress(address, what)),
    // In this order, so that tries beyond the allowance of an address take nothing from that of the name.
    tryName: (name, address) =>
      take([
        ...ofAddress(address, undefined),
        ...(address.caller === undefined
          ? []
          : [[keyOf('name-address', name, address.caller), perNameAndAddress] as const]),
        ...(address.sharedBy === undefined
          ? []
          : [[keyOf('name-shared', name, address.sharedBy), halfOf(perName)] as const]),
        [keyOf('name', name), perName],
      ]),
  };
};
