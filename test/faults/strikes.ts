/**
 * What befalls the services of a chain, and the Redis of the far one: plain data made from a seed.
 */
import type { Random } from './random.ts';

export const serviceNames = ['near', 'middle', 'far'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** What is struck; `redis` is that of the far service. */
export const struckNames = [...serviceNames, 'redis'] as const;
type StruckName = (typeof struckNames)[number];

const strikeKinds = ['kill', 'stop', 'refuse'] as const;
type StrikeKind = (typeof strikeKinds)[number];

export interface Strike {
  /** After the last one of the same is over: a slow machine takes its time to start it again. */
  readonly afterMs: number;
  readonly what: StruckName;
  /**
   * `kill`: a new start follows. `stop`: it goes on where it was. `refuse`: Redis takes no writes.
   */
  readonly kind: StrikeKind;
  readonly forMs: number;
}

/**
 * A lock lasts two seconds, and a gateway takes trouble of five seconds for an end: some are
 * longer.
 */
const lastsMs: Readonly<
  Record<'service' | 'redis', Readonly<Record<StrikeKind, readonly [number, number]>>>
> = {
  service: { kill: [0, 1499], stop: [100, 3000], refuse: [0, 0] },
  redis: { kill: [0, 6000], stop: [500, 9000], refuse: [500, 9000] },
};

/**
 * Each by itself, so that they meet: the kinds of strikes take turns, in an order that chance
 * decides.
 */
export const planStrikes = (random: Random, durationMs: number): readonly Strike[] =>
  struckNames.flatMap((what) => {
    const own = random.branch(what);
    const strikes: Strike[] = [];
    let kinds: readonly StrikeKind[] = [];
    for (let atMs = 0, afterMs = own.between(200, 1500); atMs + afterMs < durationMs; ) {
      if (kinds.length === 0)
        kinds = own.shuffle(what === 'redis' ? strikeKinds : ['kill', 'stop']);
      const [kind = 'kill', ...rest] = kinds;
      kinds = rest;
      const forMs = own.between(...lastsMs[what === 'redis' ? 'redis' : 'service'][kind]);
      strikes.push({ afterMs, what, kind, forMs });
      atMs += afterMs + forMs;
      afterMs = own.between(800, 4000);
    }
    return strikes;
  });
