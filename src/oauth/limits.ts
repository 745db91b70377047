/**
 * Who may do how much. Above all, a stranger must not be able to flood somebody's phone with prompts: the number itself is
 * limited, whoever asks for it, and so are the client and the address that it is asked from.
 *
 * Names of buckets hold a hash: numbers and addresses of people do not belong into key names.
 */
import type { Allowance, OauthLimits } from '../registry/oauth-client.ts';
import {
  everybodyKeyOf,
  limitsFrom,
  type NamedLimit,
  type RateLimiter,
  type Source,
  sharedKeyOf,
  takeAll,
} from '../registry/rate-limiter.ts';
import { nameOfClient, type Tenant, type Tenants } from './tenant.ts';

export interface Limits {
  /** @param address Of a client that has proven nothing; undefined for one that has. */
  mayPush(tenant: Tenant, clientId: string, address: Source | undefined): Promise<boolean>;
  /** Asked before each prompt, at a browser's wish or a client's. The number counts across all tenants. */
  mayPrompt(
    tenant: Tenant,
    who: { readonly clientId: string; readonly msisdn: string; readonly address: Source | undefined },
  ): Promise<boolean>;
  /** Asked before each one-time password that is typed. */
  mayGuess(msisdn: string): Promise<boolean>;
  /** Asked before a browser begins a login. */
  mayBeginLogin(tenant: Tenant, clientId: string, address: Source): Promise<boolean>;
  /**
   * Counts a client that could not prove who it is. One that fails too often is shut out for a while: guessing secrets must not
   * be cheap. How often is counted for all processes together; that somebody is shut out each process remembers for itself.
   *
   * Of an address that many share, the caller that the proxy names is shut out. For secrets alone, so is the client that was
   * tried five times as often from it, and, after ten times as many tries of any clients, all that come from it.
   *
   * @param clientId Which client it claimed to be.
   */
  noteFailure(address: Source, tenant: Pick<Tenant, 'id' | 'clients'>, clientId: string | undefined): void;
  isShutOut(address: Source): boolean;
  /** Whether no more secrets of this client are looked at from there. */
  isBarred(address: Source, tenant: Pick<Tenant, 'id' | 'clients'>, clientId: string): boolean;
  /** Seconds after which trying again makes sense. */
  readonly retryAfterSeconds: number;
}

/** As long for whoever is turned away at the front. */
export const retryAfterSeconds = 10;

const mostRemembered = 10_000;

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
}): Limits => {
  // One tenant's hashes name what is counted for all of them together.
  const hashed = (what: string): string => tenants.main.store.hashOf(what);
  /** Clients are few and come again; people and addresses are many. */
  const clients = new Map<string, string>();
  const hashedClient = ({ id }: Tenant, clientId: string): string => {
    const name = `${id} ${clientId}`;
    const known = clients.get(name) ?? hashed(name);
    clients.set(name, known);
    return known;
  };
  const take = (name: string, hash: string, allowance: Allowance): Promise<boolean> =>
    limiter.take(`oidc:${name}:${hash}`, allowance);

  /**
   * One after the other, up to the first that is empty: who is over a limit of his own must not use up what others share with
   * him.
   */
  const inTurn = async (...takes: readonly (() => Promise<boolean>)[]): Promise<boolean> => {
    for (const next of takes) if (!(await next())) return false;
    return true;
  };

  /** @returns The one of the buckets that is empty. */
  const takeFrom = async (name: string, from: readonly NamedLimit[]): Promise<string | undefined> => {
    const keys = from.map(([key]) => `oidc:${name}:${hashed(key)}`);
    const empty = await takeAll(
      limiter,
      from.map(([, allowance], index) => [keys[index] ?? '', allowance]),
    );
    return empty === undefined ? undefined : from[keys.indexOf(empty)]?.[0];
  };

  const mayFrom = async (name: string, from: readonly NamedLimit[]): Promise<boolean> =>
    (await takeFrom(name, from)) === undefined;

  const shutOutUntil = new Map<string, number>();
  const isOut = (key: string | undefined): boolean => {
    const until = key === undefined ? undefined : shutOutUntil.get(key);
    if (key === undefined || until === undefined) return false;
    if (now() < until) return true;
    shutOutUntil.delete(key);
    return false;
  };

  return {
    retryAfterSeconds,
    mayPush: (tenant, clientId, address) =>
      inTurn(
        async () =>
          address === undefined ||
          mayFrom('push-address', limitsFrom(address, limits.pushedPerAddress, undefined)),
        () => take('push-client', hashedClient(tenant, clientId), limits.pushedPerClient),
      ),
    mayPrompt: (tenant, { clientId, msisdn, address }) =>
      inTurn(
        async () =>
          address === undefined ||
          mayFrom(
            'prompt-address',
            limitsFrom(address, limits.promptsPerAddress, nameOfClient(tenant, clientId)),
          ),
        () => take('prompt-number', hashed(msisdn), limits.promptsPerNumber),
        async () =>
          isTestNumber(msisdn) || take('prompt-number-long', hashed(msisdn), limits.promptsPerNumberLong),
        () => take('prompt-client', hashedClient(tenant, clientId), limits.promptsPerClient),
      ),
    mayGuess: (msisdn) => take('guess-number', hashed(msisdn), limits.guessesPerNumber),
    mayBeginLogin: (tenant, clientId, address) =>
      mayFrom('login-address', limitsFrom(address, limits.loginsPerAddress, nameOfClient(tenant, clientId))),
    noteFailure: (address, tenant, clientId) => {
      const from = limitsFrom(address, limits.refusedTokensPerAddress, nameOfClient(tenant, clientId));
      takeFrom('token-address', from).then(
        (empty) => {
          if (empty === undefined) return;
          const [oldest] = shutOutUntil.keys();
          if (shutOutUntil.size >= mostRemembered && oldest !== undefined) shutOutUntil.delete(oldest);
          shutOutUntil.set(empty, now() + retryAfterSeconds * 1000);
        },
        // Redis is away: then nobody is let in by a guess either.
        () => undefined,
      );
    },
    isShutOut: ({ caller }) => isOut(caller),
    isBarred: (address, tenant, clientId) =>
      isOut(everybodyKeyOf(address)) || isOut(sharedKeyOf(address, nameOfClient(tenant, clientId))),
  };
};
