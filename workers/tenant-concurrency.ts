/**
 * Limits the tries that each application may run at once in this process: of callbacks, or at an
 * upstream.
 *
 * A job that finds no free slot is put off, because waiting here would hold a slot of the worker,
 * which others need. {@link TenantConcurrency.waitMs} gives the jobs of one application times that
 * follow each other as fast as its tries have ended lately, but at least every 10 ms.
 * So a quick receiver stays busy, a receiver that hangs costs a fixed number of wake-ups, and its
 * jobs continue soon after it has come back. Applications that share slots get later times.
 */
import type { GateTurn } from '../packages/engine/src/define.ts';

/** 100 in a second: little work for Redis, and a line of 30 000 is over in five minutes. */
const maxWakeUpMs = 10;
const slowMs = 2500;
/** Weight of earlier tries in the average duration. The rest is the last try. */
const memory = 7 / 8;

interface Tenant {
  running: number;
  /** Average duration of its tries; undefined before the first has ended. */
  averageMs: number | undefined;
  /** The last time that {@link TenantConcurrency.waitMs} gave. */
  lastTurn: number;
}

export type TenantConcurrency = ReturnType<typeof createTenantConcurrency>;

/** @param now Milliseconds, of a clock that is never set. */
export const createTenantConcurrency = (
  limits: {
    /** The most tries of one application at once. */
    readonly max: number;
    /** The most of an application whose tries took more than 2.5 s on average. */
    readonly maxWhenSlow: number;
    /** The most of all applications together. */
    readonly maxTotal: number;
    readonly minWaitMs: number;
  },
  now: () => number = () => performance.now(),
) => {
  const { max, maxWhenSlow, maxTotal, minWaitMs } = limits;
  const tenants = new Map<string, Tenant>();
  let total = 0;

  const findTenant = (apId: string): Tenant => {
    const tenant = tenants.get(apId) ?? { running: 0, averageMs: undefined, lastTurn: 0 };
    tenants.set(apId, tenant);
    return tenant;
  };

  const maxOf = ({ averageMs = 0 }: Tenant): number => (averageMs > slowMs ? maxWhenSlow : max);

  /** Jobs may name any application, so those that are idle and not slow are forgotten. */
  const forgetIdle = (apId: string, tenant: Tenant): void => {
    if (tenant.running === 0 && tenant.lastTurn <= now() && maxOf(tenant) === max)
      tenants.delete(apId);
  };

  /** Applications that have jobs waiting, this one included. */
  const countWaiting = (mine: string): number => {
    let waiting = 1;
    for (const [apId, tenant] of tenants) {
      if (apId === mine) continue;
      if (tenant.lastTurn > now()) waiting += 1;
      else forgetIdle(apId, tenant);
    }
    return waiting;
  };

  /** @returns Releases the slot; undefined when none is free. */
  const acquire = (apId: string): (() => void) | undefined => {
    const tenant = findTenant(apId);
    if (tenant.running >= maxOf(tenant) || total >= maxTotal) return undefined;
    tenant.running += 1;
    total += 1;
    const begunAt = now();
    return () => {
      const ms = now() - begunAt;
      tenant.running -= 1;
      total -= 1;
      tenant.averageMs = ms + ((tenant.averageMs ?? ms) - ms) * memory;
      forgetIdle(apId, tenant);
    };
  };

  /** @returns In how many milliseconds to ask again. Each call gives a later time. */
  const waitMs = (apId: string): number => {
    const tenant = findTenant(apId);
    const share = Math.min(max, maxTotal / countWaiting(apId));
    const apartMs = Math.min(tenant.averageMs ?? Infinity, maxWakeUpMs * max) / share;
    tenant.lastTurn = Math.max(tenant.lastTurn + apartMs, now() + Math.max(minWaitMs, apartMs));
    return Math.ceil(tenant.lastTurn - now());
  };

  return {
    acquire,
    waitMs,
    /** Takes a slot for a job at the gate of an activity, or says how long the job is to wait. */
    turn: (apId: string): GateTurn => {
      const end = acquire(apId);
      return end === undefined ? { kind: 'wait', ms: waitMs(apId) } : { kind: 'place', end };
    },
  };
};
