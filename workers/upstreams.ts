/**
 * The services that devices need over the network, such as the gateway for texts, and who may ask them when.
 *
 * An upstream may hang. A call goes on while its job sleeps (src/engine/activities.ts): whatever the worker's concurrency, it holds none of
 * it. What it holds is a place here, and each upstream has its own, of which an application has a quarter at most. A job that finds none,
 * or a circuit breaker that is open, is put off until its turn.
 *
 * All of this is the process's own and in memory. What a process that dies had in hand is asked for again by another.
 */
import type { GateTurn } from '../src/engine/define.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import type { UpstreamLog } from './log.ts';
import { createPlaces, type Places } from './places.ts';

/** Of one upstream in one process. A place costs a connection and no thread. */
const mostInAll = 200;
const mostOfOne = mostInAll / 4;
/** A person waits: a job that was put off comes back soon, and a long line is spread by the places. */
const soonestMs = 100;

export const createUpstreams = (
  log: UpstreamLog,
  now: () => number = () => performance.now(),
): { turn(origin: string, apId: string): GateTurn } => {
  const known = new Map<string, { readonly places: Places; readonly breaker: Breaker }>();

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
      return {
        kind: 'place',
        end: (verdict) => {
          free();
          settle(verdict);
        },
      };
    },
  };
};
