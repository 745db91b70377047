/**
 * What will be broken, when, and for how long: plain data made from a seed, so that a run can be
 * repeated and a failing one be tried again with less.
 *
 * Faults come in bursts, and after each burst is a quiet window. In a burst they overlap, which is
 * where services break. In the window the service must catch up, and the checker sees when it does
 * not (excuses.ts). Without windows each fault would excuse what the one before has left behind.
 */
import type { Random } from './random.ts';

export const faultKinds = [
  'kill-worker',
  'kill-api',
  'kill-redis',
  'pause-worker',
  'pause-api',
  'pause-redis',
  'pause-in-step',
  'hold-in-step',
  'cut-worker',
  'cut-api',
  'cut-everybody',
  'hold-worker',
  'hold-everybody',
  'dead-peer-worker',
  'dead-peer-api',
  'dead-peer-everybody',
  'slow-worker',
  'slow-everybody',
  'clock-ahead',
  'clock-behind',
  'fill-redis',
  'busy-redis',
  'readonly-redis',
  'refuse-writes',
  'switch-primary',
] as const;

/**
 * A flood comes in a run of its own alone: beside it the others would be about a machine that is
 * short of everything. `kill-in-step` aims at one weakness, and the swaps at upgrades (focus.ts).
 */
export type FaultKind =
  | (typeof faultKinds)[number]
  | 'flood'
  | 'kill-in-step'
  | 'swap-worker'
  | 'swap-api';

export interface PlannedFault {
  readonly atMs: number;
  readonly kind: FaultKind;
  /** Which worker or API, where there are several. */
  readonly target: number;
  readonly forMs: number;
  /**
   * How slow, how far the clock is off, or how long writes are refused each time; milliseconds. Of
   * a flood: how many requests on each shard.
   */
  readonly amount: number;
  /** Of `kill-in-step`: what a worker is about to send when it dies. It never arrives. */
  readonly step?: RegExp;
}

/** How long: a lock lasts two seconds, so what is paused for three has lost its jobs. */
const lasts: Readonly<Record<FaultKind, readonly [least: number, most: number]>> = {
  'kill-worker': [0, 3000],
  'kill-api': [0, 2000],
  'kill-redis': [0, 1500],
  'pause-worker': [3000, 6000],
  'pause-api': [1000, 4000],
  'pause-redis': [500, 4000],
  'pause-in-step': [5500, 7500],
  // At most: it is over when another worker has ended the job.
  'hold-in-step': [5500, 7500],
  'cut-worker': [100, 4000],
  'cut-api': [100, 2000],
  'cut-everybody': [50, 2000],
  'hold-worker': [2500, 6000],
  'hold-everybody': [500, 4000],
  // It is over when the service has found out by itself.
  'dead-peer-worker': [8000, 8000],
  'dead-peer-api': [5000, 5000],
  'dead-peer-everybody': [8000, 8000],
  'slow-worker': [2000, 6000],
  'slow-everybody': [2000, 5000],
  'clock-ahead': [3000, 8000],
  'clock-behind': [3000, 8000],
  'fill-redis': [500, 3000],
  'busy-redis': [500, 3000],
  'readonly-redis': [500, 3000],
  'refuse-writes': [1000, 4000],
  'switch-primary': [0, 0],
  flood: [0, 0],
  'kill-in-step': [0, 3000],
  'swap-worker': [0, 0],
  'swap-api': [0, 0],
};

const amounts: Partial<Record<FaultKind, readonly [least: number, most: number]>> = {
  'slow-worker': [20, 800],
  'slow-everybody': [10, 150],
  'clock-ahead': [1000, 12_000],
  'clock-behind': [1000, 12_000],
  // Again and again; about as long as a turn takes.
  'refuse-writes': [5, 40],
};

/** What two faults may not both have in hand. */
export const resourceOf = ({ kind, target }: Pick<PlannedFault, 'kind' | 'target'>): string => {
  if (kind.endsWith('-worker') || kind.startsWith('clock') || kind === 'hold-in-step')
    return `worker ${target}`;
  if (kind.endsWith('-api')) return `api ${target}`;
  return kind.endsWith('-everybody') ? 'network' : kind.endsWith('-in-step') ? 'step' : 'redis';
};

const burstFaults = 4;
/** Between the beginnings of two faults of a burst. */
const nextInBurstMs: readonly [number, number] = [0, 600];
/**
 * Longer than the service needs to recover, so that a burst is no excuse for what comes after it;
 * and a fault really ends later than planned, because processes take seconds to start.
 */
const quietMs: readonly [number, number] = [14_000, 16_000];
/** Redis comes back, but not soon: what was put off again and again must not wait any longer. */
const outageMs = 60_000;
const outageKinds = ['fill-redis', 'busy-redis', 'kill-redis', 'pause-redis'] as const;
/** A run that is shorter has no outage. */
const outageFromMs = 240_000;

/**
 * Every kind comes once before any comes again. In the middle of a long run Redis is away, or full,
 * for a minute.
 */
export const planFaults = (options: {
  readonly random: Random;
  readonly durationMs: number;
  readonly kinds: readonly FaultKind[];
  readonly workers: number;
  readonly apis: number;
}): readonly PlannedFault[] => {
  const { random, durationMs, kinds, workers, apis } = options;
  const planned: PlannedFault[] = [];
  const outage = outageKinds.filter((kind) => kinds.includes(kind));
  let hasOutage = outage.length === 0 || durationMs < outageFromMs;
  let bag: readonly FaultKind[] = [];
  for (let atMs = 1500; ; ) {
    if (!hasOutage && atMs > durationMs / 3) {
      hasOutage = true;
      planned.push({ atMs, kind: random.pick(outage), target: 0, forMs: outageMs, amount: 0 });
      atMs += outageMs + random.between(...quietMs);
    }
    const inBurst = new Set<string>();
    let endsAt = atMs;
    while (inBurst.size < burstFaults) {
      if (bag.length === 0) bag = random.shuffle(kinds);
      const targets = bag.map((kind) => random.below(kind.endsWith('-api') ? apis : workers));
      // Two on one thing, one after the other, would make the burst long.
      const index = bag.findIndex(
        (kind, place) => !inBurst.has(resourceOf({ kind, target: targets[place] ?? 0 })),
      );
      const kind = bag[index];
      if (kind === undefined) break;
      if (atMs >= durationMs) return planned;
      const fault = {
        kind,
        target: targets[index] ?? 0,
        forMs: random.between(...lasts[kind]),
        amount: random.between(...(amounts[kind] ?? [0, 0])),
      };
      bag = bag.toSpliced(index, 1);
      inBurst.add(resourceOf(fault));
      planned.push({ atMs, ...fault });
      endsAt = Math.max(endsAt, atMs + fault.forMs);
      atMs += random.between(...nextInBurstMs);
    }
    if (inBurst.size === 0) return planned;
    atMs = Math.max(atMs, endsAt) + random.between(...quietMs);
  }
};
