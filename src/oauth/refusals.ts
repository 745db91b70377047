/**
 * Who fails too often to prove which client he is is shut out for a while: guessing secrets must not be cheap.
 *
 * How often is counted for all processes together; that somebody is shut out each process remembers for itself. Of an address
 * that many share whoever the proxy names is shut out. For secrets alone, so is the client that was tried five times as often
 * from it, and, after ten times as many tries of any clients, all that come from it.
 */
import { everybodyKeyOf, type Source, sharedKeyOf } from '../registry/rate-limiter.ts';
import type { Limits } from './limits.ts';
import { nameOfClient, type Tenant } from './tenant.ts';

export interface Refusals {
  /** @param clientId Which client it claimed to be. */
  note(address: Source, tenant: Pick<Tenant, 'id' | 'clients'>, clientId: string | undefined): void;
  isShutOut(address: Source): boolean;
  /** Whether no more secrets of this client are looked at from there. */
  isBarred(address: Source, tenant: Pick<Tenant, 'id' | 'clients'>, clientId: string): boolean;
}

const mostRemembered = 10_000;

export const createRefusals = ({
  limits,
  now,
}: {
  readonly limits: Pick<Limits, 'countFailure' | 'retryAfterSeconds'>;
  readonly now: () => number;
}): Refusals => {
  const shutOutUntil = new Map<string, number>();
  const isOut = (key: string | undefined): boolean => {
    const until = key === undefined ? undefined : shutOutUntil.get(key);
    if (key === undefined || until === undefined) return false;
    if (now() < until) return true;
    shutOutUntil.delete(key);
    return false;
  };
  return {
    note: (address, tenant, clientId) => {
      limits.countFailure(address, tenant, clientId).then(
        (empty) => {
          if (empty === undefined) return;
          const [oldest] = shutOutUntil.keys();
          if (shutOutUntil.size >= mostRemembered && oldest !== undefined) shutOutUntil.delete(oldest);
          shutOutUntil.set(empty, now() + limits.retryAfterSeconds * 1000);
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
