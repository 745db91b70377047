/**
 * How often someone may try to log in.
 *
 * Only failed tries count. A try is taken from its allowances before it is made, so that parallel
 * tries cannot exceed them, and is given back when it was right.
 *
 * A name has one allowance for each address, and one for all addresses, ten times as large unless
 * configured otherwise. So a guesser at one address does not lock the user out elsewhere, and a
 * guesser with many addresses is limited too. An address that many callers share has ten times the
 * allowance of an address, and a name has half of its own allowance there.
 */
import {
  limitsFrom,
  type NamedLimit,
  type RateLimit,
  type RateLimiter,
  type Source,
  takeAll,
} from '../registry/rate-limiter.ts';
import type { Sealed } from './sealed.ts';
import type { OperatorSettings } from './settings.ts';

/** A try that may be made. */
export interface AllowedTry {
  /** It was right, or was not made. */
  giveBack(): Promise<void>;
}

/** The other half is left for callers that are not behind this proxy. */
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
}) => {
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
    limitsFrom(address, perAddress, what, (bucket) => keyOf('address', bucket));

  return {
    /**
     * @param what Is tried, without a name.
     * @returns Undefined when there have been too many.
     */
    tryFrom: (address: Source, what: 'link' | 'phone') => take(ofAddress(address, what)),
    /** @returns Undefined when there have been too many. */
    tryName: (name: string, address: Source) =>
      // The address comes first: what its allowance refuses takes nothing from that of the name.
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

export type LoginLimits = ReturnType<typeof createLoginLimits>;
