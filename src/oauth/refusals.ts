/**
 * Who fails too often to prove which client he is is shut out for a while: guessing secrets must not be cheap.
 *
 * How often is counted for all processes together; that an address is shut out each process remembers for itself.
 */
import type { Limits } from './limits.ts';

export interface Refusals {
  note(address: string): void;
  isShutOut(address: string): boolean;
}

const mostRemembered = 10_000;

export const createRefusals = ({
  limits,
  now,
}: {
  readonly limits: Limits;
  readonly now: () => number;
}): Refusals => {
  const shutOutUntil = new Map<string, number>();
  return {
    note: (address) => {
      limits.mayFailAtToken(address).then(
        (may) => {
          if (may) return;
          const [oldest] = shutOutUntil.keys();
          if (shutOutUntil.size >= mostRemembered && oldest !== undefined) shutOutUntil.delete(oldest);
          shutOutUntil.set(address, now() + limits.retryAfterSeconds * 1000);
        },
        // Redis is away: then nobody is let in by a guess either.
        () => undefined,
      );
    },
    isShutOut: (address) => {
      const until = shutOutUntil.get(address);
      if (until === undefined) return false;
      if (now() < until) return true;
      shutOutUntil.delete(address);
      return false;
    },
  };
};
