/**
 * Rate limits of the provider. They keep strangers from flooding a phone with prompts: prompts are
 * counted for the number, for the client and for the address that asks. Names of buckets hold
 * hashes, because numbers and addresses of people must not appear in key names.
 */
import type { OauthLimits } from '../registry/oauth-client.ts';
import {
  everybodyKeyOf,
  limitsFrom,
  type NamedLimit,
  type RateLimit,
  type RateLimiter,
  type Source,
  sharedKeyOf,
  takeAll,
} from '../registry/rate-limiter.ts';
import { nameOfClient, type Tenant, type Tenants } from './tenant.ts';

/** A caller that has failed too often is shut out for this long. */
const shutOutSeconds = 10;

/** Retry-After when the service is busy, and not because of this caller. */
export const soonSeconds = 1;

const maxShutOut = 10_000;

type TenantName = Pick<Tenant, 'id' | 'clients'>;

export const createLimits = ({
  limiter,
  limits,
  tenants,
  isTestNumber,
  now,
}: {
  readonly limiter: RateLimiter;
  readonly limits: OauthLimits;
  readonly tenants: Tenants;
  readonly isTestNumber: (msisdn: string) => boolean;
  readonly now: () => number;
}) => {
  // Buckets are shared by all tenants, so all use the hash of the first.
  const hashed = (what: string): string => tenants.main.store.hashOf('limit', what);
  const take = (name: string, what: string, allowance: RateLimit): Promise<number> =>
    limiter.takeOrWait(`oidc:${name}:${hashed(what)}`, allowance);

  /** @returns The name of the bucket that is empty, and in how many seconds it has a token. */
  const takeFrom = async (name: string, from: readonly NamedLimit[]) => {
    const keys = from.map(([key]) => `oidc:${name}:${hashed(key)}`);
    const empty = await takeAll(
      limiter,
      from.map(([, allowance], index) => [keys[index] ?? '', allowance]),
    );
    return empty && { from: from[keys.indexOf(empty.key)]?.[0] ?? '', seconds: empty.seconds };
  };

  const waitFrom = async (
    name: string,
    address: Source | undefined,
    allowance: RateLimit,
    client?: string,
  ): Promise<number> =>
    address === undefined
      ? 0
      : ((await takeFrom(name, limitsFrom(address, allowance, client)))?.seconds ?? 0);

  const shutOutUntil = new Map<string, number>();
  const outSeconds = (key: string | undefined): number => {
    const until = key === undefined ? undefined : shutOutUntil.get(key);
    if (key === undefined || until === undefined) return 0;
    if (now() < until) return Math.ceil((until - now()) / 1000);
    shutOutUntil.delete(key);
    return 0;
  };

  /**
   * Those that end with `Wait` answer the seconds until another try can succeed, 0 when this one
   * may go on. They stop at the first empty bucket: a caller over its own limit uses up no shared
   * one.
   */
  return {
    /**
     * @param address The address of a client that has not authenticated; undefined for one that
     *   has.
     */
    pushWait: async (
      tenant: Tenant,
      clientId: string,
      address: Source | undefined,
    ): Promise<number> =>
      (await waitFrom('push-address', address, limits.pushedPerAddress)) ||
      take('push-client', `${tenant.id} ${clientId}`, limits.pushedPerClient),

    /**
     * Called before each prompt. A number is counted across all tenants. Test numbers belong to no
     * person, so they have no limit of their own.
     */
    promptWait: async (
      tenant: Tenant,
      {
        clientId,
        msisdn,
        address,
      }: {
        readonly clientId: string;
        readonly msisdn: string;
        readonly address: Source | undefined;
      },
    ): Promise<number> =>
      (await waitFrom(
        'prompt-address',
        address,
        limits.promptsPerAddress,
        nameOfClient(tenant, clientId),
      )) ||
      (isTestNumber(msisdn)
        ? 0
        : (await take('prompt-number', msisdn, limits.promptsPerNumber)) ||
          (await take('prompt-number-long', msisdn, limits.promptsPerNumberLong))) ||
      take('prompt-client', `${tenant.id} ${clientId}`, limits.promptsPerClient),

    /** Asked before each one-time password that is typed. */
    guessWait: (msisdn: string): Promise<number> =>
      take('guess-number', msisdn, limits.guessesPerNumber),

    /** Asked before a browser begins a login. */
    loginWait: (tenant: Tenant, clientId: string, address: Source): Promise<number> =>
      waitFrom('login-address', address, limits.loginsPerAddress, nameOfClient(tenant, clientId)),

    /**
     * Counts a failed client authentication. All processes count together; each process remembers
     * by itself which callers it shuts out for a while.
     *
     * At an address that many share, the caller that the proxy names is shut out. For secrets, a
     * client that was tried five times as often from there is barred as well, and after ten times
     * as many tries the whole address.
     *
     * @param clientId The client that the caller claimed to be.
     */
    noteFailure: (address: Source, tenant: TenantName, clientId: string | undefined): void => {
      const from = limitsFrom(
        address,
        limits.refusedTokensPerAddress,
        nameOfClient(tenant, clientId),
      );
      takeFrom('token-address', from).then(
        (empty) => {
          if (empty === undefined) return;
          const [oldest] = shutOutUntil.keys();
          if (shutOutUntil.size >= maxShutOut && oldest !== undefined) shutOutUntil.delete(oldest);
          shutOutUntil.set(empty.from, now() + shutOutSeconds * 1000);
        },
        // Without Redis no guess succeeds either.
        () => undefined,
      );
    },
    shutOutWait: ({ caller }: Source): number => outSeconds(caller),
    /** Seconds until secrets of this client are compared again for this address; 0 is now. */
    barredWait: (address: Source, tenant: TenantName, clientId: string): number =>
      outSeconds(everybodyKeyOf(address)) ||
      outSeconds(sharedKeyOf(address, nameOfClient(tenant, clientId))),
  };
};

export type Limits = ReturnType<typeof createLimits>;
