/**
 * How often a client may ask whether a person has answered. The library does not count.
 *
 * Only a request that is still open is answered `slow_down`: it is a variant of `authorization_pending`, and a result is
 * never held back.
 *
 * Source: OpenID Connect CIBA sections 7.3 and 11.
 */
import type { RedisClient } from '../../redis/connect.ts';
import type { Tenant } from '../tenant.ts';

/** The default of the specification; told in the answer, too. */
export const pollEverySeconds = 5;

/** A client that keeps to the interval arrives a little early at times, because the way here was shorter than the last. */
const toleranceMs = 500;

export interface Polling {
  /** @returns False when the last time was too recent. */
  mayAsk(tenant: Tenant, authReqId: string): Promise<boolean>;
}

export const createPolling = (redis: RedisClient, prefix: string): Polling => ({
  mayAsk: async (tenant, authReqId) => {
    const key = `${prefix}:oidc:${tenant.id}:polled:{${tenant.store.hashOf(authReqId)}}`;
    return (await redis.set(key, 1, 'PX', pollEverySeconds * 1000 - toleranceMs, 'NX')) === 'OK';
  },
});
