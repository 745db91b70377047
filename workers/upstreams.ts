/**
 * The services that devices need over the network, such as the gateway for texts, and who may ask them when.
 *
 * An upstream may hang, and then a worker that waited for it would stand still. So a call is made while its job sleeps, and
 * its answer wakes the job (signature.worker.ts): whatever the worker's concurrency, a call holds none of it. What it
 * holds is a place here, and each upstream has its own, of which an application has a quarter at most. A job that finds none,
 * or a circuit breaker that is open, is put off until its turn.
 *
 * All of this is the process's own and in memory. What a process that dies had in hand is asked for again by another.
 */
import { type Breaker, createBreaker, type Verdict } from './breaker.ts';
import type { UpstreamLog } from './log.ts';
import { createPlaces, type Places } from './places.ts';

/** Of one upstream in one process. A place costs a connection and no thread. */
const mostInAll = 200;
const mostOfOne = mostInAll / 4;
/** A person waits: a job that was put off comes back soon, and a long line is spread by the places. */
const soonestMs = 100;

/**
 * place  Exactly one of the two is called, once. {@link call} begins a call beside everything else; what it resolves with is
 *        what the circuit breaker hears. {@link giveBack} frees the place unused.
 * wait   Nobody may ask: come back then.
 */
export type Turn =
  | {
      readonly kind: 'place';
      call(make: () => Promise<Exclude<Verdict, 'not-asked'>>): void;
      giveBack(): void;
    }
  | { readonly kind: 'wait'; readonly ms: number };

export interface Upstreams {
  turn(origin: string, apId: string): Turn;
  /** Resolves when no call is under way. */
  idle(): Promise<void>;
}

export const createUpstreams = (
  log: UpstreamLog,
  onError: (error: Error) => void,
  now: () => number = () => performance.now(),
): Upstreams => {
  const known = new Map<string, { readonly places: Places; readonly breaker: Breaker }>();
  const underWay = new Set<Promise<void>>();

  const upstreamAt = (origin: string) => {
    const found = known.get(origin);
    if (found !== undefined) return found;
    const upstream = {
      places: createPlaces({ most: mostOfOne, mostWhenSlow: mostOfOne, mostInAll, soonestMs }, now),
      breaker: createBreaker({ opened: () => log.down(origin), closed: () => log.back(origin) }, now),
    };
    known.set(origin, upstream);
    return upstream;
  };

  return {
    turn: (origin, apId) => {
      const { places, breaker } = upstreamAt(origin);
      const waitMs = breaker.waitMs(apId);
      const free = waitMs === 0 ? places.take(apId) : undefined;
      if (free === undefined) return { kind: 'wait', ms: Math.ceil(waitMs + places.turnIn(apId)) };
      const settle = breaker.begin(apId);
      const end = (verdict: Verdict): void => {
        free();
        settle(verdict);
      };
      return {
        kind: 'place',
        giveBack: () => end('not-asked'),
        call: (make) => {
          const calling = make()
            .then(end, (error: unknown) => {
              end('failed');
              onError(error instanceof Error ? error : new Error(String(error)));
            })
            .finally(() => underWay.delete(calling));
          underWay.add(calling);
        },
      };
    },
    idle: async () => {
      await Promise.all(underWay);
    },
  };
};
