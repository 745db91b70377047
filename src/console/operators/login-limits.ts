/**
 * Limits the login attempts from an address: failed links, and begun logins at a provider. Only the
 * HMAC of an address is in Redis. An address that many callers share has ten times the allowance.
 */
import type { Sealing } from '../../../packages/pki/src/sealed-json.ts';
import { limitsFrom, type RateLimiter, type Source, takeAll } from '../../registry/rate-limiter.ts';
import type { LoginWay } from './pending-logins.ts';
import type { OperatorSettings } from './settings.ts';

export const createLoginLimits = ({
  limiter,
  sealed,
  logins: { perAddress },
}: {
  readonly limiter: RateLimiter;
  readonly sealed: Sealing;
  readonly logins: OperatorSettings['logins'];
}) => {
  const keyOf = (bucket: string): string => `operators:address:${sealed.hashOf('address', bucket)}`;
  return {
    /**
     * @param what The kind of attempt.
     * @returns Whether the attempt is allowed.
     */
    tryFrom: async (address: Source, what: 'link' | LoginWay): Promise<boolean> =>
      (await takeAll(limiter, limitsFrom(address, perAddress, what, keyOf))) === undefined,
  };
};

export type LoginLimits = ReturnType<typeof createLoginLimits>;
