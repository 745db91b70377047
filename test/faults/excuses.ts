/**
 * Until when something that is due may be late because of faults.
 *
 * A fault excuses what was due while it went on, and what had not been caught up since the fault
 * before it. So rules about time hold from the end of each fault on, provided that the schedule
 * leaves a quiet window now and then (schedule.ts): where faults follow each other without one, all
 * of them together are one excuse, and nobody could be late.
 */
import type { InjectedFault } from './nemesis.ts';

/**
 * How long the service needs to find what a dead worker held and to run it: the lock (2 s), up to
 * two checks for stalled jobs (1 s each), and the step.
 */
const recoveryMs = 6000;

/**
 * How late something may be after the last fault that was in its way: recovery, on a slow machine.
 */
export const marginMs = 8000;

/** What is due is done in this time when nothing is in its way. */
const promptMs = 2000;

/** How long the lock of a worker lasts that does not renew it. */
const lockMs = 2000;

/** Commands in which Redis itself waits notice a silent connection after so long. */
const silenceMs = 12_000;

/** Faults of an API do not delay workers. A wrong clock, or a little slowness, delays nobody. */
const delaysNobody = ({ kind, target, amount }: InjectedFault): boolean =>
  kind === 'flood' ||
  kind.startsWith('clock-') ||
  kind.endsWith('-api') ||
  (kind.startsWith('slow-') && amount <= 50) ||
  target === 'nobody';

/** Other workers take what one held within the recovery, however long that one is away. */
const ofOneWorker: readonly string[] = [
  'kill-worker',
  'pause-worker',
  'cut-worker',
  'hold-worker',
  'dead-peer-worker',
  'slow-worker',
  'swap-worker',
];

interface Excuse {
  readonly from: number;
  readonly to: number;
  /** From its end on everything is as usual after so long. */
  readonly recoveryMs: number;
}

const excuseOf = ({ kind, from, to }: InjectedFault): Excuse => {
  if (ofOneWorker.includes(kind)) return { from, to: Math.min(to, from + recoveryMs), recoveryMs };
  if (kind === 'dead-peer-everybody') return { from, to: from + silenceMs, recoveryMs };
  // A worker that stands for less keeps its locks.
  const isShort = kind === 'starved' && to - from < lockMs;
  return { from, to, recoveryMs: isShort ? promptMs : recoveryMs };
};

/**
 * @param due Milliseconds since the epoch.
 * @returns The latest moment at which it must have happened; what is asked of the service after
 *   that, {@link marginMs}, is the rule's own.
 */
export const excused = (faults: readonly InjectedFault[], due: number): number => {
  const excuses = faults
    .filter((fault) => !delaysNobody(fault))
    .map(excuseOf)
    .sort((one, other) => one.from - other.from);
  let latest = due;
  let usualFrom = due + promptMs;
  for (const { from, to, recoveryMs: ownMs } of excuses) {
    if (from > usualFrom) break;
    // It may have begun, and even ended, before: then what it held up is being caught up.
    if (to > latest) latest = to;
    if (to + ownMs > usualFrom) usualFrom = to + ownMs;
  }
  return latest;
};

/** The longest time between two moments in which nothing was in the way; milliseconds. */
export const longestQuietMs = (
  faults: readonly InjectedFault[],
  from: number,
  to: number,
): number => {
  let quietFrom = from;
  let longest = 0;
  const excuses = faults.filter((fault) => !delaysNobody(fault)).map(excuseOf);
  for (const excuse of excuses.toSorted((one, other) => one.from - other.from)) {
    longest = Math.max(longest, Math.min(excuse.from, to) - quietFrom);
    quietFrom = Math.max(quietFrom, excuse.to + excuse.recoveryMs);
  }
  return Math.max(longest, to - quietFrom);
};

const lookEveryMs = 250;

/** The part of a run, from 0 to 1, in which something that is due is excused. */
export const excusedShare = (
  faults: readonly InjectedFault[],
  from: number,
  to: number,
): number => {
  let looks = 0;
  let excuses = 0;
  for (let moment = from; moment < to; moment += lookEveryMs) {
    looks += 1;
    if (excused(faults, moment) > moment) excuses += 1;
  }
  return looks === 0 ? 0 : excuses / looks;
};
