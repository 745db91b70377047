/**
 * Who may do how much. Above all, a stranger must not be able to flood somebody's phone with prompts: the number itself is
 * limited, whoever asks for it, and so are the client and the address that it is asked from.
 *
 * Names of buckets hold a hash: numbers and addresses of people do not belong into key names.
 */
import type { Allowance, OauthLimits } from '../registry/oauth-client.ts';
import type { RateLimiter } from '../registry/rate-limiter.ts';
import type { Tenant, Tenants } from './tenant.ts';

export interface Limits {
  /** @param clientId Of an authenticated client; undefined before it has proven who it is. */
  mayPush(tenant: Tenant, clientId: string | undefined, address: string): Promise<boolean>;
  /** Asked before each prompt, at a browser's wish or a client's. The number counts across all tenants. */
  mayPrompt(
    tenant: Tenant,
    who: { readonly clientId: string; readonly msisdn: string; readonly address: string | undefined },
  ): Promise<boolean>;
  /** Counts a refused request to the token endpoint. @returns False when there were too many. */
  mayFailAtToken(tenant: Tenant, address: string): Promise<boolean>;
  /** Seconds after which trying again makes sense. */
  readonly retryAfterSeconds: number;
}

export const createLimits = ({
  limiter,
  limits,
  tenants,
}: {
  readonly limiter: RateLimiter;
  readonly limits: OauthLimits;
  readonly tenants: Tenants;
}): Limits => {
  const take = (name: string, what: string, allowance: Allowance): Promise<boolean> =>
    // One tenant's hashes name what is counted for all of them together.
    limiter.take(`oidc:${name}:${tenants.main.store.hashOf(what)}`, allowance);

  /** All of them are counted, also when one is empty: what is refused has been tried. */
  const all = async (...taken: readonly Promise<boolean>[]): Promise<boolean> =>
    (await Promise.all(taken)).every(Boolean);

  return {
    retryAfterSeconds: 10,
    mayPush: (tenant, clientId, address) =>
      clientId === undefined
        ? take('push-address', address, limits.pushedPerAddress)
        : take('push-client', `${tenant.id} ${clientId}`, limits.pushedPerClient),
    mayPrompt: (tenant, { clientId, msisdn, address }) =>
      all(
        take('prompt-number', msisdn, limits.promptsPerNumber),
        take('prompt-client', `${tenant.id} ${clientId}`, limits.promptsPerClient),
        ...(address === undefined ? [] : [take('prompt-address', address, limits.promptsPerAddress)]),
      ),
    mayFailAtToken: (_tenant, address) => take('token-address', address, limits.refusedTokensPerAddress),
  };
};
