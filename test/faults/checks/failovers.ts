/**
 * What is promised when a master of a Redis Cluster dies and its replica takes over, judged by what
 * clients were told.
 */
import type { Told } from '../journal.ts';
import { isOutcome } from './told.ts';

/** After the promotion. */
const acknowledgedWithinMs = 5000;
const signedWithinMs = 20_000;
/**
 * Replication to a replica on the same machine is a matter of milliseconds; a busy machine may take
 * longer.
 */
const unreplicatedMs = 1000;

/** With its connections closed, or open. */
export type Death = 'killed' | 'silent';

export interface Accepted {
  readonly id: string;
  readonly shard: number;
  readonly askedAt: number;
  readonly at: number;
  /** When a worker had signed it, as far as its client has seen. */
  signedAt?: number;
  final?: Told;
}

export interface Failover {
  readonly death: Death;
  /** Milliseconds: from the death to the promotion, and from there to what follows. */
  readonly promotedMs: number;
  readonly acknowledgedMs: number;
  readonly signedMs: number;
  /** What readyz said of the shard before the replica took over. */
  readonly readinessSaid: boolean;
  readonly lost: number;
}

/** Of what did not happen while it was waited for. */
export const never = Number.POSITIVE_INFINITY;

export interface Struck extends Omit<Failover, 'lost'> {
  readonly shard: number;
  readonly struckAt: number;
  readonly promotedAt: number;
}

/** The service does not know the transaction: it is gone. */
export const isUnknown = (told: Told): boolean =>
  told.kind === 'fault' && /is unknown/.test(told.detail);

/** @returns What was broken, and how many of the acknowledged went with each master. */
export const violationsOf = (
  struck: readonly Struck[],
  accepted: readonly Accepted[],
  crashes: readonly string[],
): { readonly violations: string[]; readonly lost: ReadonlyMap<Struck, number> } => {
  const violations = crashes.map((name) => `no process ends by itself: ${name} did`);
  const lost = new Map<Struck, number>();
  for (const { id, shard, at, final } of accepted) {
    if (final !== undefined && isOutcome(final) && !isUnknown(final)) continue;
    const excuse = struck.find(
      (one) => one.shard === shard && at >= one.struckAt - unreplicatedMs && at <= one.promotedAt,
    );
    if (final !== undefined && isUnknown(final) && excuse !== undefined)
      lost.set(excuse, (lost.get(excuse) ?? 0) + 1);
    else violations.push(`what was acknowledged ends: ${id} says ${JSON.stringify(final)}`);
  }
  for (const { death, shard, promotedMs, acknowledgedMs, signedMs, readinessSaid } of struck) {
    const where = `shard ${shard}, master ${death}`;
    if (promotedMs === never) violations.push(`a replica takes over: ${where}`);
    if (acknowledgedMs > acknowledgedWithinMs)
      violations.push(`requests are acknowledged again: ${where}, after ${acknowledgedMs} ms`);
    if (signedMs > signedWithinMs)
      violations.push(`workers sign again: ${where}, after ${signedMs} ms`);
    if (!readinessSaid) violations.push(`readyz says that a shard takes no writes: ${where}`);
  }
  return { violations, lost };
};
